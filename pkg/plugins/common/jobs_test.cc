#include "pkg/plugins/common/jobs.h"

#include "gtest/gtest.h"
#include "pkg/model/testing/world.h"

namespace hekla::plugins {
namespace {

// Spec scheduler-core E4, ExceededPart: cpu 3000, memory 100, gpu 2000 beyond cpu 1000, memory 500.
TEST(SubtractDownToZeroTest, NothingGoesBelowZero) {
  model::testing::World world;
  model::Resource amounts =
      world.Amounts({{"cpu", 3000}, {"memory", 100}, {"nvidia.com/gpu", 2000}});
  SubtractDownToZero(amounts, world.Amounts({{"cpu", 1000}, {"memory", 500}}));
  EXPECT_EQ(amounts, world.Amounts({{"cpu", 2000}, {"memory", 0}, {"nvidia.com/gpu", 2000}}));
}

// Spec scheduler-actions 5.3: J1 has its minimum and more, J2 was promised more than it holds.
TEST(PromisedAmountsTest, WhatIsHeldIsNotPromisedAgain) {
  model::testing::World world;
  world.AddNode({.name = "n1"});
  world.AddQueue("default");
  const auto add = [&](const char* name, int32_t min_member, model::PodGroupPhase phase,
                       int64_t cpu, int64_t memory) {
    model::JobSpec spec;
    spec.name = name;
    spec.queue = "default";
    spec.min_member = min_member;
    spec.phase = phase;
    spec.min_resources.emplace();
    spec.min_resources->Set(model::kCpu, cpu);
    spec.min_resources->Set(model::kMemory, memory);
    return world.AddJob(spec);
  };
  const auto run = [&](const std::string& job, int index, int64_t cpu, int64_t memory) {
    world.AddPod({.name = job + "-" + std::to_string(index),
                  .job = job,
                  .cpu = cpu,
                  .memory = memory,
                  .node = "n1",
                  .status = model::TaskStatus::kRunning});
  };
  const model::JobId j1 = add("j1", 2, model::PodGroupPhase::kRunning, 2000, 1000);
  for (int i = 0; i < 3; ++i) run("j1", i, 1000, 500);
  const model::JobId j2 = add("j2", 2, model::PodGroupPhase::kInqueue, 2500, 1000);
  run("j2", 0, 500, 200);
  const model::JobTable& jobs = world.tables().jobs;
  EXPECT_EQ(PromisedAmounts(jobs, j1)[model::kCpu], 0);
  EXPECT_EQ(PromisedAmounts(jobs, j1)[model::kMemory], 0);
  EXPECT_EQ(PromisedAmounts(jobs, j2)[model::kCpu], 2000);
  EXPECT_EQ(PromisedAmounts(jobs, j2)[model::kMemory], 800);
  EXPECT_EQ(ElasticAmounts(jobs, j1)[model::kCpu], 1000);
  EXPECT_EQ(ElasticAmounts(jobs, j1)[model::kMemory], 500);
  EXPECT_EQ(ElasticAmounts(jobs, j2)[model::kCpu], 0);
  EXPECT_EQ(ElasticAmounts(jobs, j2)[model::kMemory], 0);
}

}  // namespace
}  // namespace hekla::plugins

#include "pkg/framework/explain/explainer.h"

#include <algorithm>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/framework/testing/session_world.h"

namespace hekla::framework::explain {
namespace {

using ::testing::HasSubstr;
using testing::SessionWorld;
using ::testing::StartsWith;

// Refuses everything that a plugin of one's own could refuse, as far as it is told to.
class Refuser final : public Plugin, public NodeFilter {
 public:
  void OnSessionOpen(SessionBuilder& session) override {
    Points& points = session.session().points();
    session_ = &session.session();
    reason_ =
        session_->reasons().Intern(Code::kUnschedulable, Cause::kNodeRefused, "node is too noisy");
    if (enqueue) session.At(points.job_enqueueable, true).Add<&Refuser::Enqueue>(*this);
    if (valid) session.At(points.job_valid, true).Add<&Refuser::Valid>(*this);
    if (queue) session.At(points.allocatable, true).Add<&Refuser::Allocatable>(*this);
    if (nodes) session.AddFilter(*this);
  }
  Vote Enqueue(model::JobId job) {
    session_->RecordPodGroupEvent(job, false, "Unschedulable", "refused");
    return Vote::kReject;
  }
  ValidResult Valid(model::JobId) { return {false, "TooEarly", "come back at night"}; }
  bool Allocatable(model::QueueId, model::TaskId) { return false; }

  absl::string_view name() const override { return "Noise"; }
  AnswerKind kind() const override { return AnswerKind::kStatic; }
  void Filter(model::TaskId, absl::Span<const model::NodeId> nodes_asked,
              absl::Span<ReasonId> out) override {
    for (size_t i = 0; i < nodes_asked.size(); ++i) out[i] = reason_;
  }

  bool enqueue = false, valid = false, queue = false, nodes = false;

 private:
  Session* session_ = nullptr;
  ReasonId reason_;
};

class ExplainerTest : public ::testing::Test {
 protected:
  ExplainerTest() {
    auto plugin = std::make_unique<Refuser>();
    refuser_ = plugin.get();
    PluginOption option;
    option.name = "own";
    world_.AddPlugin("own", std::move(plugin), option);
    world_.AddActions({"enqueue", "allocate", "backfill"});
    world_.world.AddQueue("default");
    world_.world.AddNode({.name = "n1"});
  }
  void AddJob(model::PodGroupPhase phase = model::PodGroupPhase::kInqueue) {
    world_.world.AddJob("j", 1, "default", phase);
    world_.world.AddPod({.name = "p", .job = "j"});
  }
  Explanation Ask() {
    world_.Cycle([](Session&) {});
    const absl::StatusOr<Explanation> answer = Explainer(world_.session()).PodGroup("ns/j");
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.value_or(Explanation());
  }

  SessionWorld world_;
  Refuser* refuser_ = nullptr;
};

TEST_F(ExplainerTest, APluginOfOnesOwnIsNamedAtAdmissionAndNothingIsEmitted) {
  refuser_->enqueue = true;
  model::JobSpec spec;
  spec.name = "j";
  spec.min_member = 1;
  spec.queue = "default";
  spec.phase = model::PodGroupPhase::kPending;
  spec.min_resources.emplace().Set(model::kCpu, 1000);
  world_.world.AddJob(spec);
  world_.world.AddPod({.name = "p", .job = "j"});
  const Explanation answer = Ask();
  EXPECT_EQ(CauseName(answer.cause), "EnqueueRefused");
  EXPECT_EQ(answer.message, "plugin own does not let the group into queue default");
  for (const ports::EventWrite& event : world_.sink.events) EXPECT_NE(event.message, "refused");
}

TEST_F(ExplainerTest, AnUnknownWordOfJobValidIsRepeated) {
  refuser_->valid = true;
  AddJob();
  const Explanation answer = Ask();
  EXPECT_EQ(CauseName(answer.cause), "JobInvalid");
  EXPECT_EQ(answer.message, "TooEarly: come back at night");
}

TEST_F(ExplainerTest, AQueueRefusedWithoutNumbersNamesThePlugin) {
  refuser_->queue = true;
  AddJob();
  const Explanation answer = Ask();
  EXPECT_EQ(CauseName(answer.cause), "QueueRefused");
  EXPECT_EQ(answer.message, "plugin own lets queue default take nothing more");
}

TEST_F(ExplainerTest, AnUnknownReasonOfANodeIsRepeated) {
  refuser_->nodes = true;
  AddJob();
  const Explanation answer = Ask();
  EXPECT_EQ(CauseName(answer.cause), "NodeRefused");
  EXPECT_EQ(answer.message, "the only node it could run on refuses it: node is too noisy (n1)");
  ASSERT_TRUE(answer.nodes.has_value());
  ASSERT_EQ(answer.nodes->refusals.size(), 1u);
  EXPECT_EQ(answer.nodes->refusals[0].plugin, "own");
  EXPECT_EQ(answer.nodes->refusals[0].check, "Noise");
}

TEST_F(ExplainerTest, WhatNobodyRefusesIsNext) {
  AddJob();
  EXPECT_EQ(CauseName(Ask().cause), "NotTriedYet");
}

TEST_F(ExplainerTest, AdmissionThatNobodyRefusesIsNext) {
  AddJob(model::PodGroupPhase::kPending);
  EXPECT_EQ(CauseName(Ask().cause), "NotAdmittedYet");
}

TEST_F(ExplainerTest, TheNewestPodOfANameIsMeant) {
  AddJob();
  world_.world.AddPod({.name = "p",
                       .job = "j",
                       .node = "n1",
                       .status = model::TaskStatus::kBound,
                       .uid = "second"});
  world_.Cycle([](Session&) {});
  EXPECT_EQ(CauseName(Explainer(world_.session()).Pod("ns/p")->cause), "Scheduled");
  EXPECT_EQ(Explainer(world_.session()).Pod("ns/q").status().code(), absl::StatusCode::kNotFound);
}

// 14 nodes in zone b lack 2 of 4 GPUs, 6 nodes in zone a lack 3.
TEST_F(ExplainerTest, NearestMissCountsTheNodesThatLackLeast) {
  world_.world.RemoveNode("n1");
  for (int i = 0; i < 20; ++i) {
    const std::string name = "g" + std::to_string(i);
    const bool near = i < 14;
    world_.world.AddNode({.name = name,
                          .labels = {{"topology.kubernetes.io/zone", near ? "b" : "a"}},
                          .more = {{"nvidia.com/gpu", 4000}}});
    world_.world.AddPod({.name = "r" + name,
                         .node = name,
                         .status = model::TaskStatus::kRunning,
                         .more = {{"nvidia.com/gpu", near ? 2000 : 3000}}});
  }
  world_.world.AddJob("j", 1);
  world_.world.AddPod({.name = "p", .job = "j", .more = {{"nvidia.com/gpu", 4000}}});
  const Explanation answer = Ask();
  EXPECT_EQ(CauseName(answer.cause), "InsufficientResource");
  EXPECT_EQ(answer.message, "needs 2 more nvidia.com/gpu on any of 14 nodes in zone b");
  const NearestMiss& nearest = *answer.nodes->nearest;
  EXPECT_EQ(nearest.nodes, 14);
  EXPECT_EQ(nearest.label, "topology.kubernetes.io/zone=b");
  EXPECT_THAT(nearest.examples, ::testing::ElementsAre("g0", "g1", "g10"));
}

TEST_F(ExplainerTest, TextBeginsWithTheCauseAndIsShort) {
  refuser_->nodes = true;
  AddJob();
  const std::string text = RenderText(ToJson(Ask()));
  EXPECT_THAT(text, StartsWith("NodeRefused: the only node"));
  EXPECT_THAT(text, HasSubstr("          1  Noise: node is too noisy (n1)\n"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15);
}

}  // namespace
}  // namespace hekla::framework::explain

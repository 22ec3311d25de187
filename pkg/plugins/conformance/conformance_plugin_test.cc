#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"

namespace hekla::plugins {
namespace {

using harness::World;
using ::testing::ElementsAre;

TEST(ConformancePluginTest, PodsOfTheSystemAreNeverVictims) {
  World world;
  const auto apply = [&](const harness::Value& object) { CHECK(world.Apply(object).ok()); };
  apply(harness::BuildNode("n1", {{"cpu", "10"}}));
  apply(harness::BuildQueue("default", 1));
  std::vector<std::string> names;
  const auto add = [&](const char* space, const char* name, const char* priority_class) {
    apply(harness::BuildPodGroup({.namespace_name = space, .name = name, .phase = "Running"}));
    harness::Value pod = harness::BuildPod({.namespace_name = space,
                                            .name = name,
                                            .node = "n1",
                                            .phase = "Running",
                                            .requests = {{"cpu", "1"}},
                                            .pod_group = name});
    if (*priority_class != '\0') pod.Ensure({"spec"}).Set("priorityClassName", priority_class);
    apply(pod);
    names.push_back(std::string(space) + "/" + name);
  };
  add("default", "plain", "");
  add("default", "cluster", "system-cluster-critical");
  add("default", "node", "system-node-critical");
  add("kube-system", "proxy", "");
  add("default", "other", "important");
  CHECK(world.Configure("actions: enqueue\ntiers:\n- plugins:\n  - name: conformance\n").ok());
  world.Run([&](framework::Session& session) {
    std::vector<model::TaskId> tasks;
    for (const std::string& name : names) tasks.push_back(world.FindTask(name));
    const auto expected = ElementsAre(tasks[0], tasks[4]);
    EXPECT_THAT(session.points().preemptable(tasks[0], tasks), expected);
    EXPECT_THAT(session.points().reclaimable(tasks[0], tasks), expected);
    EXPECT_THAT(session.points().unified_evictable({}, tasks), expected);
  });
}

}  // namespace
}  // namespace hekla::plugins

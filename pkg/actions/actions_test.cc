#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "pkg/actions/registry.h"
#include "pkg/framework/testing/session_world.h"
#include "pkg/plugins/registry.h"

namespace hekla::actions {
namespace {

using framework::testing::SessionWorld;
using model::JobId;
using model::PodGroupPhase;
using model::TaskId;
using model::TaskStatus;

// A cluster with chosen plugins and actions of the real registries.
class ActionWorld : public SessionWorld {
 public:
  explicit ActionWorld(std::vector<std::vector<std::string>> tiers,
                       std::vector<std::string> actions = {"enqueue", "allocate", "backfill"})
      : names_(actions) {
    AddActions(actions);
    framework::PluginDeps deps;
    deps.clock = &clock;
    for (size_t tier = 0; tier < tiers.size(); ++tier) {
      if (tier > 0) NextTier();
      for (const std::string& name : tiers[tier]) {
        for (const framework::PluginEntry& entry : plugins::AllPlugins()) {
          if (entry.name == name) {
            framework::PluginOption option;
            option.name = name;
            AddPlugin(name, entry.make(option, deps), option);
          }
        }
      }
    }
    for (const framework::ActionEntry& entry : AllActions()) {
      actions_[std::string(entry.name)] = entry.make();
    }
    world.AddQueue("default");
  }

  void Run() {
    Cycle([&](framework::Session& session) {
      for (const std::string& name : names_) {
        actions_.at(name)->Execute(session, framework::Arguments());
      }
    });
    world.cluster().CheckConsistency();
  }

  void AddSlots(int n, int64_t cpu = 1000) {
    for (int i = 0; i < n; ++i) {
      world.AddNode({.name = "slot" + std::to_string(i), .cpu = cpu});
    }
  }
  std::vector<TaskId> AddGang(const std::string& name, int pods, int32_t min_member,
                              int64_t cpu = 1000) {
    world.AddJob(name, min_member);
    std::vector<TaskId> out;
    for (int i = 0; i < pods; ++i) {
      out.push_back(
          world.AddPod({.name = name + "-w-" + std::to_string(i), .job = name, .cpu = cpu}));
    }
    return out;
  }
  std::map<std::string, int> Bound() const {
    std::map<std::string, int> count;
    for (const auto& b : sink.binds) ++count[b.name.substr(0, b.name.find('-'))];
    return count;
  }
  std::string MessageOf(const std::string& pod) const {
    std::string message;
    for (const auto& c : sink.conditions) {
      if (c.name == pod) message = c.message;
    }
    return message;
  }
  PodGroupPhase PhaseOf(const std::string& job) {
    return world.tables().jobs.phase[world.cluster().FindJob("ns/" + job)];
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::unique_ptr<framework::Action>> actions_;
};

using Counts = std::map<std::string, int>;
const std::vector<std::vector<std::string>> kGangDrf = {{"priority", "gang", "drf"}};

// Spec scheduler-actions, 5.7.
TEST(AllocateTest, ReadyJobsTakeTurnsOneTaskAtATime) {
  ActionWorld w(kGangDrf);
  w.AddSlots(4);
  w.AddGang("A", 3, 1);
  w.AddGang("B", 3, 1);
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 2}, {"B", 2}}));
  // The turns: A (older), B (not ready beats ready), A, B.
  std::string turns;
  for (const auto& b : w.sink.binds) turns += b.name[0];
  EXPECT_EQ(turns, "ABAB");
}

TEST(AllocateTest, AGangIsPlacedWholeOrNotAtAll) {
  ActionWorld w(kGangDrf);
  w.AddSlots(4);
  w.AddGang("A", 3, 3);
  w.AddGang("B", 3, 3);
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 3}}));
  std::string condition;
  for (const auto& pg : w.sink.pod_groups) {
    if (pg.name == "B") condition = pg.conditions.at(0).message;
  }
  EXPECT_EQ(condition.substr(0, 33), "2/3 tasks in gang unschedulable: ") << condition;
  EXPECT_EQ(w.MessageOf("B-w-0").substr(0, 41), "Pod ns/B-w-0 can possibly be assigned to ");
  EXPECT_EQ(w.MessageOf("B-w-1"), "0/4 nodes are unavailable: 4 Insufficient cpu.");
}

TEST(AllocateTest, WhatExceedsTheMinimumFollowsOneByOne) {
  ActionWorld w(kGangDrf);
  w.AddSlots(3);
  w.AddGang("A", 4, 2);
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 3}}));
  EXPECT_EQ(w.MessageOf("A-w-3"), "0/3 nodes are unavailable: 3 Insufficient cpu.");
}

TEST(AllocateTest, HigherPriorityComesFirst) {
  ActionWorld w(kGangDrf);
  w.AddSlots(2);
  w.world.cluster().Apply(model::Upsert<model::PriorityClassSpec>{
      std::make_shared<model::PriorityClassSpec>(model::PriorityClassSpec{"high", 100, false})});
  w.AddGang("A", 2, 2);
  model::JobSpec spec;
  spec.name = "B";
  spec.queue = "default";
  spec.min_member = 2;
  spec.phase = PodGroupPhase::kInqueue;
  spec.priority_class = "high";
  w.world.AddJob(spec);
  for (const char* pod : {"B-w-0", "B-w-1"}) w.world.AddPod({.name = pod, .job = "B"});
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"B", 2}}));
}

TEST(AllocateTest, RoomThatIsBeingFreedIsReservedAndNothingBound) {
  ActionWorld w(kGangDrf);
  w.AddSlots(2);
  w.world.AddJob("old", 1);
  const TaskId leaving = w.world.AddPod(
      {.name = "old-w-0", .job = "old", .node = "slot0", .status = TaskStatus::kReleasing});
  const std::vector<TaskId> gang = w.AddGang("A", 2, 2);
  w.Run();
  EXPECT_TRUE(w.sink.binds.empty());
  EXPECT_EQ(w.world.StatusOf(gang[0]), TaskStatus::kPending);
  EXPECT_NE(w.MessageOf("A-w-1").find("once resource is released and minAvailable is satisfied"),
            std::string::npos);
  w.world.RemovePod(leaving);
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 2}}));
}

TEST(AllocateTest, TasksOfARoleThatHasFailedAreSkipped) {
  ActionWorld w(kGangDrf);
  w.AddSlots(1, 4000);
  w.world.AddJob("A", 1);
  for (int i = 0; i < 3; ++i) {
    w.world.AddPod({.name = "A-big-" + std::to_string(i), .job = "A", .cpu = 9000, .role = "big"});
  }
  w.world.AddPod({.name = "A-small-5", .job = "A", .cpu = 1000, .role = "small"});
  w.Run();
  EXPECT_EQ(w.sink.binds.size(), 1u);
  EXPECT_EQ(w.MessageOf("A-big-0"), "0/1 nodes are unavailable: 1 Insufficient cpu.");
  EXPECT_EQ(w.MessageOf("A-big-1"),
            "Task A-big-1 with role spec big has already predicated failed, skip");
}

TEST(AllocateTest, TheNominatedNodeIsTakenWhereItFits) {
  ActionWorld w(kGangDrf);
  w.AddSlots(8);
  w.world.AddJob("A", 1);
  auto pod = w.world.MakePod({.name = "A-w-0", .job = "A"});
  pod->nominated_node = "slot5";
  w.world.Apply(pod);
  w.Run();
  ASSERT_EQ(w.sink.binds.size(), 1u);
  EXPECT_EQ(w.sink.binds[0].node, "slot5");
}

TEST(AllocateTest, GatedTasksWait) {
  ActionWorld w(kGangDrf);
  w.AddSlots(2);
  w.world.AddJob("A", 1);
  auto pod = w.world.MakePod({.name = "A-w-0", .job = "A"});
  pod->gated = true;
  w.world.Apply(pod);
  w.Run();
  EXPECT_TRUE(w.sink.binds.empty());
  EXPECT_TRUE(w.sink.conditions.empty());
}

TEST(AllocateTest, SubGroupsAreFilledRequiredOnesFirst) {
  ActionWorld w(kGangDrf);
  w.AddSlots(4);
  model::JobSpec spec;
  spec.name = "A";
  spec.queue = "default";
  spec.min_member = 2;
  spec.phase = PodGroupPhase::kInqueue;
  spec.sub_groups.resize(1);
  spec.sub_groups[0].name = "rank";
  spec.sub_groups[0].match_label_keys = {w.world.Sym("rank")};
  spec.sub_groups[0].sub_group_size = 2;
  spec.sub_groups[0].min_sub_groups = 2;
  w.world.AddJob(spec);
  for (int i = 0; i < 6; ++i) {
    w.world.AddPod({.name = "A-w-" + std::to_string(i),
                    .job = "A",
                    .labels = {{"rank", std::to_string(i / 2)}}});
  }
  w.Run();
  std::set<std::string> bound;
  for (const auto& b : w.sink.binds) bound.insert(b.name);
  EXPECT_EQ(bound, (std::set<std::string>{"A-w-0", "A-w-1", "A-w-2", "A-w-3"}));
}

TEST(AllocateTest, JobsThatNoNodeTakesAreLeftAloneUntilOneDoes) {
  ActionWorld w(kGangDrf);
  w.AddSlots(2);
  w.world.AddJob("old", 1);
  const TaskId first = w.world.AddPod(
      {.name = "old-w-0", .job = "old", .node = "slot0", .status = TaskStatus::kRunning});
  const TaskId second = w.world.AddPod({.name = "old-w-1",
                                        .job = "old",
                                        .cpu = 400,
                                        .node = "slot1",
                                        .status = TaskStatus::kRunning});
  w.AddGang("A", 3, 1);
  w.Run();
  w.Run();
  const uint32_t generation = w.world.tables().jobs.generation[w.world.cluster().FindJob("ns/A")];
  w.world.Update(second, TaskStatus::kReleasing, "slot1", true);  // 400 more in future: 1000 fits
  w.Run();
  EXPECT_NE(w.world.tables().jobs.generation[w.world.cluster().FindJob("ns/A")], generation);
  w.sink.Clear();
  w.world.RemovePod(second);
  w.world.RemovePod(first);
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 2}}));
  w.Run();  // the empty PodGroup of "old" waits for pods again
  w.sink.Clear();
  for (int i = 0; i < 3; ++i) w.Run();
  EXPECT_EQ(w.sink.writes(), 0u);
}

// Room that was held for others at a job's last try is given back without anything being freed.
TEST(AllocateTest, AJobIsTriedAgainWhenAGangBeforeItHoldsNothingAnyMore) {
  ActionWorld w(kGangDrf);
  w.AddSlots(2);
  w.world.AddJob("old", 1);
  w.world.AddPod(
      {.name = "old-w-0", .job = "old", .node = "slot0", .status = TaskStatus::kReleasing});
  w.AddGang("A", 2, 2);  // holds slot1, and slot0 for when it is free
  w.AddGang("B", 1, 1);
  w.Run();
  EXPECT_EQ(w.Bound(), Counts());
  EXPECT_EQ(w.MessageOf("B-w-0"), "0/2 nodes are unavailable: 2 Insufficient cpu.");
  w.world.AddJob("A", 3);  // more than it has pods: takes no part
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"B", 1}}));
}

TEST(AllocateTest, AGangThatHoldsRoomHoldsItInEverySession) {
  ActionWorld w(kGangDrf);
  w.AddSlots(2);
  w.world.AddJob("old", 1);
  w.world.AddPod(
      {.name = "old-w-0", .job = "old", .node = "slot0", .status = TaskStatus::kReleasing});
  w.AddGang("A", 2, 2);
  w.Run();
  w.AddGang("B", 1, 1);  // younger: what A holds is not for it
  w.Run();
  EXPECT_EQ(w.Bound(), Counts());
}

// The refusal of the task before the first that was placed must not hide behind a later one.
TEST(AllocateTest, EveryRefusedClassOfAJobIsTriedAgain) {
  ActionWorld w(kGangDrf);
  w.world.AddNode({.name = "n1", .cpu = 3000});
  w.world.AddJob("old", 1);
  const TaskId old = w.world.AddPod(
      {.name = "old-w-0", .job = "old", .cpu = 2000, .node = "n1", .status = TaskStatus::kRunning});
  w.world.AddJob("A", 1);
  int index = 0;
  for (int64_t cpu : {1500, 1000, 9000}) {
    w.world.AddPod({.name = "A-w-" + std::to_string(index++), .job = "A", .cpu = cpu});
  }
  w.Run();
  w.Run();
  ASSERT_EQ(w.sink.binds.size(), 1u);
  EXPECT_EQ(w.sink.binds[0].name, "A-w-1");
  w.world.RemovePod(old);
  w.Run();
  ASSERT_EQ(w.sink.binds.size(), 2u);
  EXPECT_EQ(w.sink.binds[1].name, "A-w-0");
}

TEST(AllocateTest, WithoutEnqueueItAdmitsJobsItself) {
  ActionWorld w(kGangDrf, {"allocate"});
  w.AddSlots(1);
  w.world.AddJob("A", 1, "default", PodGroupPhase::kPending);
  w.world.AddPod({.name = "A-w-0", .job = "A"});
  w.Run();
  EXPECT_EQ(w.sink.binds.size(), 1u);
}

TEST(AllocateTest, ABarePodIsPlaced) {
  ActionWorld w(kGangDrf);
  w.AddSlots(1);
  w.world.AddPod({.name = "bare", .solo = true});
  w.Run();
  ASSERT_EQ(w.sink.binds.size(), 1u);
  EXPECT_TRUE(w.sink.pod_groups.empty());
}

TEST(AllocateTest, AnIdleCycleWritesNothing) {
  ActionWorld w({{"priority", "gang", "conformance"}, {"overcommit", "drf", "proportion"}});
  w.AddSlots(4);
  w.AddGang("A", 3, 3);
  w.AddGang("B", 3, 3);
  w.Run();
  w.Run();
  w.sink.Clear();
  w.Run();
  EXPECT_EQ(w.sink.writes(), 0u);
}

TEST(EnqueueTest, AdmitsAsLongAsThePluginsAgree) {
  const std::vector<std::vector<std::string>> tiers = {{"priority", "gang"}, {"overcommit"}};
  ActionWorld w(tiers);
  w.AddSlots(2);  // 2000 cpu; overcommit admits 1.2 times that
  for (const char* name : {"A", "B", "C"}) {
    model::JobSpec spec;
    spec.name = name;
    spec.queue = "default";
    spec.min_member = 1;
    spec.phase = PodGroupPhase::kPending;
    spec.min_resources.emplace();
    spec.min_resources->Set(model::kCpu, 1100);
    w.world.AddJob(spec);
  }
  w.Run();
  EXPECT_EQ(w.PhaseOf("A"), PodGroupPhase::kInqueue);
  EXPECT_EQ(w.PhaseOf("B"), PodGroupPhase::kInqueue);
  EXPECT_EQ(w.PhaseOf("C"), PodGroupPhase::kPending);
}

TEST(EnqueueTest, AClosedQueueAdmitsNothingAndSaysSo) {
  const std::vector<std::vector<std::string>> tiers = {{"gang", "proportion"}};
  ActionWorld w(tiers);
  w.AddSlots(2);
  w.world.AddQueue("shut", "", 1, model::QueueState::kClosed);
  model::JobSpec spec;
  spec.name = "A";
  spec.queue = "shut";
  spec.min_member = 1;
  spec.phase = PodGroupPhase::kPending;
  spec.min_resources.emplace();
  spec.min_resources->Set(model::kCpu, 1000);
  w.world.AddJob(spec);
  w.world.AddPod({.name = "A-w-0", .job = "A"});
  w.Run();
  EXPECT_EQ(w.PhaseOf("A"), PodGroupPhase::kPending);
  EXPECT_EQ(w.MessageOf("A-w-0"), "queue \"shut\" is not open (state Closed)");
}

TEST(EnqueueTest, QuirkWithoutMinResourcesNobodyIsAsked) {
  const std::vector<std::vector<std::string>> tiers = {{"gang", "proportion"}};
  ActionWorld w(tiers);
  w.AddSlots(2);
  w.world.AddQueue("shut", "", 1, model::QueueState::kClosed);
  w.world.AddJob("A", 1, "shut", PodGroupPhase::kPending);
  w.world.AddPod({.name = "A-w-0", .job = "A"});
  w.Run();
  EXPECT_EQ(w.PhaseOf("A"), PodGroupPhase::kInqueue);
  EXPECT_TRUE(w.sink.binds.empty());
  EXPECT_EQ(w.MessageOf("A-w-0"), "queue \"shut\" is not open (state Closed)");
}

TEST(BackfillTest, BestEffortTasksGoWhereFiltersAllowFullNodesIncluded) {
  ActionWorld w(kGangDrf);
  w.AddSlots(1);
  w.AddGang("A", 1, 1);
  w.world.AddJob("B", 1);
  w.world.AddPod({.name = "B-w-0", .job = "B", .cpu = 0});
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 1}, {"B", 1}}));
}

TEST(BackfillTest, CompletesAGangThatAllocateCouldNot) {
  ActionWorld w(kGangDrf);
  w.AddSlots(1);
  w.world.AddJob("A", 2);
  w.world.AddPod({.name = "A-w-0", .job = "A"});
  w.world.AddPod({.name = "A-w-1", .job = "A", .cpu = 0});
  w.Run();
  EXPECT_EQ(w.Bound(), (Counts{{"A", 2}}));
}

TEST(BackfillTest, ATaskThatAllocateCannotPlaceDoesNotKeepBestEffortOnesWaiting) {
  const std::vector<std::vector<std::string>> tiers = {{"priority", "gang"}, {"predicates"}};
  ActionWorld w(tiers);
  w.world.AddNode({.name = "n1", .pods = 1});
  w.world.AddJob("old", 1);
  const TaskId old = w.world.AddPod(
      {.name = "old-w-0", .job = "old", .node = "n1", .status = TaskStatus::kRunning});
  w.world.AddJob("A", 1);
  w.world.AddPod({.name = "A-w-0", .job = "A", .cpu = 9000});
  w.world.AddPod({.name = "A-w-1", .job = "A", .cpu = 0});
  w.Run();
  w.Run();
  EXPECT_EQ(w.Bound(), Counts());
  w.world.RemovePod(old);
  w.Run();
  ASSERT_EQ(w.sink.binds.size(), 1u);
  EXPECT_EQ(w.sink.binds[0].name, "A-w-1");
}

}  // namespace
}  // namespace hekla::actions

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"

namespace hekla::plugins {
namespace {

using harness::Value;
using harness::World;
using model::TaskStatus;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kConfig[] = "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n";

struct Member {
  std::string name = {}, role = {};
  TaskStatus status = TaskStatus::kPending;
  bool best_effort = false;
};

// One PodGroup "pg" on a roomy node; what a pod cannot show (Allocated, Pipelined) is set inside
// the session.
class Gang {
 public:
  Gang(int min_member, const std::vector<std::pair<std::string, int>>& roles,
       const std::vector<Member>& members) {
    CHECK(world_.Apply(harness::BuildNode("n1", {{"cpu", "100"}})).ok());
    CHECK(world_.Apply(harness::BuildQueue("default", 1)).ok());
    Value group =
        harness::BuildPodGroup({.name = "pg", .min_member = min_member, .phase = "Inqueue"});
    for (const auto& [role, minimum] : roles) {
      group.Ensure({"spec", "minTaskMember"}).Set(role, minimum);
    }
    CHECK(world_.Apply(group).ok());
    for (const Member& member : members) Add(member);
    CHECK(world_.Configure(kConfig, {"enqueue"}).ok());
  }

  void Run(const World::Hook& hook) {
    world_.Run([&](framework::Session& session) {
      for (const Member& member : session_only_) {
        world_.cluster().MoveTask(Task(member.name), member.status,
                                  world_.cluster().FindNode("n1"));
      }
      hook(session);
    });
  }
  model::TaskId Task(const std::string& name) { return world_.FindTask("default/" + name); }
  model::JobId job() { return world_.cluster().FindJob("default/pg"); }
  const model::ConditionRow* Condition(const std::string& type) {
    for (const auto& row : world_.tables().jobs.conditions[job()]) {
      if (row.type == type) return &row;
    }
    return nullptr;
  }
  World& world() { return world_; }

 private:
  void Add(const Member& member) {
    harness::PodArgs args{.name = member.name, .pod_group = "pg"};
    if (!member.best_effort) args.requests = {{"cpu", "1"}};
    switch (member.status) {
      case TaskStatus::kRunning:
        args.phase = "Running";
        args.node = "n1";
        break;
      case TaskStatus::kFailed:
        args.phase = "Failed";
        args.node = "n1";
        break;
      case TaskStatus::kAllocated:
      case TaskStatus::kPipelined:
        session_only_.push_back(member);
        break;
      default:
        break;
    }
    Value pod = harness::BuildPod(args);
    if (!member.role.empty()) {
      pod.Ensure({"metadata", "annotations"}).Set("volcano.sh/task-spec", member.role);
    }
    if (member.status == TaskStatus::kReleasing) {
      pod.Ensure({"spec"}).Set("nodeName", "n1");
      pod.Ensure({"status"}).Set("phase", "Running");
      pod.Ensure({"metadata"}).Set("deletionTimestamp", harness::TimeAt(9));
    }
    CHECK(world_.Apply(pod).ok());
  }

  World world_;
  std::vector<Member> session_only_;
};

std::vector<Member> Team(const std::vector<TaskStatus>& ps, const std::vector<TaskStatus>& worker) {
  std::vector<Member> members;
  for (size_t i = 0; i < ps.size(); ++i) {
    members.push_back({"ps" + std::to_string(i), "ps", ps[i]});
  }
  for (size_t i = 0; i < worker.size(); ++i) {
    members.push_back({"w" + std::to_string(i), "worker", worker[i]});
  }
  return members;
}

constexpr TaskStatus kRun = TaskStatus::kRunning, kAlloc = TaskStatus::kAllocated,
                     kPend = TaskStatus::kPending, kPipe = TaskStatus::kPipelined,
                     kFail = TaskStatus::kFailed;

struct Row {
  std::string name;
  int min_member;
  std::vector<std::pair<std::string, int>> roles;
  std::vector<Member> members;
  bool ready, pipelined, starving;
  std::string condition;
};

const std::vector<std::pair<std::string, int>> kRoles = {{"ps", 1}, {"worker", 3}};

// Spec scheduler-actions 5.6.
TEST(GangPluginTest, ReadinessOfTheWorkedExamples) {
  const Row rows[] = {
      {"workers below their minimum", 4, kRoles, Team({kRun, kRun}, {kAlloc, kAlloc, kPend, kPend}),
       false, false, false, "Scheduled"},
      {"one more pipelined", 4, kRoles, Team({kRun, kRun}, {kAlloc, kAlloc, kPipe, kPend}), false,
       true, false, "Scheduled"},
      {"every minimum met", 4, kRoles, Team({kRun, kPend}, {kRun, kRun, kRun, kPend}), true, true,
       false, "Scheduled"},
      {"too few", 4, kRoles, Team({kRun, kPend}, {kRun, kRun, kPend, kPend}), false, false, true,
       "Unschedulable"},
      {"roles ignored", 3, kRoles, Team({kRun, kRun}, {kRun, kPend, kPend, kPend}), true, true,
       false, "Scheduled"},
      {"best effort needs no room",
       2,
       {},
       {{"b0", "", kPend, true}, {"b1", "", kPend, true}, {"n0"}, {"n1"}, {"n2"}},
       true,
       true,
       true,
       "Scheduled"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Gang gang(row.min_member, row.roles, row.members);
    gang.Run([&](framework::Session& session) {
      EXPECT_EQ(session.points().job_ready(gang.job()), row.ready);
      EXPECT_EQ(session.points().job_pipelined(gang.job()), row.pipelined);
      EXPECT_EQ(session.points().job_starving(gang.job()), row.starving);
    });
    ASSERT_NE(gang.Condition(row.condition), nullptr);
    EXPECT_EQ(gang.Condition(row.condition)->status, "True");
  }
}

TEST(GangPluginTest, CloseSaysHowManyMembersAreMissing) {
  Gang gang(4, kRoles, Team({kRun, kPend}, {kRun, kRun, kPend, kPend}));
  gang.Run([](framework::Session&) {});
  const model::ConditionRow* row = gang.Condition("Unschedulable");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->reason, "NotEnoughResources");
  EXPECT_THAT(row->message, StartsWith("1/6 tasks in gang unschedulable: pod group is not ready"));
}

TEST(GangPluginTest, MetricsCountWhatIsMissing) {
  Gang gang(4, kRoles, Team({kRun, kPend}, {kRun, kRun, kPend, kPend}));
  gang.Run([](framework::Session&) {});
  framework::SchedulerMetrics& metrics = gang.world().metrics();
  EXPECT_EQ(metrics.unscheduled_tasks.With({"pg"})->value(), 1);
  EXPECT_EQ(metrics.unscheduled_jobs.value(), 1);
  EXPECT_EQ(metrics.job_retries.With({"pg"})->value(), 1);
  CHECK(gang.world().Apply(harness::BuildPodGroup({.name = "pg", .min_member = 3})).ok());
  gang.Run([](framework::Session&) {});
  EXPECT_EQ(metrics.unscheduled_tasks.With({"pg"})->value(), 0);
  EXPECT_EQ(metrics.unscheduled_jobs.value(), 0);
}

TEST(GangPluginTest, SeriesOfAJobGoWithIt) {
  Gang gang(4, {}, {});
  CHECK(gang.world().Apply(harness::BuildPodGroup({.name = "other", .min_member = 9})).ok());
  gang.Run([](framework::Session&) {});
  EXPECT_EQ(gang.world().metrics().unscheduled_tasks.All().size(), 2u);
  CHECK(gang.world().Remove(harness::BuildPodGroup({.name = "other"})).ok());
  gang.Run([](framework::Session&) {});
  EXPECT_EQ(gang.world().metrics().unscheduled_tasks.All().size(), 1u);
}

TEST(GangPluginTest, NothingIsSaidWhileAGangEndsInOrder) {
  Gang gang(2, {}, {{"a", "", kRun}, {"b", "", TaskStatus::kReleasing}});
  gang.Run([](framework::Session&) {});
  EXPECT_EQ(gang.Condition("Unschedulable"), nullptr);
  EXPECT_EQ(gang.Condition("Scheduled"), nullptr);
}

TEST(GangPluginTest, InvalidJobsSayWhatIsMissing) {
  Gang roles(4, kRoles, Team({kPend}, {kPend, kPend, kFail}));
  roles.Run([&](framework::Session& session) {
    const framework::ValidResult result = session.points().job_valid(roles.job());
    EXPECT_FALSE(result.pass);
    EXPECT_EQ(result.reason, "NotEnoughPodsOfTask");
    EXPECT_EQ(result.message, "Not enough valid pods of each task for gang-scheduling");
  });
  Gang count(4, {}, {{"a"}, {"b"}, {"c"}, {"d", "", TaskStatus::kReleasing}});
  count.Run([&](framework::Session& session) {
    const framework::ValidResult result = session.points().job_valid(count.job());
    EXPECT_EQ(result.reason, "NotEnoughTasks");
    EXPECT_EQ(result.message, "Not enough valid tasks for gang-scheduling, valid: 3, min: 4");
  });
}

std::vector<std::string> Victims(Gang& gang, const std::vector<std::string>& candidates) {
  std::vector<std::string> names;
  gang.Run([&](framework::Session& session) {
    std::vector<model::TaskId> tasks;
    for (const std::string& name : candidates) tasks.push_back(gang.Task(name));
    for (model::TaskId t : session.points().preemptable(tasks.front(), tasks)) {
      names.push_back(gang.world().TaskName(t).substr(sizeof("default/") - 1));
    }
  });
  return names;
}

TEST(GangPluginTest, VictimsLeaveTheMinimumRunning) {
  Gang gang(4, kRoles, Team({kRun, kRun}, {kRun, kRun, kRun, kRun}));
  // 6 -> 5 -> 4 tasks, but the workers' own minimum is 3.
  EXPECT_THAT(Victims(gang, {"w0", "w1", "w2", "ps0"}), ElementsAre("w0", "ps0"));
}

// Upstream would take both: it looks at the count of tasks alone.
TEST(GangPluginTest, VictimsLeaveTheMinimumOfTheirRoleRunning) {
  Gang gang(4, kRoles, Team({kRun, kRun}, {kRun, kRun, kRun, kRun}));
  EXPECT_THAT(Victims(gang, {"ps0", "ps1"}), ElementsAre("ps0"));
}

TEST(GangPluginTest, WithoutEnforcedRolesOnlyTheCountProtects) {
  Gang gang(3, kRoles, Team({kRun, kRun}, {kRun, kRun, kRun}));
  EXPECT_THAT(Victims(gang, {"ps0", "ps1", "w0"}), ElementsAre("ps0", "ps1"));
  Gang at_minimum(5, {}, Team({kRun, kRun}, {kRun, kRun, kRun}));
  EXPECT_THAT(Victims(at_minimum, {"ps0"}), IsEmpty());
}

}  // namespace
}  // namespace hekla::plugins

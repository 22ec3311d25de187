#include "pkg/framework/session.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/framework/session_state.h"
#include "pkg/framework/task_order.h"
#include "pkg/framework/testing/session_world.h"
#include "pkg/framework/tries.h"
#include "pkg/framework/victim_order.h"

namespace hekla::framework {
namespace {

using model::JobId;
using model::NodeId;
using model::PodGroupPhase;
using model::TaskId;
using model::TaskStatus;
using testing::SessionWorld;

// Spec scheduler-core, E7.
TEST(FitErrorsTest, RefusalsBecomeOneSortedSentence) {
  ReasonTable reasons;
  const ReasonId cpu =
      reasons.Intern(Code::kUnschedulable, Cause::kInsufficientResource, "Insufficient cpu");
  const ReasonId taint = reasons.Intern(Code::kUnschedulableAndUnresolvable,
                                        Cause::kUntoleratedTaint, "node(s) had untolerated taint");
  FitErrors errors;
  errors.nodes = 3;
  errors.Add(cpu);
  errors.Add(taint);
  errors.Add(cpu);
  EXPECT_EQ(Render(errors, reasons),
            "0/3 nodes are unavailable: 1 node(s) had untolerated taint, 2 Insufficient cpu.");
  errors.hyper_node = "s0";
  EXPECT_EQ(Render(errors, reasons),
            "In hyperNode s0: 0/3 nodes are unavailable: 1 node(s) had untolerated taint, "
            "2 Insufficient cpu.");
  FitErrors many;
  many.nodes = 12;
  many.Add(reasons.Intern(Code::kError, Cause::kNodeRefused, "Y"), 2);
  many.Add(reasons.Intern(Code::kError, Cause::kNodeRefused, "X"), 10);
  EXPECT_EQ(Render(many, reasons), "0/12 nodes are unavailable: 10 X, 2 Y.");
  EXPECT_EQ(Render(FitErrors(), reasons), "0/0 nodes are unavailable");
  FitErrors head;
  head.custom_head = "Task a with role spec w has already predicated failed, skip";
  EXPECT_EQ(Render(head, reasons), head.custom_head);
  FitErrors silent;
  silent.nodes = 1;
  silent.Add(reasons.Intern(Code::kError, Cause::kNodeRefused, ""));
  EXPECT_EQ(Render(silent, reasons), "0/1 nodes are unavailable: .");
}

TEST(ReasonTableTest, ATextKeepsItsCauseAndWhoSaysItCanBeLeftOut) {
  ReasonTable reasons;
  const absl::string_view head = "plugin X pre-predicates failed ";
  const ReasonId lost = reasons.Intern(Code::kError, Cause::kClaimLost,
                                       absl::StrCat(head, "the claim is lost"), head.size());
  const ReasonId cpu =
      reasons.Intern(Code::kUnschedulable, Cause::kInsufficientResource, "Insufficient cpu");
  EXPECT_EQ(reasons.cause(lost), Cause::kClaimLost);
  EXPECT_EQ(reasons.text(lost), "plugin X pre-predicates failed the claim is lost");
  EXPECT_EQ(reasons.detail(lost), "the claim is lost");
  EXPECT_EQ(reasons.detail(cpu), "Insufficient cpu");
}

struct PhaseCase {
  const char* name;
  std::vector<std::pair<TaskStatus, int>> tasks;
  bool releasing_has_node = true;
  int32_t min_member = 3;
  PodGroupPhase before;
  bool unschedulable = false;
  PodGroupPhase after;
};

// Spec scheduler-core, E6.
TEST(PhaseTest, FollowsFromCountsAndThePreviousPhase) {
  using S = TaskStatus;
  using P = PodGroupPhase;
  const PhaseCase cases[] = {
      {.name = "all there",
       .tasks = {{S::kRunning, 2}, {S::kBound, 1}},
       .before = P::kInqueue,
       .after = P::kRunning},
      {.name = "one lost",
       .tasks = {{S::kRunning, 2}, {S::kPending, 1}},
       .before = P::kRunning,
       .unschedulable = true,
       .after = P::kUnknown},
      {.name = "older condition",
       .tasks = {{S::kRunning, 2}, {S::kPending, 1}},
       .before = P::kInqueue,
       .after = P::kInqueue},
      {.name = "back to pending",
       .tasks = {{S::kRunning, 2}, {S::kPending, 1}},
       .before = P::kRunning,
       .after = P::kPending},
      {.name = "ended",
       .tasks = {{S::kSucceeded, 2}, {S::kFailed, 1}},
       .before = P::kRunning,
       .after = P::kCompleted},
      {.name = "releasing on a node",
       .tasks = {{S::kRunning, 2}, {S::kReleasing, 1}},
       .before = P::kRunning,
       .after = P::kRunning},
      {.name = "releasing nowhere",
       .tasks = {{S::kRunning, 2}, {S::kReleasing, 1}},
       .releasing_has_node = false,
       .before = P::kRunning,
       .after = P::kPending},
      {.name = "in flight",
       .tasks = {{S::kBinding, 3}},
       .before = P::kInqueue,
       .after = P::kInqueue},
      {.name = "completed but one goes",
       .tasks = {{S::kSucceeded, 2}, {S::kReleasing, 1}},
       .before = P::kRunning,
       .after = P::kRunning},
      {.name = "quirk: no minimum",
       .tasks = {{S::kPending, 2}},
       .min_member = 0,
       .before = P::kNone,
       .after = P::kCompleted},
  };
  for (const PhaseCase& c : cases) {
    SessionWorld w;
    const NodeId node = w.world.AddNode({.name = "n1", .cpu = 100000});
    w.world.AddQueue("default");
    const JobId job = w.world.AddJob("pg", c.min_member, "default", c.before);
    int n = 0;
    for (auto [status, count] : c.tasks) {
      for (int i = 0; i < count; ++i) {
        const TaskId t = w.world.AddPod({.name = "p" + std::to_string(n++), .job = "pg"});
        const bool placed =
            status != S::kPending && (status != S::kReleasing || c.releasing_has_node);
        w.world.cluster().MoveTask(t, status, placed ? node : NodeId());
      }
    }
    EXPECT_EQ(NextPhase(w.world.tables().jobs, job, c.unschedulable), c.after) << c.name;
  }
}

// Spec scheduler-core, E8: a gang of three whose last statement was discarded.
TEST(JobFitErrorTest, CountsStatusesReasonsAndTheFirstRefusal) {
  SessionWorld w;
  w.world.AddNode({.name = "n3"});
  w.world.AddQueue("default");
  model::JobSpec spec;
  spec.namespace_name = "ml";
  spec.name = "train";
  spec.min_member = 3;
  spec.phase = PodGroupPhase::kInqueue;
  spec.queue = "default";
  const JobId job = w.world.AddJob(spec);
  std::vector<TaskId> tasks;
  for (int i = 0; i < 3; ++i) {
    auto pod = w.world.MakePod({.name = "train-w-" + std::to_string(i), .job = "train"});
    pod->namespace_name = "ml";
    tasks.push_back(w.world.Apply(pod));
  }
  w.Cycle([&](Session& session) {
    Tries(session).Begin(job);
    FitErrors& errors = session.FitErrorsOf(tasks[0]);
    errors.nodes = 2;
    errors.Add(
        w.reasons.Intern(Code::kUnschedulable, Cause::kInsufficientResource, "Insufficient cpu"),
        2);
    Statement statement(session);
    statement.Allocate(tasks[1], w.world.cluster().FindNode("n3"));
    statement.Allocate(tasks[2], w.world.cluster().FindNode("n3"));
    statement.Discard();
    const std::string text = session.JobFitErrorText(job);
    EXPECT_EQ(text,
              "pod group is not ready, 3 Pending, 3 minAvailable; Pending: 1 Unschedulable, "
              "2 Schedulable. Origin reason is train-w-0: 0/2 nodes are unavailable: "
              "2 Insufficient cpu.");
  });
  ASSERT_EQ(w.sink.events.size(), 1u);
  EXPECT_EQ(w.sink.events[0].reason, "Unschedulable");
  EXPECT_EQ(w.sink.events[0].message,
            "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; "
            "Pending: 1 Unschedulable, 2 Schedulable. Origin reason is train-w-0: 0/2 nodes are "
            "unavailable: 2 Insufficient cpu.");
  ASSERT_EQ(w.sink.conditions.size(), 3u);
  EXPECT_EQ(w.sink.conditions[0].reason, "Unschedulable");
  EXPECT_EQ(w.sink.conditions[0].message, "0/2 nodes are unavailable: 2 Insufficient cpu.");
  EXPECT_EQ(w.sink.conditions[1].reason, "Schedulable");
  EXPECT_EQ(w.sink.conditions[1].message,
            "Pod ml/train-w-1 can possibly be assigned to n3, once minAvailable is satisfied");
}

TEST(SessionTest, WhatIsUnchangedIsNotWrittenAgain) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  w.world.AddQueue("default");
  w.world.AddJob("pg", 2);
  w.world.AddPod({.name = "p0", .job = "pg"});
  w.Cycle([](Session&) {});
  EXPECT_GT(w.sink.writes(), 0u);
  w.sink.Clear();
  for (int i = 0; i < 3; ++i) w.Cycle([](Session&) {});
  EXPECT_EQ(w.sink.writes(), 0u);
}

// Spec scheduler-core, E14.
TEST(PodGroupStatusTest, TimesAndTransitionIdsAreNoChange) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  w.world.AddQueue("default");
  model::JobSpec spec;
  spec.name = "pg";
  spec.queue = "default";
  spec.min_member = 2;
  spec.phase = PodGroupPhase::kInqueue;
  spec.conditions = {{"Unschedulable", "True", "NotEnoughResources", "m", "1", absl::Now()}};
  const JobId job = w.world.AddJob(spec);
  const TaskId p0 = w.world.AddPod({.name = "p0", .job = "pg"});
  const auto close_with = [&](const char* message) {
    w.sink.Clear();
    w.Cycle([&](Session& session) {
      session.SetJobCondition(job, {"Unschedulable", "True", "NotEnoughResources", message,
                                    session.uid(), session.now()});
    });
  };
  close_with("m");
  EXPECT_TRUE(w.sink.pod_groups.empty());
  close_with("n");
  ASSERT_EQ(w.sink.pod_groups.size(), 1u);
  EXPECT_TRUE(w.sink.pod_groups[0].message_only);
  EXPECT_EQ(w.sink.pod_groups[0].conditions[0].transition_id, "session-2");
  // One runs and one more is bound: the phase changes, and a good event goes out.
  w.world.Update(p0, TaskStatus::kRunning, "n1");
  w.world.AddPod({.name = "p1", .job = "pg", .node = "n1", .status = TaskStatus::kBound});
  w.sink.Clear();
  w.Cycle([](Session&) {});
  ASSERT_EQ(w.sink.pod_groups.size(), 1u);
  EXPECT_EQ(w.sink.pod_groups[0].phase, PodGroupPhase::kRunning);
  EXPECT_EQ(w.sink.pod_groups[0].running, 1);
  EXPECT_FALSE(w.sink.pod_groups[0].message_only);
  ASSERT_EQ(w.sink.events.size(), 1u);
  EXPECT_EQ(w.sink.events[0].reason, "Scheduled");
  EXPECT_EQ(w.sink.events[0].message, "pod group is ready");
  EXPECT_FALSE(w.sink.events[0].warning);
}

TEST(SessionTest, AMissingQueueIsNamed) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  w.world.AddJob("pg", 1, "nowhere", PodGroupPhase::kPending);
  w.world.AddPod({.name = "p0", .job = "pg"});
  w.Cycle([](Session&) {});
  ASSERT_EQ(w.sink.pod_groups.size(), 1u);
  ASSERT_EQ(w.sink.pod_groups[0].conditions.size(), 1u);
  EXPECT_EQ(w.sink.pod_groups[0].conditions[0].reason, "QueueNotFound");
  ASSERT_EQ(w.sink.conditions.size(), 1u);
  EXPECT_EQ(w.sink.conditions[0].message, "queue \"nowhere\" does not exist");
}

// What runs is not made Unknown, nor told that it cannot be scheduled, as its queue was deleted.
TEST(SessionTest, AJobWhoseQueueIsGoneKeepsItsPhase) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  const JobId job = w.world.AddJob("pg", 2, "nowhere", PodGroupPhase::kRunning);
  w.world.AddPod({.name = "p0", .job = "pg", .node = "n1", .status = TaskStatus::kRunning});
  w.Cycle([](Session&) {});
  EXPECT_EQ(w.world.tables().jobs.phase[job], PodGroupPhase::kRunning);
  EXPECT_TRUE(w.world.tables().jobs.conditions[job].empty());
  w.world.AddPod({.name = "p1", .job = "pg"});
  w.Cycle([](Session&) {});
  EXPECT_EQ(w.world.tables().jobs.phase[job], PodGroupPhase::kRunning);
  ASSERT_EQ(w.world.tables().jobs.conditions[job].size(), 1u);
  EXPECT_EQ(w.world.tables().jobs.conditions[job][0].reason, "QueueNotFound");
}

// Spec scheduler-core, E13.
TEST(QueueStatusTest, CountsItsOwnJobsAndThoseBelow) {
  SessionWorld w;
  w.world.AddNode({.name = "n1", .cpu = 10000});
  w.world.AddQueue("root");
  w.world.AddQueue("org");
  w.world.AddQueue("team", "org");
  w.world.AddQueue("idle");
  w.world.AddJob("pg", 1, "team");
  const int64_t gi = int64_t{1} << 30;
  w.world.AddPod({.name = "a",
                  .job = "pg",
                  .cpu = 1000,
                  .memory = gi,
                  .node = "n1",
                  .status = TaskStatus::kRunning});
  w.world.AddPod({.name = "b",
                  .job = "pg",
                  .cpu = 500,
                  .memory = gi,
                  .node = "n1",
                  .status = TaskStatus::kBound});
  w.world.AddPod(
      {.name = "c", .job = "pg", .cpu = 300, .node = "n1", .status = TaskStatus::kReleasing});
  const TaskId d = w.world.AddPod({.name = "d", .job = "pg", .cpu = 700});
  w.Cycle([&](Session& session) {
    Statement s(session);
    s.Pipeline(d, w.world.cluster().FindNode("n1"), false);
    s.Keep();
  });
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  ASSERT_EQ(w.sink.queues.size(), 4u);
  for (const ports::QueueStatus& q : w.sink.queues) {
    const Pairs expected = q.name == "idle"
                               ? Pairs{{"cpu", "0"}, {"memory", "0"}}
                               : Pairs{{"cpu", "1500m"}, {"memory", "2Gi"}, {"pods", "2"}};
    EXPECT_EQ(q.allocated, expected) << q.name;
  }
  EXPECT_EQ(w.world.StatusOf(d), TaskStatus::kPending);  // undone at close
}

TEST(QueueStatusTest, AJobInTheRootQueueIsCountedOnce) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  w.world.AddQueue("root");
  w.world.AddJob("pg", 1, "root");
  w.world.AddPod({.name = "a", .job = "pg", .node = "n1", .status = TaskStatus::kRunning});
  w.Cycle([](Session&) {});
  ASSERT_EQ(w.sink.queues.size(), 1u);
  EXPECT_EQ(w.sink.queues[0].allocated[0].second, "1");
}

// Cpu that was written for each queue since the last call.
std::map<std::string, std::string> CpuWritten(SessionWorld& w) {
  w.Cycle([](Session&) {});
  std::map<std::string, std::string> cpu;
  for (const ports::QueueStatus& q : w.sink.queues) cpu[q.name] = q.allocated[0].second;
  w.sink.Clear();
  return cpu;
}

TEST(QueueStatusTest, AQueueThatMovesOrGoesLeavesTheSumsAboveIt) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  w.world.AddQueue("root");
  w.world.AddQueue("a");
  w.world.AddQueue("b");
  w.world.AddQueue("team", "a");
  w.world.AddJob("pg", 1, "team");
  w.world.AddPod({.name = "p", .job = "pg", .node = "n1", .status = TaskStatus::kRunning});
  using Cpu = std::map<std::string, std::string>;
  EXPECT_EQ(CpuWritten(w), (Cpu{{"root", "1"}, {"a", "1"}, {"b", "0"}, {"team", "1"}}));
  w.world.AddQueue("team", "b");
  EXPECT_EQ(CpuWritten(w), (Cpu{{"a", "0"}, {"b", "1"}, {"team", "1"}}));
  w.world.RemoveQueue("team");
  EXPECT_EQ(CpuWritten(w), (Cpu{{"root", "0"}, {"b", "0"}}));
}

TEST(QueueStatusTest, InACircleOfParentsEachQueueCountsOnce) {
  SessionWorld w;
  w.world.AddNode({.name = "n1"});
  w.world.AddQueue("a", "b");
  w.world.AddQueue("b", "a");
  w.world.AddQueue("below", "a");
  w.world.AddJob("pg", 1, "below");
  w.world.AddPod({.name = "p", .job = "pg", .node = "n1", .status = TaskStatus::kRunning});
  EXPECT_EQ(CpuWritten(w),
            (std::map<std::string, std::string>{{"a", "1"}, {"b", "1"}, {"below", "1"}}));
}

TEST(FormatAmountTest, QuantitiesAreCanonical) {
  using U = model::ResourceUnit;
  EXPECT_EQ(FormatAmount(1500, U::kMilliCores, "cpu"), "1500m");
  EXPECT_EQ(FormatAmount(3000000, U::kMilliCores, "cpu"), "3k");
  EXPECT_EQ(FormatAmount(int64_t{3} << 29, U::kBytes, "memory"), "1536Mi");
  EXPECT_EQ(FormatAmount(1000, U::kBytes, "memory"), "1k");
  EXPECT_EQ(FormatAmount(8000, U::kMilli, "nvidia.com/gpu"), "8");
  EXPECT_EQ(FormatAmount(110, U::kCount, "pods"), "110");
  EXPECT_EQ(FormatAmount(0, U::kBytes, "memory"), "0");
}

// Spec scheduler-core, E12.
TEST(OrderTest, TasksByIndexThenCreationThenUid) {
  SessionWorld w;
  std::vector<TaskId> t;
  for (const char* name : {"train-w-10", "train-w-2", "web-1", "web-0", "a-b-x", "a-b-0"}) {
    t.push_back(w.world.AddPod({.name = name}));
  }
  Session& s = w.session();
  EXPECT_TRUE(s.TaskBefore(t[1], t[0]));
  EXPECT_TRUE(s.TaskBefore(t[2], t[3]));  // two parts: the older one
  EXPECT_TRUE(s.TaskBefore(t[4], t[5]));  // "x" is no number
}

// By index 7 precedes 9, by age 9 the web and the web 7: no order of three agrees with all pairs.
TEST(OrderTest, NamesWithAndWithoutIndexMix) {
  SessionWorld w;
  std::vector<TaskId> t;
  for (const char* name : {"train-w-9", "web", "train-w-7", "train-w-8", "api"}) {
    t.push_back(w.world.AddPod({.name = name}));
  }
  const std::vector<TaskId> wanted = {t[2], t[1], t[3], t[0], t[4]};  // 7, web, 8, 9, api
  std::vector<TaskId> sorted = {t[4], t[3], t[2], t[1], t[0]};
  SortTasks(w.session(), absl::MakeSpan(sorted));
  EXPECT_EQ(sorted, wanted);
  SortTasks(w.session(), absl::MakeSpan(sorted));
  EXPECT_EQ(sorted, wanted);
}

// The same names spread over two jobs of one queue, a job of a younger queue and a pod without job.
TEST(OrderTest, VictimsGoWithoutJobThenByQueueThenLastTaskFirst) {
  SessionWorld w;
  for (const char* queue : {"default", "younger"}) w.world.AddQueue(queue);
  for (const char* job : {"a", "b"}) w.world.AddJob(job, 1);
  w.world.AddJob("c", 1, "younger");
  std::vector<TaskId> t;
  const auto add = [&](const char* name, const char* job) {
    t.push_back(w.world.AddPod({.name = name, .job = job}));
  };
  add("train-w-9", "a");
  add("web", "b");
  add("train-w-7", "b");
  add("train-w-8", "a");
  add("api", "a");
  add("other", "c");
  add("bare", "");
  const TaskId preemptor = w.world.AddPod({.name = "preemptor", .job = "b"});
  const std::vector<TaskId> wanted = {t[6], t[5], t[4], t[0], t[3], t[1], t[2]};
  std::vector<TaskId> sorted = t;
  SortVictims(w.session(), preemptor, absl::MakeSpan(sorted));
  EXPECT_EQ(sorted, wanted);
  std::reverse(sorted.begin(), sorted.end());
  SortVictims(w.session(), preemptor, absl::MakeSpan(sorted));
  EXPECT_EQ(sorted, wanted);
}

}  // namespace
}  // namespace hekla::framework

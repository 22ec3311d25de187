#include "pkg/model/cluster.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "pkg/model/testing/world.h"
#include "pkg/util/random.h"

namespace hekla::model {
namespace {

using testing::World;

int64_t FutureIdleCpu(const World& w, NodeId node) {
  return w.tables().nodes.FutureIdle(node, kCpu);
}

// Spec scheduler-core, E5.
TEST(NodeAccountsTest, StatusDecidesWhichAccountATaskIsBookedIn) {
  World w;
  const NodeId n = w.AddNode({.name = "n1", .cpu = 10000});
  const NodeTable& nodes = w.tables().nodes;
  w.AddPod({.name = "r", .cpu = 3000, .node = "n1", .status = TaskStatus::kRunning});
  const TaskId l =
      w.AddPod({.name = "l", .cpu = 2000, .node = "n1", .status = TaskStatus::kReleasing});
  const TaskId p = w.AddPod({.name = "p", .cpu = 4000});
  w.cluster().MoveTask(p, TaskStatus::kPipelined, n);
  EXPECT_EQ(nodes.idle.at(n.index(), kCpu), 5000);
  EXPECT_EQ(nodes.used.at(n.index(), kCpu), 5000);
  EXPECT_EQ(nodes.releasing.at(n.index(), kCpu), 2000);
  EXPECT_EQ(nodes.pipelined.at(n.index(), kCpu), 4000);
  EXPECT_EQ(FutureIdleCpu(w, n), 3000);
  EXPECT_EQ(nodes.idle.at(n.index(), kPods), 108);
  EXPECT_EQ(nodes.FutureIdle(n, kPods), 108);
  EXPECT_EQ(nodes.pod_count[n], 3u);
  const TaskId y = w.AddPod({.name = "y", .cpu = 6000});
  w.cluster().MoveTask(y, TaskStatus::kAllocated, n);
  EXPECT_EQ(nodes.idle.at(n.index(), kCpu), -1000);
  EXPECT_EQ(nodes.used.at(n.index(), kCpu), 11000);
  w.RemovePod(y);
  w.RemovePod(l);
  EXPECT_EQ(nodes.idle.at(n.index(), kCpu), 7000);
  EXPECT_EQ(nodes.releasing.at(n.index(), kCpu), 0);
  EXPECT_EQ(nodes.used.at(n.index(), kCpu), 3000);
  EXPECT_EQ(FutureIdleCpu(w, n), 3000);
  w.cluster().CheckConsistency();
}

TEST(ClusterTest, PodsMayArriveBeforeTheirNodeAndOutliveIt) {
  World w;
  w.AddPod({.name = "p", .cpu = 3000, .node = "n1", .status = TaskStatus::kRunning});
  EXPECT_EQ(w.tables().nodes.live_count(), 0u);
  const NodeId n = w.AddNode({.name = "n1", .cpu = 4000});
  EXPECT_EQ(w.tables().nodes.idle.at(n.index(), kCpu), 1000);
  w.RemoveNode("n1");
  EXPECT_EQ(w.tables().nodes.live_count(), 0u);
  w.cluster().CheckConsistency();
  EXPECT_EQ(w.AddNode({.name = "n1", .cpu = 5000}), n);
  EXPECT_EQ(w.tables().nodes.idle.at(n.index(), kCpu), 2000);
  w.cluster().CheckConsistency();
}

TEST(ClusterTest, ABindingIsAssumedUntilItsEcho) {
  World w;
  const NodeId n = w.AddNode({.name = "n1"});
  w.AddQueue("default");
  w.AddJob("pg", 1);
  const TaskId p = w.AddPod({.name = "p", .job = "pg"});
  w.cluster().MoveTask(p, TaskStatus::kBinding, n);
  w.Update(p, TaskStatus::kPending, "");  // an update from before the binding
  EXPECT_EQ(w.StatusOf(p), TaskStatus::kBinding);
  w.Update(p, TaskStatus::kBound, "n1");
  EXPECT_EQ(w.StatusOf(p), TaskStatus::kBound);
  w.cluster().CheckConsistency();
}

TEST(ClusterTest, AFailedBindingGoesBackToWhatTheServerSays) {
  World w;
  const NodeId n = w.AddNode({.name = "n1"});
  w.AddNode({.name = "n2"});
  const TaskId p = w.AddPod({.name = "p"});
  const TaskId q = w.AddPod({.name = "q"});
  const TaskId gone = w.AddPod({.name = "gone"});
  auto pending = w.tables().tasks.spec[p];
  auto elsewhere = w.MakePod({.name = "q", .node = "n2", .status = TaskStatus::kBound});
  for (TaskId t : {p, q, gone}) w.cluster().MoveTask(t, TaskStatus::kBinding, n);
  w.cluster().Apply(BindFailed{"uid-p", "n1", "no", pending});
  w.cluster().Apply(BindFailed{"uid-q", "n1", "conflict", elsewhere});
  w.cluster().Apply(BindFailed{"uid-gone", "n1", "not found", nullptr});
  EXPECT_EQ(w.StatusOf(p), TaskStatus::kPending);
  EXPECT_EQ(w.StatusOf(q), TaskStatus::kBound);
  EXPECT_EQ(w.tables().nodes.idle.at(n.index(), kCpu), 8000);
  EXPECT_FALSE(w.cluster().FindTask("uid-gone").valid());
  w.cluster().CheckConsistency();
}

TEST(ClusterTest, AnEvictedTaskStaysReleasingUntilConfirmedOrFailed) {
  World w;
  const NodeId n = w.AddNode({.name = "n1"});
  const TaskId p = w.AddPod({.name = "p", .node = "n1", .status = TaskStatus::kRunning});
  w.cluster().MoveTask(p, TaskStatus::kReleasing, n);
  w.cluster().SetEvicted(p);
  w.Update(p, TaskStatus::kRunning, "n1");
  EXPECT_EQ(w.StatusOf(p), TaskStatus::kReleasing);
  w.cluster().Apply(EvictFailed{"uid-p", w.tables().tasks.spec[p]});
  EXPECT_EQ(w.StatusOf(p), TaskStatus::kRunning);
  w.cluster().CheckConsistency();
}

TEST(ClusterTest, APodOfTheSameNameAndAnotherUidReplacesTheOldOne) {
  World w;
  w.AddNode({.name = "n1"});
  w.AddPod({.name = "p", .node = "n1", .status = TaskStatus::kRunning, .uid = "u1"});
  const TaskId fresh = w.AddPod({.name = "p", .uid = "u2"});
  EXPECT_FALSE(w.cluster().FindTask("u1").valid());
  EXPECT_EQ(w.StatusOf(fresh), TaskStatus::kPending);
  EXPECT_EQ(w.tables().nodes.pod_count[w.cluster().FindNode("n1")], 0u);
  w.cluster().CheckConsistency();
}

TEST(ClusterTest, EchoesOfOurOwnWritesTouchNoJob) {
  World w;
  w.AddQueue("default");
  const JobId job = w.AddJob("pg", 1);
  const TaskId p = w.AddPod({.name = "p", .job = "pg"});
  const uint32_t generation = w.tables().jobs.generation[job];
  auto echo = std::make_shared<TaskSpec>(*w.tables().tasks.spec[p]);
  echo->scheduled_condition = ConditionText{"False", "Unschedulable", "why"};
  echo->resource_version += 10;
  w.Apply(echo);
  EXPECT_EQ(w.tables().jobs.generation[job], generation);
  EXPECT_EQ(w.tables().tasks.spec[p], echo);
}

TEST(ClusterTest, AnEchoOfAPodGroupStatusIsNoNewsForTheJob) {
  World w;
  w.AddQueue("default");
  JobSpec spec;
  spec.name = "pg";
  spec.queue = "default";
  const JobId job = w.AddJob(spec);
  w.cluster().SetPhase(job, PodGroupPhase::kInqueue);
  w.cluster().ClearUnpublished();
  const uint32_t generation = w.tables().jobs.generation[job];
  spec = *w.tables().jobs.spec[job];
  spec.phase = PodGroupPhase::kInqueue;
  spec.conditions = {{"Unschedulable", "True", "r", "m", "1", absl::FromUnixSeconds(5)}};
  w.AddJob(spec);
  EXPECT_EQ(w.tables().jobs.generation[job], generation);
  EXPECT_EQ(w.tables().jobs.conditions[job].size(), 1u);
  EXPECT_EQ(w.cluster().unpublished_jobs(), std::vector<JobId>{job});
}

TEST(JobTest, PodsWaitForTheirPodGroupAndJobsForTheirQueue) {
  World w;
  const TaskId p = w.AddPod({.name = "p", .job = "pg"});
  const JobId job = w.tables().tasks.job[p];
  EXPECT_EQ(w.tables().jobs.spec[job], nullptr);
  EXPECT_EQ(w.AddJob("pg", 2, "late"), job);
  EXPECT_FALSE(w.tables().jobs.queue[job].valid());
  const QueueId queue = w.AddQueue("late");
  EXPECT_EQ(w.tables().jobs.queue[job], queue);
  EXPECT_EQ(w.tables().queues.pending[queue][kCpu], 1000);
  w.cluster().Apply(Remove<QueueSpec>{"late"});
  EXPECT_FALSE(w.tables().jobs.queue[job].valid());
  w.cluster().Apply(Remove<JobSpec>{"ns/pg"});
  EXPECT_EQ(w.tables().jobs.spec[job], nullptr);
  w.RemovePod(p);
  EXPECT_FALSE(w.cluster().FindJob("ns/pg").valid());
  w.cluster().CheckConsistency();
}

TEST(JobTest, ABarePodIsAGangOfOne) {
  World w;
  w.AddQueue("default");
  const TaskId p = w.AddPod({.name = "p", .cpu = 1500, .solo = true});
  const JobTable& jobs = w.tables().jobs;
  const JobId job = jobs.queue.size() > 0 ? w.tables().tasks.job[p] : JobId();
  ASSERT_TRUE(job.valid());
  EXPECT_TRUE(jobs.solo[job]);
  EXPECT_EQ(jobs.min_available[job], 1);
  EXPECT_EQ(jobs.phase[job], PodGroupPhase::kPending);
  EXPECT_EQ(jobs.spec[job]->min_resources->Or(kCpu, 0), 1500);
  EXPECT_TRUE(jobs.queue[job].valid());
  EXPECT_EQ(w.cluster().waiting_jobs(), std::vector<JobId>{job});
  w.RemovePod(p);
  EXPECT_TRUE(w.cluster().waiting_jobs().empty());
  w.cluster().CheckConsistency();
}

// Spec scheduler-core, E9.
TEST(JobTest, ReadinessCountsPendingBestEffortTasks) {
  World w;
  w.AddQueue("default");
  w.AddNode({.name = "n1"});
  JobSpec spec;
  spec.name = "pg";
  spec.min_member = 4;
  spec.min_task_member = {{w.Sym("ps"), 1}, {w.Sym("worker"), 3}};
  const JobId job = w.AddJob(spec);
  w.AddPod({.name = "ps", .job = "pg", .node = "n1", .status = TaskStatus::kRunning, .role = "ps"});
  for (const char* name : {"w0", "w1"}) {
    const TaskId t = w.AddPod({.name = name, .job = "pg", .role = "worker"});
    w.cluster().MoveTask(t, TaskStatus::kAllocated, w.cluster().FindNode("n1"));
  }
  w.AddPod({.name = "w2", .job = "pg", .cpu = 0, .role = "worker"});
  const JobTable& jobs = w.tables().jobs;
  EXPECT_EQ(jobs.Ready(job), 3);
  EXPECT_EQ(jobs.pending_best_effort[job], 1);
  EXPECT_TRUE(jobs.IsReady(job));
  EXPECT_TRUE(jobs.IsStarving(job));
  EXPECT_EQ(jobs.role_minimum_total[job], 4);
  w.cluster().CheckConsistency();
}

// Spec scheduler-core, E19.
TEST(SubJobTest, IdsFollowFromLabelValues) {
  World w;
  w.AddQueue("default");
  JobSpec spec;
  spec.name = "pg1";
  spec.min_member = 2;
  SubGroupPolicy policy;
  policy.name = "rack";
  policy.match_label_keys = {w.Sym("zone"), w.Sym("rack")};
  policy.sub_group_size = 2;
  spec.sub_groups = {policy};
  const JobId job = w.AddJob(spec);
  const SubJobTable& subs = w.tables().sub_jobs;
  const TaskId a = w.AddPod({.name = "a", .job = "pg1", .labels = {{"zone", "3"}, {"rack", "b"}}});
  const SubJobId sub = w.tables().tasks.sub_job[a];
  EXPECT_EQ(subs.id[sub], "ns/pg1/rack-3-b");
  EXPECT_EQ(subs.match_index[sub], 3);
  EXPECT_EQ(subs.min_available[sub], 2);
  const TaskId b = w.AddPod({.name = "b", .job = "pg1", .labels = {{"zone", "3"}}});
  EXPECT_EQ(subs.id[w.tables().tasks.sub_job[b]], "ns/pg1");
  EXPECT_EQ(subs.min_available[w.tables().tasks.sub_job[b]], 1);

  spec.sub_groups[0].match_label_keys = {w.Sym("long")};
  w.AddJob(spec);
  const TaskId c =
      w.AddPod({.name = "c", .job = "pg1", .labels = {{"long", std::string(129, 'a')}}});
  EXPECT_EQ(subs.id[w.tables().tasks.sub_job[c]], "ns/pg1/rack-78566b547b");
  EXPECT_EQ(w.tables().jobs.task_count[job], 3);
  w.cluster().CheckConsistency();
}

TEST(SubJobTest, QuirkAPolicyWithoutKeysGroupsNothing) {
  World w;
  w.AddQueue("default");
  JobSpec spec;
  spec.name = "pg1";
  spec.sub_groups.resize(1);
  spec.sub_groups[0].name = "all";
  w.AddJob(spec);
  const TaskId a = w.AddPod({.name = "a", .job = "pg1"});
  EXPECT_EQ(w.tables().sub_jobs.id[w.tables().tasks.sub_job[a]], "ns/pg1");
}

TEST(PriorityTest, JobsFollowTheirClassAndTheGlobalDefault) {
  World w;
  w.AddQueue("default");
  JobSpec spec;
  spec.name = "a";
  spec.priority_class = "high";
  const JobId named = w.AddJob(spec);
  const JobId plain = w.AddJob("b", 1);
  auto put = [&](const char* name, int32_t value, bool global) {
    w.cluster().Apply(Upsert<PriorityClassSpec>{
        std::make_shared<PriorityClassSpec>(PriorityClassSpec{name, value, global})});
  };
  put("high", 100, false);
  put("base", 7, true);
  EXPECT_EQ(w.tables().jobs.priority[named], 100);
  EXPECT_EQ(w.tables().jobs.priority[plain], 7);
  w.cluster().Apply(Remove<PriorityClassSpec>{"base"});
  w.cluster().Apply(Remove<PriorityClassSpec>{"high"});
  EXPECT_EQ(w.tables().jobs.priority[named], 0);
  EXPECT_EQ(w.tables().jobs.priority[plain], 0);
}

TEST(TaskClassTest, LabelsCountOnlyWhereSelectorsLookAtThem) {
  World w;
  const TaskTable& tasks = w.tables().tasks;
  const TaskId a = w.AddPod({.name = "a", .labels = {{"app", "x"}, {"index", "1"}}});
  const TaskId b = w.AddPod({.name = "b", .labels = {{"app", "y"}, {"index", "2"}}});
  EXPECT_EQ(tasks.task_class[a], tasks.task_class[b]);
  // A pod that keeps away from app=x: now the value of app matters, the index still does not.
  auto shy = w.MakePod({.name = "c", .labels = {{"app", "x"}, {"index", "3"}}});
  auto pod = std::make_shared<PodTemplate>(*shy->pod);
  PodTerm term;
  term.selector.requirements = {{w.Sym("app"), SelectorOp::kIn, {w.Sym("x")}, 0}};
  term.topology_key = w.Sym("kubernetes.io/hostname");
  pod->anti_affinity = {term};
  shy->pod = pod;
  w.Apply(shy);
  EXPECT_NE(tasks.task_class[a], tasks.task_class[b]);
  const TaskId d = w.AddPod({.name = "d", .labels = {{"app", "x"}, {"index", "4"}}});
  EXPECT_EQ(tasks.task_class[a], tasks.task_class[d]);
  EXPECT_EQ(w.tables().classes.static_key[tasks.task_class[a]],
            w.tables().classes.static_key[tasks.task_class[b]]);
  w.cluster().CheckConsistency();
}

TEST(NodeOrderTest, LeavesFollowNameHashesAndTheOtherOrderCreation) {
  World w;
  for (const char* name : {"n3", "n1", "n2"}) w.AddNode({.name = name});
  const NodeTable& nodes = w.tables().nodes;
  std::vector<std::string> created;
  for (NodeId n : nodes.in_cluster_order) created.push_back(nodes.spec[n]->name);
  EXPECT_EQ(created, (std::vector<std::string>{"n3", "n1", "n2"}));
  World other;
  for (const char* name : {"n1", "n2", "n3"}) other.AddNode({.name = name});
  std::vector<std::string> a, b;
  for (NodeId n : nodes.leaves) a.push_back(nodes.spec[n]->name);
  for (NodeId n : other.tables().nodes.leaves) b.push_back(other.tables().nodes.spec[n]->name);
  EXPECT_EQ(a, b);
}

// Random changes of every kind; the kept accounts must equal a recount at all times.
TEST(ClusterPropertyTest, AccountsEqualARecountAfterAnyChanges) {
  constexpr TaskStatus kStatuses[] = {TaskStatus::kPending,   TaskStatus::kBound,
                                      TaskStatus::kRunning,   TaskStatus::kReleasing,
                                      TaskStatus::kSucceeded, TaskStatus::kFailed};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    util::Random random(seed);
    World w;
    const auto name = [&](const char* kind, uint64_t n) {
      return std::string(kind) + std::to_string(random.Below(n));
    };
    for (int step = 0; step < 400; ++step) {
      switch (random.Below(9)) {
        case 0:
          w.AddNode({.name = name("n", 6), .cpu = static_cast<int64_t>(random.Below(9)) * 1000});
          break;
        case 1:
          w.RemoveNode(name("n", 6));
          break;
        case 2:
          w.AddQueue(name("q", 3));
          break;
        case 3:
          if (random.Below(3) == 0) w.cluster().Apply(Remove<QueueSpec>{name("q", 3)});
          break;
        case 4: {
          JobSpec spec;
          spec.name = name("j", 8);
          spec.queue = name("q", 3);
          spec.min_member = static_cast<int32_t>(random.Below(4));
          if (random.Below(2) == 0) spec.min_task_member = {{w.Sym("r1"), 1}};
          if (random.Below(3) == 0) {
            spec.sub_groups.resize(1);
            spec.sub_groups[0].name = "p";
            spec.sub_groups[0].match_label_keys = {w.Sym("g")};
          }
          w.AddJob(spec);
          break;
        }
        case 5:
          if (random.Below(3) == 0) w.cluster().Apply(Remove<JobSpec>{"ns/" + name("j", 8)});
          break;
        case 6: {
          const TaskStatus status = kStatuses[random.Below(6)];
          const bool solo = random.Below(6) == 0;
          w.AddPod({.name = name("p", 40),
                    .job = solo ? "" : name("j", 8),
                    .cpu = static_cast<int64_t>(random.Below(3)) * 500,
                    .node = status == TaskStatus::kPending ? "" : name("n", 6),
                    .status = status,
                    .role = random.Below(2) == 0 ? "" : name("r", 3),
                    .labels = {{"g", name("v", 3)}},
                    .priority = static_cast<int32_t>(random.Below(3)),
                    .solo = solo});
          break;
        }
        case 7: {
          const TaskId t = w.cluster().FindTask("uid-" + name("p", 40));
          if (t.valid()) w.RemovePod(t);
          break;
        }
        case 8: {
          const TaskId t = w.cluster().FindTask("uid-" + name("p", 40));
          const NodeId n = w.cluster().FindNode(name("n", 6));
          if (!t.valid() || !n.valid()) break;
          const TaskStatus to[] = {TaskStatus::kAllocated, TaskStatus::kPipelined,
                                   TaskStatus::kBinding, TaskStatus::kReleasing};
          w.cluster().MoveTask(t, to[random.Below(4)], n);
          break;
        }
      }
      if (step % 10 == 0) w.cluster().CheckConsistency();
    }
    w.cluster().CheckConsistency();
  }
}

}  // namespace
}  // namespace hekla::model

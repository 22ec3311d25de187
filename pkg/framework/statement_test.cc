#include "pkg/framework/statement.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/framework/session.h"
#include "pkg/framework/testing/session_world.h"
#include "pkg/util/random.h"

namespace hekla::framework {
namespace {

using model::NodeId;
using model::TaskId;
using model::TaskStatus;
using testing::SessionWorld;

struct Small : SessionWorld {
  Small() {
    n1 = world.AddNode({.name = "n1"});
    world.AddQueue("default");
    world.AddJob("pg", 1);
    victim = world.AddPod({.name = "v", .job = "pg", .node = "n1", .status = TaskStatus::kBound});
    pod = world.AddPod({.name = "p", .job = "pg"});
  }
  NodeId n1;
  TaskId victim, pod;
};

// Spec scheduler-core, E15.
TEST(StatementTest, DiscardRestoresAndRemembersTheLastTransaction) {
  Small w;
  w.Cycle([&](Session& session) {
    Statement s(session);
    s.Evict(w.victim, "preempt");
    s.Pipeline(w.pod, w.n1, /*evictions=*/true);
    EXPECT_EQ(w.world.StatusOf(w.victim), TaskStatus::kReleasing);
    EXPECT_TRUE(s.has_evictions());
    s.Discard();
    const model::TaskTable& tasks = w.world.tables().tasks;
    EXPECT_EQ(tasks.status[w.pod], TaskStatus::kPending);
    EXPECT_FALSE(tasks.node[w.pod].valid());
    EXPECT_EQ(tasks.last_transaction[w.pod],
              (model::LastTransaction{true, TaskStatus::kPipelined, w.n1, true}));
    EXPECT_EQ(tasks.status[w.victim], TaskStatus::kBound);  // as it was, not Running
    EXPECT_EQ(tasks.last_transaction[w.victim],
              (model::LastTransaction{true, TaskStatus::kReleasing, w.n1, false}));
  });
  EXPECT_TRUE(w.sink.evicts.empty());
}

TEST(StatementTest, CommitSendsEvictionsAndBindingsAndPipelinedTasksEndWithTheSession) {
  Small w;
  const TaskId other = w.world.AddPod({.name = "o", .job = "pg"});
  w.Cycle([&](Session& session) {
    Statement s(session);
    s.Evict(w.victim, "preempt");
    s.Pipeline(w.pod, w.n1, true);
    s.Allocate(other, w.n1);
    s.Commit();
    EXPECT_TRUE(s.empty());
    EXPECT_EQ(w.world.StatusOf(w.pod), TaskStatus::kPipelined);
  });
  ASSERT_EQ(w.sink.evicts.size(), 1u);
  EXPECT_EQ(w.sink.evicts[0].name, "v");
  EXPECT_EQ(w.sink.evicts[0].reason, "preempt");
  EXPECT_EQ(w.sink.evicts[0].job_name, "pg");
  ASSERT_EQ(w.sink.binds.size(), 1u);
  EXPECT_EQ(w.sink.binds[0].name, "o");
  EXPECT_EQ(w.sink.binds[0].node, "n1");
  EXPECT_EQ(w.world.StatusOf(other), TaskStatus::kBinding);
  EXPECT_EQ(w.world.StatusOf(w.pod), TaskStatus::kPending);
  EXPECT_EQ(w.world.StatusOf(w.victim), TaskStatus::kReleasing);
}

TEST(StatementTest, ReplayDoesTheSameAgain) {
  Small w;
  w.Cycle([&](Session& session) {
    Statement s(session);
    s.Allocate(w.pod, w.n1);
    const uint64_t allocated = w.world.cluster().Fingerprint();
    const std::vector<UndoRecord> operations = s.operations();
    s.Discard();
    EXPECT_NE(w.world.cluster().Fingerprint(), allocated);
    s.Replay(operations);
    EXPECT_EQ(w.world.cluster().Fingerprint(), allocated);
    s.Undo(w.pod);
    EXPECT_TRUE(s.empty());
  });
}

TEST(StatementTest, BackfillCommitsAJobOnceItIsReady) {
  SessionWorld w;
  const NodeId n1 = w.world.AddNode({.name = "n1"});
  w.world.AddQueue("default");
  w.world.AddJob("pg", 1);
  const TaskId a = w.world.AddPod({.name = "a", .job = "pg", .cpu = 0});
  const TaskId b = w.world.AddPod({.name = "b", .job = "pg", .cpu = 0});
  w.Cycle([&](Session& session) {
    Statement s(session);
    s.Pipeline(b, n1, false);
    s.Keep();
    session.Unpipeline(b);
    EXPECT_EQ(w.world.StatusOf(b), TaskStatus::kPending);
    session.AllocateAtOnce(a, n1);
    session.AllocateAtOnce(b, n1);
  });
  EXPECT_EQ(w.sink.binds.size(), 2u);
  EXPECT_EQ(w.world.StatusOf(b), TaskStatus::kBinding);
  w.world.cluster().CheckConsistency();
}

// Several statements open at once, ended in any order: what was not committed leaves no trace.
TEST(StatementPropertyTest, UndoneStatementsLeaveNoTraceInAnyOrder) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    util::Random random(seed);
    SessionWorld w;
    std::vector<NodeId> nodes;
    for (int i = 0; i < 4; ++i) nodes.push_back(w.world.AddNode({.name = "n" + std::to_string(i)}));
    w.world.AddQueue("default");
    std::vector<TaskId> free, placed;
    for (int j = 0; j < 3; ++j) {
      const std::string job = "pg" + std::to_string(j);
      w.world.AddJob(job, 2);
      for (int i = 0; i < 6; ++i) {
        const bool runs = random.Below(2) == 0;
        const TaskId t =
            w.world.AddPod({.name = job + "-" + std::to_string(i),
                            .job = job,
                            .cpu = static_cast<int64_t>(1 + random.Below(3)) * 500,
                            .node = runs ? "n" + std::to_string(random.Below(4)) : "",
                            .status = runs ? TaskStatus::kRunning : TaskStatus::kPending,
                            .role = random.Below(2) == 0 ? "w" : ""});
        (runs ? placed : free).push_back(t);
      }
    }
    w.Cycle([](Session&) {});  // phases settle
    const uint64_t before = w.world.cluster().Fingerprint();
    w.Cycle([&](Session& session) {
      std::vector<Statement> open;
      for (int i = 0; i < 4; ++i) open.emplace_back(session);
      std::vector<TaskId> touched;
      for (int step = 0; step < 12; ++step) {
        Statement& s = open[random.Below(open.size())];
        std::vector<TaskId>& from = random.Below(3) == 0 && !placed.empty() ? placed : free;
        if (from.empty()) continue;
        const size_t at = random.Below(from.size());
        const TaskId t = from[at];
        from.erase(from.begin() + static_cast<int64_t>(at));
        if (w.world.StatusOf(t) == TaskStatus::kRunning) {
          s.Evict(t, "preempt");
        } else if (random.Below(2) == 0) {
          s.Allocate(t, nodes[random.Below(4)]);
        } else {
          s.Pipeline(t, nodes[random.Below(4)], random.Below(2) == 0);
        }
      }
      w.world.cluster().CheckConsistency();
      while (!open.empty()) {
        const size_t at = random.Below(open.size());
        if (random.Below(3) == 0) {
          open[at].Keep();  // undone when the session closes
        } else {
          open[at].Discard();
        }
        Statement last = std::move(open[at]);
        open.erase(open.begin() + static_cast<int64_t>(at));
      }
    });
    EXPECT_EQ(w.world.cluster().Fingerprint(), before) << "seed " << seed;
    w.world.cluster().CheckConsistency();
  }
}

}  // namespace
}  // namespace hekla::framework

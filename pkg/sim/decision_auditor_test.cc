#include "pkg/sim/decision_auditor.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

Value Json(std::string text) {
  return *apis::json::Parse(absl::StrReplaceAll(text, {{"'", "\""}}));
}

class DecisionAuditorTest : public testing::Test {
 protected:
  void See(absl::string_view type, const std::string& text) {
    const Value object = Json(text);
    mirror_.Observe(type, object, now_);
    if (object.GetString("kind") != "Pod") return;
    auditor_.Observe(type, std::string(object.At("metadata").GetString("uid")), now_);
  }
  void Node(const std::string& name, int cpu, const std::string& spec = "") {
    See("MODIFIED", absl::StrCat("{'kind':'Node','metadata':{'name':'", name, "'},'spec':{", spec,
                                 "},'status':{'allocatable':{'cpu':", cpu, ",'pods':9}}}"));
  }
  static std::string PodText(const std::string& name, const std::string& group,
                             const std::string& node, const std::string& metadata) {
    return absl::StrCat(
        "{'kind':'Pod','metadata':{'namespace':'ns','name':'", name, "','uid':'u-", name,
        "','annotations':{'scheduling.k8s.io/group-name':'", group, "'}", metadata,
        "},'spec':{'nodeName':'", node,
        "','containers':[{'resources':{'requests':{'cpu':1}}}]},'status':{'phase':'",
        node.empty() ? "Pending" : "Running", "'}}");
  }
  void Pod(const std::string& name, const std::string& group = "", const std::string& node = "",
           const std::string& metadata = "") {
    See("MODIFIED", PodText(name, group, node, metadata));
  }
  void Gone(const std::string& name) { See("DELETED", PodText(name, "", "", "")); }
  void Group(const std::string& name, int min, const std::string& queue = "q") {
    See("MODIFIED", absl::StrCat("{'kind':'PodGroup','metadata':{'namespace':'ns','name':'", name,
                                 "'},'spec':{'minMember':", min, ",'queue':'", queue, "'}}"));
  }
  void Queue(const std::string& name, int cpu) {
    See("MODIFIED", absl::StrCat("{'kind':'Queue','metadata':{'name':'", name,
                                 "'},'spec':{'capability':{'cpu':", cpu, "}}}"));
  }
  void Later() { now_ += absl::Seconds(1); }
  // Everything until just now is known, but for what `blind` says.
  Knowledge Known() const {
    const absl::Time until = now_ - absl::Milliseconds(20);
    return {until, until, until, blind_ ? absl::InfinitePast() : until, true, leads_};
  }
  void Decide(const std::string& pod, const std::string& node) {
    auditor_.Decided("u-" + pod, node, Known(), now_);
  }
  std::string Rules() {
    auditor_.EndOfCycle(Known(), now_);
    std::string rules;
    for (const Violation& v : auditor_.violations()) absl::StrAppend(&rules, v.rule, " ");
    return rules;
  }

  ClusterMirror mirror_{"default"};
  DecisionAuditor auditor_{&mirror_};
  absl::Time now_ = absl::FromUnixSeconds(1000);
  bool blind_ = false;  // for pods
  bool leads_ = true;
};

TEST_F(DecisionAuditorTest, WhatFitsIsFine) {
  Node("n", 2);
  Group("g", 2);
  Pod("a", "g");
  Pod("b", "g");
  Later();
  Decide("a", "n");
  Decide("b", "n");
  EXPECT_EQ(Rules(), "");
  Pod("a", "g", "n");
  EXPECT_EQ(Rules(), "");
}

TEST_F(DecisionAuditorTest, WhatIsInFlightTakesRoom) {
  Node("n", 1);
  Pod("a");
  Pod("b");
  Later();
  Decide("a", "n");
  Decide("b", "n");
  EXPECT_EQ(Rules(), "node-capacity ");
}

TEST_F(DecisionAuditorTest, ABindingThatFailedTakesNoneOnceThePodWasRead) {
  Node("n", 1);
  Pod("a");
  Pod("b");
  Later();
  Decide("a", "n");
  auditor_.Settled("u-a", now_);
  Decide("b", "n");
  EXPECT_EQ(Rules(), "");
}

TEST_F(DecisionAuditorTest, ATerminatingPodHoldsItsRoom) {
  Node("n", 1);
  Pod("a", "", "n", ",'deletionTimestamp':'2026-01-01T00:00:00Z'");
  Pod("b");
  Later();
  Decide("b", "n");
  EXPECT_EQ(Rules(), "undecided node-capacity ");  // nobody decided a, either
}

TEST_F(DecisionAuditorTest, NobodyIsDecidedForTwice) {
  Node("n", 9);
  Pod("a");
  Later();
  Decide("a", "n");
  Decide("a", "n");
  EXPECT_EQ(Rules(), "bound-twice ");
}

TEST_F(DecisionAuditorTest, CordonedTaintedAndLostNodesAreOutOfBounds) {
  Node("cordoned", 9, "'unschedulable':true");
  Node("tainted", 9, "'taints':[{'key':'x','effect':'NoSchedule'}]");
  Node("soft", 9, "'taints':[{'key':'x','effect':'PreferNoSchedule'}]");
  for (const char* name : {"a", "b", "c", "d"}) Pod(name);
  Later();
  Decide("a", "cordoned");
  Decide("b", "tainted");
  Decide("c", "soft");
  Decide("d", "elsewhere");
  EXPECT_EQ(Rules(), "unusable-node unusable-node vanished-node ");
}

TEST_F(DecisionAuditorTest, WhatCannotBeKnownYetIsHeldAgainstNobody) {
  Node("n", 9);
  Pod("a");
  Later();
  Node("n", 9, "'unschedulable':true");
  Decide("a", "n");
  EXPECT_EQ(Rules(), "");
}

TEST_F(DecisionAuditorTest, AGangLeavesWhole) {
  Node("n", 9);
  Group("g", 2);
  Pod("a", "g");
  Pod("b", "g");
  Later();
  Decide("a", "n");
  EXPECT_EQ(Rules(), "gang-minimum ");
}

TEST_F(DecisionAuditorTest, AMemberThatHasJustGoneCountsForWhoCannotKnow) {
  Node("n", 9);
  Group("g", 2);
  Pod("a", "g");
  Pod("b", "g");
  Later();
  Decide("a", "n");
  Decide("b", "n");
  EXPECT_EQ(Rules(), "");
  Pod("a", "g", "n");
  Pod("b", "g", "n");
  Pod("c", "g");
  Later();
  Gone("b");
  Later();
  blind_ = true;
  Decide("c", "n");
  EXPECT_EQ(Rules(), "");
}

TEST_F(DecisionAuditorTest, AQueueStaysBelowItsCapability) {
  Node("n", 9);
  Queue("q", 1);
  Group("g", 1);
  Pod("a", "g");
  Pod("b", "g");
  Later();
  Decide("a", "n");
  Decide("b", "n");
  EXPECT_EQ(Rules(), "queue-capability ");
}

TEST_F(DecisionAuditorTest, APodWhoseGroupIsGoneCountsToNoQueue) {
  Node("n", 9);
  Queue("q", 1);
  Group("g", 1);
  Pod("a", "g");
  Later();
  Decide("a", "n");
  Pod("a", "g", "n");
  See("DELETED",
      "{'kind':'PodGroup','metadata':{'namespace':'ns','name':'g'},'spec':{'queue':'q'}}");
  Group("h", 1);
  Pod("b", "h");
  Pod("c", "h");
  Later();
  Decide("b", "n");
  EXPECT_EQ(Rules(), "");
  Decide("c", "n");
  EXPECT_EQ(Rules(), "queue-capability ");
}

// What a group that comes, or goes to another queue, brings along counts once it can be known.
TEST_F(DecisionAuditorTest, RunningPodsThatComeWithAGroupAreNews) {
  Node("n", 9);
  Queue("q", 1);
  Queue("r", 1);
  Group("g", 1);
  Pod("a", "g");
  Later();
  Decide("a", "n");
  Pod("a", "g", "n");
  Group("h", 1, "r");
  Pod("b", "h");
  Later();
  Group("g", 1, "r");
  Decide("b", "n");
  EXPECT_EQ(Rules(), "");
  Pod("b", "h", "n");
  Pod("c", "h");
  Later();
  Decide("c", "n");
  EXPECT_EQ(Rules(), "queue-capability ");
}

TEST_F(DecisionAuditorTest, EveryQueueOnThePathStaysBelowItsCapability) {
  Node("n", 9);
  Queue("up", 2);
  const auto below = [this](const std::string& name, const std::string& parent) {
    See("MODIFIED", absl::StrCat("{'kind':'Queue','metadata':{'name':'", name,
                                 "'},'spec':{'parent':'", parent, "'}}"));
  };
  below("q", "up");
  below("other", "");
  Group("h", 1, "other");
  Pod("runs", "h");
  Later();
  Decide("runs", "n");
  Pod("runs", "h", "n");
  Group("g", 1);
  for (const char* name : {"a", "b", "c"}) Pod(name, "g");
  Later();
  Decide("a", "n");
  below("other", "up");  // one more CPU, and nobody has heard of it yet
  Decide("b", "n");
  EXPECT_EQ(Rules(), "");
  Later();
  Decide("c", "n");
  EXPECT_EQ(Rules(), "queue-capability ");
}

TEST_F(DecisionAuditorTest, WhoDoesNotLeadIsJudgedByWhatHeSends) {
  leads_ = false;
  Decide("a", "n");
  EXPECT_EQ(Rules(), "");
  EXPECT_FALSE(auditor_.InFlight("u-a", "n"));
}

TEST_F(DecisionAuditorTest, EvictionsNeedSomebodyWhoThenFits) {
  Node("n", 2);
  Group("g", 1);
  for (const char* name : {"a", "b"}) {
    Pod(name, "g");
    Later();
    Decide(name, "n");
    Pod(name, "g", "n");
  }
  Pod("c");
  Pod("d");
  Later();
  auditor_.Evicting("u-a", Known());
  auditor_.Pipelined("u-c", "n");
  EXPECT_EQ(Rules(), "");
  auditor_.Evicting("u-a", Known());
  EXPECT_EQ(Rules(), "vain-eviction ");  // for nobody
  auditor_.Evicting("u-a", Known());
  auditor_.Pipelined("u-c", "n");
  auditor_.Pipelined("u-d", "n");
  EXPECT_EQ(Rules(), "vain-eviction vain-eviction ");  // for two, where one fits
}

TEST_F(DecisionAuditorTest, EvictionsTakeAGangWholeOrLeaveItsMinimum) {
  Node("n", 3);
  Group("g", 2);
  for (const char* name : {"a", "b"}) Pod(name, "g");
  Later();
  for (const char* name : {"a", "b"}) Decide(name, "n");
  EXPECT_EQ(Rules(), "");
  for (const char* name : {"a", "b"}) Pod(name, "g", "n");
  Pod("c");
  Later();
  auditor_.Evicting("u-a", Known());
  auditor_.Evicting("u-b", Known());
  auditor_.Pipelined("u-c", "n");
  EXPECT_EQ(Rules(), "");
  auditor_.Evicting("u-a", Known());
  auditor_.Pipelined("u-c", "n");
  EXPECT_EQ(Rules(), "evicted-below-minimum ");
}

TEST_F(DecisionAuditorTest, WhatAnEarlierProcessSentMayArriveLate) {
  Node("n", 1);
  Pod("a");
  Later();
  Decide("a", "n");
  auditor_.Abandon();
  Pod("a", "", "n");
  EXPECT_EQ(Rules(), "");
  Pod("b");
  Pod("b", "", "n");
  EXPECT_EQ(Rules(), "undecided ");
}

}  // namespace
}  // namespace hekla::sim

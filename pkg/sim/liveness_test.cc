#include "pkg/sim/liveness.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

// A node of 4 CPUs, the queues root and q, a gang g of two in q.
class LivenessTest : public ::testing::Test {
 protected:
  LivenessTest() {
    See(R"({"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":"9"}}})");
    Queue("root", "");
    Queue("q", "", R"("cpu":"2","pods":"2")");
    Group("Running", 2);
  }
  void See(const std::string& text) { mirror_.Observe("MODIFIED", *apis::json::Parse(text), now_); }
  void Queue(const std::string& name, const std::string& spec, const std::string& allocated = "") {
    See(absl::StrCat(R"({"kind":"Queue","metadata":{"name":")", name, R"("},"spec":{)", spec,
                     R"(},"status":{"allocated":{)", allocated, "}}}"));
  }
  void Group(const std::string& phase, int running) {
    See(absl::StrCat(R"({"kind":"PodGroup","metadata":{"namespace":"f","name":"g"},"spec":{)",
                     R"("minMember":2,"queue":"q"},"status":{"phase":")", phase, R"(","running":)",
                     running, "}}"));
  }
  void Pod(const std::string& name, const std::string& node, const std::string& phase,
           const std::string& extra = "", const std::string& cpu = "1") {
    See(absl::StrCat(R"({"kind":"Pod","metadata":{"namespace":"f","name":")", name, R"(","uid":")",
                     name, R"(","annotations":{"scheduling.k8s.io/group-name":"g"})", extra,
                     R"(},"spec":{"nodeName":")", node,
                     R"(","containers":[{"resources":{"requests":{"cpu":")", cpu,
                     R"("}}}]},"status":{"phase":")", phase, R"("}})"));
  }
  static std::string Texts(const std::vector<Violation>& violations) {
    std::string text;
    for (const Violation& v : violations) absl::StrAppend(&text, v.rule, ": ", v.text, "\n");
    return text;
  }
  std::string Stale() const { return Texts(StaleStatuses(mirror_, now_)); }
  std::string Left(Sharing sharing) const { return Texts(LeftPending(mirror_, sharing, now_)); }

  const absl::Time now_ = absl::FromUnixSeconds(1000000);
  ClusterMirror mirror_{"default"};
};

TEST_F(LivenessTest, AStatusThatCountsEverythingIsFresh) {
  Queue("root", "", R"("cpu":"2","pods":"2")");
  Pod("a", "n", "Running");
  Pod("b", "n", "Running");
  EXPECT_EQ(Stale(), "");
}

TEST_F(LivenessTest, CountsAndPhaseFollowFromThePods) {
  Queue("root", "", R"("cpu":"2","pods":"2")");
  Pod("a", "n", "Running");
  Pod("b", "n", "Pending");
  EXPECT_EQ(Stale(),
            "stale-status: pod group f/g counts 2 running, 0 succeeded, 0 failed; there are 1, 0, "
            "0\n");
  Group("Pending", 1);
  EXPECT_EQ(Stale(),
            "stale-status: pod group f/g has phase \"Pending\"; of 2 members 2 are scheduled, 2 "
            "ready, 1 running, 0 ended\n");
}

TEST_F(LivenessTest, AGangThatLacksMembersIsUnknownUnlessItEndsInOrder) {
  Queue("root", "", R"("cpu":"1","pods":"1")");
  Queue("q", "", R"("cpu":"1","pods":"1")");
  Group("Unknown", 1);
  Pod("a", "n", "Running");
  EXPECT_EQ(Stale(), "");
  Pod("b", "n", "Running", R"(,"deletionTimestamp":"t")");
  Group("Running", 1);
  EXPECT_EQ(Stale(), "");
}

TEST_F(LivenessTest, AQueueSumsUpWhatRunsInItAndBelow) {
  Pod("a", "n", "Running");
  Pod("b", "n", "Running");
  EXPECT_EQ(Stale(),
            "stale-status: queue root says that 0 cpu is allocated; 2 is\n"
            "stale-status: queue root says that 0 pods is allocated; 2 is\n");
}

// 5 CPUs asked for, 4 there; the gang of two has room in its queue, and for one of its members
// more.
TEST_F(LivenessTest, AGangThatFitsMayNotWaitBecauseOthersDoNot) {
  Pod("a", "", "Pending");
  Pod("b", "", "Pending");
  Pod("c", "", "Pending", "", "1500m");
  EXPECT_EQ(Left(Sharing::kByCapacity),
            "left-pending: f/g has 3 pending pods, of which 3 would fit\n");
  Pod("d", "", "Pending", "", "1500m");
  EXPECT_EQ(Left(Sharing::kByCapacity),
            "left-pending: f/g has 4 pending pods, of which 2 would fit\n");
  // By weight the queue is sure of half of the cluster, 2 CPUs; two members of 1.5 are more.
  EXPECT_EQ(Left(Sharing::kByWeight), "");
  Queue("q", R"("capability":{"cpu":"2"})");
  EXPECT_EQ(Left(Sharing::kByCapacity), "");
}

// The nodes have room for all of them, the queue for the small two or the large one. Who is tried
// first decides; no other choice is tried where the gang is not whole then.
TEST_F(LivenessTest, AGangOfUnequalMembersMayWaitForItsQueue) {
  Pod("a", "", "Pending", "", "500m");
  Pod("b", "", "Pending", "", "1");
  Pod("c", "", "Pending", "", "2");
  EXPECT_EQ(Left(Sharing::kByCapacity),
            "left-pending: f/g has 3 pending pods, of which 3 would fit\n");
  Queue("q", R"("capability":{"cpu":"2"})");
  EXPECT_EQ(Left(Sharing::kByCapacity), "");
  Queue("q", R"("capability":{"cpu":"3500m"})");
  EXPECT_NE(Left(Sharing::kByCapacity), "");
}

TEST_F(LivenessTest, InATreeLeavesWithAWayToTheRootTakeJobs) {
  Pod("a", "", "Pending");
  Pod("b", "", "Pending");
  EXPECT_NE(Left(Sharing::kAsTree), "");
  Queue("q", R"("parent":"up")");
  EXPECT_EQ(Left(Sharing::kAsTree), "");
  Queue("up", "");
  EXPECT_NE(Left(Sharing::kAsTree), "");
  Queue("up", R"("parent":"q")");  // a circle
  EXPECT_EQ(Left(Sharing::kAsTree), "");
  Queue("up", "");
  Queue("below", R"("parent":"q")");
  EXPECT_EQ(Left(Sharing::kAsTree), "");
}

}  // namespace
}  // namespace hekla::sim

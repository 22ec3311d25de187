#include "pkg/sim/auditor.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

Value Json(std::string text) {
  return *apis::json::Parse(absl::StrReplaceAll(text, {{"'", "\""}}));
}

class AuditorTest : public testing::Test {
 protected:
  void Node(const std::string& name, const std::string& cpu, int pods = 110) {
    auditor_.Observe(
        "ADDED",
        Json(absl::StrCat("{'kind':'Node','metadata':{'name':'", name,
                          "'},'status':{'allocatable':{'cpu':'", cpu, "','pods':", pods, "}}}")),
        now_);
  }
  Value Pod(const std::string& name, const std::string& node, const std::string& cpu,
            const std::string& group = "", const std::string& role = "") {
    return Json(absl::StrCat(
        "{'kind':'Pod','metadata':{'namespace':'ns','name':'", name, "','uid':'u-", name,
        "','annotations':{'scheduling.k8s.io/group-name':'", group, "','volcano.sh/task-spec':'",
        role, "'}},'spec':{'nodeName':'", node, "','containers':[{'resources':{'requests':{'cpu':'",
        cpu, "'}}}]},'status':{'phase':'Pending'}}"));
  }
  void Bind(const std::string& name, const std::string& node, const std::string& cpu,
            const std::string& group = "", const std::string& role = "") {
    auditor_.Observe("ADDED", Pod(name, "", cpu, group, role), now_);
    auditor_.Observe("MODIFIED", Pod(name, node, cpu, group, role), now_);
  }
  void Group(const std::string& name, int min, const std::string& more = "") {
    auditor_.Observe("ADDED",
                     Json(absl::StrCat("{'kind':'PodGroup','metadata':{'namespace':'ns','name':'",
                                       name, "'},'spec':{'minMember':", min, more, "}}")),
                     now_);
  }
  std::string Found() const {
    std::string all;
    for (const Violation& v : auditor_.violations())
      absl::StrAppend(&all, v.rule, ": ", v.text, "\n");
    return all;
  }

  Auditor auditor_{Auditor::Options{}};
  absl::Time now_ = absl::FromUnixSeconds(0);
};

TEST_F(AuditorTest, FullNodeIsFine) {
  Node("n1", "2");
  Bind("a", "n1", "1500m");
  Bind("b", "n1", "0.5");
  auditor_.EndOfStep(now_);
  EXPECT_EQ(Found(), "");
  EXPECT_EQ(auditor_.bindings(), 2);
}

TEST_F(AuditorTest, NodeAboveItsAllocatableIsFound) {
  Node("n1", "2");
  Bind("a", "n1", "1500m");
  Bind("b", "n1", "501m");
  EXPECT_EQ(Found(), "node-capacity: node n1 holds 2.001 cpu of 2 after pod ns/b\n");
}

TEST_F(AuditorTest, PodCountIsAnAmountToo) {
  Node("n1", "20", 1);
  Bind("a", "n1", "1");
  Bind("b", "n1", "1");
  EXPECT_EQ(Found(), "node-capacity: node n1 holds 2 pods of 1 after pod ns/b\n");
}

TEST_F(AuditorTest, ABindingWhoseGroupIsGoneCountsToNoQueue) {
  Node("n1", "20");
  auditor_.Observe("ADDED",
                   Json("{'kind':'Queue','metadata':{'name':'q'},'spec':{'capability':{'cpu':1}}}"),
                   now_);
  Group("g", 1, ",'queue':'q'");
  auditor_.Observe("ADDED", Pod("a", "", "2", "g"), now_);
  auditor_.Observe(
      "DELETED",
      Json("{'kind':'PodGroup','metadata':{'namespace':'ns','name':'g'},'spec':{'queue':'q'}}"),
      now_);
  auditor_.Observe("MODIFIED", Pod("a", "n1", "2", "g"), now_);
  EXPECT_EQ(Found(), "");
  Group("h", 1, ",'queue':'q'");
  Bind("b", "n1", "2", "h");
  EXPECT_EQ(Found(), "queue-capability: queue q uses 2 cpu of 1 after pod ns/b\n");
}

TEST_F(AuditorTest, FinishedPodsFreeTheirRoom) {
  Node("n1", "2");
  Bind("a", "n1", "2");
  Value done = Pod("a", "n1", "2");
  done["status"].Set("phase", "Succeeded");
  auditor_.Observe("MODIFIED", done, now_);
  Bind("b", "n1", "2");
  EXPECT_EQ(Found(), "");
}

TEST_F(AuditorTest, MovedPodAndMissingNodeAreFound) {
  Node("n1", "2");
  Node("n2", "2");
  Bind("a", "n1", "1");
  auditor_.Observe("MODIFIED", Pod("a", "n2", "1"), now_);
  Bind("b", "n9", "1");
  EXPECT_EQ(Found(),
            "bound-twice: pod ns/a moved from n1 to n2\n"
            "vanished-node: pod ns/b bound to n9, which is gone\n");
}

TEST_F(AuditorTest, IncompleteGangIsFoundAtTheEndOfTheStep) {
  Node("n1", "8");
  Group("g", 2);
  Bind("a", "n1", "1", "g");
  EXPECT_EQ(Found(), "");
  auditor_.EndOfStep(now_);
  EXPECT_EQ(Found(), "gang-minimum: pod group ns/g has 1 of 2 members placed\n");
}

TEST_F(AuditorTest, RoleMinimumsCountWhereMinMemberCoversThem) {
  Node("n1", "8");
  Group("g", 2, ",'minTaskMember':{'ps':1,'worker':1}");
  Bind("a", "n1", "1", "g", "worker");
  Bind("b", "n1", "1", "g", "worker");
  auditor_.EndOfStep(now_);
  EXPECT_EQ(Found(), "gang-minimum: pod group ns/g has 0 of 1 members of role ps placed\n");
}

TEST_F(AuditorTest, CapabilityHoldsAlongThePath) {
  Node("n1", "8");
  auditor_.Observe(
      "ADDED", Json("{'kind':'Queue','metadata':{'name':'org'},'spec':{'capability':{'cpu':2}}}"),
      now_);
  auditor_.Observe(
      "ADDED", Json("{'kind':'Queue','metadata':{'name':'team'},'spec':{'parent':'org'}}"), now_);
  Group("g", 1, ",'queue':'team'");
  Bind("a", "n1", "2", "g");
  EXPECT_EQ(Found(), "");
  Bind("b", "n1", "1", "g");
  EXPECT_EQ(Found(), "queue-capability: queue org uses 3 cpu of 2 after pod ns/b\n");
}

TEST_F(AuditorTest, InitContainersAndSidecarsCount) {
  Node("n1", "3");
  // Containers 1 + sidecar 1 = 2; the init container beside the sidecar needs 1 + 2 = 3.
  Value pod = Pod("a", "", "1");
  pod["spec"].Set("initContainers",
                  Json("[{'restartPolicy':'Always','resources':{'requests':{'cpu':1}}},"
                       "{'resources':{'requests':{'cpu':2}}}]"));
  auditor_.Observe("ADDED", pod, now_);
  pod["spec"].Set("nodeName", "n1");
  auditor_.Observe("MODIFIED", pod, now_);
  EXPECT_EQ(Found(), "");
  Bind("b", "n1", "1m");
  EXPECT_EQ(Found(), "node-capacity: node n1 holds 3.001 cpu of 3 after pod ns/b\n");
}

}  // namespace
}  // namespace hekla::sim

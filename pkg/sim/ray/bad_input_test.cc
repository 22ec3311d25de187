#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/sim/ray/ray_world.h"

// RayClusters as nobody should write them: each is told what is wrong, and the others are looked
// after as if it were not there.
namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr char kHead[] =
    R"("headGroupSpec":{"template":{"spec":{"containers":[{"name":"h","image":"ray:1"}]}}})";
constexpr char kTemplate[] = R"("template":{"spec":{"containers":[{"name":"w","image":"ray:1"}]}})";

std::string Group(const std::string& name, const std::string& numbers) {
  return absl::StrCat(R"({"groupName":")", name, R"(",)", numbers, ",", kTemplate, "}");
}

std::string Cluster(const std::string& name, const std::string& spec) {
  return absl::StrCat(R"({"apiVersion":"ray.io/v1","kind":"RayCluster","metadata":{"name":")", name,
                      R"(","namespace":"bad"},"spec":{)", spec, "}}");
}

class BadInputTest : public ::testing::Test {
 protected:
  BadInputTest() : world_({}) { world_.AddNamespace("bad"); }

  // Past schema and admission, as a cluster with an older CRD may hold it.
  void Store(const std::string& text) {
    const auto parsed = apis::json::Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status() << " " << text;
    const auto stored = world_.server().Import(*parsed);
    ASSERT_TRUE(stored.ok()) << stored.status();
  }
  // Lets time pass, with a good cluster that comes last and must be looked after.
  void Run() {
    Store(Cluster("good", kHead));
    world_.Advance(absl::Seconds(30));
    EXPECT_EQ(PodsOf("good"), 1) << "the others are affected";
    EXPECT_LT(world_.life().reconciles(), 100) << "a loop";
  }
  int PodsOf(const std::string& cluster) {
    int count = 0;
    const auto pods = world_.server().List("v1", "Pod", "bad");
    if (!pods.ok()) return -1;
    for (const Value& pod : *pods) {
      count += pod.At("metadata").At("labels").GetString("ray.io/cluster") == cluster ? 1 : 0;
    }
    return count;
  }
  // "reason: note" of every event about a cluster.
  std::set<std::string> EventsOf(const std::string& cluster) {
    std::set<std::string> out;
    const auto events = world_.server().List("events.k8s.io/v1", "Event", "bad");
    if (!events.ok()) return out;
    for (const Value& event : *events) {
      if (event.At("regarding").GetString("name") != cluster) continue;
      out.insert(absl::StrCat(event.GetString("reason"), ": ", event.GetString("note")));
    }
    return out;
  }

  RayWorld world_;
};

TEST_F(BadInputTest, FieldsNobodyKnowsAreIgnored) {
  Store(Cluster("odd", absl::StrCat(kHead, R"(,"colour":"red","workerGroupSpecs":[)",
                                    Group("w", R"("replicas":1,"minReplicas":0,"maxReplicas":1,)"
                                               R"("speed":7)"),
                                    "]")));
  Run();
  EXPECT_EQ(PodsOf("odd"), 2);
}

TEST_F(BadInputTest, AWrongTypeIsReportedOnceAndHurtsNobody) {
  Store(Cluster("odd", absl::StrCat(kHead, R"(,"workerGroupSpecs":"none")")));
  Store(Cluster("odder", R"("headGroupSpec":7)"));
  Run();
  for (const char* name : {"odd", "odder"}) {
    EXPECT_EQ(PodsOf(name), 0);
    const std::set<std::string> events = EventsOf(name);
    ASSERT_EQ(events.size(), 1u) << absl::StrJoin(events, "\n");
    EXPECT_TRUE(absl::StartsWith(
        *events.begin(),
        absl::StrCat("InvalidRayClusterSpec: The RayCluster spec is invalid bad/", name, ": ")))
        << *events.begin();
  }
}

TEST_F(BadInputTest, ATemplateWithoutContainersIsReported) {
  Store(Cluster("head", R"("headGroupSpec":{"template":{"spec":{"containers":[]}}})"));
  Run();
  EXPECT_EQ(EventsOf("head"),
            std::set<std::string>{"InvalidRayClusterSpec: The RayCluster spec is invalid bad/head: "
                                  "headGroupSpec should have at least one container"});
  EXPECT_EQ(PodsOf("head"), 0);
}

TEST_F(BadInputTest, NumbersThatCannotBeAreReported) {
  const auto with = [](const std::string& numbers) {
    return absl::StrCat(kHead, R"(,"workerGroupSpecs":[)", Group("w", numbers), "]");
  };
  Store(Cluster("negative", with(R"("replicas":1,"minReplicas":-1,"maxReplicas":3)")));
  Store(Cluster("crossed", with(R"("replicas":1,"minReplicas":4,"maxReplicas":3)")));
  // Negative replicas are below the minimum, and count as the minimum.
  Store(
      Cluster("clamped", with(R"("replicas":-5,"minReplicas":1,"maxReplicas":3,"numOfHosts":1)")));
  Run();
  EXPECT_EQ(EventsOf("negative"),
            std::set<std::string>{"InvalidRayClusterSpec: The RayCluster spec is invalid "
                                  "bad/negative: worker group w has negative minReplicas -1"});
  EXPECT_EQ(EventsOf("crossed"),
            std::set<std::string>{
                "InvalidRayClusterSpec: The RayCluster spec is invalid bad/crossed: worker group w "
                "has minReplicas 4 greater than maxReplicas 3"});
  EXPECT_EQ(PodsOf("clamped"), 2);
}

TEST_F(BadInputTest, NamesThatAreTooLongAreReported) {
  const std::string longest(63, 'x');
  Store(Cluster(longest, kHead));
  Store(Cluster("groups", absl::StrCat(kHead, R"(,"workerGroupSpecs":[)",
                                       Group(std::string(63, 'g'),
                                             R"("replicas":1,"minReplicas":0,"maxReplicas":1,)"
                                             R"("numOfHosts":1)"),
                                       "]")));
  Run();
  EXPECT_EQ(EventsOf(longest),
            std::set<std::string>{
                absl::StrCat("InvalidRayClusterMetadata: The RayCluster metadata is invalid bad/",
                             longest, ": RayCluster name should be no more than 53 characters")});
  EXPECT_EQ(PodsOf("groups"), 2) << "a group's name may be as long as a label's value";
}

// Quirk: accepted. Both look after the same pods and fight where their numbers differ.
TEST_F(BadInputTest, QuirkTwoGroupsOfOneNameShareTheirPods) {
  const std::string group =
      Group("w", R"("replicas":2,"minReplicas":0,"maxReplicas":3,"numOfHosts":1)");
  Store(Cluster("twice", absl::StrCat(kHead, R"(,"workerGroupSpecs":[)", group, ",", group, "]")));
  Store(Cluster("good", kHead));
  world_.Advance(absl::Seconds(30));
  EXPECT_EQ(PodsOf("good"), 1);
  EXPECT_LT(world_.life().reconciles(), 100);
  EXPECT_GE(PodsOf("twice"), 3);
}

}  // namespace
}  // namespace hekla::sim

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/raycluster/plan.h"
#include "pkg/ray/testing/cluster.h"

// Workload and PodGroup of Kubernetes itself. Source: spec ray-cluster 11.6.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using Steps = std::vector<std::string>;

class PlanWorkloadTest : public ::testing::Test {
 protected:
  void Cluster(const std::string& gang, int replicas = 1) {
    const std::string text =
        absl::StrCat("metadata: {labels: {ray.io/gang-scheduling-enabled: '", gang,
                     "'}}\nspec: {workerGroupSpecs: [{groupName: w, replicas: ", replicas,
                     ", minReplicas: 0, maxReplicas: 9, numOfHosts: 1, template: {spec: "
                     "{containers: [{name: r}]}}}]}");
    observed_.object = std::make_shared<const Value>(testing::ClusterObject(text));
    observed_.cluster = testing::Cluster(text);
    observed_.head_services = {std::make_shared<const Value>(
        testing::Yaml("{metadata: {name: alpha-head-svc}, spec: {clusterIP: None}}"))};
    input_.options = &options_;
    input_.batch = &scheduler_;
  }
  void Live(Value workload, Value group) {
    for (Value* object : {&workload, &group}) (*object)["metadata"].Set("uid", "live");
    observed_.workload = std::make_shared<const Value>(std::move(workload));
    observed_.workload_pod_group = std::make_shared<const Value>(std::move(group));
  }
  void Both() {
    Live(batchscheduler::BuildWorkload(observed_.cluster),
         batchscheduler::BuildWorkloadPodGroup(observed_.cluster));
  }
  Steps Do() {
    Steps out;
    for (const Write& write : MakePlan(observed_, input_).writes) {
      switch (write.verb) {
        case Write::Verb::kCreate:
          out.push_back(absl::StrCat("create ", write.resource->kind));
          break;
        case Write::Verb::kDelete:
          out.push_back(
              absl::StrCat("delete ", write.resource->kind, " ", write.name, " ", write.uid));
          break;
        case Write::Verb::kUpdate:
          out.push_back(absl::StrCat("release ", write.resource->kind, " ",
                                     write.object.At("metadata").Has("finalizers")));
          break;
        case Write::Verb::kFail:
          out.push_back(absl::StrCat("fail: ", absl::string_view(write.failure.message())));
          break;
        default:
          out.emplace_back("something else");
      }
    }
    return out;
  }

  const batchscheduler::KubernetesWasScheduler scheduler_;
  ClusterOptions options_;
  PlanInput input_;
  Observed observed_;
};

TEST_F(PlanWorkloadTest, BothAreMadeBeforeThePods) {
  Cluster("TRUE");
  EXPECT_EQ(Do(), (Steps{"create Workload", "create PodGroup", "create Pod", "create Pod"}));
  Both();
  EXPECT_EQ(Do(), (Steps{"create Pod", "create Pod"}));
}

TEST_F(PlanWorkloadTest, AnotherSizeReplacesThemOneByOne) {
  Cluster("true");
  Both();
  Value group = *observed_.workload_pod_group;
  controller::AddFinalizer(group, batchscheduler::kPodGroupProtectionFinalizer);
  const Value workload = *observed_.workload;
  Cluster("true", 3);
  Live(workload, group);
  const std::string replaced = "fail: Workload ml/alpha has another size and is replaced";
  EXPECT_EQ(Do(), (Steps{"release PodGroup 0", "delete PodGroup alpha-cluster live", replaced}));
  observed_.workload_pod_group = nullptr;
  EXPECT_EQ(Do(), (Steps{"delete Workload alpha live", replaced}));
  observed_.workload = nullptr;
  EXPECT_EQ(Do(), (Steps{"create Workload", "create PodGroup", "create Pod", "create Pod",
                         "create Pod", "create Pod"}));
}

TEST_F(PlanWorkloadTest, APodGroupOfAnotherSizeIsReplacedAlone) {
  Cluster("true");
  Both();
  Value group = *observed_.workload_pod_group;
  group["spec"]["schedulingPolicy"]["gang"].Set("minCount", 7);
  observed_.workload_pod_group = std::make_shared<const Value>(std::move(group));
  EXPECT_EQ(Do(), (Steps{"delete PodGroup alpha-cluster live",
                         "fail: PodGroup ml/alpha-cluster has another size and is replaced"}));
}

TEST_F(PlanWorkloadTest, WhatBelongsToOthersStopsThePods) {
  Cluster("true");
  Both();
  Value workload = *observed_.workload;
  workload["metadata"].Remove("ownerReferences");
  observed_.workload = std::make_shared<const Value>(std::move(workload));
  EXPECT_EQ(Do(), Steps{"fail: Workload ml/alpha already exists and is not controlled by "
                        "RayCluster alpha"});
}

TEST_F(PlanWorkloadTest, AClusterThatIsNoGangAnyMoreGivesThemUp) {
  Cluster("no");
  Both();
  EXPECT_EQ(Do(), (Steps{"delete PodGroup alpha-cluster live",
                         "fail: waiting for PodGroup ml/alpha-cluster to be deleted"}));
  observed_.workload_pod_group = nullptr;
  EXPECT_EQ(Do(), (Steps{"delete Workload alpha live", "create Pod", "create Pod"}));
  observed_.workload = nullptr;
  EXPECT_EQ(Do(), (Steps{"create Pod", "create Pod"}));
  // Somebody else's are none of its business.
  observed_.workload = std::make_shared<const Value>(testing::Yaml("{metadata: {name: alpha}}"));
  EXPECT_EQ(Do(), (Steps{"create Pod", "create Pod"}));
}

}  // namespace
}  // namespace hekla::ray::controllers::raycluster

#include "pkg/ray/batchscheduler/batch_scheduler.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::batchscheduler {
namespace {

using apis::json::Dump;
using apis::json::Value;
using apis::ray::RayCluster;
using testing::Cluster;
using testing::Yaml;

std::unique_ptr<BatchScheduler> Make(absl::string_view name) { return *MakeBatchScheduler(name); }

Value Decorated(absl::string_view name, const RayCluster& cluster, absl::string_view group) {
  Value pod = Yaml("{metadata: {labels: {a: b}}, spec: {}}");
  Make(name)->DecoratePod(cluster, group, pod);
  return pod;
}

TEST(BatchSchedulerTest, FourNamesAndNone) {
  for (const char* name : {"", "volcano", "yunikorn", "kai-scheduler", "scheduler-plugins"}) {
    const auto scheduler = MakeBatchScheduler(name);
    ASSERT_TRUE(scheduler.ok()) << name;
    EXPECT_EQ((*scheduler)->name(), name);
  }
  EXPECT_FALSE(MakeBatchScheduler("default").ok());
}

const char kGang[] = "metadata: {labels: {ray.io/gang-scheduling-enabled: 'True'}}\n";

TEST(KubernetesWasTest, AGangHasAWorkloadAndAPodGroupOfItsSize) {
  const RayCluster cluster = Cluster(kGang);
  ASSERT_TRUE(WantsWorkload(cluster));
  const std::string metadata =
      R"("namespace":"ml","labels":{"ray.io/cluster":"alpha"},"ownerReferences":)" +
      Dump(BuildWorkload(cluster).At("metadata").At("ownerReferences")) + "}";
  EXPECT_EQ(Dump(BuildWorkload(cluster)),
            R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload","metadata":{)"
            R"("name":"alpha",)" +
                metadata +
                R"(,"spec":{"controllerRef":{"apiGroup":"ray.io","kind":"RayCluster",)"
                R"("name":"alpha"},"podGroupTemplates":[{"name":"cluster","schedulingPolicy":{)"
                R"("gang":{"minCount":2}}}]}})");
  EXPECT_EQ(Dump(BuildWorkloadPodGroup(cluster)),
            R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{)"
            R"("name":"alpha-cluster",)" +
                metadata +
                R"(,"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"alpha",)"
                R"("podGroupTemplateName":"cluster"}},"schedulingPolicy":{"gang":{)"
                R"("minCount":2}}}})");
  EXPECT_TRUE(BuildWorkload(cluster)
                  .At("metadata")
                  .At("ownerReferences")
                  .as_array()[0]
                  .GetBool("controller"));
  const Value pod = Decorated("kubernetes-was-v1alpha2", cluster, "gpu");
  EXPECT_EQ(Dump(pod.At("spec")), R"({"schedulerName":"default-scheduler","schedulingGroup":{)"
                                  R"("podGroupName":"alpha-cluster"}})");
}

TEST(KubernetesWasTest, OthersAreLeftToTheDefaultScheduler) {
  for (const std::string& text :
       {std::string("metadata: {labels: {ray.io/gang-scheduling-enabled: 'yes'}}"),
        std::string("{}"), kGang + std::string("spec: {enableInTreeAutoscaling: true}")}) {
    EXPECT_FALSE(WantsWorkload(Cluster(text))) << text;
    EXPECT_EQ(Dump(Decorated("kubernetes-was-v1alpha2", Cluster(text), "gpu").At("spec")), "{}");
  }
}

TEST(KubernetesWasTest, AnotherSizeOrTemplateDoesNotFit) {
  const RayCluster cluster = Cluster(kGang);
  Value workload = BuildWorkload(cluster);
  EXPECT_TRUE(WorkloadFits(workload, cluster));
  Value& templates = workload["spec"]["podGroupTemplates"];
  templates.as_array()[0].Set("name", "other");
  EXPECT_FALSE(WorkloadFits(workload, cluster));
  templates.as_array()[0].Set("name", "cluster");
  templates.as_array()[0]["schedulingPolicy"]["gang"].Set("minCount", 3);
  EXPECT_FALSE(WorkloadFits(workload, cluster));
  templates = BuildWorkload(cluster).At("spec").At("podGroupTemplates");
  templates.Append(templates.as_array()[0]);
  EXPECT_FALSE(WorkloadFits(workload, cluster));
  Value group = BuildWorkloadPodGroup(cluster);
  EXPECT_TRUE(WorkloadPodGroupFits(group, cluster));
  group["spec"].Set("schedulingPolicy", Yaml("{basic: {}}"));
  EXPECT_FALSE(WorkloadPodGroupFits(group, cluster));
}

TEST(NoSchedulerTest, ChangesNothing) {
  EXPECT_EQ(Dump(Decorated("", Cluster(), "gpu")),
            R"({"metadata":{"labels":{"a":"b"}},"spec":{}})");
  EXPECT_FALSE(Make("")->BuildPodGroup(Cluster())->has_value());
}

// Groups a, b and d of worked example E9.
std::string Groups(const std::string& more) {
  return R"(
metadata: {labels: {volcano.sh/queue-name: q, ray.io/priority-class-name: high)" +
         more + R"(}}
spec:
  headGroupSpec: {template: {spec: {containers: [
      {name: h, resources: {requests: {cpu: 1}, limits: {cpu: 2, memory: 4Gi}}}]}}}
  workerGroupSpecs:
  - groupName: a
    replicas: 7
    minReplicas: 1
    maxReplicas: 5
    numOfHosts: 1
    template: &worker
      spec: {containers: [{name: r, resources: {requests: {cpu: 2}, limits: {memory: 8Gi}}}]}
  - {groupName: b, replicas: 0, minReplicas: 2, maxReplicas: 4, numOfHosts: 2, template: *worker}
  - {groupName: d, replicas: 1, minReplicas: 0, maxReplicas: 9, numOfHosts: 4, template: *worker}
)";
}

// Worked examples E9 and E10.
TEST(VolcanoTest, PodGroupFollowsReplicasOrMinimum) {
  const auto fixed = Make("volcano")->BuildPodGroup(Cluster(Groups("")));
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(Dump((*fixed)->At("spec")),
            R"({"minMember":14,"minResources":{"cpu":"23","memory":"92Gi"},"queue":"q",)"
            R"("priorityClassName":"high"})");
  EXPECT_EQ((*fixed)->At("metadata").GetString("name"), "ray-alpha-pg");
  const auto scaled = Make("volcano")->BuildPodGroup(
      Cluster(Groups(", volcano.sh/network-topology-mode: hard, "
                     "volcano.sh/network-topology-highest-tier-allowed: '2'") +
              "  enableInTreeAutoscaling: true\n"));
  ASSERT_TRUE(scaled.ok());
  EXPECT_EQ(
      Dump((*scaled)->At("spec")),
      R"({"minMember":6,"minResources":{"cpu":"11","memory":"44Gi"},"queue":"q",)"
      R"("priorityClassName":"high","networkTopology":{"mode":"hard","highestTierAllowed":2}})");
}

// A resource that only groups without replicas ask for is named, as nothing.
TEST(VolcanoTest, EveryResourceIsNamed) {
  const auto group = Make("volcano")->BuildPodGroup(Cluster(
      "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, resources: {limits: {cpu: "
      "2}}}]}}}, workerGroupSpecs: [{groupName: g, replicas: 0, minReplicas: 0, numOfHosts: 1, "
      "template: {spec: {containers: [{name: r, resources: {limits: {cpu: 4, nvidia.com/gpu: "
      "1}}}]}}}]}"));
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(Dump((*group)->At("spec").At("minResources")), R"({"cpu":"2","nvidia.com/gpu":"0"})");
}

TEST(VolcanoTest, TierMustBeANumberWhereThereIsAMode) {
  const std::string tier = "volcano.sh/network-topology-highest-tier-allowed: two";
  EXPECT_FALSE(Make("volcano")
                   ->BuildPodGroup(Cluster("metadata: {labels: {" + tier +
                                           ", volcano.sh/network-topology-mode: soft}}"))
                   .ok());
  EXPECT_TRUE(Make("volcano")->BuildPodGroup(Cluster("metadata: {labels: {" + tier + "}}")).ok());
}

TEST(VolcanoTest, OnlySizeAndAmountsAreUpdated) {
  const auto scheduler = Make("volcano");
  const Value wanted = **scheduler->BuildPodGroup(Cluster(Groups("")));
  Value live = wanted;
  live["spec"].Set("queue", "old");
  live["spec"].Set("minResources", Yaml("{cpu: 23000m, memory: 92Gi}"));
  EXPECT_FALSE(scheduler->UpdatedPodGroup(live, wanted).has_value());
  live["spec"].Set("minMember", 3);
  const auto updated = scheduler->UpdatedPodGroup(live, wanted);
  ASSERT_TRUE(updated.has_value());
  EXPECT_EQ(updated->At("spec").GetInt("minMember"), 14);
  EXPECT_EQ(updated->At("spec").GetString("queue"), "old");
  live["spec"].Set("minMember", 14);
  live["spec"].Remove("minResources");
  EXPECT_TRUE(scheduler->UpdatedPodGroup(live, wanted).has_value());
}

TEST(VolcanoTest, PodsOfARayJobJoinItsPodGroup) {
  const RayCluster cluster = Cluster(
      "metadata: {labels: {ray.io/originated-from-crd: RayJob, ray.io/originated-from-cr-name: "
      "train}}");
  EXPECT_FALSE(Make("volcano")->BuildPodGroup(cluster)->has_value());
  const Value pod = Decorated("volcano", cluster, "gpu");
  EXPECT_EQ(Dump(pod.At("metadata").At("annotations")),
            R"({"scheduling.k8s.io/group-name":"ray-train-pg","volcano.sh/task-spec":"gpu"})");
  EXPECT_EQ(pod.At("spec").GetString("schedulerName"), "volcano");
  const Value nameless = Decorated(
      "volcano", Cluster("metadata: {labels: {ray.io/originated-from-crd: RayJob}}"), "gpu");
  EXPECT_EQ(nameless.At("metadata").At("annotations").GetString("scheduling.k8s.io/group-name"),
            "ray-alpha-pg");
}

// Worked example E24. Quirk: the label counts with any value.
TEST(YunikornTest, QuirkAnyValueOfTheGangLabelCounts) {
  const RayCluster cluster = Cluster(R"(
metadata: {labels: {ray.io/gang-scheduling-enabled: "no", yunikorn.apache.org/app-id: app}}
spec:
  headGroupSpec: {template: {spec: {containers: [
      {name: h, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}}
  workerGroupSpecs:
  - {groupName: w, minReplicas: 2, numOfHosts: 1, template: {spec: {containers: [
      {name: r, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}}
)");
  const Value pod = Decorated("yunikorn", cluster, "w");
  const Value& annotations = pod.At("metadata").At("annotations");
  EXPECT_EQ(annotations.GetString("yunikorn.apache.org/task-groups"),
            R"([{"minResource":{"cpu":"1","memory":"2Gi"},"name":"headgroup","minMember":1},)"
            R"({"minResource":{"cpu":"1","memory":"1Gi"},"name":"w","minMember":2}])");
  EXPECT_EQ(annotations.GetString("yunikorn.apache.org/task-group-name"), "w");
  EXPECT_EQ(pod.At("metadata").At("labels").GetString("applicationId"), "app");
  EXPECT_FALSE(pod.At("metadata").At("labels").Has("queue"));
}

TEST(YunikornTest, GroupsCarryWherePodsMayRun) {
  const RayCluster cluster = Cluster(R"(
metadata: {labels: {ray.io/gang-scheduling-enabled: "true"}}
spec:
  headGroupSpec: {template: {spec: {nodeSelector: {b: "2", a: "1"}, tolerations: [{operator: Exists}]}}}
  workerGroupSpecs: []
)");
  const Value pod = Decorated("yunikorn", cluster, "headgroup");
  EXPECT_EQ(pod.At("metadata").At("annotations").GetString("yunikorn.apache.org/task-groups"),
            R"([{"minResource":{},"nodeSelector":{"a":"1","b":"2"},"name":"headgroup",)"
            R"("tolerations":[{"operator":"Exists"}],"minMember":1}])");
}

TEST(KaiTest, QueueIsCopiedIfNamed) {
  const Value pod =
      Decorated("kai-scheduler", Cluster("metadata: {labels: {kai.scheduler/queue: q}}"), "gpu");
  EXPECT_EQ(pod.At("metadata").At("labels").GetString("kai.scheduler/queue"), "q");
  EXPECT_EQ(pod.At("spec").GetString("schedulerName"), "kai-scheduler");
  EXPECT_FALSE(Decorated("kai-scheduler", Cluster(), "gpu")
                   .At("metadata")
                   .At("labels")
                   .Has("kai.scheduler/queue"));
}

TEST(PluginsTest, GangsHaveAPodGroupThatIsNeverUpdated) {
  const auto scheduler = Make("scheduler-plugins");
  EXPECT_FALSE(scheduler->BuildPodGroup(Cluster())->has_value());
  const RayCluster gang = Cluster("metadata: {labels: {ray.io/gang-scheduling-enabled: 'false'}}");
  const Value group = **scheduler->BuildPodGroup(gang);
  EXPECT_EQ(group.At("spec").GetInt("minMember"), 2);
  EXPECT_FALSE(group.At("metadata").At("ownerReferences").as_array()[0].Has("controller"));
  EXPECT_FALSE(scheduler->UpdatedPodGroup(Yaml("{}"), group).has_value());
  const Value pod = Decorated("scheduler-plugins", gang, "gpu");
  EXPECT_EQ(pod.At("metadata").At("labels").GetString("scheduling.x-k8s.io/pod-group"), "alpha");
  EXPECT_EQ(pod.At("spec").GetString("schedulerName"), "scheduler-plugins-scheduler");
}

}  // namespace
}  // namespace hekla::ray::batchscheduler

#include "pkg/ray/builders/pod.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using apis::json::Dump;
using apis::json::Value;
using apis::ray::RayCluster;
using testing::Cluster;
using testing::Yaml;

Value Head(const std::string& changes, const BuildOptions& options = {}) {
  return BuildHeadPod(Cluster(changes), options, "HASH");
}

Value Worker(const std::string& changes, const BuildOptions& options = {}) {
  const RayCluster cluster = Cluster(changes);
  return BuildWorkerPod(cluster, cluster.spec.worker_groups.front(), options, WorkerIndex{});
}

// Options with one switch in the other position.
BuildOptions Switched(bool BuildOptions::*flag) {
  BuildOptions options;
  options.*flag = !(options.*flag);
  return options;
}

const Value& Ray(const Value& pod) { return pod.At("spec").At("containers").as_array().front(); }

std::string Names(const Value& list) {
  std::vector<std::string> names;
  if (list.is_array()) {
    for (const Value& item : list.as_array()) names.emplace_back(item.GetString("name"));
  }
  return absl::StrJoin(names, " ");
}

std::string Arg(const Value& pod) { return Ray(pod).At("args").as_array().front().as_string(); }

// Worked example E7.
TEST(PodCommandTest, RunsBeforeRayStart) {
  const Value pod = Head(
      "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, command: [sleep], args: "
      "['5']}]}}}}");
  EXPECT_EQ(Dump(Ray(pod).At("command")), R"(["/bin/bash","-c","--"])");
  EXPECT_TRUE(absl::StartsWith(
      Arg(pod), " sleep  5  && ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ray start --head "))
      << Arg(pod);
}

TEST(PodCommandTest, ThatStartsRayItselfIsLeftAlone) {
  const Value pod = Head(
      "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, command: [bash, -c, 'ray "
      "start --head']}]}}}}");
  EXPECT_EQ(Dump(Ray(pod).At("command")), R"(["bash","-c","ray start --head"])");
  EXPECT_FALSE(Ray(pod).Has("args"));
}

TEST(PodCommandTest, LoginShellIsASwitch) {
  EXPECT_EQ(Dump(Ray(Head("", Switched(&BuildOptions::login_shell))).At("command")),
            R"(["/bin/bash","-cl","--"])");
}

// Worked example E8.
TEST(PodEnvironmentTest, StandsInItsOrder) {
  EXPECT_EQ(Names(Ray(Worker("")).At("env")),
            "FQ_RAY_IP RAY_IP RAY_CLUSTER_NAME RAY_CLUSTER_NAMESPACE RAY_CLOUD_INSTANCE_ID "
            "RAY_NODE_TYPE_NAME KUBERAY_GEN_RAY_START_CMD RAY_PORT RAY_ADDRESS "
            "RAY_USAGE_STATS_KUBERAY_IN_USE RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE");
  const Value head = Head("");
  EXPECT_EQ(Names(Ray(head).At("env")),
            "RAY_CLUSTER_NAME RAY_CLUSTER_NAMESPACE RAY_CLOUD_INSTANCE_ID RAY_NODE_TYPE_NAME "
            "KUBERAY_GEN_RAY_START_CMD RAY_PORT RAY_ADDRESS RAY_USAGE_STATS_KUBERAY_IN_USE "
            "RAY_USAGE_STATS_EXTRA_TAGS RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE");
  EXPECT_EQ(FindNamed(Ray(head).At("env"), "RAY_USAGE_STATS_EXTRA_TAGS")->GetString("value"),
            "kuberay_version=nightly;kuberay_crd=RayCluster");
}

// Worked example E18.
TEST(PodProbesTest, OldRayIsAskedByWget) {
  const std::string old =
      "wget --tries 1 -T 2 -q -O- http://localhost:52365/api/local_raylet_healthz | grep success "
      "&& wget --tries 1 -T 10 -q -O- http://localhost:8265/api/gcs_healthz | grep success";
  for (const char* version : {"2.52.1", "nightly", "''"}) {
    const Value pod = Head(std::string("spec: {rayVersion: ") + version + "}");
    const Value& probe = Ray(pod).At("livenessProbe");
    EXPECT_EQ(probe.At("exec").At("command").as_array()[2].as_string(), old) << version;
    EXPECT_EQ(probe.GetInt("timeoutSeconds"), 5);
    EXPECT_EQ(probe.GetInt("failureThreshold"), 120);
  }
}

TEST(PodProbesTest, NewRayIsAskedByHttp) {
  for (const char* version : {"2.53.0", "v2.53", "'2.53'"}) {
    const Value pod = Worker(std::string("spec: {rayVersion: ") + version + "}");
    const Value& probe = Ray(pod).At("readinessProbe");
    EXPECT_EQ(Dump(probe.At("httpGet")), R"({"path":"/api/healthz","port":52365})") << version;
    EXPECT_EQ(probe.GetInt("timeoutSeconds"), 2);
    EXPECT_EQ(probe.GetInt("failureThreshold"), 10);
  }
}

TEST(PodProbesTest, GivenOnesStayAndTheSwitchStopsBoth) {
  const std::string given =
      "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, livenessProbe: {exec: "
      "{command: [x]}}}]}}}}";
  const Value pod = Head(given);
  EXPECT_EQ(Dump(Ray(pod).At("livenessProbe")), R"({"exec":{"command":["x"]}})");
  EXPECT_TRUE(Ray(pod).Has("readinessProbe"));
  EXPECT_FALSE(Ray(Head("", Switched(&BuildOptions::inject_probes))).Has("livenessProbe"));
}

// Worked example E19.
TEST(PodVolumesTest, SharedMemoryFollowsTheMemoryOfTheContainer) {
  const auto size = [](const std::string& resources, const std::string& params = "{}") {
    const Value pod =
        Head("spec: {headGroupSpec: {rayStartParams: " + params +
             ", template: {spec: {containers: [{name: h, resources: " + resources + "}]}}}}");
    const Value* volume = FindNamed(pod.At("spec").At("volumes"), "shared-mem");
    return volume == nullptr ? "none"
                             : std::string(volume->At("emptyDir").GetString("sizeLimit", "any"));
  };
  EXPECT_EQ(size("{limits: {memory: 4Gi}, requests: {memory: 2Gi}}"), "4Gi");
  EXPECT_EQ(size("{requests: {memory: 2048Mi}}"), "2Gi");
  EXPECT_EQ(size("{}"), "any");
  EXPECT_EQ(size("{}", "{plasma-directory: ''}"), "none");
}

// Quirk: the autoscaler then reads another folder than the head writes.
TEST(PodVolumesTest, QuirkAMountAtTheLogsLeavesTheAutoscalerAlone) {
  const Value pod = Head(R"(
spec:
  enableInTreeAutoscaling: true
  headGroupSpec:
    template:
      spec:
        volumes: [{name: mine, emptyDir: {}}]
        containers: [{name: h, volumeMounts: [{name: mine, mountPath: /tmp/ray}]}]
)");
  EXPECT_EQ(Names(Ray(pod).At("volumeMounts")), "mine shared-mem");
  const Value* autoscaler = FindNamed(pod.At("spec").At("containers"), "autoscaler");
  EXPECT_EQ(Names(autoscaler->At("volumeMounts")), "ray-logs");
  EXPECT_EQ(Names(pod.At("spec").At("volumes")), "mine shared-mem ray-logs");
}

TEST(PodLabelsTest, SomeOfTheOperatorsOwnCanBeOverridden) {
  const Value pod = Head(R"(
spec:
  headGroupSpec:
    labels: {tier: hot, ray.io/group: lie}
    template:
      metadata:
        labels: {tier: cold, app.kubernetes.io/name: mine, ray.io/cluster: lie, team: x}
)");
  const Value& labels = pod.At("metadata").At("labels");
  EXPECT_EQ(labels.GetString("tier"), "hot");
  EXPECT_EQ(labels.GetString("team"), "x");
  EXPECT_EQ(labels.GetString("app.kubernetes.io/name"), "mine");
  EXPECT_EQ(labels.GetString("ray.io/cluster"), "alpha");
  EXPECT_EQ(labels.GetString("ray.io/group"), "headgroup");
}

TEST(PodLabelsTest, IndexesDependOnTheHosts) {
  const RayCluster cluster = Cluster(
      "spec: {workerGroupSpecs: [{groupName: tpu, numOfHosts: 2, template: {spec: {containers: "
      "[{name: r}]}}}]}");
  const Value pod =
      BuildWorkerPod(cluster, cluster.spec.worker_groups[0], {}, WorkerIndex{3, "tpu-abcde", 1});
  const Value& labels = pod.At("metadata").At("labels");
  EXPECT_EQ(labels.GetString("ray.io/worker-group-replica-index"), "3");
  EXPECT_EQ(labels.GetString("ray.io/worker-group-replica-name"), "tpu-abcde");
  EXPECT_EQ(labels.GetString("ray.io/replica-host-index"), "1");
  const Value plain = BuildWorkerPod(cluster, cluster.spec.worker_groups[0], {}, std::nullopt);
  EXPECT_FALSE(plain.At("metadata").At("labels").Has("ray.io/worker-group-replica-index"));
}

TEST(PodNamesTest, QuirkTheHeadKeepsTheNameOfItsTemplate) {
  const Value pod = Head("spec: {headGroupSpec: {template: {metadata: {name: fixed}}}}");
  EXPECT_EQ(pod.At("metadata").GetString("name"), "fixed");
  EXPECT_EQ(pod.At("metadata").GetString("generateName"), "alpha-head-");
  const Value named = Head("", Switched(&BuildOptions::deterministic_head_name));
  EXPECT_EQ(named.At("metadata").GetString("name"), "alpha-head");
}

TEST(PodAuthTest, UserSecretIsNamed) {
  const Value pod = Worker("spec: {authOptions: {mode: token, secretName: mine}}");
  const Value* token = FindNamed(Ray(pod).At("env"), "RAY_AUTH_TOKEN");
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(Dump(token->At("valueFrom")), R"({"secretKeyRef":{"name":"mine","key":"auth_token"}})");
  // Quirk: an empty mode is documented as token and is none.
  EXPECT_EQ(FindNamed(Ray(Worker("spec: {authOptions: {}}")).At("env"), "RAY_AUTH_TOKEN"), nullptr);
}

TEST(PodFaultToleranceTest, StorageNamespaceFallsBackToTheUid) {
  const Value pod = Head("metadata: {annotations: {ray.io/ft-enabled: 'true'}}");
  const Value& annotations = pod.At("metadata").At("annotations");
  EXPECT_EQ(annotations.GetString("ray.io/external-storage-namespace"), "uid-1");
  EXPECT_EQ(FindNamed(Ray(pod).At("env"), "RAY_external_storage_namespace")->GetString("value"),
            "uid-1");
}

TEST(PodTest, ServesARayService) {
  const std::string made = "metadata: {labels: {ray.io/originated-from-crd: RayService}}";
  EXPECT_EQ(Head(made).At("metadata").At("labels").GetString("ray.io/serve"), "false");
  const Value worker = Worker(made);
  EXPECT_EQ(worker.At("metadata").At("labels").GetString("ray.io/serve"), "true");
  EXPECT_EQ(Ray(worker).At("readinessProbe").At("exec").At("command").as_array()[2].as_string(),
            "wget --tries 1 -T 2 -q -O- http://localhost:52365/api/local_raylet_healthz | grep "
            "success && wget --tries 1 -T 10 -q -O- http://localhost:8000/-/healthz | grep "
            "success");
  EXPECT_EQ(Ray(worker).At("readinessProbe").GetInt("failureThreshold"), 1);
}

TEST(PodTest, ConfiguredDefaultsFillGapsOnly) {
  BuildOptions options;
  options.worker_sidecars = {Yaml("{name: log}")};
  options.default_envs = {Yaml("{name: A, value: conf}"), Yaml("{name: B, value: conf}")};
  options.default_pod_labels = {{"team", "conf"}, {"ray.io/group", "conf"}};
  options.default_pod_annotations = {{"note", "conf"}};
  const Value pod = Worker(
      "spec: {workerGroupSpecs: [{groupName: g, template: {metadata: {annotations: {note: mine}}, "
      "spec: {containers: [{name: r, env: [{name: A, value: mine}]}]}}}]}",
      options);
  EXPECT_EQ(Names(pod.At("spec").At("containers")), "r log");
  EXPECT_EQ(Ray(pod).At("env").as_array()[0].GetString("value"), "mine");
  EXPECT_EQ(Ray(pod).At("env").as_array()[1].GetString("value"), "conf");
  EXPECT_EQ(pod.At("metadata").At("labels").GetString("team"), "conf");
  EXPECT_EQ(pod.At("metadata").At("labels").GetString("ray.io/group"), "g");
  EXPECT_EQ(pod.At("metadata").At("annotations").GetString("note"), "mine");
}

TEST(PodTest, OddTemplatesDoNotCrash) {
  for (const char* changes :
       {"spec: {headGroupSpec: {template: {spec: null}}, workerGroupSpecs: [{groupName: g}]}",
        "spec: {enableInTreeAutoscaling: true, headGroupSpec: {template: {spec: {containers: [{}], "
        "initContainers: 3, volumes: x}}}, workerGroupSpecs: [{groupName: g, template: {spec: "
        "{containers: [{env: 1, ports: a, volumeMounts: {}, resources: 1}]}}}]}",
        "spec: {historyServerOptions: {collectorOptions: {env: 1}}, tlsOptions: {enabled: true}, "
        "authOptions: {mode: token, enableK8sTokenAuth: true}}"}) {
    BuildOptions options;
    options.history_server = true;
    EXPECT_TRUE(Head(changes, options).At("spec").At("containers").is_array()) << changes;
    EXPECT_TRUE(Worker(changes, options).At("spec").At("containers").is_array()) << changes;
    EXPECT_TRUE(BuildRedisCleanupJob(Cluster(changes), options).At("spec").is_object()) << changes;
  }
}

TEST(RedisCleanupJobTest, IsTheHeadPodReduced) {
  const Value job = BuildRedisCleanupJob(Cluster(R"(
spec:
  enableInTreeAutoscaling: true
  tlsOptions: {enabled: true}
  gcsFaultToleranceOptions: {redisAddress: r, redisUsername: {value: u}}
  headGroupSpec: {template: {spec: {initContainers: [{name: mine}]}}}
)"),
                                         {});
  const Value& spec = job.At("spec").At("template").At("spec");
  EXPECT_EQ(Names(spec.At("containers")), "ray-head");
  EXPECT_EQ(Names(spec.At("initContainers")), "mine");
  EXPECT_EQ(spec.GetString("restartPolicy"), "Never");
  EXPECT_FALSE(Ray(job.At("spec").At("template")).Has("livenessProbe"));
  EXPECT_TRUE(absl::StrContains(Arg(job.At("spec").At("template")),
                                "username=os.getenv('REDIS_USERNAME', parsed.username), "));
  EXPECT_FALSE(job.At("metadata").At("annotations").Has("ray.io/kuberay-version"));
}

// What users bring themselves is not added a second time; the server would refuse the pod.
TEST(PodFeaturesTest, VolumesAndMountsOfTheUserStay) {
  const Value token = Worker(R"(
spec:
  rayVersion: 2.55.0
  authOptions: {mode: token, enableK8sTokenAuth: true}
  workerGroupSpecs:
  - groupName: w
    template:
      spec:
        volumes: [{name: ray-token, emptyDir: {}}]
        containers: [{name: r, volumeMounts: [{name: ray-token, mountPath: /mine}]}]
)");
  EXPECT_EQ(Names(token.At("spec").At("volumes")), "ray-token shared-mem");
  EXPECT_EQ(Names(Ray(token).At("volumeMounts")), "ray-token shared-mem");
  const Value tls = Worker(R"(
spec:
  tlsOptions: {enabled: true}
  workerGroupSpecs:
  - groupName: w
    template:
      spec:
        volumes: [{name: ray-tls, secret: {secretName: mine}}]
        initContainers: [{name: wait-for-tls-ip-san, image: mine}]
        containers: [{name: r}]
)");
  EXPECT_EQ(Names(tls.At("spec").At("volumes")), "ray-tls shared-mem");
  EXPECT_EQ(Names(tls.At("spec").At("initContainers")), "wait-for-tls-ip-san wait-gcs-ready");
}

TEST(PodFeaturesTest, ALimitOfNothingBoundsTheSharedMemory) {
  const Value pod = Head(
      "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, resources: {limits: "
      "{memory: '0'}, requests: {memory: 1Gi}}}]}}}}");
  EXPECT_EQ(Dump(pod.At("spec").At("volumes")),
            R"([{"name":"shared-mem","emptyDir":{"medium":"Memory","sizeLimit":"0"}}])");
}

TEST(RedisCleanupJobTest, ItsPodsAreNamedAsTheHead) {
  const RayCluster named = Cluster("spec: {headGroupSpec: {template: {metadata: {name: mine}}}}");
  const Value job = BuildRedisCleanupJob(named, {});
  const Value& metadata = job.At("spec").At("template").At("metadata");
  EXPECT_EQ(metadata.GetString("name"), "mine");
  EXPECT_EQ(metadata.GetString("generateName"), "alpha-head-");
  const Value fixed =
      BuildRedisCleanupJob(Cluster(""), Switched(&BuildOptions::deterministic_head_name));
  EXPECT_EQ(fixed.At("spec").At("template").At("metadata").GetString("name"), "alpha-head");
  EXPECT_FALSE(fixed.At("spec").At("template").At("metadata").Has("generateName"));
}

}  // namespace
}  // namespace hekla::ray::builders

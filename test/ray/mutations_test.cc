// RayClusters with values of wrong kinds in random places: whatever slips past the schema must end
// in a decoding error, a finding or objects, never in a crash.
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/apis/ray/validation.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/network_policy.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/builders/rbac.h"
#include "pkg/ray/builders/resources.h"
#include "pkg/ray/builders/services.h"
#include "pkg/ray/builders/storage.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray {
namespace {

using apis::json::Member;
using apis::json::Value;
using apis::ray::RayCluster;

constexpr char kRich[] = R"(
metadata:
  labels: {ray.io/gang-scheduling-enabled: "true", volcano.sh/network-topology-mode: hard}
  annotations: {ray.io/enable-serve-service: "true", kubernetes.io/ingress.class: nginx}
spec:
  enableInTreeAutoscaling: true
  autoscalerOptions: {env: [{name: A, value: b}], resources: {limits: {cpu: 1}}, volumeMounts: []}
  authOptions: {mode: token}
  tlsOptions: {enabled: true}
  headServiceAnnotations: {a: b}
  historyServerOptions: {collectorOptions: {image: c, env: [{name: STORAGE_BACKEND, value: x}]}}
  networkPolicy: {head: {ingressRules: [{ports: [{port: 1}]}]}, worker: {egressRules: [{}]}}
  headGroupSpec:
    enableIngress: true
    ingressOptions: {host: h, tls: [{secretName: s}]}
    headService: {metadata: {labels: {a: b}}, spec: {ports: [{name: p, port: 1}]}}
    resources: {CPU: "1"}
    labels: {a: b}
    template:
      metadata: {labels: {a: b}, annotations: {a: b}, finalizers: [f/f]}
      spec:
        volumes: [{name: v, emptyDir: {}}]
        initContainers: [{name: i, env: [{name: A}]}]
        containers:
        - name: h
          image: ray
          command: [a]
          args: [b]
          ports: [{name: serve, containerPort: 8000}]
          env: [{name: A, value: b}]
          volumeMounts: [{name: v, mountPath: /v}]
          resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}, requests: {cpu: 1}}
          livenessProbe: {exec: {command: [x]}}
        tolerations: [{key: a}]
  workerGroupSpecs:
  - groupName: g
    replicas: 1
    minReplicas: 0
    maxReplicas: 2
    numOfHosts: 2
    rayStartParams: {resources: '{"a": 1}'}
    scaleStrategy: {workersToDelete: [w]}
    template: {spec: {containers: [
        {name: r, env: [{name: B}], resources: {limits: {google.com/tpu: 4}}}]}}
)";

// Every value below `value`, itself included.
void Collect(Value& value, std::vector<Value*>& out) {
  out.push_back(&value);
  if (value.is_array()) {
    for (Value& item : value.as_array()) Collect(item, out);
  } else if (value.is_object()) {
    for (Member& m : value.as_object()) Collect(m.value, out);
  }
}

Value OddValue(std::mt19937_64& random) {
  switch (random() % 10) {
    case 0:
      return Value();
    case 1:
      return true;
    case 2:
      return -1;
    case 3:
      return 1.5;
    case 4:
      return "";
    case 5:
      return "9999999999999999999Ki";
    case 6:
      return Value::MakeArray();
    case 7:
      return Value::MakeArray({Value(), Value(1), Value("x"), Value::MakeObject()});
    case 8:
      return Value::MakeObject();
    default:
      return Value::MakeObject({{"name", 1}, {"a", Value::MakeArray()}});
  }
}

// Builds everything. Returns how many objects there were.
size_t BuildAll(const RayCluster& cluster, const Value& raw) {
  builders::BuildOptions options;
  options.history_server = true;
  std::vector<Value> objects = {
      builders::BuildHeadPod(cluster, options, apis::ray::UpgradeHash(raw.At("spec"))),
      builders::BuildRedisCleanupJob(cluster, options),
      builders::BuildHeadlessService(cluster),
      builders::BuildAutoscalerServiceAccount(cluster),
      builders::BuildAutoscalerRole(cluster),
      builders::BuildAutoscalerRoleBinding(cluster),
      builders::BuildGcsClaim(cluster),
      builders::BuildCaCertificate(cluster),
      builders::BuildLeafCertificate(cluster, apis::ray::kHeadNode, {}, options)};
  const auto add = [&](const absl::StatusOr<Value>& object) {
    if (object.ok()) objects.push_back(*object);
  };
  add(builders::BuildHeadService(cluster, options));
  add(builders::BuildServeService(cluster));
  add(builders::BuildIngress(cluster));
  add(builders::BuildRoute(cluster));
  for (const Value& policy : builders::BuildNetworkPolicies(cluster)) objects.push_back(policy);
  for (const apis::ray::WorkerGroupSpec& group : cluster.spec.worker_groups) {
    objects.push_back(builders::BuildWorkerPod(cluster, group, options, std::nullopt));
  }
  for (const char* name : {"volcano", "yunikorn", "kai-scheduler", "scheduler-plugins"}) {
    const auto scheduler = *batchscheduler::MakeBatchScheduler(name);
    const auto group = scheduler->BuildPodGroup(cluster);
    if (group.ok() && group->has_value()) objects.push_back(**group);
    for (Value& object : objects) {
      if (object.GetString("kind") == "Pod") scheduler->DecoratePod(cluster, "g", object);
    }
  }
  apis::ray::RayClusterStatus status;
  builders::FillDesired(cluster, status);
  return objects.size();
}

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  uint64_t number = fallback;
  if (text != nullptr && !absl::SimpleAtoi(text, &number)) return fallback;
  return number;
}

TEST(RayMutationsTest, OddValuesNeverCrash) {
  const uint64_t first = FromEnvironment("HEKLA_RAY_MUTATION_SEED", 1);
  const uint64_t count = FromEnvironment("HEKLA_RAY_MUTATIONS", 1000);
  const Value base = testing::ClusterObject(kRich);
  size_t decoded = 0;
  size_t built = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Value object = base;
    for (uint64_t i = 0; i <= random() % 3; ++i) {
      std::vector<Value*> values;
      Collect(object["spec"], values);
      *values[random() % values.size()] = OddValue(random);
    }
    const auto cluster = apis::ray::DecodeRayCluster(object);
    if (!cluster.ok()) {
      EXPECT_EQ(cluster.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_FALSE(cluster.status().message().empty());
      continue;
    }
    ++decoded;
    // Whether valid or not: the builders may be reached with either by a sibling.
    (void)apis::ray::ValidateRayCluster(*cluster,
                                        {.ray_job_deletion_policy = true,
                                         .network_policy = true,
                                         .embedded_gcs_storage = true,
                                         .mtls = true,
                                         .history_server = true},
                                        true);
    built += BuildAll(*cluster, object);
  }
  EXPECT_GT(decoded, 0u);
  std::cout << count << " mutations, " << decoded << " decoded, " << built << " objects built\n";
}

}  // namespace
}  // namespace hekla::ray

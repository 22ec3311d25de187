#include "pkg/ray/testing/cluster.h"

#include "glog/logging.h"
#include "pkg/yaml/yaml.h"

namespace hekla::ray::testing {

using apis::json::Member;
using apis::json::Value;

namespace {

constexpr absl::string_view kBase = R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: alpha, namespace: ml, uid: uid-1, generation: 1}
spec:
  rayVersion: 2.53.0
  headGroupSpec:
    template: {spec: {containers: [{name: ray-head, image: ray}]}}
  workerGroupSpecs:
  - groupName: gpu
    replicas: 1
    minReplicas: 0
    maxReplicas: 3
    numOfHosts: 1
    template: {spec: {containers: [{name: ray-worker, image: ray}]}}
)";

void Merge(const Value& patch, Value& target) {
  if (!patch.is_object() || !target.is_object()) {
    target = patch;
    return;
  }
  for (const Member& m : patch.as_object()) {
    if (m.value.is_null()) {
      target.Remove(m.key);
    } else if (m.value.is_object() && target.At(m.key).is_object()) {
      Merge(m.value, target[m.key]);
    } else {
      target.Set(m.key, m.value);
    }
  }
}

}  // namespace

Value Yaml(absl::string_view text) {
  const auto document = yaml::ParseOne(text);
  CHECK(document.ok()) << document.status() << "\n" << text;
  return document->value;
}

Value ClusterObject(absl::string_view changes) {
  Value object = Yaml(kBase);
  if (!changes.empty()) Merge(Yaml(changes), object);
  return object;
}

apis::ray::RayCluster Cluster(absl::string_view changes) {
  const auto cluster = apis::ray::DecodeRayCluster(ClusterObject(changes));
  CHECK(cluster.ok()) << cluster.status();
  return *cluster;
}

}  // namespace hekla::ray::testing

#include "pkg/apis/apps/workloads.h"

namespace hekla::apis::apps {
namespace {

template <typename T>
absl::StatusOr<T> Decode(const json::Value& value) {
  T out;
  const meta::Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](meta::Reader& spec) {
    meta::ReadLabelSelector(spec, "selector", out.selector);
    spec.Int("replicas", out.replicas);
  });
  if (!root.status().ok()) return root.status();
  return out;
}

}  // namespace

absl::StatusOr<ReplicaSet> DecodeReplicaSet(const json::Value& value) {
  return Decode<ReplicaSet>(value);
}

absl::StatusOr<StatefulSet> DecodeStatefulSet(const json::Value& value) {
  return Decode<StatefulSet>(value);
}

}  // namespace hekla::apis::apps

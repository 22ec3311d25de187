#include "pkg/apiserver/kubelet/http_api.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::apiserver::kubelet {
namespace {

using apis::json::Value;

constexpr char kJson[] = "application/json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicPatch[] = "application/strategic-merge-patch+json";

std::string PodPath(absl::string_view ns, absl::string_view name) {
  return absl::StrCat("/api/v1/namespaces/", ns, "/pods/", name);
}

}  // namespace

absl::Status HttpApi::PatchPodStatus(absl::string_view ns, absl::string_view name,
                                     const Value& patch) {
  return Send("PATCH", absl::StrCat(PodPath(ns, name), "/status"), kStrategicPatch, patch);
}

absl::Status HttpApi::DeletePodNow(absl::string_view ns, absl::string_view name,
                                   absl::string_view uid) {
  const Value options = Value::MakeObject({{"apiVersion", "v1"},
                                           {"kind", "DeleteOptions"},
                                           {"gracePeriodSeconds", 0},
                                           {"preconditions", Value::MakeObject({{"uid", uid}})}});
  return Send("DELETE", PodPath(ns, name), kJson, options);
}

absl::Status HttpApi::PatchNodeStatus(absl::string_view name, const Value& patch) {
  return Send("PATCH", absl::StrCat("/api/v1/nodes/", name, "/status"), kStrategicPatch, patch);
}

absl::Status HttpApi::PutNodeLease(const Value& lease) {
  const std::string collection = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  // A patch: a Lease cannot be replaced without its resource version.
  const absl::Status patched =
      Send("PATCH", absl::StrCat(collection, "/", lease.At("metadata").GetString("name")),
           kMergePatch, lease);
  if (!absl::IsNotFound(patched)) return patched;
  return Send("POST", collection, kJson, lease);
}

}  // namespace hekla::apiserver::kubelet

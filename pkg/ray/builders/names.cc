#include "pkg/ray/builders/names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/well_known.h"

namespace hekla::ray::builders {

using apis::meta::StringMap;
using apis::ray::RayCluster;

namespace {

constexpr size_t kMaxName = 50;
constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxRouteWithNamespace = 51;

absl::string_view Tail(absl::string_view text, size_t length) {
  return text.size() > length ? text.substr(text.size() - length) : text;
}

}  // namespace

std::string CheckName(absl::string_view name) {
  std::string out(Tail(name, kMaxName));
  if (!out.empty() && (absl::ascii_isdigit(out[0]) || absl::ascii_ispunct(out[0]))) out[0] = 'r';
  return out;
}

std::string CheckLabel(absl::string_view value) {
  std::string out(Tail(value, kMaxLabel));
  if (!out.empty() && absl::ascii_ispunct(out[0])) out[0] = 'r';
  return out;
}

std::string PodName(absl::string_view prefix, absl::string_view node_type) {
  return absl::AsciiStrToLower(absl::StrCat(prefix.substr(0, kMaxName), "-", node_type));
}

std::string HeadGenerateName(absl::string_view cluster) {
  return absl::StrCat(PodName(cluster, apis::ray::kHeadNode), "-");
}

std::string WorkerGenerateName(absl::string_view cluster, absl::string_view group) {
  return absl::StrCat(PodName(absl::StrCat(cluster, "-", group), apis::ray::kWorkerNode), "-");
}

std::string HeadServiceName(const RayCluster& cluster) {
  const absl::string_view given = cluster.spec.head.head_service.At("metadata").GetString("name");
  return given.empty() ? absl::StrCat(cluster.name(), "-head-svc") : std::string(given);
}

std::string HeadFqdn(const RayCluster& cluster, const BuildOptions& options) {
  return absl::StrCat(HeadServiceName(cluster), ".", cluster.ns(), ".svc.", options.cluster_domain);
}

std::string ServeServiceName(absl::string_view owner) { return absl::StrCat(owner, "-serve-svc"); }

std::string HeadlessServiceName(absl::string_view cluster) {
  return absl::StrCat(cluster, "-headless");
}

std::string IngressName(absl::string_view cluster) {
  return CheckName(absl::StrCat(cluster, "-head-ingress"));
}

std::string RouteName(absl::string_view cluster, absl::string_view ns) {
  const std::string name = absl::StrCat(cluster, "-head-route");
  const size_t length = ns.size() < kMaxRouteWithNamespace ? kMaxRouteWithNamespace - ns.size() : 0;
  return CheckName(absl::string_view(name).substr(0, length));
}

std::string RedisCleanupJobName(absl::string_view cluster) {
  return CheckLabel(absl::StrCat(cluster, "-redis-cleanup"));
}

std::string AuthSecretName(const RayCluster& cluster) {
  if (cluster.spec.auth_options && !cluster.spec.auth_options->secret_name.empty()) {
    return cluster.spec.auth_options->secret_name;
  }
  return CheckName(cluster.name());
}

std::string GcsClaimName(const RayCluster& cluster) {
  const auto& options = cluster.spec.gcs_fault_tolerance;
  if (options && options->storage && !options->storage->claim_name.empty()) {
    return options->storage->claim_name;
  }
  return absl::StrCat(cluster.name(), "-gcs-pvc");
}

std::string AutoscalerServiceAccountName(const RayCluster& cluster) {
  const absl::string_view given =
      cluster.spec.head.pod_template.At("spec").GetString("serviceAccountName");
  return given.empty() ? cluster.name() : std::string(given);
}

std::string HeadNetworkPolicyName(absl::string_view cluster) {
  return absl::StrCat(cluster, "-head");
}

std::string WorkerNetworkPolicyName(absl::string_view cluster, absl::string_view group) {
  return absl::StrCat(cluster, "-workers-", group);
}

std::string Identifier(absl::string_view cluster, absl::string_view node_type) {
  return CheckLabel(absl::StrCat(cluster, "-", node_type));
}

StringMap AllPodsSelector(absl::string_view cluster) {
  StringMap out;
  out.Set(apis::ray::kClusterLabel, cluster);
  return out;
}

StringMap NodeTypeSelector(absl::string_view cluster, absl::string_view node_type) {
  StringMap out = AllPodsSelector(cluster);
  out.Set(apis::ray::kNodeTypeLabel, node_type);
  return out;
}

StringMap GroupSelector(absl::string_view cluster, absl::string_view group) {
  StringMap out = AllPodsSelector(cluster);
  out.Set(apis::ray::kGroupLabel, group);
  return out;
}

StringMap HeadServiceSelector(absl::string_view cluster) {
  StringMap out = NodeTypeSelector(cluster, apis::ray::kHeadNode);
  out.Set(apis::ray::kIdentifierLabel, Identifier(cluster, apis::ray::kHeadNode));
  return out;
}

StringMap HeadlessServiceSelector(absl::string_view cluster) {
  StringMap out;
  out.Set(apis::ray::kHeadlessServiceLabel, cluster);
  return out;
}

bool Matches(const StringMap& selector, const StringMap& labels) {
  for (const auto& [key, value] : selector) {
    const std::string* found = labels.Find(key);
    if (found == nullptr || *found != value) return false;
  }
  return true;
}

}  // namespace hekla::ray::builders

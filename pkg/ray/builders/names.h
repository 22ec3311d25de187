#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/builders/build_options.h"

// Names of child objects and the selectors that find them again.
// Source: spec ray-cluster 6.2, 7, 8, 12.
namespace hekla::ray::builders {

// The last 50 characters; a leading digit or punctuation character becomes `r`.
std::string CheckName(absl::string_view name);
// The last 63 characters; a leading punctuation character becomes `r`.
std::string CheckLabel(absl::string_view value);
// The first 50 characters of `prefix` and `-head` or `-worker`, in lower case.
std::string PodName(absl::string_view prefix, absl::string_view node_type);

// `<c>-head-` and `<c>-<g>-worker-`, cut as PodName does.
std::string HeadGenerateName(absl::string_view cluster);
std::string WorkerGenerateName(absl::string_view cluster, absl::string_view group);

// `headService.metadata.name`, else `<c>-head-svc`.
std::string HeadServiceName(const apis::ray::RayCluster& cluster);
// `<head service>.<namespace>.svc.<domain>`.
std::string HeadFqdn(const apis::ray::RayCluster& cluster, const BuildOptions& options);
std::string ServeServiceName(absl::string_view owner);       // <owner>-serve-svc
std::string HeadlessServiceName(absl::string_view cluster);  // <c>-headless
std::string IngressName(absl::string_view cluster);
// First 51 - |namespace| characters of `<c>-head-route`, then CheckName.
std::string RouteName(absl::string_view cluster, absl::string_view ns);
std::string RedisCleanupJobName(absl::string_view cluster);
std::string AuthSecretName(const apis::ray::RayCluster& cluster);  // the user's or CheckName(<c>)
// `storage.claimName` or `<c>-gcs-pvc`.
std::string GcsClaimName(const apis::ray::RayCluster& cluster);
// The head template's `serviceAccountName` or `<c>`, not cut: the name lookups use.
std::string AutoscalerServiceAccountName(const apis::ray::RayCluster& cluster);
std::string HeadNetworkPolicyName(absl::string_view cluster);
std::string WorkerNetworkPolicyName(absl::string_view cluster, absl::string_view group);

// `<c>-head` and `<c>-worker`, through CheckLabel.
std::string Identifier(absl::string_view cluster, absl::string_view node_type);

// Label selectors, as maps of equality terms.
apis::meta::StringMap AllPodsSelector(absl::string_view cluster);
// Node type: kHeadNode, kWorkerNode or kRedisCleanupNode.
apis::meta::StringMap NodeTypeSelector(absl::string_view cluster, absl::string_view node_type);
apis::meta::StringMap GroupSelector(absl::string_view cluster, absl::string_view group);
// Finds head services. (The selector inside a head service has two more terms.)
apis::meta::StringMap HeadServiceSelector(absl::string_view cluster);
apis::meta::StringMap HeadlessServiceSelector(absl::string_view cluster);

// Whether every term of `selector` is in `labels`.
bool Matches(const apis::meta::StringMap& selector, const apis::meta::StringMap& labels);

}  // namespace hekla::ray::builders

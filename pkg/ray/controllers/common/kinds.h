#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/controller/cache.h"
#include "pkg/kube/resource.h"

// The kinds that the Ray controllers read and write.
// Source: spec ray-cluster 1.6, 1.7.
namespace hekla::ray::controllers {

const kube::Resource& RayClusters();
const kube::Resource& Pods();
const kube::Resource& Services();
const kube::Resource& Secrets();
const kube::Resource& ServiceAccounts();
const kube::Resource& Claims();  // persistentvolumeclaims
const kube::Resource& Roles();
const kube::Resource& RoleBindings();
const kube::Resource& Ingresses();
const kube::Resource& Routes();  // OpenShift
const kube::Resource& Jobs();
const kube::Resource& NetworkPolicies();
const kube::Resource& Issuers();       // cert-manager
const kube::Resource& Certificates();  // cert-manager
const kube::Resource& VolcanoPodGroups();
const kube::Resource& SchedulerPluginsPodGroups();
const kube::Resource& Workloads();          // of Kubernetes itself
const kube::Resource& WorkloadPodGroups();  // of Kubernetes itself

// The kind of a batch scheduler's PodGroups; nullptr for one without.
const kube::Resource* PodGroupsOf(absl::string_view batch_scheduler);

// What the cache has to hold for the RayCluster controllers, with the selectors and indexes of an
// operator (pods by cluster label).
struct CacheNeeds {
  bool routes = false;
  bool network_policies = false;
  bool mtls = false;
  bool workloads = false;  // of Kubernetes itself
  std::string batch_scheduler = {};
};
std::vector<controller::Cache::Kind> CacheKinds(const CacheNeeds& needs);

}  // namespace hekla::ray::controllers

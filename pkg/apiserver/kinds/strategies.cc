#include <map>
#include <string>
#include <utility>

#include "pkg/apiserver/kinds/all.h"

namespace hekla::apiserver::kinds {
namespace {

using Table = std::map<std::pair<std::string, std::string>, Strategy>;

Table MakeTable() {
  Table t;
  t[{"", "pods"}] = PodStrategy();
  t[{"", "nodes"}] = NodeStrategy();
  t[{"", "namespaces"}] = NamespaceStrategy();
  t[{"", "services"}] = ServiceStrategy();
  t[{"", "events"}] = EventStrategy();
  t[{"events.k8s.io", "events"}] = NewEventStrategy();
  t[{"", "configmaps"}] = ConfigMapStrategy();
  t[{"", "secrets"}] = SecretStrategy();
  t[{"", "persistentvolumeclaims"}] = ClaimStrategy();
  t[{"", "persistentvolumes"}] = VolumeStrategy();
  t[{"", "replicationcontrollers"}] = ReplicationControllerStrategy();
  t[{"networking.k8s.io", "networkpolicies"}] = NetworkPolicyStrategy();
  t[{"coordination.k8s.io", "leases"}] = LeaseStrategy();
  t[{"scheduling.k8s.io", "priorityclasses"}] = PriorityClassStrategy();
  t[{"storage.k8s.io", "storageclasses"}] = StorageClassStrategy();
  t[{"storage.k8s.io", "csidrivers"}] = CsiDriverStrategy();
  t[{"batch", "jobs"}] = JobStrategy();
  t[{"batch", "cronjobs"}] = CronJobStrategy();
  t[{"apps", "deployments"}] = DeploymentStrategy();
  t[{"apps", "replicasets"}] = ReplicaSetStrategy();
  t[{"apps", "statefulsets"}] = StatefulSetStrategy();
  t[{"apps", "daemonsets"}] = DaemonSetStrategy();
  t[{"", "podtemplates"}] = PodTemplateStrategy();
  t[{"autoscaling", "horizontalpodautoscalers"}] = AutoscalerStrategy();
  t[{"policy", "poddisruptionbudgets"}] = DisruptionBudgetStrategy();
  for (const char* plural : {"roles", "clusterroles"}) {
    t[{"rbac.authorization.k8s.io", plural}] = RoleStrategy();
  }
  for (const char* plural : {"rolebindings", "clusterrolebindings"}) {
    t[{"rbac.authorization.k8s.io", plural}] = RoleBindingStrategy();
  }
  t[{"apiextensions.k8s.io", "customresourcedefinitions"}] = DefinitionStrategy();
  return t;
}

}  // namespace

const Strategy& StrategyOf(absl::string_view group, absl::string_view plural) {
  static const Table* const table = new Table(MakeTable());
  static const Strategy* const none = new Strategy();
  const auto it = table->find({std::string(group), std::string(plural)});
  return it == table->end() ? *none : it->second;
}

}  // namespace hekla::apiserver::kinds

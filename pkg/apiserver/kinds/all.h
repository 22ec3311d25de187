#pragma once

#include <string>

#include "absl/time/time.h"
#include "pkg/apiserver/kinds/strategy.h"

// The strategies of the built-in kinds, one function per kind or family.
namespace hekla::apiserver::kinds {

Strategy PodStrategy();
Strategy NodeStrategy();
Strategy NamespaceStrategy();
Strategy ServiceStrategy();
Strategy EventStrategy();
Strategy NewEventStrategy();
Strategy LeaseStrategy();
Strategy PriorityClassStrategy();
Strategy ConfigMapStrategy();
Strategy SecretStrategy();
Strategy ClaimStrategy();
Strategy NetworkPolicyStrategy();
Strategy VolumeStrategy();
Strategy StorageClassStrategy();
Strategy CsiDriverStrategy();
Strategy JobStrategy();
Strategy CronJobStrategy();
Strategy DeploymentStrategy();
Strategy ReplicaSetStrategy();
Strategy StatefulSetStrategy();
Strategy DaemonSetStrategy();
Strategy ReplicationControllerStrategy();
Strategy DisruptionBudgetStrategy();
Strategy AutoscalerStrategy();
Strategy PodTemplateStrategy();
Strategy DefinitionStrategy();
Strategy RoleStrategy();
Strategy RoleBindingStrategy();

// "2026-01-02T03:04:05Z".
std::string TimeText(absl::Time time);

}  // namespace hekla::apiserver::kinds

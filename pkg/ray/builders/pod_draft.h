#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/builders/build_options.h"

// The steps of building one pod, in the order in which pod.cc takes them.
namespace hekla::ray::builders {

// A pod while it is built.
struct PodDraft {
  PodDraft(const apis::ray::RayCluster& cluster, const BuildOptions& options,
           const apis::ray::WorkerGroupSpec* group);

  bool head() const { return group == nullptr; }
  const apis::json::Value& pod_template() const;
  // Container 0. Valid until containers are added.
  apis::json::Value& ray();
  // A container by name; nullptr where there is none.
  apis::json::Value* container(absl::string_view name);

  const apis::ray::RayCluster& cluster;
  const BuildOptions& options;
  const apis::ray::WorkerGroupSpec* group;  // nullptr for the head
  apis::meta::StringMap params;
  apis::meta::StringMap labels;
  apis::meta::StringMap annotations;
  apis::json::Value spec;  // PodSpec
  std::string fqdn;        // of the head service
  std::string head_port;
};

// /bin/bash -c -- (or -cl).
apis::json::Value ShellWrapper(const BuildOptions& options);
// Environment by which containers find the head: FQ_RAY_IP and RAY_IP.
void AddHeadAddress(const PodDraft& draft, apis::json::Value& container);
bool HasCollector(const PodDraft& draft);

// pod_containers.cc
void AddAutoscaler(PodDraft& draft);
void AddCollector(PodDraft& draft);
void AddWaitForGcs(PodDraft& draft);
void AddWaitForTls(PodDraft& draft);
// A finished head PodSpec becomes that of the Redis cleanup Job.
void ReduceToCleanup(const BuildOptions& options, apis::json::Value& spec);

// pod_features.cc
void ApplyHeadFaultTolerance(PodDraft& draft);
void ApplyWorkerFaultTolerance(PodDraft& draft);
// Into one container; nothing where the cluster does not use it.
void AddAuthTo(const PodDraft& draft, apis::json::Value& container);
void AddTlsTo(const PodDraft& draft, apis::json::Value& container);
// The Ray container, init containers and volumes; after the autoscaler was added.
void ApplyAuth(PodDraft& draft);
void ApplyTls(PodDraft& draft);

// pod_environment.cc
void AddSharedMemory(PodDraft& draft);
void AddRayLogs(PodDraft& draft);
void SetCommand(PodDraft& draft, absl::string_view ray_start);
void AddEnvironment(PodDraft& draft, absl::string_view ray_start);

// pod_probes.cc
void AddProbes(PodDraft& draft);

}  // namespace hekla::ray::builders

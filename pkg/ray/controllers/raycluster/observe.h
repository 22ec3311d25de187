#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/controller/client.h"
#include "pkg/controller/reconciler.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/controllers/common/options.h"

namespace hekla::ray::controllers::raycluster {

// Everything one pass looks at, as the cache has it. Objects that the spec does not ask for are not
// read and null.
struct Observed {
  controller::ObjectPtr object;  // the RayCluster as read
  apis::ray::RayCluster cluster;

  // All pods labelled with the cluster's name, whoever owns them, terminating ones included.
  std::vector<controller::ObjectPtr> pods;
  std::vector<controller::ObjectPtr> head_services;
  std::vector<controller::ObjectPtr> headless_services;
  std::vector<controller::ObjectPtr> routes;
  std::vector<controller::ObjectPtr> cleanup_jobs;
  controller::ObjectPtr service_account;
  controller::ObjectPtr role;
  controller::ObjectPtr role_binding;
  controller::ObjectPtr ingress;
  controller::ObjectPtr auth_secret;
  controller::ObjectPtr serve_service;
  controller::ObjectPtr gcs_claim;
  // What the batch scheduler asks for, and what is there.
  absl::StatusOr<std::optional<apis::json::Value>> wanted_pod_group{std::nullopt};
  controller::ObjectPtr pod_group;
  // With KubernetesWAS.
  controller::ObjectPtr workload;
  controller::ObjectPtr workload_pod_group;
  // TLS is on and both leaf certificates and their secrets are complete.
  bool certificates_ready = false;

  std::vector<controller::ObjectPtr> Heads() const;
  std::vector<controller::ObjectPtr> GroupPods(absl::string_view group) const;
};

// Reads what belongs to `object`, an RayCluster whose content `cluster` is.
// Errors: of reads other than kNotFound.
absl::StatusOr<Observed> Observe(controller::Client& client, const ClusterOptions& options,
                                 const batchscheduler::BatchScheduler* batch,
                                 controller::ObjectPtr object, apis::ray::RayCluster cluster);

// Pods and head services once more, for the status.
absl::Status ObserveAgain(controller::Client& client, Observed& observed);

}  // namespace hekla::ray::controllers::raycluster

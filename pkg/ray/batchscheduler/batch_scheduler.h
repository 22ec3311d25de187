#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

namespace hekla::ray::batchscheduler {

// What one batch scheduler wants of a RayCluster. Pure: reading and writing is the controller's.
// Called before any pod is created, on every pass that reaches pods; nothing while suspended.
// Threads: const and without state; safe from any thread.
// Source: spec ray-cluster 11.
class BatchScheduler {
 public:
  virtual ~BatchScheduler() = default;

  // The name as given to --batch-scheduler, or of the plug-in that a gate chooses; "" for none.
  virtual absl::string_view name() const = 0;

  // The PodGroup the cluster shall have; nothing where the scheduler needs none, or where another
  // owner (a RayJob) keeps it. Errors: kInvalidArgument for labels that make no sense: no pod is
  // created then.
  virtual absl::StatusOr<std::optional<apis::json::Value>> BuildPodGroup(
      const apis::ray::RayCluster& cluster) const = 0;

  // The update a live PodGroup needs: the whole object to put; nothing where it may stay.
  virtual std::optional<apis::json::Value> UpdatedPodGroup(
      const apis::json::Value& live, const apis::json::Value& wanted) const = 0;

  // Adds labels, annotations and scheduler name to a pod about to be created. `group`: `headgroup`
  // or the name of the worker group.
  virtual void DecoratePod(const apis::ray::RayCluster& cluster, absl::string_view group,
                           apis::json::Value& pod) const = 0;
};

// Accepted names: "" (none), volcano, yunikorn, kai-scheduler, scheduler-plugins, and that of
// KubernetesWasScheduler, which a gate stands for.
// Errors: kInvalidArgument for others.
absl::StatusOr<std::unique_ptr<BatchScheduler>> MakeBatchScheduler(absl::string_view name);

}  // namespace hekla::ray::batchscheduler

#pragma once

#include <vector>

#include "pkg/apis/ray/raycluster.h"
#include "pkg/controller/client.h"
#include "pkg/controller/reconciler.h"
#include "pkg/controller/source.h"
#include "pkg/ray/controllers/common/event_sink.h"
#include "pkg/ray/controllers/common/options.h"
#include "pkg/util/clock.h"

namespace hekla::ray::controllers::mtls {

// Keeps cert-manager's issuers and certificates of RayClusters with TLS (gate RayClusterMTLS).
// Pods are not watched: a new pod's address is noticed at the next change of the RayCluster or at
// the next timer (Quirk).
// Source: spec ray-cluster 8.2.
class Reconciler final : public controller::Reconciler {
 public:
  static constexpr absl::string_view kName = "raycluster-mtls";
  static constexpr absl::Duration kNotReadyInterval = absl::Seconds(30);
  static constexpr absl::Duration kReadyInterval = absl::Seconds(60);
  static constexpr absl::Duration kExpiryWarning = absl::Hours(24);
  struct Deps {
    controller::Client* client = nullptr;
    EventSink* events = nullptr;  // reporter kMtlsReporter
    const util::Clock* clock = nullptr;
  };

  // Deps must outlive the reconciler.
  Reconciler(const Deps& deps, ClusterOptions options)
      : deps_(deps), options_(std::move(options)) {}
  absl::StatusOr<controller::Result> Reconcile(const controller::Request& request) override;

 private:
  // False: a leaf has just been changed and is not issued yet. `step`: what it was about when it
  // failed.
  absl::StatusOr<bool> KeepAll(const apis::json::Value& object,
                               const apis::ray::RayCluster& cluster, std::string& step);
  absl::Status CreateMissing(const kube::Resource& resource, const apis::json::Value& wanted);
  // Whether it was changed.
  absl::StatusOr<bool> KeepLeaf(const apis::json::Value& object,
                                const apis::ray::RayCluster& cluster, absl::string_view node_type);
  absl::Status AdoptSecret(const apis::ray::RayCluster& cluster, const std::string& secret,
                           const std::string& certificate);
  // Of head and workers; how the CA fares does not matter.
  absl::StatusOr<bool> LeavesReady(const apis::ray::RayCluster& cluster);
  void WarnOfExpiry(const apis::json::Value& object, const apis::ray::RayCluster& cluster);

  const Deps deps_;
  const ClusterOptions options_;
};

// Every change of a RayCluster, and of the issuers and certificates it owns.
std::vector<controller::Source> Sources();

}  // namespace hekla::ray::controllers::mtls

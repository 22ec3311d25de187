#pragma once

#include <vector>

#include "pkg/apis/ray/raycluster.h"
#include "pkg/controller/client.h"
#include "pkg/controller/reconciler.h"
#include "pkg/controller/source.h"
#include "pkg/ray/controllers/common/event_sink.h"

namespace hekla::ray::controllers::networkpolicy {

// Keeps the NetworkPolicies of RayClusters as their spec asks (gate RayClusterNetworkPolicy).
// The spec is not validated here: an invalid cluster gets its policies all the same.
// Errors:  a policy of that name that belongs to somebody else; failed writes.
// Source:  spec ray-cluster 8.1.
class Reconciler final : public controller::Reconciler {
 public:
  static constexpr absl::string_view kName = "networkpolicy";
  struct Deps {
    controller::Client* client = nullptr;
    EventSink* events = nullptr;  // reporter kNetworkPolicyReporter
  };

  // Deps must outlive the reconciler.
  explicit Reconciler(const Deps& deps) : deps_(deps) {}
  absl::StatusOr<controller::Result> Reconcile(const controller::Request& request) override;

 private:
  absl::Status Keep(const apis::ray::RayCluster& cluster, const apis::json::Value& wanted,
                    PassEvents& events);
  absl::Status DeleteOthers(const apis::ray::RayCluster& cluster,
                            const std::vector<apis::json::Value>& wanted, PassEvents& events);

  const Deps deps_;
};

// RayClusters whose generation changed, and their policies.
std::vector<controller::Source> Sources();

}  // namespace hekla::ray::controllers::networkpolicy

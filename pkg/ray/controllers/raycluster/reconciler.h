#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "pkg/controller/client.h"
#include "pkg/controller/reconciler.h"
#include "pkg/controller/source.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/controllers/common/event_sink.h"
#include "pkg/ray/controllers/common/options.h"
#include "pkg/ray/controllers/raycluster/apply.h"
#include "pkg/ray/controllers/raycluster/metrics.h"
#include "pkg/ray/controllers/raycluster/observe.h"
#include "pkg/ray/controllers/raycluster/plan.h"
#include "pkg/ray/expectations/scale_expectations.h"
#include "pkg/util/clock.h"
#include "pkg/util/random.h"

namespace hekla::ray::controllers::raycluster {

// Brings the world of one RayCluster in line with its spec: observe (all reads, from the cache) ->
// plan (pure: a list of writes) -> apply -> status (pure).
// Errors:  of steps, of the status computation, of the status write, in this order; the key is
// tried
//          again after its back-off. A conflict leads to a fresh read.
// Threads: Reconcile from any worker; never twice at once for one cluster.
// Source:  spec ray-cluster 4, 5, 9.
class Reconciler final : public controller::Reconciler {
 public:
  static constexpr absl::string_view kName = "raycluster";
  struct Deps {
    controller::Client* client = nullptr;
    EventSink* events = nullptr;  // reporter kRayClusterReporter
    const util::Clock* clock = nullptr;
    const batchscheduler::BatchScheduler* batch = nullptr;  // may be null
    ClusterMetrics* metrics = nullptr;                      // may be null
    // Bytes fit for secrets.
    std::function<std::string(size_t)> secret_bytes = nullptr;
    uint64_t seed = 1;  // of replica names
  };

  // Deps must outlive the reconciler.
  Reconciler(Deps deps, ClusterOptions options);
  ~Reconciler() override;
  absl::StatusOr<controller::Result> Reconcile(const controller::Request& request) override;

  expectations::ScaleExpectations& expectations() { return expectations_; }

 private:
  // A cluster whose content cannot be read at all.
  absl::StatusOr<controller::Result> Refuse(const controller::ObjectPtr& object,
                                            const absl::Status& why);
  // Nothing, where the cluster is valid.
  std::optional<absl::StatusOr<controller::Result>> Validate(const apis::json::Value& object,
                                                             const apis::ray::RayCluster& cluster);
  PlanInput MakeInput(const Observed& observed);
  expectations::ScaleExpectations::InCache InCache(const std::string& ns) const;
  // The cache may lack pods that exist: those that an earlier leader made, and after a creation
  // whose outcome is not known. So the first creation in a namespace, and the next one of such a
  // cluster, is preceded by a look past the cache; what is found there is expected to show. How old
  // a cluster is does not count: that is by the server's clock.
  absl::Status LookPastCache(const Observed& observed, PlanInput& input);
  bool MustLookPastCache(const Observed& observed);
  absl::StatusOr<controller::Result> Conclude(Observed observed, const Outcome& outcome);
  // Whether another look is due soon: the status was written, or put off.
  absl::StatusOr<bool> WriteStatus(const Observed& observed, const std::optional<StepError>& error);

  const Deps deps_;
  const ClusterOptions options_;
  expectations::ScaleExpectations expectations_;
  absl::Mutex mutex_;
  util::Random random_ ABSL_GUARDED_BY(mutex_);
  // Namespaces whose pods were compared with the server's since this process leads.
  absl::flat_hash_set<std::string> taken_over_ ABSL_GUARDED_BY(mutex_);
  // By uid: clusters with a creation whose outcome is not known.
  absl::flat_hash_set<std::string> uncertain_ ABSL_GUARDED_BY(mutex_);
};

// RayClusters whose generation, labels or annotations changed; their pods, services, secrets,
// claims and, with Volcano or KubernetesWAS, PodGroups and Workloads.
std::vector<controller::Source> Sources(absl::string_view batch_scheduler);

}  // namespace hekla::ray::controllers::raycluster

#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/controller/cache.h"
#include "pkg/metrics/registry.h"

namespace hekla::ray::controllers::raycluster {

// The `kuberay_cluster_*` series (flag --enable-metrics).
// Threads: any.
// Source:  spec ray-cluster 10.
class ClusterMetrics {
 public:
  // Info and condition are taken from the cached RayClusters at each exposition. `registry` and
  // `cache` must outlive this; the cache as long as the registry is asked.
  ClusterMetrics(metrics::Registry* registry, const controller::Cache* cache);

  // RayClusterProvisioned became True in a status that was written.
  // Quirk: after suspend and resume measured from the original creation again.
  void Provisioned(const apis::json::Value& cluster, absl::Time now);
  // The cluster is gone.
  void Forget(const std::string& ns, const std::string& name);

 private:
  metrics::GaugeFamily& duration_;
  absl::Mutex mutex_;
  // Uids with a series, by (namespace, name).
  std::multimap<std::pair<std::string, std::string>, std::string> uids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::ray::controllers::raycluster

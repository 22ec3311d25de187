#include "pkg/ray/controllers/raycluster/metrics.h"

#include "pkg/apis/ray/well_known.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/controllers/common/kinds.h"

namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;

constexpr char kDuration[] = "kuberay_cluster_provisioned_duration_seconds";
constexpr char kInfo[] = "kuberay_cluster_info";
constexpr char kCondition[] = "kuberay_cluster_condition_provisioned";

std::vector<controller::ObjectPtr> Clusters(const controller::Cache* cache) {
  auto list = cache->List(RayClusters(), {});
  return list.ok() ? *std::move(list) : std::vector<controller::ObjectPtr>();
}

bool IsProvisioned(const Value& cluster) {
  const Value& conditions = cluster.At("status").At("conditions");
  if (!conditions.is_array()) return false;
  for (const Value& c : conditions.as_array()) {
    if (c.GetString("type") == apis::ray::kProvisioned) return c.GetString("status") == "True";
  }
  return false;
}

void WriteInfo(const controller::Cache* cache, metrics::TextWriter& writer) {
  writer.Family(kInfo, "gauge", "RayClusters that exist");
  for (const controller::ObjectPtr& cluster : Clusters(cache)) {
    const absl::string_view owner = controller::LabelOf(*cluster, apis::ray::kOriginKindLabel);
    writer.Sample(kInfo,
                  {{"name", controller::NameOf(*cluster)},
                   {"namespace", controller::NamespaceOf(*cluster)},
                   {"owner_kind", owner.empty() ? "None" : owner},
                   {"uid", controller::UidOf(*cluster)}},
                  1);
  }
}

void WriteCondition(const controller::Cache* cache, metrics::TextWriter& writer) {
  writer.Family(kCondition, "gauge", "RayClusters by their condition RayClusterProvisioned");
  for (const controller::ObjectPtr& cluster : Clusters(cache)) {
    writer.Sample(kCondition,
                  {{"condition", IsProvisioned(*cluster) ? "true" : "false"},
                   {"name", controller::NameOf(*cluster)},
                   {"namespace", controller::NamespaceOf(*cluster)},
                   {"uid", controller::UidOf(*cluster)}},
                  1);
  }
}

}  // namespace

ClusterMetrics::ClusterMetrics(metrics::Registry* registry, const controller::Cache* cache)
    : duration_(registry->NewGaugeFamily(
          kDuration,
          "Seconds from the creation of a RayCluster until all its pods ran for the "
          "first time",
          {"name", "namespace", "uid"})) {
  registry->AddCollector(kInfo, [cache](metrics::TextWriter& writer) { WriteInfo(cache, writer); });
  registry->AddCollector(kCondition,
                         [cache](metrics::TextWriter& writer) { WriteCondition(cache, writer); });
}

void ClusterMetrics::Provisioned(const Value& cluster, absl::Time now) {
  const std::string name(controller::NameOf(cluster));
  const std::string ns(controller::NamespaceOf(cluster));
  const std::string uid(controller::UidOf(cluster));
  duration_.With({name, ns, uid})
      ->Set(absl::ToDoubleSeconds(now - controller::CreationTimeOf(cluster)));
  absl::MutexLock lock(&mutex_);
  uids_.emplace(std::make_pair(ns, name), uid);
}

void ClusterMetrics::Forget(const std::string& ns, const std::string& name) {
  absl::MutexLock lock(&mutex_);
  const auto [begin, end] = uids_.equal_range({ns, name});
  for (auto it = begin; it != end; ++it) duration_.Remove({name, ns, it->second});
  uids_.erase(begin, end);
}

}  // namespace hekla::ray::controllers::raycluster

#include "pkg/ray/controllers/raycluster/metrics.h"

#include <algorithm>

#include "pkg/apis/meta/lookup.h"
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

using Rows = std::vector<metrics::TextWriter::Labels>;

// A gauge that is 1 for each row; nothing where there is none.
void WriteRows(absl::string_view name, absl::string_view help, Rows rows,
               metrics::TextWriter& writer) {
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  writer.Family(name, "gauge", help);
  for (const metrics::TextWriter::Labels& labels : rows) writer.Sample(name, labels, 1);
}

void WriteInfo(const controller::Cache* cache, metrics::TextWriter& writer) {
  const std::vector<controller::ObjectPtr> clusters = Clusters(cache);
  Rows rows;
  for (const controller::ObjectPtr& cluster : clusters) {
    const Value& labels = cluster->At("metadata").At("labels");
    const absl::string_view owner = labels.GetString(apis::ray::kOriginKindLabel, "None");
    rows.push_back({{"name", controller::NameOf(*cluster)},
                    {"namespace", controller::NamespaceOf(*cluster)},
                    {"owner_kind", owner},
                    {"uid", controller::UidOf(*cluster)}});
  }
  WriteRows(kInfo, "Metadata information about RayCluster custom resources", std::move(rows),
            writer);
}

void WriteCondition(const controller::Cache* cache, metrics::TextWriter& writer) {
  const std::vector<controller::ObjectPtr> clusters = Clusters(cache);
  Rows rows;
  for (const controller::ObjectPtr& cluster : clusters) {
    rows.push_back(
        {{"condition",
          apis::meta::ConditionIsTrue(*cluster, apis::ray::kProvisioned) ? "true" : "false"},
         {"name", controller::NameOf(*cluster)},
         {"namespace", controller::NamespaceOf(*cluster)},
         {"uid", controller::UidOf(*cluster)}});
  }
  WriteRows(kCondition, "Indicates whether the RayCluster is provisioned", std::move(rows), writer);
}

}  // namespace

ClusterMetrics::ClusterMetrics(metrics::Registry* registry, const controller::Cache* cache)
    : duration_(registry->NewGaugeFamily(
          kDuration,
          "The time, in seconds, when a RayCluster's `RayClusterProvisioned` status transitions "
          "from false (or unset) to true",
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

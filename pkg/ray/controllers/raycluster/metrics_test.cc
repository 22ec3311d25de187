#include "pkg/ray/controllers/raycluster/metrics.h"

#include <gtest/gtest.h>

#include "pkg/apis/json/value.h"
#include "pkg/controller/cache.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/kube/rest_client.h"
#include "pkg/kube/testing/fake_api.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/util/manual_executor.h"

// The kuberay_* series, byte for byte but for the help texts. Source: spec ray-cluster 10.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;

constexpr char kPath[] = "/apis/ray.io/v1/rayclusters";

class ClusterMetricsTest : public ::testing::Test {
 protected:
  ClusterMetricsTest() { cache_.AddKind({.resource = RayClusters()}); }

  // Created at the start of 2026.
  static Value Cluster(const std::string& name, const std::string& uid, const std::string& owner,
                       const std::string& provisioned) {
    Value cluster = Value::MakeObject({{"apiVersion", "ray.io/v1"}, {"kind", "RayCluster"}});
    Value& metadata = cluster["metadata"];
    metadata.Set("name", name);
    metadata.Set("namespace", "ml");
    metadata.Set("uid", uid);
    metadata.Set("creationTimestamp", "2026-01-01T00:00:00Z");
    if (!owner.empty()) metadata["labels"].Set("ray.io/originated-from-crd", owner);
    if (!provisioned.empty()) {
      cluster["status"]["conditions"].Append(
          Value::MakeObject({{"type", "RayClusterProvisioned"}, {"status", provisioned}}));
    }
    return cluster;
  }
  std::string Expose() {
    executor_.RunReady();
    std::string text = registry_.Expose();
    for (size_t at = 0; (at = text.find("# HELP ", at)) != std::string::npos;) {
      text.erase(at, text.find('\n', at) + 1 - at);
    }
    return text;
  }

  util::FakeClock clock_;
  util::ManualExecutor executor_{&clock_};
  kube::FakeApi api_;
  http::LoopbackTransport loopback_{&api_, &executor_};
  kube::RestClient client_{{.transport = &loopback_, .executor = &executor_}, {.qps = 0}};
  controller::Cache cache_{{.client = &client_, .io = &executor_}, {}};
  metrics::Registry registry_;
  ClusterMetrics metrics_{&registry_, &cache_};
};

TEST_F(ClusterMetricsTest, EveryClusterIsShownWithItsOwnerAndCondition) {
  api_.Put(kPath, Cluster("a", "u1", "", "True"));
  api_.Put(kPath, Cluster("b", "u2", "RayJob", "False"));
  api_.Put(kPath, Cluster("c", "u3", "RayService", ""));
  cache_.Start();
  executor_.RunReady();
  metrics_.Provisioned(
      Cluster("a", "u1", "", "True"),
      absl::FromCivil(absl::CivilSecond(2026, 1, 1, 0, 1, 12), absl::UTCTimeZone()) +
          absl::Milliseconds(500));
  EXPECT_EQ(Expose(),
            "# TYPE kuberay_cluster_condition_provisioned gauge\n"
            "kuberay_cluster_condition_provisioned{condition=\"false\",name=\"b\",namespace=\"ml\","
            "uid=\"u2\"} 1\n"
            "kuberay_cluster_condition_provisioned{condition=\"false\",name=\"c\",namespace=\"ml\","
            "uid=\"u3\"} 1\n"
            "kuberay_cluster_condition_provisioned{condition=\"true\",name=\"a\",namespace=\"ml\","
            "uid=\"u1\"} 1\n"
            "# TYPE kuberay_cluster_info gauge\n"
            "kuberay_cluster_info{name=\"a\",namespace=\"ml\",owner_kind=\"None\",uid=\"u1\"} 1\n"
            "kuberay_cluster_info{name=\"b\",namespace=\"ml\",owner_kind=\"RayJob\",uid=\"u2\"} 1\n"
            "kuberay_cluster_info{name=\"c\",namespace=\"ml\",owner_kind=\"RayService\",uid=\"u3\"}"
            " 1\n"
            "# TYPE kuberay_cluster_provisioned_duration_seconds gauge\n"
            "kuberay_cluster_provisioned_duration_seconds{name=\"a\",namespace=\"ml\",uid=\"u1\"}"
            " 72.5\n");
}

TEST_F(ClusterMetricsTest, HelpIsUpstreams) {
  api_.Put(kPath, Cluster("a", "u1", "", "True"));
  cache_.Start();
  executor_.RunReady();
  metrics_.Provisioned(Cluster("a", "u1", "", "True"), absl::UnixEpoch());
  const std::string text = registry_.Expose();
  for (const char* line :
       {"# HELP kuberay_cluster_provisioned_duration_seconds The time, in seconds, when a "
        "RayCluster's `RayClusterProvisioned` status transitions from false (or unset) to true\n",
        "# HELP kuberay_cluster_info Metadata information about RayCluster custom resources\n",
        "# HELP kuberay_cluster_condition_provisioned Indicates whether the RayCluster is "
        "provisioned\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST_F(ClusterMetricsTest, TheDurationGoesWithItsCluster) {
  EXPECT_EQ(Expose(), "");
  const Value cluster = Cluster("a", "u1", "", "True");
  metrics_.Provisioned(cluster, absl::UnixEpoch());
  metrics_.Forget("ml", "b");
  EXPECT_NE(Expose(), "");
  metrics_.Forget("ml", "a");
  EXPECT_EQ(Expose(), "");
}

}  // namespace
}  // namespace hekla::ray::controllers::raycluster

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/ray/config/feature_gates.h"
#include "pkg/ray/config/operator_config.h"
#include "pkg/ray/config/operator_environment.h"

namespace hekla::ray {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(FeatureGatesTest, Defaults) {
  EXPECT_EQ(FeatureGates().ToString(),
            "GCSFaultToleranceEmbeddedStorage=false,KubernetesWAS=false,"
            "RayClusterHistoryServer=false,RayClusterMTLS=false,RayClusterNetworkPolicy=false,"
            "RayClusterStatusConditions=true,RayCronJob=false,RayJobDeletionPolicy=true,"
            "RayMultiHostIndexing=true,RayServiceIncrementalUpgrade=true,"
            "SidecarSubmitterRestart=false");
}

TEST(FeatureGatesTest, NamesAndStages) {
  FeatureGates gates;
  ASSERT_TRUE(gates.Parse("RayCronJob=true, RayMultiHostIndexing=0").ok());
  EXPECT_TRUE(gates.Enabled(Feature::kRayCronJob));
  EXPECT_FALSE(gates.Enabled(Feature::kRayMultiHostIndexing));
  ASSERT_TRUE(gates.Parse("AllAlpha=true,RayClusterMTLS=false,AllBeta=false").ok());
  EXPECT_TRUE(gates.Enabled(Feature::kKubernetesWas));
  EXPECT_FALSE(gates.Enabled(Feature::kRayClusterMtls)) << "what is named wins over its stage";
  EXPECT_FALSE(gates.Enabled(Feature::kRayClusterStatusConditions));
  EXPECT_TRUE(gates.Parse("").ok());
}

TEST(FeatureGatesTest, ErrorsChangeNothing) {
  FeatureGates gates;
  EXPECT_EQ(gates.Parse("RayCronJob=true,Nope=true").message(), "unrecognized feature gate: Nope");
  EXPECT_FALSE(gates.Enabled(Feature::kRayCronJob));
  EXPECT_EQ(gates.Parse("RayCronJob").message(), "missing bool value for RayCronJob");
  EXPECT_THAT(std::string(gates.Parse("RayCronJob=yes").message()),
              HasSubstr("invalid value of RayCronJob=yes"));
}

absl::StatusOr<OperatorConfig> Parse(absl::string_view fields,
                                     std::vector<std::string>* unknown = nullptr) {
  std::string text = R"({"apiVersion":"config.ray.io/v1alpha1","kind":"Configuration")";
  if (!fields.empty()) text += ",";
  text.append(fields.data(), fields.size());
  text += "}";
  return ParseOperatorConfig(*apis::json::Parse(text), unknown);
}

TEST(OperatorConfigTest, AbsentFieldsHaveTheirDefaults) {
  const absl::StatusOr<OperatorConfig> config = Parse("");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->metrics_addr, ":8080");
  EXPECT_EQ(config->probe_addr, ":8082");
  EXPECT_TRUE(config->enable_leader_election);
  EXPECT_EQ(config->reconcile_concurrency, 1);
  EXPECT_EQ(config->qps, 100);
  EXPECT_EQ(config->burst, 200);
  EXPECT_EQ(Parse(R"("reconcileConcurrency":0)")->reconcile_concurrency, 1);
}

TEST(OperatorConfigTest, EveryField) {
  std::vector<std::string> unknown;
  const absl::StatusOr<OperatorConfig> config = Parse(
      R"("metricsAddr":":1","probeAddr":":2","enableLeaderElection":false,
         "leaderElectionNamespace":"le","reconcileConcurrency":7,"watchNamespace":"a,b",
         "qps":5000.5,"burst":9,"logFile":"/l","logFileEncoder":"console",
         "logStdoutEncoder":"json","batchScheduler":"yunikorn","enableBatchScheduler":true,
         "useKubernetesProxy":true,"enableMetrics":true,"deleteRayJobAfterJobFinishes":true,
         "headSidecarContainers":[{"name":"h"}],"workerSidecarContainers":[{"name":"w"}],
         "defaultContainerEnvs":[{"name":"E","value":"1"}],
         "defaultPodAnnotations":{"k":"v"},"defaultPodLabels":{"l":"m"},"later":1)",
      &unknown);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->metrics_addr, ":1");
  EXPECT_EQ(config->probe_addr, ":2");
  EXPECT_FALSE(config->enable_leader_election);
  EXPECT_EQ(config->leader_election_namespace, "le");
  EXPECT_EQ(config->reconcile_concurrency, 7);
  EXPECT_EQ(config->watch_namespace, "a,b");
  EXPECT_EQ(config->qps, 5000.5);
  EXPECT_EQ(config->burst, 9);
  EXPECT_EQ(config->log_file, "/l");
  EXPECT_EQ(config->batch_scheduler, "yunikorn");
  EXPECT_TRUE(config->enable_batch_scheduler && config->use_kubernetes_proxy);
  EXPECT_TRUE(config->enable_metrics && config->delete_ray_job_after_job_finishes);
  EXPECT_THAT(config->head_sidecar_containers, SizeIs(1));
  EXPECT_EQ(config->worker_sidecar_containers[0].GetString("name"), "w");
  EXPECT_EQ(config->default_container_envs[0].GetString("value"), "1");
  EXPECT_EQ(config->default_pod_annotations.Get("k"), "v");
  EXPECT_EQ(config->default_pod_labels.Get("l"), "m");
  EXPECT_THAT(unknown, ElementsAre("later"));
}

TEST(OperatorConfigTest, AWrongTypeOrKindIsAnError) {
  EXPECT_EQ(Parse(R"("qps":"100")").status().message(), "qps: expected number, got string");
  EXPECT_EQ(Parse(R"("burst":1.5)").status().message(), "burst: expected integer, got number");
  EXPECT_EQ(Parse(R"("defaultPodLabels":{"a":1})").status().message(),
            "defaultPodLabels.a: expected string, got number");
  EXPECT_EQ(Parse(R"("headSidecarContainers":["x"])").status().message(),
            "headSidecarContainers[0]: expected object, got string");
  EXPECT_FALSE(ParseOperatorConfig(*apis::json::Parse(R"({"kind":"Configuration"})")).ok());
  EXPECT_FALSE(ParseOperatorConfig(apis::json::Value("text")).ok());
}

TEST(OperatorConfigTest, BatchSchedulerChoice) {
  FeatureGates gates;
  OperatorConfig config;
  EXPECT_TRUE(ValidateOperatorConfig(config, gates).ok());
  EXPECT_EQ(config.ChosenBatchScheduler(), "");
  config.enable_batch_scheduler = true;
  EXPECT_TRUE(ValidateOperatorConfig(config, gates).ok());
  EXPECT_EQ(config.ChosenBatchScheduler(), "volcano");
  config.batch_scheduler = "yunikorn";
  EXPECT_FALSE(ValidateOperatorConfig(config, gates).ok()) << "both";
  config.enable_batch_scheduler = false;
  for (const char* name : {"volcano", "yunikorn", "kai-scheduler", "scheduler-plugins"}) {
    config.batch_scheduler = name;
    EXPECT_TRUE(ValidateOperatorConfig(config, gates).ok()) << name;
  }
  config.batch_scheduler = "default";
  EXPECT_FALSE(ValidateOperatorConfig(config, gates).ok());
  ASSERT_TRUE(gates.Parse("KubernetesWAS=true").ok());
  config.batch_scheduler = "volcano";
  EXPECT_FALSE(ValidateOperatorConfig(config, gates).ok());
  config.batch_scheduler = "";
  EXPECT_TRUE(ValidateOperatorConfig(config, gates).ok());
}

TEST(WatchedNamespacesTest, SplitAtCommas) {
  std::vector<std::string> warnings;
  EXPECT_THAT(WatchedNamespaces("", &warnings), ElementsAre(""));
  EXPECT_THAT(WatchedNamespaces("a,b,a", &warnings), ElementsAre("a", "b"));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(WatchedNamespacesTest, QuirkTrailingCommaMeansAllAndBlanksStay) {
  std::vector<std::string> warnings;
  EXPECT_THAT(WatchedNamespaces("a,", &warnings), ElementsAre(""));
  EXPECT_THAT(warnings, SizeIs(1));
  EXPECT_THAT(WatchedNamespaces("a, b", &warnings), ElementsAre("a", " b"));
  EXPECT_THAT(warnings, SizeIs(2));
}

TEST(OperatorEnvironmentTest, DefaultsAndValues) {
  const OperatorEnvironment none;
  EXPECT_EQ(none.DefaultRequeue(), absl::Seconds(300));
  EXPECT_TRUE(none.RedisCleanup() && none.InitContainerInjection() && none.ProbesInjection());
  EXPECT_FALSE(none.RandomPodDelete() || none.LoginShell() || none.Webhooks());
  EXPECT_EQ(none.ClusterDomain(), "cluster.local");
  std::map<std::string, std::string> values = {
      {"RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV", "7"},
      {"ENABLE_GCS_FT_REDIS_CLEANUP", "False"},
      {"ENABLE_LOGIN_SHELL", "TRUE"},
      {"ENABLE_WEBHOOKS", "True"},
      {"CLUSTER_DOMAIN", "lab.local"},
  };
  const OperatorEnvironment some([&values](const std::string& name) {
    const auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional<std::string>(it->second);
  });
  EXPECT_EQ(some.DefaultRequeue(), absl::Seconds(7));
  EXPECT_FALSE(some.RedisCleanup());
  EXPECT_TRUE(some.LoginShell());
  EXPECT_FALSE(some.Webhooks()) << "exactly true";
  EXPECT_EQ(some.ClusterDomain(), "lab.local");
  values["RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV"] = "5s";
  EXPECT_EQ(some.DefaultRequeue(), absl::Seconds(300));
  values["RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV"] = "-1";
  EXPECT_EQ(some.DefaultRequeue(), absl::Seconds(-1));
}

}  // namespace
}  // namespace hekla::ray

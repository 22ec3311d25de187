#include "cmd/ray-operator/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::cmd::ray_operator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OperatorOptionsTest, Defaults) {
  const absl::StatusOr<Options> options = ParseOptions({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->config.metrics_addr, ":8080");
  EXPECT_EQ(options->config.probe_addr, ":8082");
  EXPECT_TRUE(options->config.enable_leader_election);
  EXPECT_EQ(options->config.reconcile_concurrency, 1);
  EXPECT_EQ(options->config.qps, 100);
  EXPECT_EQ(options->config.burst, 200);
  EXPECT_FALSE(options->config.enable_metrics);
  EXPECT_EQ(options->stdout_encoder, Encoder::kJson);
}

TEST(OperatorOptionsTest, EveryFlagOfUpstream) {
  const absl::StatusOr<Options> options = ParseOptions({"--metrics-addr=:1",
                                                        "--health-probe-bind-address",
                                                        ":2",
                                                        "--enable-leader-election=false",
                                                        "--leader-election-namespace=le",
                                                        "-reconcile-concurrency=10",
                                                        "--watch-namespace=a,b",
                                                        "--forced-cluster-upgrade",
                                                        "--log-file-path=/tmp/x.log",
                                                        "--log-file-encoder=console",
                                                        "--log-stdout-encoder",
                                                        "console",
                                                        "--enable-batch-scheduler",
                                                        "--batch-scheduler=yunikorn",
                                                        "--config=/c.yaml",
                                                        "--use-kubernetes-proxy=true",
                                                        "--feature-gates=RayCronJob=true",
                                                        "--enable-metrics",
                                                        "--qps=50.5",
                                                        "--burst=7",
                                                        "--zap-devel",
                                                        "--zap-encoder=json",
                                                        "--zap-log-level=3",
                                                        "--zap-stacktrace-level=error",
                                                        "--zap-time-encoding=iso8601",
                                                        "--kubeconfig=/k"});
  ASSERT_TRUE(options.ok()) << options.status();
  const ray::OperatorConfig& config = options->config;
  EXPECT_EQ(config.metrics_addr, ":1");
  EXPECT_EQ(config.probe_addr, ":2");
  EXPECT_FALSE(config.enable_leader_election);
  EXPECT_EQ(config.leader_election_namespace, "le");
  EXPECT_EQ(config.reconcile_concurrency, 10);
  EXPECT_EQ(config.watch_namespace, "a,b");
  EXPECT_EQ(config.log_file, "/tmp/x.log");
  EXPECT_TRUE(config.enable_batch_scheduler);
  EXPECT_EQ(config.batch_scheduler, "yunikorn");
  EXPECT_TRUE(config.use_kubernetes_proxy && config.enable_metrics);
  EXPECT_EQ(config.qps, 50.5);
  EXPECT_EQ(config.burst, 7);
  EXPECT_TRUE(options->forced_cluster_upgrade);
  EXPECT_EQ(options->file_encoder, Encoder::kConsole);
  EXPECT_EQ(options->stdout_encoder, Encoder::kConsole);
  EXPECT_EQ(options->config_path, "/c.yaml");
  EXPECT_EQ(options->feature_gates, "RayCronJob=true");
  EXPECT_EQ(options->log.verbosity, 3);
  EXPECT_EQ(options->kubeconfig, "/k");
}

TEST(OperatorOptionsTest, BadValuesNameTheFlag) {
  EXPECT_THAT(std::string(ParseOptions({"--nope"}).status().message()), HasSubstr("nope"));
  EXPECT_THAT(std::string(ParseOptions({"--qps=fast"}).status().message()), HasSubstr("qps"));
  EXPECT_THAT(std::string(ParseOptions({"--log-stdout-encoder=xml"}).status().message()),
              HasSubstr("\"xml\" is not supported; accepted: json, console"));
  EXPECT_FALSE(ParseOptions({"--zap-log-level=loud"}).ok());
  EXPECT_EQ(ParseOptions({"--zap-log-level=error"})->log.min_severity, 2);
}

TEST(OperatorOptionsTest, LeftoversAreKeptAside) {
  EXPECT_THAT(ParseOptions({"start", "--burst=1"})->ignored_arguments, ElementsAre("start"));
  EXPECT_TRUE(ParseOptions({"--version"})->version);
  EXPECT_TRUE(ParseOptions({"-h"})->help);
  EXPECT_THAT(Usage(), HasSubstr("--reconcile-concurrency"));
}

}  // namespace
}  // namespace hekla::cmd::ray_operator

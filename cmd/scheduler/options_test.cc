#include "cmd/scheduler/options.h"

#include <set>

#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::cmd::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Options Parsed(const std::vector<std::string>& arguments) {
  absl::StatusOr<Options> options = ParseOptions(arguments);
  EXPECT_TRUE(options.ok()) << options.status();
  return options.ok() ? *options : Options();
}

TEST(OptionsTest, ArgumentsOfUpstreamsChartAreTaken) {
  const Options o = Parsed(absl::StrSplit(
      "--logtostderr --scheduler-conf=/volcano.scheduler/volcano-scheduler.conf "
      "--enable-healthz=true --enable-metrics=true --leader-elect=false --kube-api-qps=2000 "
      "--kube-api-burst=2000 --schedule-period=1s --node-worker-threads=20 -v=3 2>&1",
      ' '));
  EXPECT_EQ(o.scheduler_conf, "/volcano.scheduler/volcano-scheduler.conf");
  EXPECT_TRUE(o.serving.enable_healthz);
  EXPECT_TRUE(o.serving.enable_metrics);
  EXPECT_FALSE(o.leader_election.enabled);
  EXPECT_EQ(o.log.verbosity, 3);
  EXPECT_THAT(o.ignored_arguments, ElementsAre("2>&1"));
  EXPECT_THAT(o.flags_without_effect, ElementsAre("node-worker-threads"));
}

TEST(OptionsTest, DefaultsAreUpstreams) {
  const Options o = Parsed({});
  EXPECT_EQ(o.api.qps, 2000);
  EXPECT_EQ(o.api.burst, 2000);
  EXPECT_THAT(o.scheduler_names, ElementsAre("volcano"));
  EXPECT_EQ(o.schedule_period, absl::Seconds(1));
  EXPECT_EQ(o.schedule_min_gap, absl::Milliseconds(10));
  EXPECT_EQ(o.default_queue, "default");
  EXPECT_EQ(o.sampling.minimum_feasible_nodes, 100);
  EXPECT_EQ(o.sampling.minimum_percentage, 5);
  EXPECT_EQ(o.node_worker_threads, 20);
  EXPECT_EQ(o.resource_sync_timeout, absl::Seconds(60));
  EXPECT_EQ(o.gate_removal_worker_num, 5);
  EXPECT_EQ(o.serving.healthz_address, ":11251");
  EXPECT_EQ(o.serving.listen_address, ":8080");
  EXPECT_TRUE(o.leader_election.enabled);
  EXPECT_EQ(o.leader_election.lease_duration, absl::Seconds(15));
  EXPECT_EQ(o.leader_election.lease_namespace(), "volcano-system");
  EXPECT_TRUE(o.log.to_stderr);
  EXPECT_THAT(o.flags_without_effect, IsEmpty());
}

// Every flag of spec scheduler-core 1.1 with a value of its type.
TEST(OptionsTest, EveryFlagIsKnown) {
  for (const char* flag : {"--master=http://x",
                           "--kubeconfig=f",
                           "--kube-api-qps=1.5",
                           "--kube-api-burst=3",
                           "--ca-cert-file=f",
                           "--tls-cert-file=f",
                           "--tls-private-key-file=f",
                           "--scheduler-name=a",
                           "--scheduler-conf=f",
                           "--disable-default-scheduler-config",
                           "--schedule-period=2s",
                           "--resync-period=0",
                           "--default-queue=q",
                           "--priority-class=false",
                           "--csi-storage=false",
                           "--minimum-feasible-nodes=1",
                           "--minimum-percentage-nodes-to-find=1",
                           "--percentage-nodes-to-find=1",
                           "--plugins-dir=d",
                           "--node-selector=a:b,c:d",
                           "--node-worker-threads=1",
                           "--ignored-provisioners=x",
                           "--resource-sync-timeout=0",
                           "--gate-removal-worker-num=1",
                           "--scheduler-sharding-mode=soft",
                           "--scheduler-sharding-name=s",
                           "--cache-dumper=false",
                           "--cache-dump-dir=d",
                           "--enable-healthz",
                           "--healthz-address=:1",
                           "--enable-metrics",
                           "--enable-pprof",
                           "--listen-address=:2",
                           "--debug-address=",
                           "--version",
                           "--feature-gates=A=true",
                           "--log-flush-frequency=5s",
                           "--leader-elect=false",
                           "--leader-elect-lease-duration=15s",
                           "--leader-elect-renew-deadline=10s",
                           "--leader-elect-retry-period=2s",
                           "--leader-elect-resource-lock=leases",
                           "--leader-elect-resource-name=n",
                           "--leader-elect-resource-namespace=ns",
                           "--lock-object-namespace=ns",
                           "-v=3",
                           "--logtostderr",
                           "--alsologtostderr",
                           "--vmodule=a=1",
                           "--stderrthreshold=WARNING",
                           "--log-dir=d",
                           "--log-file=f",
                           "--log_file_max_size=1",
                           "--log-backtrace-at=a:1",
                           "--add-dir-header",
                           "--skip-headers",
                           "--skip-log-headers",
                           "--one-output",
                           "--legacy-stderr-threshold-behavior=false"}) {
    EXPECT_TRUE(ParseOptions({flag}).ok()) << flag << ": " << ParseOptions({flag}).status();
  }
}

TEST(OptionsTest, RepeatableFlagsCollect) {
  const Options o = Parsed({"--scheduler-name=a", "--scheduler-name=b", "--node-selector=x:1,y:2",
                            "--node_selector=z:3", "--feature-gates=A=true,B=false"});
  EXPECT_THAT(o.scheduler_names, ElementsAre("a", "b"));
  EXPECT_THAT(o.node_selector, ElementsAre("x:1", "y:2", "z:3"));
  EXPECT_THAT(o.feature_gates, ElementsAre(Pair("A", true), Pair("B", false)));
}

TEST(OptionsTest, UnknownFlagsAndBadValuesAreErrors) {
  EXPECT_EQ(ParseOptions({"--nonsense"}).status().message(), "unknown flag: --nonsense");
  EXPECT_THAT(std::string(ParseOptions({"--feature-gates=A"}).status().message()),
              HasSubstr("--feature-gates: \"A\" is not of the form Name=true or Name=false"));
}

TEST(OptionsTest, ElectionTimesMustFitTogether) {
  EXPECT_TRUE(ValidateOptions(Parsed({})).ok());
  EXPECT_FALSE(ValidateOptions(Parsed({"--leader-elect-lease-duration=10s"})).ok());
  EXPECT_FALSE(ValidateOptions(Parsed({"--leader-elect-retry-period=9s"})).ok());
  EXPECT_FALSE(ValidateOptions(Parsed({"--leader-elect-retry-period=0"})).ok());
  EXPECT_FALSE(ValidateOptions(Parsed({"--leader-elect-resource-name="})).ok());
  EXPECT_TRUE(
      ValidateOptions(Parsed({"--leader-elect=false", "--leader-elect-resource-name="})).ok());
}

TEST(OptionsTest, WorkersBelowOneBecomeFive) {
  EXPECT_EQ(Parsed({"--gate-removal-worker-num=0"}).gate_removal_worker_num, 5);
}

TEST(OptionsTest, DeprecatedNamespaceWins) {
  EXPECT_EQ(Parsed({"--lock-object-namespace=old"}).leader_election.lease_namespace(), "old");
}

TEST(OptionsTest, FlagsThatGlogDefinesAreOffered) {
  const auto size = FLAGS_max_log_size;
  EXPECT_TRUE(ParseOptions({"--max-log-size=7", "--stop_logging_if_full_disk=true"}).ok());
  EXPECT_EQ(FLAGS_max_log_size, 7);
  EXPECT_TRUE(FLAGS_stop_logging_if_full_disk);
  FLAGS_max_log_size = size;
  FLAGS_stop_logging_if_full_disk = false;
  EXPECT_THAT(std::string(ParseOptions({"--max-log-size=many"}).status().message()),
              HasSubstr("\"many\" is no value of this flag"));
}

}  // namespace
}  // namespace hekla::cmd::scheduler

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::scheduler {

// How the API server is reached.
struct ApiOptions {
  std::string master;
  std::string kubeconfig;
  double qps = 2000;
  int burst = 2000;
};

struct LeaderElectionOptions {
  bool enabled = true;
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "volcano";
  std::string resource_namespace = "volcano-system";
  std::string lock_object_namespace;  // deprecated; replaces resource_namespace when not empty

  const std::string& lease_namespace() const {
    return lock_object_namespace.empty() ? resource_namespace : lock_object_namespace;
  }
};

// Health, metrics and profiling endpoints.
struct ServingOptions {
  bool enable_healthz = false;
  std::string healthz_address = ":11251";
  std::string ca_cert_file;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  bool enable_metrics = false;
  bool enable_pprof = false;
  std::string listen_address = ":8080";
  std::string debug_address = "127.0.0.1:11252";  // "": nothing is served
};

// Upstream's sample of nodes. All nodes are considered unless a percentage is asked for.
struct SamplingOptions {
  int minimum_feasible_nodes = 100;
  int minimum_percentage = 5;
  int percentage = 0;
};

struct ShardingOptions {
  std::string mode = "none";
  std::string name = "volcano";
};

// Everything the command line of hekla-scheduler says.
// Source: spec scheduler-core 1.1.
struct Options {
  ApiOptions api;
  LeaderElectionOptions leader_election;
  ServingOptions serving;
  SamplingOptions sampling;
  ShardingOptions sharding;

  std::vector<std::string> scheduler_names = {"volcano"};
  std::string scheduler_conf;
  bool disable_default_scheduler_config = false;
  absl::Duration schedule_period = absl::Seconds(1);
  absl::Duration schedule_min_gap = absl::Milliseconds(10);
  absl::Duration resync_period = absl::ZeroDuration();
  std::string default_queue = "default";
  bool priority_class = true;
  bool csi_storage = true;
  std::string plugins_dir;
  std::vector<std::string> node_selector;
  int node_worker_threads = 20;
  std::vector<std::string> ignored_provisioners;
  absl::Duration resource_sync_timeout = absl::Seconds(60);
  int gate_removal_worker_num = 5;
  bool cache_dumper = true;
  std::string cache_dump_dir = "/tmp";
  std::vector<std::pair<std::string, bool>> feature_gates;

  util::LogOptions log;
  bool version = false;
  bool help = false;

  // What was given and does nothing: leftovers such as "2>&1", and flags without effect yet.
  std::vector<std::string> ignored_arguments;
  std::vector<std::string> flags_without_effect;
};

// Errors: kInvalidArgument: unknown flag, malformed value. The program prints it with Usage() and
// exits with 2.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments);

// What parses well and cannot work: an election whose times contradict each other. Exit code 1.
absl::Status ValidateOptions(const Options& options);

std::string Usage();

}  // namespace hekla::cmd::scheduler

#include "cmd/scheduler/options.h"

#include <gflags/gflags.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::scheduler {
namespace {

using util::FlagSet;

constexpr absl::string_view kWithoutEffect[] = {
    "enable-pprof",
    "gate-removal-worker-num",
    "ignored-provisioners",
    "minimum-feasible-nodes",
    "minimum-percentage-nodes-to-find",
    "node-worker-threads",
    "percentage-nodes-to-find",
    "plugins-dir",
    "resync-period",
    "scheduler-sharding-mode",
    "scheduler-sharding-name",
    "feature-gates",
    "resource-sync-timeout",
};

// "A=true,B=false", added to the gates given before.
absl::Status ReadGates(absl::string_view text, std::vector<std::pair<std::string, bool>>* gates) {
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    const std::vector<std::string> sides = absl::StrSplit(part, '=');
    const std::string value = sides.size() == 2 ? absl::AsciiStrToLower(sides[1]) : "";
    if (value != "true" && value != "false") {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", part, "\" is not of the form Name=true or Name=false"));
    }
    gates->emplace_back(absl::StripAsciiWhitespace(sides[0]), value == "true");
  }
  return absl::OkStatus();
}

void AddApiFlags(FlagSet& flags, ApiOptions& api) {
  flags.String("master", &api.master, "URL of the API server; overrides the kubeconfig.");
  flags.String("kubeconfig", &api.kubeconfig,
               "Kubeconfig file; without it and without --master: in-cluster configuration.");
  flags.Double("kube-api-qps", &api.qps, "Requests per second to the API server.");
  flags.Int("kube-api-burst", &api.burst, "Requests that may be sent at once.");
}

void AddElectionFlags(FlagSet& flags, LeaderElectionOptions& election) {
  flags.Bool("leader-elect", &election.enabled, "Elect a leader before scheduling.");
  flags.Duration("leader-elect-lease-duration", &election.lease_duration,
                 "Time after which a silent leader is replaced.");
  flags.Duration("leader-elect-renew-deadline", &election.renew_deadline,
                 "Time in which the leader must renew before it gives up.");
  flags.Duration("leader-elect-retry-period", &election.retry_period, "Pause between tries.");
  flags.String("leader-elect-resource-lock", &election.resource_lock,
               "Kind of the lock object; a Lease is used whatever it says.");
  flags.String("leader-elect-resource-name", &election.resource_name, "Name of the Lease.");
  flags.String("leader-elect-resource-namespace", &election.resource_namespace,
               "Namespace of the Lease.");
  flags.String("lock-object-namespace", &election.lock_object_namespace,
               "Deprecated: use --leader-elect-resource-namespace.");
}

void AddServingFlags(FlagSet& flags, ServingOptions& serving) {
  flags.Bool("enable-healthz", &serving.enable_healthz, "Serve /healthz.");
  flags.String("healthz-address", &serving.healthz_address, "Address of the health endpoint.");
  flags.String("ca-cert-file", &serving.ca_cert_file, "CA of the health endpoint's clients.");
  flags.String("tls-cert-file", &serving.tls_cert_file, "Certificate of the health endpoint.");
  flags.String("tls-private-key-file", &serving.tls_private_key_file,
               "Key of that certificate. TLS is used only when all three files are given.");
  flags.Bool("enable-metrics", &serving.enable_metrics, "Serve /metrics.");
  flags.Bool("enable-pprof", &serving.enable_pprof, "Serve /debug/pprof.");
  flags.String("listen-address", &serving.listen_address, "Address of metrics and profiles.");
  flags.String("debug-address", &serving.debug_address,
               "Address of /debug/explain; empty: not served. Keep it on the local machine.");
}

void AddNodeFlags(FlagSet& flags, Options& o) {
  flags.Int("minimum-feasible-nodes", &o.sampling.minimum_feasible_nodes,
            "Upstream's node sample: lower bound.");
  flags.Int("minimum-percentage-nodes-to-find", &o.sampling.minimum_percentage,
            "Upstream's node sample: lower bound in percent.");
  flags.Int("percentage-nodes-to-find", &o.sampling.percentage,
            "Upstream's node sample; 0 or 100: all nodes.");
  flags.List("node-selector", &o.node_selector, FlagSet::ListForm::kComma,
             "Schedule onto nodes with one of these labels only: key:value.");
  flags.Int("node-worker-threads", &o.node_worker_threads, "Threads that sync node events.");
  flags.List("ignored-provisioners", &o.ignored_provisioners, FlagSet::ListForm::kComma,
             "Provisioners whose volumes are not counted.");
  flags.Bool("csi-storage", &o.csi_storage, "Watch CSIDriver and CSIStorageCapacity.");
  flags.String("scheduler-sharding-mode", &o.sharding.mode, "none, soft or hard.");
  flags.String("scheduler-sharding-name", &o.sharding.name, "NodeShard of this scheduler.");
}

void AddSchedulingFlags(FlagSet& flags, Options& o) {
  flags.List("scheduler-name", &o.scheduler_names, FlagSet::ListForm::kRepeated,
             "Pods with this schedulerName are scheduled; may be given several times.");
  flags.String("scheduler-conf", &o.scheduler_conf, "File with actions and tiers.");
  flags.Bool("disable-default-scheduler-config", &o.disable_default_scheduler_config,
             "Any problem with the configuration is fatal.");
  flags.Duration("schedule-period", &o.schedule_period, "Longest pause between two cycles.");
  flags.Duration("schedule-min-gap", &o.schedule_min_gap,
                 "Shortest time between the starts of two cycles.");
  flags.Duration("resync-period", &o.resync_period, "Informer resync; 0: never.");
  flags.String("default-queue", &o.default_queue,
               "Queue of pod groups that name none; created when missing.");
  flags.Bool("priority-class", &o.priority_class, "Watch PriorityClass.");
  flags.String("plugins-dir", &o.plugins_dir, "Folder of further plugins.");
  flags.Duration("resource-sync-timeout", &o.resource_sync_timeout,
                 "Longest wait for the initial lists.");
  flags.Int("gate-removal-worker-num", &o.gate_removal_worker_num,
            "Workers that remove scheduling gates.");
  flags.Bool("cache-dumper", &o.cache_dumper, "Dump the cache on SIGUSR1 and SIGUSR2.");
  flags.String("cache-dump-dir", &o.cache_dump_dir, "Folder of the dump.");
  flags.Custom(
      "feature-gates", "\"\"",
      [&o](absl::string_view text) { return ReadGates(text, &o.feature_gates); },
      "Feature gates: Name=true,...");
  flags.Bool("version", &o.version, "Print the version and exit.");
}

// What glog defines through gflags beyond klog's flags (--minloglevel, --max_log_size, ...). They
// are the library's globals, so they are set at once.
void AddLibraryFlags(FlagSet& flags) {
  std::vector<gflags::CommandLineFlagInfo> all;
  gflags::GetAllFlags(&all);
  for (const gflags::CommandLineFlagInfo& info : all) {
    const bool of_glog = absl::EndsWith(info.filename, "src/logging.cc") ||
                         absl::EndsWith(info.filename, "src/utilities.cc") ||
                         absl::EndsWith(info.filename, "src/vlog_is_on.cc");
    const std::string name = absl::StrReplaceAll(info.name, {{"_", "-"}});
    if (!of_glog || flags.Has(name)) continue;
    flags.Custom(
        name, info.default_value,
        [gflag = info.name](absl::string_view text) {
          const std::string said =
              gflags::SetCommandLineOption(gflag.c_str(), std::string(text).c_str());
          if (!said.empty()) return absl::OkStatus();
          return absl::InvalidArgumentError(
              absl::StrCat("\"", text, "\" is no value of this flag"));
        },
        absl::StrCat("glog: ", info.description));
  }
}

void AddFlags(FlagSet& flags, Options& options) {
  AddApiFlags(flags, options.api);
  AddElectionFlags(flags, options.leader_election);
  AddServingFlags(flags, options.serving);
  AddNodeFlags(flags, options);
  AddSchedulingFlags(flags, options);
  util::AddLogFlags(flags, &options.log);
  AddLibraryFlags(flags);
}

}  // namespace

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  FlagSet flags;
  AddFlags(flags, options);
  HEKLA_ASSIGN_OR_RETURN(options.ignored_arguments, flags.Parse(arguments));
  options.help = flags.help();
  if (options.gate_removal_worker_num < 1) options.gate_removal_worker_num = 5;
  for (absl::string_view name : kWithoutEffect) {
    if (flags.Given(name)) options.flags_without_effect.emplace_back(name);
  }
  return options;
}

absl::Status ValidateOptions(const Options& options) {
  const LeaderElectionOptions& election = options.leader_election;
  if (!election.enabled) return absl::OkStatus();
  const auto bad = [](absl::string_view text) { return absl::InvalidArgumentError(text); };
  if (election.lease_duration <= absl::ZeroDuration()) {
    return bad("--leader-elect-lease-duration must be above 0");
  }
  if (election.renew_deadline <= absl::ZeroDuration()) {
    return bad("--leader-elect-renew-deadline must be above 0");
  }
  if (election.retry_period <= absl::ZeroDuration()) {
    return bad("--leader-elect-retry-period must be above 0");
  }
  if (election.lease_duration <= election.renew_deadline) {
    return bad("--leader-elect-lease-duration must be above --leader-elect-renew-deadline");
  }
  if (election.renew_deadline <= election.retry_period * 1.2) {
    return bad("--leader-elect-renew-deadline must be above 1.2 x --leader-elect-retry-period");
  }
  if (election.resource_lock.empty()) return bad("--leader-elect-resource-lock must not be empty");
  if (election.resource_name.empty()) return bad("--leader-elect-resource-name must not be empty");
  if (election.lease_namespace().empty()) {
    return bad("--leader-elect-resource-namespace must not be empty");
  }
  return absl::OkStatus();
}

std::string Usage() {
  Options options;
  FlagSet flags;
  AddFlags(flags, options);
  return absl::StrCat("Usage: hekla-scheduler [flags]\n\nFlags:\n", flags.Usage());
}

}  // namespace hekla::cmd::scheduler

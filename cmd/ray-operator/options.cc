#include "cmd/ray-operator/options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::ray_operator {
namespace {

using util::FlagSet;

struct Encoders {
  std::string file = "json";
  std::string standard_output = "json";
};

// zap's levels: names, or a number of verbosity.
absl::Status ReadLevel(absl::string_view text, util::LogOptions* log) {
  int verbosity = 0;
  if (absl::SimpleAtoi(text, &verbosity) && verbosity > 0) {
    log->verbosity = verbosity;
    return absl::OkStatus();
  }
  static constexpr std::pair<absl::string_view, int> kLevels[] = {
      {"debug", 0}, {"info", 0}, {"warn", 1}, {"error", 2}, {"panic", 3}};
  for (const auto& [name, severity] : kLevels) {
    if (text != name) continue;
    log->min_severity = severity;
    if (name == "debug") log->verbosity = 1;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is not debug, info, warn, error, panic or a number above 0"));
}

void AddServingFlags(FlagSet& flags, ray::OperatorConfig& c) {
  flags.String("metrics-addr", &c.metrics_addr, "Address of /metrics; 0: not served.");
  flags.String("health-probe-bind-address", &c.probe_addr,
               "Address of /healthz and /readyz; 0: not served.");
  flags.Bool("enable-leader-election", &c.enable_leader_election,
             "Elect a leader before reconciling.");
  flags.String("leader-election-namespace", &c.leader_election_namespace,
               "Namespace of the Lease; the pod's own where empty.");
  flags.Bool("enable-metrics", &c.enable_metrics, "Serve the kuberay_* metrics.");
}

void AddOperatorFlags(FlagSet& flags, Options& o) {
  ray::OperatorConfig& c = o.config;
  flags.Int("reconcile-concurrency", &c.reconcile_concurrency,
            "Objects of one kind that are reconciled at once.");
  flags.String("watch-namespace", &c.watch_namespace,
               "Namespaces to look after, separated by commas; all where empty.");
  flags.Bool("forced-cluster-upgrade", &o.forced_cluster_upgrade, "Deprecated, does nothing.");
  flags.Bool("enable-batch-scheduler", &c.enable_batch_scheduler,
             "Deprecated: use --batch-scheduler=volcano.");
  flags.String("batch-scheduler", &c.batch_scheduler,
               "volcano, yunikorn, kai-scheduler or scheduler-plugins; none where empty.");
  flags.String("config", &o.config_path,
               "Configuration file; it replaces all flags but --feature-gates and those of logs.");
  flags.Bool("use-kubernetes-proxy", &c.use_kubernetes_proxy,
             "Reach Ray's dashboards through the API server.");
  flags.String("feature-gates", &o.feature_gates, "Feature gates: Name=true,...");
  flags.Double("qps", &c.qps, "Requests per second to the API server.");
  flags.Int("burst", &c.burst, "Requests that may be sent at once.");
  flags.String("kubeconfig", &o.kubeconfig,
               "Kubeconfig file; without it $KUBECONFIG, then the pod's own account.");
  flags.Bool("version", &o.version, "Print the version and exit.");
}

void AddLogFlags(FlagSet& flags, Options& o, Encoders& encoders) {
  flags.String("log-file-path", &o.config.log_file, "Write logs to this file too.");
  flags.String("log-file-encoder", &encoders.file, "Form of the file's lines: json or console.");
  flags.String("log-stdout-encoder", &encoders.standard_output,
               "Form of the lines on standard output: json or console.");
  flags.Custom(
      "zap-log-level", "info", [&o](absl::string_view text) { return ReadLevel(text, &o.log); },
      "debug, info, warn, error, panic, or a number: verbosity.");
  flags.Ignored("zap-devel", true, "Accepted, without effect.");
  for (absl::string_view name : {"zap-encoder", "zap-stacktrace-level", "zap-time-encoding"}) {
    flags.Ignored(name, false, "Accepted, without effect.");
  }
  flags.Int("v", &o.log.verbosity, "Log verbosity.");
}

void AddFlags(FlagSet& flags, Options& options, Encoders& encoders) {
  AddServingFlags(flags, options.config);
  AddOperatorFlags(flags, options);
  AddLogFlags(flags, options, encoders);
}

}  // namespace

absl::StatusOr<Encoder> ParseEncoder(absl::string_view name) {
  if (name.empty() || name == "json") return Encoder::kJson;
  if (name == "console") return Encoder::kConsole;
  return absl::InvalidArgumentError(
      absl::StrCat("log encoder \"", name, "\" is not supported; accepted: json, console"));
}

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  Encoders encoders;
  FlagSet flags;
  AddFlags(flags, options, encoders);
  HEKLA_ASSIGN_OR_RETURN(options.ignored_arguments, flags.Parse(arguments));
  options.help = flags.help();
  HEKLA_ASSIGN_OR_RETURN(options.file_encoder, ParseEncoder(encoders.file));
  HEKLA_ASSIGN_OR_RETURN(options.stdout_encoder, ParseEncoder(encoders.standard_output));
  return options;
}

std::string Usage() {
  Options options;
  Encoders encoders;
  FlagSet flags;
  AddFlags(flags, options, encoders);
  return absl::StrCat("Usage: hekla-ray-operator [flags]\n\nFlags:\n", flags.Usage());
}

}  // namespace hekla::cmd::ray_operator

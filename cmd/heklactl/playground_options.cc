#include "cmd/heklactl/playground_options.h"

#include "absl/strings/str_cat.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

void AddFlags(util::FlagSet& flags, PlaygroundOptions& o) {
  flags.Int("nodes", &o.nodes, "Hollow nodes to create.");
  flags.String("node-cpu", &o.node_cpu, "CPU of each node.");
  flags.String("node-memory", &o.node_memory, "Memory of each node.");
  flags.Int("node-pods", &o.node_pods, "Pods that each node takes.");
  flags.Int("gpu", &o.gpus, "nvidia.com/gpu of each node.");
  flags.Int("port", &o.port, "Port of the API server on 127.0.0.1; 0: any free one.");
  flags.Int("debug-port", &o.debug_port,
            "Port of /debug/explain on 127.0.0.1; any free one where it is taken.");
  flags.String("token", &o.token, "Bearer token that clients must send if they send one.");
  flags.String("data-dir", &o.data_dir,
               "Folder in which objects are kept, for the next start to go on with.");
  flags.Duration(
      "data-sync", &o.data_sync,
      "With --data-dir: writes are on the disk after this; 0s: before they are answered.");
  flags.String("kubeconfig", &o.kubeconfig, "Where to write the kubeconfig.");
  flags.String("scheduler-conf", &o.scheduler_conf, "Configuration of the scheduler.");
  flags.Duration("schedule-period", &o.schedule_period, "Longest pause between two cycles.");
  flags.Bool("no-scheduler", &o.no_scheduler, "Start only the API server and the nodes.");
  flags.Bool("ray", &o.ray, "Run the Ray operator too.");
  flags.Int("reconcile-concurrency", &o.reconcile_concurrency,
            "RayClusters that are reconciled at once.");
  flags.String("batch-scheduler", &o.batch_scheduler,
               "Batch scheduler of RayClusters: volcano starts each as one gang.");
  flags.String("feature-gates", &o.feature_gates, "Feature gates of the Ray operator.");
  flags.String("metrics-addr", &o.metrics_addr,
               "Where to serve /metrics of the Ray operator: 127.0.0.1:8080.");
  flags.Int("seed", &o.seed, "Seed of names, uids and ties.");
  util::AddLogFlags(flags, &o.log);
}

}  // namespace

absl::StatusOr<PlaygroundOptions> ParsePlaygroundOptions(
    const std::vector<std::string>& arguments) {
  PlaygroundOptions options;
  options.log.min_severity = 1;
  util::FlagSet flags;
  AddFlags(flags, options);
  HEKLA_ASSIGN_OR_RETURN(const std::vector<std::string> rest, flags.Parse(arguments));
  options.help = flags.help();
  if (!rest.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument: ", rest[0]));
  }
  HEKLA_RETURN_IF_ERROR(util::CheckRange("nodes", options.nodes, 0, 100000));
  HEKLA_RETURN_IF_ERROR(util::CheckRange("node-pods", options.node_pods, 1, 100000));
  HEKLA_RETURN_IF_ERROR(util::CheckRange("gpu", options.gpus, 0, 10000));
  HEKLA_RETURN_IF_ERROR(util::CheckRange("port", options.port, 0, 65535));
  HEKLA_RETURN_IF_ERROR(
      util::CheckRange("reconcile-concurrency", options.reconcile_concurrency, 1, 1000));
  for (const char* flag :
       {"reconcile-concurrency", "batch-scheduler", "feature-gates", "metrics-addr"}) {
    if (flags.Given(flag) && !options.ray) {
      return absl::InvalidArgumentError(absl::StrCat("--", flag, " needs --ray"));
    }
  }
  if (flags.Given("data-sync") && options.data_dir.empty()) {
    return absl::InvalidArgumentError("--data-sync needs --data-dir");
  }
  HEKLA_RETURN_IF_ERROR(util::CheckRange("debug-port", options.debug_port, 0, 65535));
  // Lines of the log would tear the status line apart: only warnings unless more is asked for.
  if (flags.Given("v")) options.log.min_severity = 0;
  return options;
}

std::string PlaygroundUsage() {
  PlaygroundOptions options;
  util::FlagSet flags;
  AddFlags(flags, options);
  return absl::StrCat("Usage: heklactl playground [flags]\n\nFlags:\n", flags.Usage());
}

}  // namespace hekla::cmd::heklactl

#include "cmd/heklactl/hollow_nodes_options.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

void AddFlags(util::FlagSet& flags, HollowNodesOptions& o) {
  flags.String("kubeconfig", &o.kubeconfig, "The cluster's kubeconfig; must be given.");
  flags.String("context", &o.context, "Context of the kubeconfig to use.");
  flags.Int("nodes", &o.nodes, "Nodes to register; existing ones stay as they are.");
  flags.String("prefix", &o.prefix, "What their names begin with.");
  flags.String("node-cpu", &o.node.cpu, "CPU of each node.");
  flags.String("node-memory", &o.node.memory, "Memory of each node.");
  flags.String("node-pods", &o.node.pods, "Pods that each node takes.");
  flags.Int("gpu", &o.node.gpus, "nvidia.com/gpu of each node.");
  flags.String("zone", &o.node.zone, "topology.kubernetes.io/zone of each node.");
  flags.Duration("start-delay", &o.kubelet.start_delay, "From bound to Running.");
  flags.Duration("stop-delay", &o.kubelet.stop_delay, "From terminating to gone, at most.");
  flags.Bool("complete-jobs", &o.kubelet.complete_job_pods,
             "Pods of Jobs succeed at once unless they say how long they run.");
  util::AddLogFlags(flags, &o.log);
}

}  // namespace

absl::StatusOr<HollowNodesOptions> ParseHollowNodesOptions(
    const std::vector<std::string>& arguments) {
  HollowNodesOptions options;
  util::FlagSet flags;
  AddFlags(flags, options);
  HEKLA_ASSIGN_OR_RETURN(const std::vector<std::string> rest, flags.Parse(arguments));
  options.help = flags.help();
  if (options.help) return options;
  if (!rest.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("unexpected argument: ", rest[0]));
  }
  if (options.kubeconfig.empty()) {
    return absl::InvalidArgumentError("--kubeconfig must name the cluster");
  }
  HEKLA_RETURN_IF_ERROR(util::CheckRange("nodes", options.nodes, 0, 100000));
  HEKLA_RETURN_IF_ERROR(util::CheckRange("gpu", options.node.gpus, 0, 10000));
  int pods = 0;
  if (!absl::SimpleAtoi(options.node.pods, &pods)) pods = 0;
  HEKLA_RETURN_IF_ERROR(util::CheckRange("node-pods", pods, 1, 100000));
  return options;
}

std::string HollowNodesUsage() {
  HollowNodesOptions options;
  util::FlagSet flags;
  AddFlags(flags, options);
  return absl::StrCat("Usage: heklactl hollow-nodes --kubeconfig FILE [flags]\n\nFlags:\n",
                      flags.Usage());
}

}  // namespace hekla::cmd::heklactl

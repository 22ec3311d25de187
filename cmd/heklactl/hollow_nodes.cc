#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cmd/heklactl/end_signals.h"
#include "cmd/heklactl/hollow_nodes_options.h"
#include "cmd/heklactl/remote_kubelet.h"
#include "cmd/heklactl/subcommands.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/util/logging.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

absl::Status Run(const HollowNodesOptions& options) {
  const EndSignals signals;
  RemoteKubelet::Options remote;
  remote.kubelet = options.kubelet;
  HEKLA_ASSIGN_OR_RETURN(remote.api,
                         kube::DefaultConfig(options.kubeconfig, {.context = options.context},
                                             kube::Environment::OfProcess()));
  const std::string server = remote.api.server;
  RemoteKubelet kubelet(std::move(remote));
  HEKLA_RETURN_IF_ERROR(kubelet.Start());
  HEKLA_RETURN_IF_ERROR(kubelet.AddNodes(options.node, options.prefix, options.nodes));
  std::cout << "hollow nodes of " << server << " are run; Ctrl-C ends it\n" << std::flush;
  signals.Wait();
  kubelet.Stop();
  return absl::OkStatus();
}

}  // namespace

int RunHollowNodes(const Arguments& arguments) {
  const absl::StatusOr<HollowNodesOptions> options = ParseHollowNodesOptions(arguments);
  if (!options.ok()) {
    std::cerr << "heklactl hollow-nodes: " << options.status().message() << "\n"
              << HollowNodesUsage();
    return 2;
  }
  if (options->help) {
    std::cout << HollowNodesUsage();
    return 0;
  }
  util::StartLogging("heklactl", options->log);
  const absl::Status ran = Run(*options);
  if (ran.ok()) return 0;
  std::cerr << "heklactl hollow-nodes: " << ran.message() << "\n";
  return absl::IsInvalidArgument(ran) ? 2 : 1;
}

}  // namespace hekla::cmd::heklactl

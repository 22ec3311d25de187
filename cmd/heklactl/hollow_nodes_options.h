#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apiserver/kubelet/kubelet.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::heklactl {

struct HollowNodesOptions {
  // Never guessed: hollow nodes must not appear in a cluster by accident.
  std::string kubeconfig;
  std::string context;  // "": the current one
  int nodes = 0;
  std::string prefix = "hollow-";
  apiserver::kubelet::NodeTemplate node;
  apiserver::kubelet::Options kubelet;
  util::LogOptions log;
  bool help = false;
};

// Errors: kInvalidArgument.
absl::StatusOr<HollowNodesOptions> ParseHollowNodesOptions(
    const std::vector<std::string>& arguments);

std::string HollowNodesUsage();

}  // namespace hekla::cmd::heklactl

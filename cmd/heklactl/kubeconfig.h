#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hekla::cmd::heklactl {

// A kubeconfig with one cluster, user and context named "playground". `debug_url`: where its
// scheduler answers questions, for `heklactl explain`; "" if it has none.
std::string KubeconfigText(absl::string_view url, absl::string_view token,
                           absl::string_view debug_url = "");

// Writes a file that only its owner may read, replacing what is there in one step.
absl::Status WritePrivateFile(const std::string& path, absl::string_view text);

}  // namespace hekla::cmd::heklactl

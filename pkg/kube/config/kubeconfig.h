#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/config/environment.h"

// The kubeconfig document, and how several become one (spec 1.1, 1.2).
namespace hekla::kube {

struct ClusterEntry {
  std::string server = {};
  std::string ca_file = {};
  std::string ca_data = {};  // PEM, decoded
  bool insecure = false;
  std::string tls_server_name = {};
  std::string proxy_url = {};
  bool disable_compression = false;
  apis::json::Value exec_extension = {};  // handed to exec plugins
};

struct ExecEntry {
  std::string command = {};
  std::vector<std::string> args = {};
  std::vector<std::pair<std::string, std::string>> env = {};
  std::string api_version = {};
  std::string install_hint = {};
  bool provide_cluster_info = false;
  std::string interactive_mode = {};  // Never, IfAvailable, Always
};

struct UserEntry {
  std::string cert_file = {};
  std::string cert_data = {};
  std::string key_file = {};
  std::string key_data = {};
  std::string token = {};
  std::string token_file = {};
  std::string username = {};
  std::string password = {};
  std::string as = {};
  std::string as_uid = {};
  std::vector<std::string> as_groups = {};
  std::map<std::string, std::vector<std::string>> as_extra = {};
  bool auth_provider = false;
  std::optional<ExecEntry> exec = {};
};

struct ContextEntry {
  std::string cluster = {};
  std::string user = {};
  std::string ns = {};
};

struct Kubeconfig {
  std::map<std::string, ClusterEntry> clusters = {};
  std::map<std::string, UserEntry> users = {};
  std::map<std::string, ContextEntry> contexts = {};
  std::string current_context = {};

  bool empty() const {
    return clusters.empty() && users.empty() && contexts.empty() && current_context.empty();
  }
};

// One file. Relative paths in it are taken from `directory`. An empty text is an empty config.
// Errors: kInvalidArgument: not YAML, a field of the wrong type, bad base64, a name given twice.
absl::StatusOr<Kubeconfig> ParseKubeconfig(absl::string_view text, const std::string& directory);

// Adds what `more` defines and `config` does not; entries are taken whole.
void MergeKubeconfig(const Kubeconfig& more, Kubeconfig& config);

struct LoadedKubeconfig {
  Kubeconfig config = {};
  std::vector<std::string> warnings = {};
};

// `explicit_path`, else $KUBECONFIG, else $HOME/.kube/config.
// Errors: a missing explicit file; `error loading config file "F": ...`, of all broken files.
absl::StatusOr<LoadedKubeconfig> LoadKubeconfig(const Environment& environment,
                                                const std::string& explicit_path);

}  // namespace hekla::kube

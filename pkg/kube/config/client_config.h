#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/http/tls.h"
#include "pkg/kube/config/environment.h"
#include "pkg/kube/config/kubeconfig.h"

// How to reach one API server: the outcome of kubeconfig files, flags and the pod's own account
// (spec 1.2 to 1.5).
namespace hekla::kube {

struct ClientConfig {
  std::string server = {};  // "https://host:port[/prefix]"
  std::string ns = "default";
  http::ClientTls tls = {};  // file contents included
  // Files that the contents came from; read again now and then.
  std::string ca_file = {};
  std::string cert_file = {};
  std::string key_file = {};
  std::string token = {};
  std::string token_file = {};
  std::string username = {};
  std::string password = {};
  std::string as = {};
  std::string as_uid = {};
  std::vector<std::string> as_groups = {};
  std::map<std::string, std::vector<std::string>> as_extra = {};
  std::optional<ExecEntry> exec = {};
  ClusterEntry cluster = {};  // for exec plugins
  bool disable_compression = false;
  std::vector<std::string> warnings = {};  // to be logged once
};

// What flags put in place of the files' values; "" = nothing.
struct ConfigOverrides {
  std::string context = {};
  std::string cluster = {};
  std::string user = {};
  std::string ns = {};
  std::string server = {};   // drops the file's tls-server-name too
  std::string ca_file = {};  // drops insecure
  bool insecure = false;     // drops the CA
};

// Picks context, cluster and user, validates them and reads their files.
// Errors: kInvalidArgument `invalid configuration: ...` (spec 1.3); kUnimplemented: a proxy, which
//         is not supported.
absl::StatusOr<ClientConfig> ResolveConfig(const Kubeconfig& kubeconfig,
                                           const ConfigOverrides& overrides,
                                           const Environment& environment);

// The pod's own account. Errors: kFailedPrecondition outside of a cluster; an unreadable token.
absl::StatusOr<ClientConfig> InClusterConfig(const Environment& environment);
// Both variables are set and the token is there.
bool InClusterPossible(const Environment& environment);

// As upstream's scheduler reads --master and --kubeconfig: both empty = in-cluster, and if that
// fails an empty configuration, which is an error.
absl::StatusOr<ClientConfig> ConfigFromFlags(const std::string& master,
                                             const std::string& kubeconfig,
                                             const Environment& environment);
// As controller-runtime: the flag, else $KUBECONFIG, else in-cluster, else $HOME/.kube/config.
absl::StatusOr<ClientConfig> OperatorConfig(const std::string& kubeconfig_flag,
                                            const std::string& context,
                                            const Environment& environment);
// As kubectl: files, in-cluster only where they define nothing.
absl::StatusOr<ClientConfig> DefaultConfig(const std::string& kubeconfig_flag,
                                           const ConfigOverrides& overrides,
                                           const Environment& environment);

// "<program>/<version> (<os>/<arch>) kubernetes/<first 7 of commit>".
std::string UserAgent(const std::string& program, const std::string& version,
                      const std::string& commit);

}  // namespace hekla::kube

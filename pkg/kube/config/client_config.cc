#include "pkg/kube/config/client_config.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "pkg/http/url.h"
#include "pkg/kube/config/proxy.h"
#include "pkg/util/status_macros.h"

namespace hekla::kube {
namespace {

constexpr absl::string_view kAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount/";
constexpr absl::string_view kExecV1 = "client.authentication.k8s.io/v1";

absl::Status Invalid(const std::vector<std::string>& problems) {
  const std::string text = problems.size() == 1
                               ? problems.front()
                               : absl::StrCat("[", absl::StrJoin(problems, ", "), "]");
  return absl::InvalidArgumentError(absl::StrCat("invalid configuration: ", text));
}

void CheckCluster(const std::string& name, const ClusterEntry& cluster,
                  std::vector<std::string>& problems) {
  if (cluster.server.empty()) {
    problems.push_back(name.empty() ? "cluster has no server defined"
                                    : absl::StrCat("no server found for cluster \"", name, "\""));
  }
  if (!cluster.ca_file.empty() && !cluster.ca_data.empty()) {
    problems.push_back(absl::StrCat(
        "certificate-authority and certificate-authority-data are both given for \"", name, "\""));
  }
}

void CheckExec(const std::string& name, const ExecEntry& exec, std::vector<std::string>& problems) {
  if (exec.command.empty()) {
    problems.push_back(absl::StrCat("exec without command for user \"", name, "\""));
  }
  if (exec.api_version.empty()) {
    problems.push_back(absl::StrCat("exec without apiVersion for user \"", name, "\""));
  }
  if (exec.interactive_mode.empty() && exec.api_version == kExecV1) {
    problems.push_back(absl::StrCat("exec without interactiveMode for user \"", name, "\""));
  } else if (!exec.interactive_mode.empty() && exec.interactive_mode != "Never" &&
             exec.interactive_mode != "IfAvailable" && exec.interactive_mode != "Always") {
    problems.push_back(absl::StrCat("exec with unknown interactiveMode \"", exec.interactive_mode,
                                    "\" for user \"", name, "\""));
  }
  for (const auto& [variable, value] : exec.env) {
    if (variable.empty()) {
      problems.push_back(absl::StrCat("exec with a nameless variable for user \"", name, "\""));
    }
  }
}

void CheckUser(const std::string& name, const UserEntry& user, std::vector<std::string>& problems) {
  const bool token = !user.token.empty() || !user.token_file.empty();
  const bool basic = !user.username.empty() || !user.password.empty();
  if (token && basic) {
    problems.push_back(absl::StrCat("more than one authentication method for user \"", name,
                                    "\": token, basic auth"));
  }
  if (!user.cert_file.empty() && !user.cert_data.empty()) {
    problems.push_back(absl::StrCat(
        "client-certificate and client-certificate-data are both given for \"", name, "\""));
  }
  if (!user.key_file.empty() && !user.key_data.empty()) {
    problems.push_back(
        absl::StrCat("client-key and client-key-data are both given for \"", name, "\""));
  }
  const bool cert = !user.cert_file.empty() || !user.cert_data.empty();
  const bool key = !user.key_file.empty() || !user.key_data.empty();
  if (cert && !key) {
    problems.push_back(
        absl::StrCat("client certificate without client key for user \"", name, "\""));
  }
  if (user.as.empty() &&
      (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty())) {
    problems.push_back(
        absl::StrCat("as-uid, as-groups or as-user-extra without as for user \"", name, "\""));
  }
  if (user.exec.has_value()) {
    if (user.auth_provider) {
      problems.push_back(
          absl::StrCat("exec and auth-provider are both given for user \"", name, "\""));
    }
    CheckExec(name, *user.exec, problems);
  } else if (user.auth_provider) {
    problems.push_back(
        absl::StrCat("auth-provider is not supported for user \"", name, "\": use exec"));
  }
}

// Scheme and host as client-go completes them.
std::string CompleteServer(const std::string& server, bool has_tls_settings) {
  std::string out = server;
  if (!absl::StrContains(out, "://")) {
    out = absl::StrCat(has_tls_settings ? "https" : "http", "://", out);
  }
  const size_t host = out.find("://") + 3;
  if (host == out.size() || out[host] == '/' || out[host] == ':') out.insert(host, "localhost");
  return out.substr(0, out.find_first_of("?#"));
}

// Contents win over files; a file that was used is remembered.
absl::Status ReadPart(const std::string& data, const std::string& file, const std::string& what,
                      std::string& contents, std::string& used_file) {
  if (!data.empty()) {
    contents = data;
    return absl::OkStatus();
  }
  if (file.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("invalid configuration: unable to read ", what,
                                                   " ", file, ": ", text.status().message()));
  }
  contents = *std::move(text);
  used_file = file;
  return absl::OkStatus();
}

absl::Status FillTls(const ClusterEntry& cluster, const UserEntry& user, ClientConfig& config) {
  config.tls.insecure = cluster.insecure;
  config.tls.server_name = cluster.tls_server_name;
  HEKLA_RETURN_IF_ERROR(ReadPart(cluster.ca_data, cluster.ca_file, "certificate-authority",
                                 config.tls.ca_pem, config.ca_file));
  if (cluster.insecure && !config.tls.ca_pem.empty()) {
    return absl::InvalidArgumentError(
        "specifying a root certificates file with the insecure flag is not allowed");
  }
  HEKLA_RETURN_IF_ERROR(ReadPart(user.cert_data, user.cert_file, "client-cert", config.tls.cert_pem,
                                 config.cert_file));
  return ReadPart(user.key_data, user.key_file, "client-key", config.tls.key_pem, config.key_file);
}

struct Selected {
  std::string cluster_name;
  std::string user_name;
  ClusterEntry cluster;
  UserEntry user;
  std::string ns;
};

absl::StatusOr<Selected> Select(const Kubeconfig& kubeconfig, const ConfigOverrides& overrides) {
  Selected out;
  const std::string context_name =
      overrides.context.empty() ? kubeconfig.current_context : overrides.context;
  if (!context_name.empty()) {
    auto it = kubeconfig.contexts.find(context_name);
    if (it == kubeconfig.contexts.end()) {
      return absl::InvalidArgumentError(
          overrides.context.empty()
              ? absl::StrCat("invalid configuration: context was not found for specified "
                             "context: ",
                             context_name)
              : absl::StrCat("context \"", context_name, "\" does not exist"));
    }
    out.cluster_name = it->second.cluster;
    out.user_name = it->second.user;
    out.ns = it->second.ns;
  }
  if (!overrides.cluster.empty()) out.cluster_name = overrides.cluster;
  if (!overrides.user.empty()) out.user_name = overrides.user;
  if (!overrides.ns.empty()) out.ns = overrides.ns;
  if (auto it = kubeconfig.clusters.find(out.cluster_name); it != kubeconfig.clusters.end()) {
    out.cluster = it->second;
  } else if (!out.cluster_name.empty() && overrides.server.empty()) {
    return Invalid({absl::StrCat("cluster \"", out.cluster_name, "\" does not exist")});
  }
  if (auto it = kubeconfig.users.find(out.user_name); it != kubeconfig.users.end()) {
    out.user = it->second;
  } else if (!out.user_name.empty()) {
    return Invalid({absl::StrCat("auth info \"", out.user_name, "\" does not exist")});
  }
  if (!overrides.server.empty()) {
    out.cluster.server = overrides.server;
    out.cluster.tls_server_name.clear();
  }
  if (overrides.insecure) {
    out.cluster.insecure = true;
    out.cluster.ca_file.clear();
    out.cluster.ca_data.clear();
  }
  if (!overrides.ca_file.empty()) {
    out.cluster.insecure = false;
    out.cluster.ca_file = overrides.ca_file;
    out.cluster.ca_data.clear();
  }
  return out;
}

bool IsDirectory(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string AccountFile(const Environment& environment, absl::string_view name) {
  return absl::StrCat(environment.root, kAccountDir, name);
}

}  // namespace

absl::StatusOr<ClientConfig> ResolveConfig(const Kubeconfig& kubeconfig,
                                           const ConfigOverrides& overrides,
                                           const Environment& environment) {
  if (kubeconfig.empty() && overrides.server.empty()) {
    return Invalid(
        {"no configuration has been provided, try setting KUBERNETES_MASTER environment variable"});
  }
  HEKLA_ASSIGN_OR_RETURN(const Selected selected, Select(kubeconfig, overrides));
  std::vector<std::string> problems;
  CheckUser(selected.user_name, selected.user, problems);
  CheckCluster(selected.cluster_name, selected.cluster, problems);
  if (!problems.empty()) return Invalid(problems);

  ClientConfig config;
  const ClusterEntry& cluster = selected.cluster;
  const UserEntry& user = selected.user;
  HEKLA_RETURN_IF_ERROR(FillTls(cluster, user, config));
  config.server =
      CompleteServer(cluster.server, !config.tls.ca_pem.empty() || !config.tls.cert_pem.empty() ||
                                         cluster.insecure);
  HEKLA_ASSIGN_OR_RETURN(const http::Url url, http::ParseUrl(config.server));
  HEKLA_RETURN_IF_ERROR(RefuseProxy(url, cluster.proxy_url, environment));
  if (!selected.ns.empty()) config.ns = selected.ns;
  config.cluster = cluster;
  config.cluster.server = config.server;
  config.disable_compression = cluster.disable_compression;
  config.token = user.token;
  config.token_file = user.token_file;
  config.username = user.username;
  config.password = user.password;
  config.as = user.as;
  config.as_uid = user.as_uid;
  config.as_groups = user.as_groups;
  config.as_extra = user.as_extra;
  const bool has_credentials = !user.token.empty() || !user.token_file.empty() ||
                               !user.username.empty() || !config.tls.cert_pem.empty();
  if (!has_credentials) config.exec = user.exec;
  if (!url.tls() && (has_credentials || user.exec.has_value())) {
    config.warnings.push_back(
        absl::StrCat("credentials are sent without encryption to http://", url.Authority()));
  }
  return config;
}

bool InClusterPossible(const Environment& environment) {
  const std::string token = AccountFile(environment, "token");
  return !environment.variable("KUBERNETES_SERVICE_HOST").value_or("").empty() &&
         !environment.variable("KUBERNETES_SERVICE_PORT").value_or("").empty() &&
         ReadFile(token).ok() && !IsDirectory(token);
}

absl::StatusOr<ClientConfig> InClusterConfig(const Environment& environment) {
  const std::string host = environment.variable("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = environment.variable("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return absl::FailedPreconditionError(
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
        "KUBERNETES_SERVICE_PORT must be defined");
  }
  ClientConfig config;
  config.token_file = AccountFile(environment, "token");
  HEKLA_ASSIGN_OR_RETURN(const std::string token, ReadFile(config.token_file));
  config.token = std::string(absl::StripAsciiWhitespace(token));
  const bool v6 = absl::StrContains(host, ':');
  config.server = absl::StrCat("https://", v6 ? "[" : "", host, v6 ? "]" : "", ":", port);
  HEKLA_ASSIGN_OR_RETURN(const http::Url url, http::ParseUrl(config.server));
  HEKLA_RETURN_IF_ERROR(RefuseProxy(url, "", environment));
  config.ca_file = AccountFile(environment, "ca.crt");
  const absl::StatusOr<std::string> ca = ReadFile(config.ca_file);
  if (ca.ok()) {
    config.tls.ca_pem = *ca;
  } else {
    config.warnings.push_back(absl::StrCat("root CA cannot be read: ", ca.status().message()));
    config.ca_file.clear();
  }
  config.cluster.server = config.server;
  const std::string from_variable = environment.variable("POD_NAMESPACE").value_or("");
  if (!from_variable.empty()) {
    config.ns = from_variable;
  } else if (auto ns = ReadFile(AccountFile(environment, "namespace")); ns.ok()) {
    const std::string text(absl::StripAsciiWhitespace(*ns));
    if (!text.empty()) config.ns = text;
  }
  return config;
}

absl::StatusOr<ClientConfig> ConfigFromFlags(const std::string& master,
                                             const std::string& kubeconfig,
                                             const Environment& environment) {
  std::vector<std::string> warnings;
  if (master.empty() && kubeconfig.empty()) {
    warnings.push_back(
        "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might "
        "not work.");
    absl::StatusOr<ClientConfig> config = InClusterConfig(environment);
    if (config.ok()) {
      config->warnings.insert(config->warnings.begin(), warnings.begin(), warnings.end());
      return config;
    }
    // What follows is the error of an empty configuration; it should say both.
    const absl::Status empty = ResolveConfig({}, {}, environment).status();
    return absl::Status(
        empty.code(),
        absl::StrCat(empty.message(), " (in-cluster: ", config.status().message(), ")"));
  }
  LoadedKubeconfig loaded;
  if (!kubeconfig.empty()) {
    HEKLA_ASSIGN_OR_RETURN(loaded, LoadKubeconfig(environment, kubeconfig));
  }
  absl::StatusOr<ClientConfig> config =
      ResolveConfig(loaded.config, {.server = master}, environment);
  if (config.ok()) {
    config->warnings.insert(config->warnings.begin(), loaded.warnings.begin(),
                            loaded.warnings.end());
  }
  return config;
}

absl::StatusOr<ClientConfig> DefaultConfig(const std::string& kubeconfig_flag,
                                           const ConfigOverrides& overrides,
                                           const Environment& environment) {
  HEKLA_ASSIGN_OR_RETURN(LoadedKubeconfig loaded, LoadKubeconfig(environment, kubeconfig_flag));
  if (loaded.config.empty() && overrides.server.empty() && InClusterPossible(environment)) {
    return InClusterConfig(environment);
  }
  absl::StatusOr<ClientConfig> config = ResolveConfig(loaded.config, overrides, environment);
  if (config.ok()) {
    config->warnings.insert(config->warnings.begin(), loaded.warnings.begin(),
                            loaded.warnings.end());
  }
  return config;
}

absl::StatusOr<ClientConfig> OperatorConfig(const std::string& kubeconfig_flag,
                                            const std::string& context,
                                            const Environment& environment) {
  const bool has_variable = !environment.variable("KUBECONFIG").value_or("").empty();
  if (kubeconfig_flag.empty() && !has_variable && InClusterPossible(environment)) {
    return InClusterConfig(environment);
  }
  return DefaultConfig(kubeconfig_flag, {.context = context}, environment);
}

std::string UserAgent(const std::string& program, const std::string& version,
                      const std::string& commit) {
  utsname machine{};
  uname(&machine);
  const std::string machine_name = machine.machine;
  const std::string arch = machine_name == "x86_64"    ? "amd64"
                           : machine_name == "aarch64" ? "arm64"
                                                       : machine_name;
  const std::string os = absl::AsciiStrToLower(machine.sysname);
  return absl::StrCat(program, "/", version, " (", os, "/", arch, ") kubernetes/",
                      commit.substr(0, 7));
}

}  // namespace hekla::kube

#include "pkg/kube/config/kubeconfig.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "pkg/apis/meta/reader.h"
#include "pkg/kube/config/private_yaml.h"
#include "pkg/util/status_macros.h"

namespace hekla::kube {
namespace {

using apis::json::Value;
using apis::meta::Reader;

// Under this name a cluster's extension is meant for exec plugins.
constexpr absl::string_view kExecExtension = "client.authentication.k8s.io/exec";

// Reads one file's values; relative paths become absolute.
class FileReader {
 public:
  explicit FileReader(std::string directory) : directory_(std::move(directory)) {}

  void Path(const Reader& from, absl::string_view key, std::string& out) const {
    from.String(key, out);
    if (!out.empty()) out = Absolute(out);
  }
  static void Base64(const Reader& from, absl::string_view key, std::string& out) {
    std::string text;
    from.String(key, text);
    if (text.empty()) return;
    if (!absl::Base64Unescape(text, &out)) from.Fail(key, "bad base64");
  }

  ClusterEntry Cluster(const Reader& from) const {
    ClusterEntry out;
    from.String("server", out.server);
    Path(from, "certificate-authority", out.ca_file);
    Base64(from, "certificate-authority-data", out.ca_data);
    from.Bool("insecure-skip-tls-verify", out.insecure);
    from.String("tls-server-name", out.tls_server_name);
    from.String("proxy-url", out.proxy_url);
    from.Bool("disable-compression", out.disable_compression);
    from.List("extensions", [&](Reader& extension) {
      std::string name;
      extension.String("name", name);
      if (name == kExecExtension) out.exec_extension = extension.value().At("extension");
    });
    return out;
  }

  UserEntry User(const Reader& from) const {
    UserEntry out;
    Path(from, "client-certificate", out.cert_file);
    Base64(from, "client-certificate-data", out.cert_data);
    Path(from, "client-key", out.key_file);
    Base64(from, "client-key-data", out.key_data);
    from.String("token", out.token);
    Path(from, "tokenFile", out.token_file);
    from.String("username", out.username);
    from.String("password", out.password);
    from.String("as", out.as);
    from.String("as-uid", out.as_uid);
    from.Strings("as-groups", out.as_groups);
    from.Object("as-user-extra", [&](Reader& extra) {
      for (const auto& member : extra.value().as_object()) {
        extra.Strings(member.key, out.as_extra[member.key]);
      }
    });
    from.Object("auth-provider", [&](Reader&) { out.auth_provider = true; });
    from.Object("exec", [&](Reader& exec) { out.exec = Exec(exec); });
    return out;
  }

 private:
  ExecEntry Exec(const Reader& from) const {
    ExecEntry out;
    from.String("command", out.command);
    if (absl::StrContains(out.command, '/')) out.command = Absolute(out.command);
    from.Strings("args", out.args);
    from.List("env", [&](Reader& variable) {
      std::pair<std::string, std::string> entry;
      variable.String("name", entry.first);
      variable.String("value", entry.second);
      out.env.push_back(std::move(entry));
    });
    from.String("apiVersion", out.api_version);
    from.String("installHint", out.install_hint);
    from.Bool("provideClusterInfo", out.provide_cluster_info);
    from.String("interactiveMode", out.interactive_mode);
    return out;
  }

  std::string Absolute(const std::string& path) const {
    if (directory_.empty() || absl::StartsWith(path, "/")) return path;
    return absl::StrCat(directory_, "/", path);
  }

  const std::string directory_;
};

// Reads a list of `{name, <key>: {...}}` into a map.
template <typename Entry, typename Read>
void ReadNamed(const Reader& root, absl::string_view list, absl::string_view key,
               std::map<std::string, Entry>& out, Read read) {
  root.List(list, [&](Reader& item) {
    std::string name;
    item.String("name", name);
    Entry entry;
    item.Object(key, [&](Reader& value) { entry = read(value); });
    if (!out.emplace(name, std::move(entry)).second) {
      item.Fail("name", absl::StrCat("\"", name, "\" is given twice"));
    }
  });
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string Home(const Environment& environment) {
  return environment.variable("HOME").value_or("");
}

// Which files to read, and whether a missing one is an error.
struct Sources {
  std::vector<std::string> paths;
  bool must_exist = false;
  bool warn_if_all_missing = false;
};

Sources FindSources(const Environment& environment, const std::string& explicit_path) {
  if (!explicit_path.empty()) return {.paths = {explicit_path}, .must_exist = true};
  Sources sources;
  const std::string variable = environment.variable("KUBECONFIG").value_or("");
  if (!variable.empty()) {
    for (absl::string_view path : absl::StrSplit(variable, ':', absl::SkipEmpty())) {
      const std::string text(path);
      if (std::find(sources.paths.begin(), sources.paths.end(), text) == sources.paths.end()) {
        sources.paths.push_back(text);
      }
    }
    sources.warn_if_all_missing = true;
    return sources;
  }
  const std::string home = Home(environment);
  if (home.empty()) return sources;
  sources.paths.push_back(absl::StrCat(home, "/.kube/config"));
  if (!ReadFile(sources.paths.front()).ok()) {
    // The place of very old installations.
    const std::string legacy = absl::StrCat(home, "/.kube/.kubeconfig");
    if (ReadFile(legacy).ok()) sources.paths.front() = legacy;
  }
  return sources;
}

}  // namespace

absl::StatusOr<Kubeconfig> ParseKubeconfig(absl::string_view text, const std::string& directory) {
  HEKLA_ASSIGN_OR_RETURN(const yaml::Document document, ParsePrivateYaml(text));
  Kubeconfig out;
  if (document.value.is_null()) return out;
  if (!document.value.is_object()) return absl::InvalidArgumentError("expected an object");
  const Reader root(document.value);
  const FileReader file(directory);
  ReadNamed(root, "clusters", "cluster", out.clusters,
            [&](const Reader& r) { return file.Cluster(r); });
  ReadNamed(root, "users", "user", out.users, [&](const Reader& r) { return file.User(r); });
  ReadNamed(root, "contexts", "context", out.contexts, [](const Reader& r) {
    ContextEntry context;
    r.String("cluster", context.cluster);
    r.String("user", context.user);
    r.String("namespace", context.ns);
    return context;
  });
  root.String("current-context", out.current_context);
  HEKLA_RETURN_IF_ERROR(root.status());
  return out;
}

void MergeKubeconfig(const Kubeconfig& more, Kubeconfig& config) {
  config.clusters.insert(more.clusters.begin(), more.clusters.end());
  config.users.insert(more.users.begin(), more.users.end());
  config.contexts.insert(more.contexts.begin(), more.contexts.end());
  if (config.current_context.empty()) config.current_context = more.current_context;
}

absl::StatusOr<LoadedKubeconfig> LoadKubeconfig(const Environment& environment,
                                                const std::string& explicit_path) {
  const Sources sources = FindSources(environment, explicit_path);
  LoadedKubeconfig loaded;
  std::vector<std::string> errors;
  size_t missing = 0;
  for (const std::string& path : sources.paths) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (absl::IsNotFound(text.status()) && !sources.must_exist) {
      ++missing;
      continue;
    }
    if (!text.ok() && sources.must_exist) return text.status();
    absl::StatusOr<Kubeconfig> config =
        text.ok() ? ParseKubeconfig(*text, DirectoryOf(path)) : text.status();
    if (config.ok()) {
      MergeKubeconfig(*config, loaded.config);
    } else {
      errors.push_back(
          absl::StrCat("error loading config file \"", path, "\": ", config.status().message()));
    }
  }
  if (errors.size() == 1) return absl::InvalidArgumentError(errors.front());
  if (!errors.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("[", absl::StrJoin(errors, ", "), "]"));
  }
  if (sources.warn_if_all_missing && !sources.paths.empty() && missing == sources.paths.size()) {
    loaded.warnings.push_back(
        absl::StrCat("Config not found: ", absl::StrJoin(sources.paths, ", ")));
  }
  return loaded;
}

}  // namespace hekla::kube

#include "pkg/kube/config/exec_plugin.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/meta/time.h"
#include "pkg/util/status_macros.h"

extern char** environ;

namespace hekla::kube {
namespace {

using apis::json::Value;

constexpr absl::string_view kGroup = "client.authentication.k8s.io/";
constexpr size_t kMaxOutput = 1 << 20;

bool KnownVersion(absl::string_view api_version) {
  return api_version == absl::StrCat(kGroup, "v1") ||
         api_version == absl::StrCat(kGroup, "v1beta1");
}

std::vector<std::string> PluginEnvironment(const ExecEntry& exec, const ClusterEntry& cluster) {
  std::vector<std::string> out;
  const auto replaced = [&](absl::string_view entry) {
    const absl::string_view name = entry.substr(0, entry.find('='));
    if (name == "KUBERNETES_EXEC_INFO") return true;
    for (const auto& [key, value] : exec.env) {
      if (name == key) return true;
    }
    return false;
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!replaced(*entry)) out.push_back(*entry);
  }
  for (const auto& [name, value] : exec.env) out.push_back(absl::StrCat(name, "=", value));
  out.push_back(absl::StrCat("KUBERNETES_EXEC_INFO=", ExecInfo(exec, cluster)));
  return out;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string ReadAll(int fd) {
  std::string out;
  char piece[4096];
  while (out.size() < kMaxOutput) {
    const ssize_t n = read(fd, piece, sizeof(piece));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    out.append(piece, static_cast<size_t>(n));
  }
  return out;
}

absl::Status NotFound(const ExecEntry& exec) {
  std::string text = absl::StrCat("exec: executable ", exec.command, " not found");
  if (!exec.install_hint.empty()) absl::StrAppend(&text, "\n\n", exec.install_hint);
  return absl::FailedPreconditionError(text);
}

}  // namespace

std::string ExecInfo(const ExecEntry& exec, const ClusterEntry& cluster) {
  Value info = Value::MakeObject({{"kind", "ExecCredential"}, {"apiVersion", exec.api_version}});
  Value& spec = info["spec"];
  spec.Set("interactive", false);  // our programs have no terminal
  if (exec.provide_cluster_info) {
    Value& out = spec["cluster"];
    out.Set("server", cluster.server);
    if (!cluster.tls_server_name.empty()) out.Set("tls-server-name", cluster.tls_server_name);
    if (cluster.insecure) out.Set("insecure-skip-tls-verify", true);
    if (!cluster.ca_data.empty()) {
      out.Set("certificate-authority-data", absl::Base64Escape(cluster.ca_data));
    }
    if (cluster.disable_compression) out.Set("disable-compression", true);
    if (!cluster.exec_extension.is_null()) out.Set("config", cluster.exec_extension);
  }
  return apis::json::Dump(info);
}

absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view output,
                                                   const std::string& api_version) {
  absl::StatusOr<Value> value = apis::json::Parse(output);
  if (!value.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("exec plugin: output is no JSON: ", value.status().message()));
  }
  if (value->GetString("kind") != "ExecCredential" ||
      value->GetString("apiVersion") != api_version) {
    return absl::InvalidArgumentError(absl::StrCat("exec plugin is configured to use API version ",
                                                   api_version, ", plugin returned version ",
                                                   value->GetString("apiVersion")));
  }
  const Value& status = value->At("status");
  ExecCredential out;
  out.token = std::string(status.GetString("token"));
  out.cert_pem = std::string(status.GetString("clientCertificateData"));
  out.key_pem = std::string(status.GetString("clientKeyData"));
  if (out.token.empty() && out.cert_pem.empty() && out.key_pem.empty()) {
    return absl::InvalidArgumentError("exec plugin didn't return a token or cert/key pair");
  }
  if (out.cert_pem.empty() != out.key_pem.empty()) {
    return absl::InvalidArgumentError("exec plugin returned only certificate or key, not both");
  }
  const absl::string_view expires = status.GetString("expirationTimestamp");
  if (!expires.empty()) {
    HEKLA_ASSIGN_OR_RETURN(out.expires, apis::meta::ParseTime(expires));
  }
  return out;
}

absl::StatusOr<ExecCredential> RunExecPlugin(const ExecEntry& exec, const ClusterEntry& cluster) {
  if (!KnownVersion(exec.api_version)) {
    return absl::InvalidArgumentError(
        absl::StrCat("exec plugin: invalid apiVersion \"", exec.api_version, "\""));
  }
  if (exec.interactive_mode == "Always") {
    return absl::FailedPreconditionError(
        absl::StrCat("exec plugin ", exec.command, " needs a terminal and there is none"));
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError("exec: no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> arguments = {exec.command};
  arguments.insert(arguments.end(), exec.args.begin(), exec.args.end());
  std::vector<std::string> variables = PluginEnvironment(exec, cluster);
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, exec.command.c_str(), &actions, nullptr,
                                   Pointers(arguments).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (spawned != 0) {
    close(ends[0]);
    if (spawned == ENOENT) return NotFound(exec);
    return absl::FailedPreconditionError(
        absl::StrCat("exec: executable ", exec.command, ": ", strerror(spawned)));
  }
  const std::string output = ReadAll(ends[0]);
  close(ends[0]);
  int result = 0;
  while (waitpid(child, &result, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
  if (code == 127) return NotFound(exec);
  if (code != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("exec: executable ", exec.command, " failed with exit code ", code));
  }
  return ParseExecCredential(output, exec.api_version);
}

// ---------------------------------------------------------------- ExecAuthorizer

class ExecAuthorizer::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(http::Headers always, Executor* background, Run run, OnCertificate on_certificate)
      : always_(std::move(always)),
        background_(background),
        run_(std::move(run)),
        on_certificate_(std::move(on_certificate)) {}

  std::shared_ptr<const http::Headers> Current() {
    absl::MutexLock lock(&mutex_);
    if (current_ == nullptr || background_->Now() >= expires_) return nullptr;
    return current_;
  }

  void Refresh(std::function<void(absl::Status)> done) {
    absl::MutexLock lock(&mutex_);
    waiting_.push_back(std::move(done));
    if (std::exchange(running_, true)) return;
    background_->Post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->RunNow();
    });
  }

  void OnUnauthorized(const std::shared_ptr<const http::Headers>& used) {
    absl::MutexLock lock(&mutex_);
    if (used == current_) current_ = nullptr;  // the next request runs the plugin again
  }

  void Stop() {
    std::vector<std::function<void(absl::Status)>> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting.swap(waiting_);
    }
    for (auto& done : waiting) done(absl::CancelledError("client is shut down"));
  }

 private:
  void RunNow() {
    absl::StatusOr<ExecCredential> credential = run_();
    if (credential.ok() && !credential->cert_pem.empty() && on_certificate_) {
      on_certificate_(credential->cert_pem, credential->key_pem);
    }
    std::vector<std::function<void(absl::Status)>> waiting;
    {
      absl::MutexLock lock(&mutex_);
      running_ = false;
      waiting.swap(waiting_);
      if (credential.ok()) {
        auto headers = std::make_shared<http::Headers>(always_);
        if (!credential->token.empty()) {
          headers->Add("Authorization", absl::StrCat("Bearer ", credential->token));
        }
        current_ = std::move(headers);
        expires_ = credential->expires;
      }
    }
    if (!credential.ok()) {
      LOG(ERROR) << "credential plugin failed error=" << credential.status().message();
    }
    for (auto& done : waiting) done(credential.status());
  }

  const http::Headers always_;
  Executor* const background_;
  const Run run_;
  const OnCertificate on_certificate_;
  absl::Mutex mutex_;
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time expires_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::shared_ptr<const http::Headers> current_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void(absl::Status)>> waiting_ ABSL_GUARDED_BY(mutex_);
};

ExecAuthorizer::ExecAuthorizer(http::Headers always, Executor* background, Run run,
                               OnCertificate on_certificate)
    : core_(std::make_shared<Core>(std::move(always), background, std::move(run),
                                   std::move(on_certificate))) {}

ExecAuthorizer::~ExecAuthorizer() { core_->Stop(); }

std::shared_ptr<const http::Headers> ExecAuthorizer::Current() { return core_->Current(); }

void ExecAuthorizer::Refresh(std::function<void(absl::Status)> done) {
  core_->Refresh(std::move(done));
}

void ExecAuthorizer::OnUnauthorized(const std::shared_ptr<const http::Headers>& used) {
  core_->OnUnauthorized(used);
}

}  // namespace hekla::kube

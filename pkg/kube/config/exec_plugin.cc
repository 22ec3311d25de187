#include "pkg/kube/config/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/meta/time.h"

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

// A started program, the leader of a process group of its own.
class Child {
 public:
  // `output`: the reading end of its standard output.
  Child(pid_t pid, int output, absl::Duration limit, std::stop_token stop)
      : pid_(pid),
        output_(output),
        deadline_(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(limit)),
        stop_(std::move(stop)) {}
  // Nothing of it stays.
  ~Child() {
    close(output_);
    if (ended_) return;
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // What it prints until it ends; its wait status goes to `result`. nullopt: it had to be given up.
  std::optional<std::string> Run(int& result) {
    std::string out;
    bool open = true;
    while (!stop_.stop_requested() && std::chrono::steady_clock::now() < deadline_) {
      pollfd input = {.fd = open ? output_ : -1, .events = POLLIN, .revents = 0};
      if (poll(&input, 1, kLookAgainMs) > 0) open = Read(out);
      if (open && out.size() < kMaxOutput) continue;
      // A program may close its output and stay.
      const pid_t waited = waitpid(pid_, &result, WNOHANG);
      ended_ = waited == pid_;
      if (ended_) return out;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kLookAgainMs = 20;

  // False at the end of the output.
  bool Read(std::string& out) const {
    char piece[4096];
    const ssize_t n = read(output_, piece, sizeof(piece));
    if (n < 0) return errno == EINTR;
    out.append(piece, static_cast<size_t>(n));
    return n > 0 && out.size() < kMaxOutput;
  }

  const pid_t pid_;
  const int output_;
  const std::chrono::steady_clock::time_point deadline_;
  const std::stop_token stop_;
  bool ended_ = false;
};

// Starts it with the signals that it expects, whatever this process has blocked or ignores.
int Spawn(const ExecEntry& exec, const ClusterEntry& cluster, int output, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> arguments = {exec.command};
  arguments.insert(arguments.end(), exec.args.begin(), exec.args.end());
  std::vector<std::string> variables = PluginEnvironment(exec, cluster);
  const int error = posix_spawnp(&child, exec.command.c_str(), &actions, &attributes,
                                 Pointers(arguments).data(), Pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
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
    // Another text than a version may be anything, a credential too.
    const absl::string_view given = value->GetString("apiVersion");
    return absl::InvalidArgumentError(absl::StrCat(
        "exec plugin is configured to use API version ", api_version, ", plugin returned version ",
        absl::StartsWith(given, kGroup) && given.size() < kGroup.size() + 12 ? given : "?"));
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
    const absl::StatusOr<absl::Time> time = apis::meta::ParseTime(expires);
    if (!time.ok()) {
      return absl::InvalidArgumentError(
          "exec plugin: credential with an invalid expirationTimestamp");
    }
    out.expires = *time;
  }
  return out;
}

absl::StatusOr<ExecCredential> RunExecPlugin(const ExecEntry& exec, const ClusterEntry& cluster,
                                             absl::Duration limit, std::stop_token stop) {
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
  pid_t pid = 0;
  const int error = Spawn(exec, cluster, ends[1], pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    if (error == ENOENT) return NotFound(exec);
    return absl::FailedPreconditionError(
        absl::StrCat("exec: executable ", exec.command, ": ", strerror(error)));
  }
  Child child(pid, ends[0], limit, stop);
  int result = 0;
  const std::optional<std::string> output = child.Run(result);
  if (!output.has_value()) {
    if (stop.stop_requested()) return absl::CancelledError("exec: client is shut down");
    return absl::DeadlineExceededError(absl::StrCat(
        "exec: executable ", exec.command, " did not end within ", absl::FormatDuration(limit)));
  }
  const int code = WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
  if (code == 127) return NotFound(exec);
  if (code != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("exec: executable ", exec.command, " failed with exit code ", code));
  }
  return ParseExecCredential(*output, exec.api_version);
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
    stop_.request_stop();
    std::vector<std::function<void(absl::Status)>> waiting;
    {
      absl::MutexLock lock(&mutex_);
      waiting.swap(waiting_);
    }
    for (auto& done : waiting) done(absl::CancelledError("client is shut down"));
  }

 private:
  void RunNow() {
    absl::StatusOr<ExecCredential> credential = run_(stop_.get_token());
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
  std::stop_source stop_;
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

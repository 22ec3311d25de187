#include <signal.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/util/testing/temp_folder.h"
#include "test/integration/http_get.h"
#include "test/integration/manifest.h"
#include "test/integration/process.h"

// What the programs know and nobody else may: no log, file, event or page of theirs shows it,
// whatever goes wrong and however much they log.
namespace hekla::test {
namespace {

namespace fs = std::filesystem;
using apis::json::Value;
using cmd::heklactl::HostedCluster;
using ::testing::HasSubstr;

// As an API server and what stands before it would have it: everything is secret that is sent or
// read, and each text occurs nowhere else.
constexpr char kToken[] = "tk-5f81c0aa9d3e4b7788d2-token";
constexpr char kFileToken[] = "tk-01c2e7f9b6a84d55a3c1-token-of-file";
constexpr char kPluginToken[] = "tk-77b0d1e2c3f4459a8b6c-token-of-plugin";
constexpr char kPluginVariable[] = "ev-9a8b7c6d5e4f3a2b1c0d-variable";
constexpr char kPassword[] = "pw-3c4d5e6f7a8b9c0d1e2f-password";
constexpr char kUrlPassword[] = "up-8e7d6c5b4a3f2e1d0c9b-password-of-url";
constexpr char kData[] = "sd-2b3c4d5e6f708192a3b4-data-of-secret";

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  fs::permissions(path, fs::perms::owner_all);
}

std::string Read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Stands before the API server: answers in its place where a rule says so, and notes with which
// credentials requests come.
class Front final : public http::Handler {
 public:
  using Rule = std::function<std::optional<http::Response>(const http::Request&)>;

  void SetInner(http::Handler* inner) { inner_ = inner; }
  void SetRule(Rule rule) {
    absl::MutexLock lock(&mutex_);
    rule_ = std::move(rule);
    ruled_ = 0;
  }
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override {
    std::optional<http::Response> answer;
    {
      absl::MutexLock lock(&mutex_);
      seen_.insert(std::string(request.headers.Get("Authorization")));
      seen_.insert(peer.certificate_subject);
      if (rule_) answer = rule_(request);
      ruled_ += answer.has_value() ? 1 : 0;
    }
    if (answer.has_value()) return responder->Respond(*std::move(answer));
    inner_->Handle(std::move(request), peer, std::move(responder));
  }
  bool Saw(const std::string& credential) const {
    absl::MutexLock lock(&mutex_);
    return seen_.count(credential) > 0;
  }
  int ruled() const {
    absl::MutexLock lock(&mutex_);
    return ruled_;
  }

 private:
  http::Handler* inner_ = nullptr;
  mutable absl::Mutex mutex_;
  Rule rule_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  int ruled_ ABSL_GUARDED_BY(mutex_) = 0;
};

http::Response Failure(int status, const std::string& body) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "application/json");
  response.body = body;
  return response;
}

// One failure after the other, of all kinds that an API server, or a proxy before it, answers. Some
// tell the client what it sent.
std::optional<http::Response> EveryFailure(const http::Request& request, int number) {
  std::string sent = absl::StrCat(request.method, " ", request.target, " ", request.body);
  for (const auto& [name, value] : request.headers.all()) {
    absl::StrAppend(&sent, " ", name, ": ", value);
  }
  const std::string quoted = apis::json::Dump(Value(sent));
  switch (number % 8) {
    case 0:
      return Failure(401, R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                          R"("message":"Unauthorized","reason":"Unauthorized","code":401})");
    case 1:
      return Failure(403, sent);
    case 2:
      return Failure(500, sent);
    case 3:
      return Failure(422,
                     absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)",
                                  R"("message":)", quoted, R"(,"reason":"Invalid","code":422})"));
    case 4:
      return Failure(200, "{\"half\":");
    case 5:
      return Failure(503, absl::StrCat(R"({"kind":"Status","apiVersion":"v1","status":"Failure",)",
                                       R"("message":)", quoted, R"(,"code":503})"));
    case 6:
      return Failure(401, sent);
    default:
      return std::nullopt;  // and sometimes all is well
  }
}

class SecretsTest : public ::testing::Test {
 protected:
  SecretsTest() {
    HostedCluster::Options options;
    options.front = &front_;
    // The tokens are known, basic authentication is not, and roles let nobody do anything.
    options.users = {{.token = kToken, .name = "a", .groups = {"system:masters"}},
                     {.token = kFileToken, .name = "b", .groups = {"system:masters"}},
                     {.token = kPluginToken, .name = "c", .groups = {"system:masters"}}};
    options.enforce_rbac = true;
    cluster_ = std::make_unique<HostedCluster>(std::move(options));
    front_.SetInner(&cluster_->server());
    EXPECT_TRUE(cluster_->Start().ok());
    EXPECT_TRUE(cluster_->AddNodes({}, "n", 2).ok());
    for (const char* ns : {"volcano-system", "ray-system"}) {
      Create(absl::StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", ns,
                          R"("}})"));
    }
    http::BeastServer::Options tls;
    tls.tls = true;
    const auto pair = authority_.IssueServer("api", {"IP:127.0.0.1"});
    tls.tls_files = {
        .cert_pem = pair.cert_pem, .key_pem = pair.key_pem, .client_ca_pem = authority_.cert_pem()};
    tls_server_ = std::make_unique<http::BeastServer>(std::move(tls));
    EXPECT_TRUE(tls_server_->Start(&front_).ok());
    fs::create_directory(folder_ + "/private");
    fs::create_directory(folder_ + "/out");
    for (const char* secret :
         {kToken, kFileToken, kPluginToken, kPluginVariable, kPassword, kUrlPassword, kData}) {
      AddSecret(secret);
    }
  }
  ~SecretsTest() override {
    program_.reset();
    tls_server_->Stop();
    cluster_->Stop();
  }

  void Create(const std::string& json) {
    const auto created = cluster_->server().Create(apis::json::Parse(json).value());
    EXPECT_TRUE(created.ok()) << created.status();
  }
  // In the forms in which it could be shown.
  void AddSecret(const std::string& secret) {
    const std::string encoded = absl::Base64Escape(secret);
    secrets_.insert(secret);
    // What stands before it in a longer text shifts the encoding; the middle stays.
    secrets_.insert(encoded.substr(0, encoded.size() - 4));
    for (const char* shift : {"x", "xx"}) {
      const std::string shifted = absl::Base64Escape(absl::StrCat(shift, secret));
      secrets_.insert(shifted.substr(4, shifted.size() - 8));
    }
  }
  void AddKey(const std::string& pem) {
    for (absl::string_view line : absl::StrSplit(pem, '\n', absl::SkipEmpty())) {
      if (!absl::StartsWith(line, "-----") && line.size() > 16) secrets_.insert(std::string(line));
    }
    const std::string encoded = absl::Base64Escape(pem);
    secrets_.insert(encoded.substr(encoded.size() / 2, 30));
  }
  // A kubeconfig with these credentials for the plain or the TLS server.
  std::string Kubeconfig(const std::string& user, bool tls = false, const std::string& url = "") {
    const std::string path = absl::StrCat(folder_, "/private/kubeconfig-", files_++);
    const std::string server = !url.empty() ? url
                               : tls ? absl::StrCat("https://127.0.0.1:", tls_server_->port())
                                     : cluster_->url();
    const std::string ca = tls ? absl::StrCat(", certificate-authority-data: ",
                                              absl::Base64Escape(authority_.cert_pem()))
                               : "";
    Write(path, absl::StrCat("apiVersion: v1\nkind: Config\ncurrent-context: c\n",
                             "clusters: [{name: c, cluster: {server: \"", server, "\"", ca,
                             "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n",
                             "users:\n- name: u\n  user:\n", user));
    return path;
  }
  // A credential plugin that prints `output`.
  std::string Plugin(const std::string& output, const std::string& more = "") {
    const std::string path = absl::StrCat(folder_, "/private/plugin-", files_++);
    Write(path + ".out", output);
    Write(path, absl::StrCat("#!/bin/sh\ncat ", path, ".out\n", more, "\n"));
    return absl::StrCat("    exec:\n      apiVersion: client.authentication.k8s.io/v1\n",
                        "      interactiveMode: Never\n      command: ", path,
                        "\n      provideClusterInfo: true\n      env: [{name: SOME_SECRET, value: ",
                        kPluginVariable, "}]\n");
  }
  static std::string Credential(const std::string& status) {
    return absl::StrCat(
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{)",
        status, "}}");
  }

  void Run(const std::string& program, std::vector<std::string> flags) {
    program_.reset();
    auto started = Process::Start(program, flags, absl::StrCat(folder_, "/out/log-", files_++));
    ASSERT_TRUE(started.ok()) << started.status();
    program_ = *std::move(started);
  }
  void RunScheduler(const std::string& kubeconfig, std::vector<std::string> flags = {}) {
    metrics_port_ = FreePort();
    debug_port_ = FreePort();
    flags.insert(flags.begin(),
                 {absl::StrCat("--kubeconfig=", kubeconfig), "-v=10", "--vmodule=*=10",
                  "--logtostderr=false", "--alsologtostderr", absl::StrCat("--log-dir=", Out()),
                  "--enable-metrics", absl::StrCat("--listen-address=127.0.0.1:", metrics_port_),
                  "--enable-healthz=false", absl::StrCat("--debug-address=127.0.0.1:", debug_port_),
                  absl::StrCat("--cache-dump-dir=", Out())});
    Run(HEKLA_SCHEDULER, std::move(flags));
  }
  void RunOperator(const std::string& kubeconfig, std::vector<std::string> flags = {}) {
    metrics_port_ = FreePort();
    flags.insert(
        flags.begin(),
        {absl::StrCat("--kubeconfig=", kubeconfig), "--zap-log-level=10", "--v=10",
         absl::StrCat("--metrics-addr=127.0.0.1:", metrics_port_), "--health-probe-bind-address=0",
         "--leader-election-namespace=ray-system", "--enable-metrics",
         absl::StrCat("--log-file-path=", Out(), "/operator-", files_++, ".log")});
    Run(HEKLA_RAY_OPERATOR, std::move(flags));
  }
  std::string Out() const { return folder_ + "/out"; }

  bool Until(const std::function<bool()>& condition, absl::Duration limit = absl::Seconds(30)) {
    const absl::Time end = absl::Now() + limit;
    while (!condition()) {
      if (absl::Now() > end) return false;
      absl::SleepFor(absl::Milliseconds(10));
    }
    return true;
  }
  bool Said(const std::string& text) { return absl::StrContains(program_->Output(), text); }
  // Something to do that leads to writes.
  void MakeWork() {
    Create(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p)", files_++,
                        R"("},"spec":{"schedulerName":"volcano","containers":[{"name":"c",)"
                        R"("image":"i","resources":{"requests":{"cpu":"10m"}}}]}})"));
    Value cluster = ObjectsIn("config/samples/raycluster-token-auth.yaml").at(0);
    cluster["metadata"].Set("name", absl::StrCat("ray", files_++));
    EXPECT_TRUE(cluster_->server().Create(cluster).ok());
  }
  // Requests fail in all ways from now on.
  void Fail() {
    front_.SetRule([number = 0](const http::Request& request) mutable {
      return EveryFailure(request, number++);
    });
  }
  // Waits until so many have failed since Fail, then all succeed again.
  void EndAfter(int failures) {
    absl::Time next = absl::InfinitePast();
    EXPECT_TRUE(Until([&] {
      if (absl::Now() >= next) {
        MakeWork();
        next = absl::Now() + absl::Milliseconds(200);
      }
      return front_.ruled() >= failures;
    })) << front_.ruled();
    front_.SetRule(nullptr);
  }
  void FailAWhile(int failures) {
    Fail();
    EndAfter(failures);
  }
  // Everything that can be read of what the programs did.
  std::vector<std::pair<std::string, std::string>> Traces() {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& entry : fs::recursive_directory_iterator(Out())) {
      if (entry.is_regular_file()) out.emplace_back(entry.path().string(), Read(entry.path()));
    }
    for (const char* version : {"v1", "events.k8s.io/v1"}) {
      const auto events = cluster_->server().List(version, "Event", "");
      if (!events.ok()) continue;
      for (const Value& event : *events) out.emplace_back("event", apis::json::Dump(event));
    }
    for (const auto& [version, kind] : std::vector<std::pair<std::string, std::string>>{
             {"v1", "Pod"},
             {"ray.io/v1", "RayCluster"},
             {"scheduling.volcano.sh/v1beta1", "PodGroup"}}) {
      const auto objects = cluster_->server().List(version, kind, "");
      if (!objects.ok()) continue;
      for (const Value& object : *objects) out.emplace_back(kind, apis::json::Dump(object));
    }
    out.insert(out.end(), pages_.begin(), pages_.end());
    return out;
  }
  void ReadPages() {
    for (const char* path : {"/metrics", "/healthz", "/nothing"}) {
      pages_.emplace_back(path, Get(metrics_port_, path).body);
    }
    if (debug_port_ == 0) return;
    for (const char* path : {"/debug/explain?pod=default/p0", "/debug/explain?podgroup=x",
                             "/debug/pprof/heap", "/debug/vars", "/debug/explain"}) {
      pages_.emplace_back(path, Get(debug_port_, path).body);
    }
  }
  void ExpectNoTrace() {
    size_t bytes = 0;
    for (const auto& [where, text] : Traces()) {
      bytes += text.size();
      for (const std::string& secret : secrets_) {
        const size_t at = text.find(secret);
        if (at == std::string::npos) continue;
        const size_t from = at > 200 ? at - 200 : 0;
        ADD_FAILURE() << where << " shows " << secret << ": …"
                      << text.substr(from, secret.size() + 300);
      }
    }
    EXPECT_GT(bytes, 100u) << "nothing was looked at";
  }

  const util::testing::TempFolder temp_;
  const std::string& folder_ = temp_.path();
  http::testing::CertificateAuthority authority_{"secrets"};
  Front front_;
  std::unique_ptr<HostedCluster> cluster_;
  std::unique_ptr<http::BeastServer> tls_server_;
  std::optional<Process> program_;
  std::set<std::string> secrets_;
  std::vector<std::pair<std::string, std::string>> pages_;
  int files_ = 0;
  int metrics_port_ = 0;
  int debug_port_ = 0;
};

// How a program gets its credentials, and how the front knows that it uses them.
struct Way {
  std::string user;  // of the kubeconfig
  std::string seen;  // Authorization, or a certificate's subject
  bool tls = false;
  std::string url = "";
  bool known = true;  // to the server
};

class CredentialsTest : public SecretsTest {
 protected:
  std::vector<Way> Ways() {
    Write(folder_ + "/private/token", absl::StrCat(kFileToken, "\n"));
    const auto pair = authority_.IssueClient({{"CN", "u"}, {"O", "system:masters"}});
    AddKey(pair.key_pem);
    const std::string indent = "    ";
    return {
        {absl::StrCat(indent, "token: ", kToken, "\n"), absl::StrCat("Bearer ", kToken)},
        {absl::StrCat(indent, "tokenFile: ", folder_, "/private/token\n"),
         absl::StrCat("Bearer ", kFileToken)},
        {Plugin(Credential(absl::StrCat(R"("token":")", kPluginToken, "\""))),
         absl::StrCat("Bearer ", kPluginToken)},
        {absl::StrCat(indent, "username: u\n", indent, "password: ", kPassword, "\n"),
         absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat("u:", kPassword))),
         /*tls=*/false, /*url=*/"", /*known=*/false},
        {absl::StrCat(indent, "client-certificate-data: ", absl::Base64Escape(pair.cert_pem), "\n",
                      indent, "client-key-data: ", absl::Base64Escape(pair.key_pem), "\n"),
         "CN=u,O=system:masters", true},
        {absl::StrCat(indent, "token: ", kToken, "\n"), absl::StrCat("Bearer ", kToken), false,
         absl::StrReplaceAll(cluster_->url(), {{"://", absl::StrCat("://u:", kUrlPassword, "@")}})},
    };
  }
};

TEST_F(CredentialsTest, TheSchedulerShowsNone) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.user.substr(0, 20));
    // Once as a leader, then without an election: whom the server does not know asks for more.
    const bool elects = pages_.empty();
    // First of all its lists. One that waits for its lease asks too rarely.
    if (!elects) Fail();
    RunScheduler(Kubeconfig(way.user, way.tls, way.url),
                 {absl::StrCat("--leader-elect=", elects ? "true" : "false")});
    ASSERT_TRUE(Until([&] { return front_.Saw(way.seen); })) << program_->Output();
    if (!elects) EndAfter(16);
    // Then all that one does that works.
    if (way.known) {
      ASSERT_TRUE(Until([&] { return Said("initial lists are complete"); })) << program_->Output();
    }
    FailAWhile(way.known ? 40 : 24);
    program_->Signal(SIGUSR1);
    program_->Signal(SIGUSR2);
    absl::SleepFor(absl::Milliseconds(200));
    ReadPages();
    EXPECT_EQ(program_->Terminate(absl::Seconds(10)), 0);
    EXPECT_THAT(program_->Output(), HasSubstr("stopped"));
  }
  ExpectNoTrace();
}

TEST_F(CredentialsTest, TheRayOperatorShowsNone) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.user.substr(0, 20));
    RunOperator(Kubeconfig(way.user, way.tls, way.url));
    ASSERT_TRUE(Until([&] { return front_.Saw(way.seen); })) << program_->Output();
    // It reads the server's version and kinds first, and ends where it may not.
    if (Until([&] { return Said("starting workers"); }, absl::Seconds(3))) FailAWhile(40);
    ReadPages();
    program_->Terminate(absl::Seconds(10));
  }
  ExpectNoTrace();
}

TEST_F(CredentialsTest, HeklactlShowsNone) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.user.substr(0, 20));
    const std::string kubeconfig = Kubeconfig(way.user, way.tls, way.url);
    Run(HEKLACTL, {"hollow-nodes", "--kubeconfig", kubeconfig, "--nodes=2", "-v=10"});
    ASSERT_TRUE(Until([&] { return front_.Saw(way.seen); })) << program_->Output();
    Fail();
    Until([&] { return front_.ruled() >= 10 || !program_->Running(); }, absl::Seconds(3));
    front_.SetRule(nullptr);
    program_->Terminate(absl::Seconds(10));
    Run(HEKLACTL, {"explain", "pod/p0", "--kubeconfig", kubeconfig, "-v=10"});
    EXPECT_EQ(program_->Wait(absl::Seconds(20)), 2) << "it names no scheduler";
  }
  Run(HEKLACTL, {"explain", "pod/p0", "-v=10", "--address",
                 absl::StrCat("u:", kUrlPassword, "@127.0.0.1:1")});
  EXPECT_EQ(program_->Wait(absl::Seconds(20)), 1);
  ExpectNoTrace();
}

TEST_F(CredentialsTest, PluginsThatFailShowNoneOfWhatTheyPrinted) {
  const std::string quoted = absl::StrCat("\"", kPluginToken, "\"");
  for (const std::string& output : {
           std::string(kPluginToken),
           absl::StrCat("{", quoted),
           Credential(absl::StrCat(R"("clientKeyData":)", quoted)),
           Credential(absl::StrCat(R"("token":)", quoted, R"(,"expirationTimestamp":)", quoted)),
           absl::StrCat(R"({"kind":"ExecCredential","apiVersion":)", quoted, "}"),
           absl::StrCat(R"({"kind":)", quoted, "}"),
           Credential(
               absl::StrCat(R"("clientKeyData":)", quoted, R"(,"clientCertificateData":)", quoted)),
       }) {
    SCOPED_TRACE(output);
    const std::string kubeconfig = Kubeconfig(Plugin(output));
    RunScheduler(kubeconfig);
    EXPECT_TRUE(Until([&] { return Said("credential") || Said("certificate"); }))
        << program_->Output();
    program_->Terminate(absl::Seconds(10));
    RunOperator(kubeconfig);
    EXPECT_TRUE(Until([&] { return Said("credential") || Said("certificate"); }))
        << program_->Output();
    program_->Terminate(absl::Seconds(10));
  }
  RunScheduler(Kubeconfig(Plugin(kPluginToken, "exit 3")));
  EXPECT_TRUE(Until([&] { return Said("failed with exit code 3"); })) << program_->Output();
  program_->Terminate(absl::Seconds(10));
  ExpectNoTrace();
}

TEST_F(CredentialsTest, KubeconfigsThatCannotBeReadAreNotQuoted) {
  const std::string key = absl::StrCat("    client-key-data: ", kData, "\n");
  for (const std::string& user : {
           absl::StrCat("    token: *", kToken, "\n"),       // an alias
           absl::StrCat("    token: !!int ", kToken, "\n"),  // a tag
           absl::StrCat("    token: [", kToken, "]\n"),      // a list
           absl::StrCat("    token: {", kToken, ": ", kToken, ", ", kToken, ": 1}\n"),
           absl::StrCat("    token: ", kToken, ": ", kToken, "\n"),
           absl::StrCat("    ", kToken, "\n"),
           absl::StrCat("    token: &", kToken, " *", kToken, "\n"),
           key,
           absl::StrCat("    tokenFile: /nonexistent/file\n    password: ", kPassword, "\n"),
           absl::StrCat("    username: ", kPassword, "\n    password: ", kPassword,
                        "\n    token: ", kToken, "\n"),
       }) {
    SCOPED_TRACE(user);
    const std::string kubeconfig = Kubeconfig(user);
    RunScheduler(kubeconfig);
    EXPECT_EQ(program_->Wait(absl::Seconds(20)), 1) << program_->Output();
    RunOperator(kubeconfig);
    EXPECT_EQ(program_->Wait(absl::Seconds(20)), 1) << program_->Output();
    Run(HEKLACTL, {"hollow-nodes", "--kubeconfig", kubeconfig, "-v=10"});
    EXPECT_NE(program_->Wait(absl::Seconds(20)), 0) << program_->Output();
    Run(HEKLACTL, {"explain", "pod/p0", "--kubeconfig", kubeconfig, "-v=10"});
    EXPECT_EQ(program_->Wait(absl::Seconds(20)), 2) << program_->Output();
  }
  const std::string user = absl::StrCat("    token: ", kToken, "\n");
  for (const std::string& url : {absl::StrCat("https://u:", kUrlPassword, "@127.0.0.1:port"),
                                 absl::StrCat("https://u:?", kUrlPassword, "@127.0.0.1:1"),
                                 absl::StrCat("ftp://u:", kUrlPassword, "@127.0.0.1"),
                                 absl::StrCat("u:", kUrlPassword, "@127.0.0.1:1:1")}) {
    SCOPED_TRACE(url);
    if (!absl::StrContains(url, '?')) {  // what follows is no part of a server's address
      RunScheduler(Kubeconfig(user, false, url));
      EXPECT_EQ(program_->Wait(absl::Seconds(20)), 1) << program_->Output();
    }
    Run(HEKLACTL, {"explain", "pod/p0", "--address", url, "-v=10"});
    EXPECT_NE(program_->Wait(absl::Seconds(20)), 0) << program_->Output();
  }
  // Keys and certificates that are none: of the client, and of what the programs serve.
  const std::string broken = absl::StrCat("-----BEGIN PRIVATE KEY-----\n", kData, "\n");
  RunScheduler(Kubeconfig(
      absl::StrCat("    client-certificate-data: ", absl::Base64Escape(authority_.cert_pem()),
                   "\n    client-key-data: ", absl::Base64Escape(broken), "\n"),
      true));
  EXPECT_EQ(program_->Wait(absl::Seconds(20)), 1) << program_->Output();
  Write(folder_ + "/private/broken", broken);
  const std::string file = folder_ + "/private/broken";
  RunScheduler(Kubeconfig(user),
               {"--enable-healthz=true", "--healthz-address=127.0.0.1:0",
                absl::StrCat("--ca-cert-file=", file), absl::StrCat("--tls-cert-file=", file),
                absl::StrCat("--tls-private-key-file=", file)});
  EXPECT_EQ(program_->Wait(absl::Seconds(20)), 1) << program_->Output();
  ExpectNoTrace();
}

// Secrets that the operator makes and reads: whole ones, and such that cannot be read.
TEST_F(SecretsTest, TheRayOperatorShowsNothingOfTheSecretsItHandles) {
  const std::string data = absl::Base64Escape(kData);
  Create(absl::StrCat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"other",)",
                      R"("namespace":"default","annotations":{)",
                      R"("kubectl.kubernetes.io/last-applied-configuration":")", kData,
                      R"("}},"data":{"auth_token":")", data, R"(","tls.key":")", data, R"("}})"));
  RunOperator(Kubeconfig(absl::StrCat("    token: ", kToken, "\n")));
  ASSERT_TRUE(Until([&] { return Said("starting workers"); })) << program_->Output();
  FailAWhile(60);
  const auto made = [&] {
    std::vector<std::string> tokens;
    const auto secrets = cluster_->server().List("v1", "Secret", "default");
    for (const Value& secret : *secrets) {
      std::string token;
      if (absl::StartsWith(secret.At("metadata").GetString("name"), "ray") &&
          absl::Base64Unescape(secret.At("data").GetString("auth_token"), &token)) {
        tokens.push_back(token);
      }
    }
    return tokens;
  };
  ASSERT_TRUE(Until([&] { return !made().empty(); }, absl::Seconds(60))) << program_->Output();
  for (const std::string& token : made()) AddSecret(token);
  program_->Terminate(absl::Seconds(10));

  // Lists of Secrets in which nothing is as it should be.
  front_.SetRule([](const http::Request& request) -> std::optional<http::Response> {
    const http::Target target = http::ParseTarget(request.target);
    if (request.method != "GET" || !absl::EndsWith(target.path, "/secrets")) return std::nullopt;
    if (target.Has("sendInitialEvents")) return Failure(422, "{}");
    if (target.Has("watch")) return std::nullopt;
    const std::string head = R"({"kind":"SecretList","apiVersion":"v1","metadata":)"
                             R"({"resourceVersion":"5"},"items":[)";
    const std::string bad = apis::json::Dump(Value(kData));
    return Failure(
        200, absl::StrCat(head, R"({"metadata":{"name":"a","namespace":"default"},"data":)", bad,
                          R"(},{"metadata":)", bad, R"(},{"metadata":{"name":)", bad,
                          R"(,"namespace":7,"labels":)", bad, R"(},"data":{"a":[)", bad, R"(]}},)",
                          bad, R"(,{"data":{"auth_token":)", bad, "}}]}"));
  });
  RunOperator(Kubeconfig(absl::StrCat("    token: ", kToken, "\n")));
  EXPECT_TRUE(Until([&] { return front_.ruled() >= 2; })) << program_->Output();
  MakeWork();
  absl::SleepFor(absl::Seconds(1));
  ReadPages();
  program_->Terminate(absl::Seconds(10));
  ExpectNoTrace();
}

}  // namespace
}  // namespace hekla::test

#include "pkg/kube/config/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/util/testing/status_matchers.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using util::testing::StatusIs;

// A folder of files and a set of variables.
class KubeconfigTest : public ::testing::Test {
 protected:
  KubeconfigTest() {
    environment.root = dir;
    environment.variable = [this](const std::string& name) -> std::optional<std::string> {
      auto it = variables.find(name);
      if (it == variables.end()) return std::nullopt;
      return it->second;
    };
  }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(dir, "/", name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  void MakeAccount() {
    const std::string base = "var/run/secrets/kubernetes.io/serviceaccount/";
    Write(base + "token", "abc\n");
    Write(base + "ca.crt", "CA PEM");
    Write(base + "namespace", "hekla-system");
    variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
    variables["KUBERNETES_SERVICE_PORT"] = "443";
  }
  absl::StatusOr<ClientConfig> Resolve(const std::string& text, ConfigOverrides overrides = {}) {
    auto parsed = ParseKubeconfig(text, dir);
    if (!parsed.ok()) return parsed.status();
    return ResolveConfig(*parsed, overrides, environment);
  }

  const util::testing::TempFolder temp;
  const std::string& dir = temp.path();
  std::map<std::string, std::string> variables;
  Environment environment;
};

constexpr char kOne[] = R"(
apiVersion: v1
kind: Config
clusters:
- {name: east, cluster: {server: "https://10.1.0.1:6443"}}
users:
- {name: ann, user: {token: t1}}
contexts:
- {name: e, context: {cluster: east, user: ann}}
)";
constexpr char kTwo[] = R"(
clusters:
- {name: east, cluster: {server: "https://10.2.0.2:6443", certificate-authority: ca.pem}}
- {name: west, cluster: {server: "https://10.3.0.3", certificate-authority: w.pem}}
contexts:
- {name: w, context: {cluster: west, user: ann, namespace: lab}}
current-context: w
)";

// spec kube-machinery worked example 1.
TEST_F(KubeconfigTest, FilesAreMergedEntryByEntry) {
  variables["KUBECONFIG"] =
      absl::StrCat(Write("a/one", kOne), ":", dir, "/missing::", Write("b/two", kTwo));
  Write("b/w.pem", "W CA");
  auto loaded = LoadKubeconfig(environment, "");
  HEKLA_ASSERT_OK(loaded);
  EXPECT_THAT(loaded->warnings, IsEmpty());  // one file was missing, not all
  EXPECT_EQ(loaded->config.current_context, "w");
  EXPECT_EQ(loaded->config.clusters["east"].server, "https://10.1.0.1:6443");
  EXPECT_EQ(loaded->config.clusters["east"].ca_file, "");
  EXPECT_EQ(loaded->config.clusters["west"].ca_file, dir + "/b/w.pem");
  auto west = ResolveConfig(loaded->config, {}, environment);
  HEKLA_ASSERT_OK(west);
  EXPECT_EQ(west->server, "https://10.3.0.3");
  EXPECT_EQ(west->ns, "lab");
  EXPECT_EQ(west->token, "t1");
  EXPECT_EQ(west->tls.ca_pem, "W CA");
  EXPECT_EQ(west->ca_file, dir + "/b/w.pem");
  auto east = ResolveConfig(loaded->config, {.context = "e"}, environment);
  HEKLA_ASSERT_OK(east);
  EXPECT_EQ(east->ns, "default");
  EXPECT_EQ(east->server, "https://10.1.0.1:6443");
}

TEST_F(KubeconfigTest, MissingFilesWarnOnlyWhenAllAreMissing) {
  variables["KUBECONFIG"] = "/nowhere/a:/nowhere/b:/nowhere/a";
  auto loaded = LoadKubeconfig(environment, "");
  HEKLA_ASSERT_OK(loaded);
  EXPECT_THAT(loaded->warnings, ElementsAre("Config not found: /nowhere/a, /nowhere/b"));
  EXPECT_TRUE(loaded->config.empty());
  EXPECT_THAT(LoadKubeconfig(environment, "/nowhere/c"),
              StatusIs(absl::StatusCode::kNotFound, "/nowhere/c"));
}

TEST_F(KubeconfigTest, HomeIsTheLastResort) {
  variables["HOME"] = dir;
  EXPECT_TRUE(LoadKubeconfig(environment, "")->config.empty());
  Write(".kube/.kubeconfig", "current-context: old");
  EXPECT_EQ(LoadKubeconfig(environment, "")->config.current_context, "old");
  Write(".kube/config", "current-context: new");
  EXPECT_EQ(LoadKubeconfig(environment, "")->config.current_context, "new");
  Write(".kube/config", "");
  EXPECT_TRUE(LoadKubeconfig(environment, "")->config.empty());
}

TEST_F(KubeconfigTest, ErrorsOfAllFilesAreNamed) {
  const std::string bad = Write("bad", "clusters: [{name: a}, {name: a}]");
  const std::string worse = Write("worse", "clusters: 5");
  EXPECT_THAT(LoadKubeconfig(environment, bad),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("error loading config file \"", bad, "\": ")));
  variables["KUBECONFIG"] = absl::StrCat(bad, ":", worse);
  const auto both = LoadKubeconfig(environment, "");
  EXPECT_THAT(both, StatusIs(absl::StatusCode::kInvalidArgument, "\"a\" is given twice"));
  EXPECT_THAT(both, StatusIs(absl::StatusCode::kInvalidArgument, worse));
}

TEST_F(KubeconfigTest, WhatCannotBeReadIsNotQuoted) {
  for (const char* token :
       {"*hidden", "!!int hidden", "\"\\hidden\"", "a: hidden", "{hidden: 1, hidden: 2}"}) {
    const std::string text = absl::StrCat("users:\n- name: u\n  user:\n    token: ", token, "\n");
    const absl::Status status = ParseKubeconfig(text, "").status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "line 4, column ")) << token;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, ": malformed YAML")) << token;
    EXPECT_FALSE(absl::StrContains(status.message(), "hidden")) << status;
  }
}

TEST_F(KubeconfigTest, DataWinsOverFilesAndIsDecoded) {
  auto config = Resolve(absl::StrCat(R"(
clusters: [{name: c, cluster: {server: "https://h:1/prefix/", certificate-authority-data: )",
                                     absl::Base64Escape("CA"), R"(, tls-server-name: other}}]
users:
- name: u
  user: {client-certificate-data: )",
                                     absl::Base64Escape("CERT"),
                                     ", client-key-data: ", absl::Base64Escape("KEY"), R"(}
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
)"));
  HEKLA_ASSERT_OK(config);
  EXPECT_EQ(config->tls.ca_pem, "CA");
  EXPECT_EQ(config->tls.cert_pem, "CERT");
  EXPECT_EQ(config->tls.key_pem, "KEY");
  EXPECT_EQ(config->tls.server_name, "other");
  EXPECT_EQ(config->ca_file, "");
  EXPECT_EQ(config->server, "https://h:1/prefix/");
  EXPECT_THAT(
      ParseKubeconfig("clusters: [{name: c, cluster: {certificate-authority-data: '%%'}}]", ""),
      StatusIs(absl::StatusCode::kInvalidArgument, "bad base64"));
}

TEST_F(KubeconfigTest, SelectionNamesWhatIsMissing) {
  EXPECT_THAT(Resolve(kOne, {.context = "nope"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "context \"nope\" does not exist"));
  EXPECT_THAT(Resolve("current-context: gone"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "context was not found for specified context: gone"));
  EXPECT_THAT(Resolve(""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "invalid configuration: no configuration has been provided, try setting "
                       "KUBERNETES_MASTER environment variable"));
  EXPECT_THAT(Resolve("users: [{name: u, user: {}}]"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "invalid configuration: cluster has no server defined"));
}

TEST_F(KubeconfigTest, ContradictionsAreRefused) {
  const std::string frame = R"(
clusters: [{name: c, cluster: {server: "https://h", CLUSTER}}]
users: [{name: u, user: {USER}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
)";
  const std::string ca = Write("ca.pem", "CA");
  struct Case {
    std::string name, cluster, user, problem;
  };
  const std::string exec = "exec: {command: p, apiVersion: client.authentication.k8s.io/v1";
  for (const Case& c : {
           Case{"both CAs", "certificate-authority: ca.pem, certificate-authority-data: QQ==", "",
                "certificate-authority and certificate-authority-data"},
           Case{"insecure with CA", "certificate-authority: ca.pem, insecure-skip-tls-verify: true",
                "", "specifying a root certificates file with the insecure flag is not allowed"},
           Case{"cert without key", "",
                "client-certificate-data: QQ==", "client certificate without client key"},
           Case{"unreadable key", "", "client-certificate-data: QQ==, client-key: /no/key",
                "unable to read client-key /no/key"},
           Case{"token and basic", "", "token: t, username: ann, password: pw",
                "more than one authentication method"},
           Case{"groups without as", "", "as-groups: [g]", "without as"},
           Case{"exec with auth-provider", "",
                exec + ", interactiveMode: Never}, auth-provider: {name: x}",
                "exec and auth-provider"},
           Case{"exec without command", "",
                "exec: {apiVersion: client.authentication.k8s.io/v1beta1}", "without command"},
           Case{"exec without version", "", "exec: {command: p}", "without apiVersion"},
           Case{"exec v1 without mode", "", exec + "}", "without interactiveMode"},
           Case{"auth-provider", "", "auth-provider: {name: gcp}", "not supported"},
       }) {
    SCOPED_TRACE(c.name);
    const std::string text = absl::StrReplaceAll(frame, {{"CLUSTER", c.cluster}, {"USER", c.user}});
    EXPECT_THAT(Resolve(text), StatusIs(absl::StatusCode::kInvalidArgument, c.problem));
  }
  EXPECT_THAT(Resolve(absl::StrReplaceAll(
                  frame, {{"CLUSTER", "certificate-authority: a, certificate-authority-data: QQ=="},
                          {"USER", "as-uid: '7'"}})),
              StatusIs(absl::StatusCode::kInvalidArgument, "invalid configuration: [as-uid"));
}

TEST_F(KubeconfigTest, OverridesReplaceWhatTheySay) {
  const std::string text = R"(
clusters: [{name: c, cluster: {server: "https://h", tls-server-name: other, insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
)";
  auto server = Resolve(text, {.server = "https://other:8443"});
  HEKLA_ASSERT_OK(server);
  EXPECT_EQ(server->server, "https://other:8443");
  EXPECT_EQ(server->tls.server_name, "");
  EXPECT_EQ(server->token, "t");
  auto ca = Resolve(text, {.ca_file = Write("my-ca", "MY CA")});
  HEKLA_ASSERT_OK(ca);
  EXPECT_FALSE(ca->tls.insecure);
  EXPECT_EQ(ca->tls.ca_pem, "MY CA");
}

TEST_F(KubeconfigTest, ServersWithoutSchemeOrHostAreCompleted) {
  EXPECT_EQ(Resolve("", {.server = "h:8080"})->server, "http://h:8080");
  EXPECT_EQ(Resolve("", {.server = "h", .insecure = true})->server, "https://h");
  EXPECT_EQ(Resolve("", {.server = "http://:8080/p?x=1"})->server, "http://localhost:8080/p");
}

TEST_F(KubeconfigTest, CredentialsForPlainHttpAreSentWithAWarning) {
  auto config = Resolve(absl::StrReplaceAll(kOne, {{"https:", "http:"}}), {.context = "e"});
  HEKLA_ASSERT_OK(config);
  EXPECT_EQ(config->token, "t1");
  EXPECT_THAT(config->warnings, ElementsAre("credentials are sent without encryption to "
                                            "http://10.1.0.1:6443"));
  config = Resolve(absl::StrReplaceAll(kOne, {{"https://", "http://u:hidden@"}}), {.context = "e"});
  HEKLA_ASSERT_OK(config);
  EXPECT_THAT(config->warnings, ElementsAre("credentials are sent without encryption to "
                                            "http://10.1.0.1:6443"));
}

TEST_F(KubeconfigTest, ProxiesAreRefusedClearly) {
  EXPECT_THAT(
      Resolve("clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'http://p'}}]\n"
              "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x"),
      StatusIs(absl::StatusCode::kUnimplemented, "proxy-url is set for h"));
  variables["HTTPS_PROXY"] = "http://proxy:3128";
  EXPECT_THAT(Resolve(kOne, {.context = "e"}),
              StatusIs(absl::StatusCode::kUnimplemented, "add 10.1.0.1 to NO_PROXY"));
  for (const char* excepted :
       {"10.1.0.1", "10.0.0.0/8", "x, 10.1.0.1:6443", "*", "10.1.0.0/16,other"}) {
    variables["NO_PROXY"] = excepted;
    HEKLA_EXPECT_OK(Resolve(kOne, {.context = "e"})) << excepted;
  }
  for (const char* other : {"10.2.0.0/16", "10.1.0.1:443", "10.1.0"}) {
    variables["NO_PROXY"] = other;
    EXPECT_THAT(Resolve(kOne, {.context = "e"}), StatusIs(absl::StatusCode::kUnimplemented, ""))
        << other;
  }
  variables["NO_PROXY"] = ".example.org";
  HEKLA_EXPECT_OK(Resolve("", {.server = "https://api.example.org"}));
  EXPECT_FALSE(Resolve("", {.server = "https://api.example.com"}).ok());
  HEKLA_EXPECT_OK(Resolve("", {.server = "https://127.0.0.1:6443"}));
  HEKLA_EXPECT_OK(Resolve("", {.server = "http://10.1.0.1"}));
}

TEST_F(KubeconfigTest, InClusterReadsTheAccount) {
  EXPECT_THAT(InClusterConfig(environment),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
                       "KUBERNETES_SERVICE_PORT must be defined"));
  EXPECT_FALSE(InClusterPossible(environment));
  MakeAccount();
  EXPECT_TRUE(InClusterPossible(environment));
  auto config = InClusterConfig(environment);
  HEKLA_ASSERT_OK(config);
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token, "abc");
  EXPECT_EQ(config->tls.ca_pem, "CA PEM");
  EXPECT_EQ(config->ns, "hekla-system");
  variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  variables["POD_NAMESPACE"] = "mine";
  config = InClusterConfig(environment);
  HEKLA_ASSERT_OK(config);
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->ns, "mine");
}

TEST_F(KubeconfigTest, EntryPointsHaveTheirOrder) {
  // Flags of the scheduler: nothing given and no cluster around it.
  EXPECT_THAT(ConfigFromFlags("", "", environment),
              StatusIs(absl::StatusCode::kInvalidArgument, "no configuration has been provided"));
  const std::string file = Write("file", absl::StrCat(kOne, "\ncurrent-context: e\n"));
  EXPECT_EQ(ConfigFromFlags("", file, environment)->server, "https://10.1.0.1:6443");
  auto master = ConfigFromFlags("http://m:8080", file, environment);
  HEKLA_ASSERT_OK(master);
  EXPECT_EQ(master->server, "http://m:8080");
  EXPECT_EQ(master->token, "t1");
  EXPECT_EQ(ConfigFromFlags("http://m:8080", "", environment)->server, "http://m:8080");
  MakeAccount();
  auto in_cluster = ConfigFromFlags("", "", environment);
  HEKLA_ASSERT_OK(in_cluster);
  EXPECT_THAT(in_cluster->warnings,
              ElementsAre("Neither --kubeconfig nor --master was specified.  Using the "
                          "inClusterConfig.  This might not work."));
  // The operator prefers files that were named, then the account, then the home directory.
  variables["HOME"] = dir;
  Write(".kube/config", absl::StrCat(kOne, "\ncurrent-context: e\n"));
  EXPECT_EQ(OperatorConfig("", "", environment)->server, "https://10.0.0.1:443");
  EXPECT_EQ(OperatorConfig(file, "", environment)->server, "https://10.1.0.1:6443");
  variables["KUBECONFIG"] = file;
  EXPECT_EQ(OperatorConfig("", "", environment)->server, "https://10.1.0.1:6443");
  variables.erase("KUBECONFIG");
  // kubectl's order: files first.
  EXPECT_EQ(DefaultConfig("", {}, environment)->server, "https://10.1.0.1:6443");
  Write(".kube/config", "");
  EXPECT_EQ(DefaultConfig("", {}, environment)->server, "https://10.0.0.1:443");
}

TEST(UserAgentTest, HasTheUsualForm) {
  EXPECT_THAT(UserAgent("hekla-scheduler", "0.1", "0123456789abcdef"),
              ::testing::MatchesRegex("hekla-scheduler/0\\.1 \\(linux/[a-z0-9]+\\) "
                                      "kubernetes/0123456"));
}

}  // namespace
}  // namespace hekla::kube

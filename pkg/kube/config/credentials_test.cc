#include "pkg/kube/config/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stop_token>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/config/exec_plugin.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/testing/status_matchers.h"
#include "pkg/util/testing/temp_folder.h"
#include "pkg/util/thread_executor.h"

namespace hekla::kube {
namespace {

using util::testing::StatusIs;

class CredentialsTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text, bool program = false) {
    const std::string path = absl::StrCat(dir, "/", name);
    std::ofstream(path) << text;
    if (program) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  const util::testing::TempFolder temp;
  const std::string& dir = temp.path();
  util::FakeClock clock;
  util::ManualExecutor executor{&clock};
};

TEST_F(CredentialsTest, TokenFilesAreReadAgainAfterFiftySeconds) {
  ClientConfig config;
  config.token_file = Write("token", " one \n");
  auto authorizer = StaticAuthorizer::Create(config, &clock);
  HEKLA_ASSERT_OK(authorizer);
  const auto header = [&] { return (*authorizer)->Current()->Get("Authorization"); };
  EXPECT_EQ(header(), "Bearer one");
  Write("token", "two");
  clock.Advance(absl::Seconds(49));
  EXPECT_EQ(header(), "Bearer one");
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(header(), "Bearer two");
  std::filesystem::remove(config.token_file);
  clock.Advance(absl::Minutes(5));
  EXPECT_EQ(header(), "Bearer two");  // the old one stays
  Write("token", "\n");
  clock.Advance(absl::Minutes(5));
  EXPECT_EQ(header(), "Bearer two");
}

TEST_F(CredentialsTest, AMissingTokenFileIsAnErrorOnlyWithoutAToken) {
  ClientConfig config;
  config.token_file = dir + "/none";
  EXPECT_THAT(StaticAuthorizer::Create(config, &clock),
              StatusIs(absl::StatusCode::kNotFound, "none"));
  config.token = "given";
  auto authorizer = StaticAuthorizer::Create(config, &clock);
  HEKLA_ASSERT_OK(authorizer);
  EXPECT_EQ((*authorizer)->Current()->Get("Authorization"), "Bearer given");
}

TEST_F(CredentialsTest, BasicAuthAndImpersonation) {
  ClientConfig config;
  config.username = "ann";
  config.password = "secret";
  config.as = "bob";
  config.as_uid = "7";
  config.as_groups = {"g1", "g2"};
  config.as_extra = {{"scope/x", {"a"}}};
  auto authorizer = StaticAuthorizer::Create(config, &clock);
  HEKLA_ASSERT_OK(authorizer);
  const auto headers = (*authorizer)->Current();
  EXPECT_EQ(headers->Get("Authorization"), "Basic YW5uOnNlY3JldA==");
  EXPECT_EQ(headers->Get("Impersonate-User"), "bob");
  EXPECT_EQ(headers->Get("Impersonate-Uid"), "7");
  EXPECT_EQ(headers->Get("Impersonate-Extra-scope%2Fx"), "a");
  int groups = 0;
  for (const auto& [name, value] : headers->all()) groups += name == "Impersonate-Group";
  EXPECT_EQ(groups, 2);
}

TEST_F(CredentialsTest, ChangedCertificateFilesAreHandedOn) {
  ClientConfig config;
  config.cert_file = Write("cert", "C1");
  config.key_file = Write("key", "K1");
  config.tls = {.cert_pem = "C1", .key_pem = "K1"};
  std::vector<std::string> applied;
  absl::Status answer;
  auto reloader =
      std::make_unique<CertificateReloader>(config, &executor, [&](const http::ClientTls& tls) {
        applied.push_back(tls.cert_pem + "/" + tls.key_pem);
        return answer;
      });
  executor.Advance(absl::Minutes(6));
  EXPECT_TRUE(applied.empty());
  Write("cert", "C2");
  answer = absl::InvalidArgumentError("does not fit");
  executor.Advance(absl::Minutes(5));
  Write("key", "K2");
  answer = absl::OkStatus();
  executor.Advance(absl::Minutes(5));
  executor.Advance(absl::Minutes(5));
  EXPECT_EQ(applied, (std::vector<std::string>{"C2/K1", "C2/K2"}));
  reloader.reset();
  Write("cert", "C3");
  executor.Advance(absl::Minutes(5));
  EXPECT_EQ(applied.size(), 2u);
  EXPECT_EQ(executor.pending(), 0u);
}

// A plugin that prints `credential` and counts its calls in a file.
ExecEntry Plugin(const std::string& path) {
  ExecEntry exec;
  exec.command = path;
  exec.api_version = "client.authentication.k8s.io/v1";
  exec.interactive_mode = "Never";
  return exec;
}

TEST_F(CredentialsTest, PluginsGetTheirArgumentsAndAnswerACredential) {
  ExecEntry exec = Plugin(Write("plugin", R"(#!/bin/sh
printf '%s' "$KUBERNETES_EXEC_INFO" > "$OUT"
cat <<END
{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
 "status":{"token":"t-$1-$EXTRA","expirationTimestamp":"2026-01-01T00:10:00Z"}}
END
)",
                                true));
  exec.args = {"x"};
  exec.env = {{"EXTRA", "y"}, {"OUT", dir + "/info"}};
  exec.provide_cluster_info = true;
  ClusterEntry cluster;
  cluster.server = "https://h:6443";
  cluster.ca_data = "CA";
  auto credential = RunExecPlugin(exec, cluster);
  HEKLA_ASSERT_OK(credential);
  EXPECT_EQ(credential->token, "t-x-y");
  EXPECT_EQ(credential->expires, absl::FromUnixSeconds(1767226200));
  auto info = apis::json::Parse(*ReadFile(dir + "/info"));
  HEKLA_ASSERT_OK(info);
  EXPECT_EQ(info->GetString("kind"), "ExecCredential");
  EXPECT_FALSE(info->At("spec").GetBool("interactive", true));
  EXPECT_EQ(info->At("spec").At("cluster").GetString("server"), "https://h:6443");
  EXPECT_EQ(info->At("spec").At("cluster").GetString("certificate-authority-data"), "Q0E=");
}

TEST_F(CredentialsTest, PluginFailuresHaveTheirTexts) {
  ExecEntry missing = Plugin("hekla-no-such-plugin");
  missing.install_hint = "install it";
  EXPECT_THAT(RunExecPlugin(missing, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "exec: executable hekla-no-such-plugin not found\n\ninstall it"));
  const std::string failing = Write("failing", "#!/bin/sh\nexit 3\n", true);
  EXPECT_THAT(RunExecPlugin(Plugin(failing), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       absl::StrCat("exec: executable ", failing, " failed with exit code 3")));
  ExecEntry old = Plugin(failing);
  old.api_version = "client.authentication.k8s.io/v1alpha1";
  EXPECT_THAT(RunExecPlugin(old, {}), StatusIs(absl::StatusCode::kInvalidArgument,
                                               "exec plugin: invalid apiVersion "
                                               "\"client.authentication.k8s.io/v1alpha1\""));
  const std::string v1 = "client.authentication.k8s.io/v1";
  const auto parse = [&](const std::string& status, const std::string& version) {
    return ParseExecCredential(absl::StrCat(R"({"kind":"ExecCredential","apiVersion":")", version,
                                            R"(","status":)", status, "}"),
                               v1);
  };
  // What was printed may be a credential, wherever it stands.
  EXPECT_EQ(parse(R"({"token":"t","expirationTimestamp":"hidden"})", v1).status().message(),
            "exec plugin: credential with an invalid expirationTimestamp");
  EXPECT_EQ(parse("{}", "hidden").status().message(),
            "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin "
            "returned version ?");
  EXPECT_THAT(parse("{}", v1), StatusIs(absl::StatusCode::kInvalidArgument,
                                        "exec plugin didn't return a token or cert/key pair"));
  EXPECT_THAT(parse(R"({"clientKeyData":"k"})", v1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "exec plugin returned only certificate or key, not both"));
  EXPECT_THAT(parse(R"({"token":"t"})", v1 + "beta1"),
              StatusIs(absl::StatusCode::kInvalidArgument, "returned version"));
  HEKLA_EXPECT_OK(parse(R"({"clientKeyData":"k","clientCertificateData":"c"})", v1));
}

// Whether the process runs whose number is in that file.
bool Lives(const std::string& pid_file) {
  const auto pid = ReadFile(pid_file);
  if (!pid.ok()) return false;
  const auto stat = ReadFile(absl::StrCat("/proc/", absl::StripAsciiWhitespace(*pid), "/stat"));
  return stat.ok() && !absl::StrContains(*stat, ") Z ");  // a dead one that nobody has asked for
}

TEST_F(CredentialsTest, APluginThatHangsIsKilledWithAllItStarted) {
  ExecEntry exec = Plugin(Write("hangs", R"(#!/bin/sh
sleep 1000 &
echo $! > "$OUT"
wait
)",
                                true));
  exec.env = {{"OUT", dir + "/pid"}};
  EXPECT_THAT(
      RunExecPlugin(exec, {}, absl::Milliseconds(500)),
      StatusIs(absl::StatusCode::kDeadlineExceeded,
               absl::StrCat("exec: executable ", exec.command, " did not end within 500ms")));
  for (int i = 0; i < 100 && Lives(dir + "/pid"); ++i) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(Lives(dir + "/pid"));
  // Its output alone does not count.
  exec = Plugin(Write("closes", "#!/bin/sh\nexec >&-\nexec sleep 1000\n", true));
  EXPECT_THAT(RunExecPlugin(exec, {}, absl::Milliseconds(300)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
}

TEST_F(CredentialsTest, APluginIsStoppedWithItsClient) {
  const ExecEntry exec = Plugin(Write("hangs", "#!/bin/sh\nexec sleep 1000\n", true));
  util::ThreadExecutor background("background");
  std::optional<ExecAuthorizer> authorizer;
  authorizer.emplace(
      http::Headers(), &background,
      [&](std::stop_token stop) { return RunExecPlugin(exec, {}, absl::Minutes(10), stop); },
      nullptr);
  absl::Notification done;
  absl::Status status;
  authorizer->Refresh([&](absl::Status s) {
    status = std::move(s);
    done.Notify();
  });
  authorizer.reset();
  done.WaitForNotification();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, ""));
  const absl::Time start = absl::Now();
  background.Stop();
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
}

TEST_F(CredentialsTest, PluginCredentialsAreKeptUntilTheyExpireOrAreRefused) {
  int runs = 0;
  std::vector<std::string> certificates;
  ExecAuthorizer authorizer(
      {}, &executor,
      [&](std::stop_token) -> absl::StatusOr<ExecCredential> {
        ++runs;
        return ExecCredential{.token = absl::StrCat("t", runs),
                              .cert_pem = "c",
                              .key_pem = "k",
                              .expires = clock.Now() + absl::Minutes(10)};
      },
      [&](const std::string& cert, const std::string&) { certificates.push_back(cert); });
  EXPECT_EQ(authorizer.Current(), nullptr);
  int done = 0;
  authorizer.Refresh([&](absl::Status s) { done += s.ok(); });
  authorizer.Refresh([&](absl::Status s) { done += s.ok(); });
  EXPECT_EQ(runs, 0);  // never from inside the call
  executor.RunReady();
  EXPECT_EQ(runs, 1);  // both waited for the same run
  EXPECT_EQ(done, 2);
  const auto first = authorizer.Current();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->Get("Authorization"), "Bearer t1");
  EXPECT_EQ(certificates.size(), 1u);
  authorizer.OnUnauthorized(first);
  EXPECT_EQ(authorizer.Current(), nullptr);
  authorizer.Refresh([](absl::Status) {});
  executor.RunReady();
  authorizer.OnUnauthorized(first);  // a late 401 for the old credential changes nothing
  ASSERT_NE(authorizer.Current(), nullptr);
  EXPECT_EQ(authorizer.Current()->Get("Authorization"), "Bearer t2");
  clock.Advance(absl::Minutes(10));
  EXPECT_EQ(authorizer.Current(), nullptr);
}

}  // namespace
}  // namespace hekla::kube

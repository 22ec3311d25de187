#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/beast_transport.h"
#include "pkg/util/testing/temp_folder.h"
#include "test/integration/http_get.h"
#include "test/integration/process.h"

// The playground's process with --data-dir, killed and started again.
namespace hekla::test {
namespace {

using apis::json::Value;
using ::testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

class DataDirTest : public ::testing::Test {
 protected:
  absl::StatusOr<Process> Start(std::vector<std::string> flags = {}) {
    port_ = FreePort();
    flags.insert(flags.begin(),
                 {"playground", "--nodes=2", "--no-scheduler", absl::StrCat("--port=", port_),
                  absl::StrCat("--data-dir=", folder_, "/data"),
                  absl::StrCat("--kubeconfig=", folder_, "/kubeconfig")});
    absl::StatusOr<Process> process = Process::Start(HEKLACTL, flags, folder_ + "/log");
    if (!process.ok()) return process;
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (Get(port_, "/version").status != 200 && absl::Now() < end && process->Running()) {
      absl::SleepFor(absl::Milliseconds(20));
    }
    return process;
  }
  // Status 0 where nobody answers.
  http::Response Send(const std::string& method, const std::string& target,
                      const std::string& token, const std::string& body = "") {
    http::Request request{.method = method, .target = target, .body = body};
    request.headers.Set("Content-Type", "application/json");
    if (!token.empty()) request.headers.Set("Authorization", absl::StrCat("Bearer ", token));
    const auto transport =
        http::BeastTransport::Create({.url = absl::StrCat("http://127.0.0.1:", port_)});
    return http::SendAndWait(**transport, std::move(request), absl::Seconds(10))
        .value_or(http::Response());
  }
  int Post(const std::string& name) {
    return Send("POST", kMaps, "", absl::StrCat(R"({"metadata":{"name":")", name, R"("}})")).status;
  }
  Value Read(const std::string& path) {
    return apis::json::Parse(Get(port_, path).body).value_or(Value());
  }

  const util::testing::TempFolder temp_;
  const std::string& folder_ = temp_.path();
  int port_ = 0;
};

TEST_F(DataDirTest, WhatWasAnsweredOutlivesAKilledPlayground) {
  auto first = Start();
  ASSERT_TRUE(first.ok()) << first.status();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Post(absl::StrCat("m", i)), 201);
  const Value map = Read(absl::StrCat(kMaps, "/m49"));
  const Value node = Read("/api/v1/nodes/node-1");
  first->Signal(SIGKILL);
  EXPECT_EQ(first->Wait(absl::Seconds(10)), 128 + SIGKILL);
  auto second = Start();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Read(kMaps).At("items").size(), 50u);
  EXPECT_EQ(Read(absl::StrCat(kMaps, "/m49")), map);
  EXPECT_EQ(Read("/api/v1/nodes/node-1").At("metadata").At("uid"), node.At("metadata").At("uid"));
  EXPECT_EQ(Get(port_, "/apis/scheduling.volcano.sh/v1beta1/queues").status, 200);
  // The folder belongs to one process.
  auto other = Process::Start(
      HEKLACTL, {"playground", "--nodes=0", absl::StrCat("--data-dir=", folder_, "/data")},
      folder_ + "/other");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->Wait(absl::Seconds(10)), 1);
  EXPECT_THAT(other->Output(), HasSubstr("is in use by another process"));
  EXPECT_EQ(second->Terminate(absl::Seconds(10)), 0);
}

TEST_F(DataDirTest, TokensOfServiceAccountsOutliveThePlayground) {
  const std::vector<std::string> flags = {"--token=root"};
  auto first = Start(flags);
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const http::Response made = Send("POST", accounts, "root", R"({"spec":{}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const Value request = apis::json::Parse(made.body).value();
  const std::string token(request.At("status").GetString("token"));
  EXPECT_EQ(Send("GET", kMaps, token).status, 200);
  EXPECT_EQ(Send("GET", kMaps, token + "x").status, 401);
  const std::string key = folder_ + "/data/token-key";
  struct stat info = {};
  ASSERT_EQ(::stat(key.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  first->Signal(SIGKILL);
  EXPECT_EQ(first->Wait(absl::Seconds(10)), 128 + SIGKILL);
  auto second = Start(flags);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Send("GET", kMaps, token).status, 200);
  EXPECT_EQ(second->Terminate(absl::Seconds(10)), 0);
  // A key that is none stops the start; without it a new one is made.
  ASSERT_EQ(::truncate(key.c_str(), 10), 0);
  auto broken = Start(flags);
  ASSERT_TRUE(broken.ok()) << broken.status();
  EXPECT_EQ(broken->Wait(absl::Seconds(10)), 1);
  EXPECT_THAT(broken->Output(), HasSubstr("token-key holds no key"));
  ASSERT_EQ(::unlink(key.c_str()), 0);
  auto third = Start(flags);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(Send("GET", kMaps, token).status, 401);
  EXPECT_EQ(Send("GET", kMaps, "root").status, 200);
}

}  // namespace
}  // namespace hekla::test

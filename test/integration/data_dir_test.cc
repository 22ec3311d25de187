#include <signal.h>

#include <string>

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
  absl::StatusOr<Process> Start() {
    port_ = FreePort();
    absl::StatusOr<Process> process =
        Process::Start(HEKLACTL,
                       {"playground", "--nodes=2", "--no-scheduler", absl::StrCat("--port=", port_),
                        absl::StrCat("--data-dir=", folder_, "/data"),
                        absl::StrCat("--kubeconfig=", folder_, "/kubeconfig")},
                       folder_ + "/log");
    if (!process.ok()) return process;
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (Get(port_, "/version").status != 200 && absl::Now() < end && process->Running()) {
      absl::SleepFor(absl::Milliseconds(20));
    }
    return process;
  }
  int Post(const std::string& name) {
    http::Request request{.method = "POST", .target = kMaps};
    request.headers.Set("Content-Type", "application/json");
    request.body = absl::StrCat(R"({"metadata":{"name":")", name, R"("}})");
    const auto transport =
        http::BeastTransport::Create({.url = absl::StrCat("http://127.0.0.1:", port_)});
    const auto response = http::SendAndWait(**transport, std::move(request), absl::Seconds(10));
    return response.ok() ? response->status : 0;
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

}  // namespace
}  // namespace hekla::test

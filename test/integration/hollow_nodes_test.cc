#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cmd/heklactl/remote_kubelet.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/http/beast_server.h"
#include "pkg/util/clock.h"

namespace hekla::cmd::heklactl {
namespace {

using apis::json::Value;

// A bare API server behind HTTP: nobody but the kubelet under test runs pods.
class HollowNodesTest : public ::testing::Test {
 protected:
  HollowNodesTest() : server_(ServerOptions()) { Listen(); }
  ~HollowNodesTest() override {
    kubelet_.reset();
    StopListening();
  }

  apiserver::Options ServerOptions() {
    apiserver::Options options;
    options.clock = &clock_;
    return options;
  }
  void Listen() {
    http::BeastServer::Options options;
    options.port = port_;
    listener_ = std::make_unique<http::BeastServer>(std::move(options));
    ASSERT_TRUE(listener_->Start(&server_).ok());
    port_ = listener_->port();
  }
  void StopListening() {
    server_.CloseWatches();
    listener_->Stop();
    listener_.reset();
  }
  void StartKubelet() {
    RemoteKubelet::Options options;
    options.api.server = absl::StrCat("http://127.0.0.1:", port_);
    kubelet_ = std::make_unique<RemoteKubelet>(std::move(options));
    const absl::Status started = kubelet_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  void AddPod(const std::string& name, const std::string& node) {
    Value pod = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
    pod.Ensure({"metadata"}).Set("name", name);
    pod.Ensure({"metadata"}).Set("namespace", "default");
    pod.Ensure({"spec"}).Set("nodeName", node);
    pod["spec"]["containers"].Append(Value::MakeObject({{"name", "main"}, {"image", "busybox"}}));
    const auto made = server_.Create(pod);
    ASSERT_TRUE(made.ok()) << made.status();
  }
  std::string PhaseOf(const std::string& name) {
    const auto pod = server_.Get("v1", "Pod", "default", name);
    return pod.ok() ? std::string(pod->At("status").GetString("phase")) : "gone";
  }
  static bool Until(const std::function<bool()>& condition) {
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (!condition()) {
      if (absl::Now() >= end) return false;
      absl::SleepFor(absl::Milliseconds(10));
    }
    return true;
  }

  util::SystemClock clock_;
  apiserver::ApiServer server_;
  uint16_t port_ = 0;
  std::unique_ptr<http::BeastServer> listener_;
  std::unique_ptr<RemoteKubelet> kubelet_;
};

TEST_F(HollowNodesTest, RunsThePodsOfItsNodesAndNoOthers) {
  Value foreign = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}});
  foreign.Ensure({"metadata"}).Set("name", "foreign");
  ASSERT_TRUE(server_.Create(foreign).ok());
  StartKubelet();
  ASSERT_TRUE(kubelet_->AddNodes({}, "h", 2).ok());
  ASSERT_TRUE(kubelet_->AddNodes({}, "h", 2).ok()) << "existing ones stay";
  AddPod("mine", "h1");
  AddPod("theirs", "foreign");
  EXPECT_TRUE(Until([&] { return PhaseOf("mine") == "Running"; }));
  EXPECT_TRUE(Until([&] {
    return server_.Get("coordination.k8s.io/v1", "Lease", "kube-node-lease", "h1").ok();
  }));
  EXPECT_EQ(PhaseOf("theirs"), "Pending");
  EXPECT_FALSE(server_.Get("coordination.k8s.io/v1", "Lease", "kube-node-lease", "foreign").ok());
}

TEST_F(HollowNodesTest, GoesOnWhenTheServerIsBack) {
  StartKubelet();
  ASSERT_TRUE(kubelet_->AddNodes({}, "h", 1).ok());
  AddPod("before", "h0");
  ASSERT_TRUE(Until([&] { return PhaseOf("before") == "Running"; }));
  StopListening();
  AddPod("after", "h0");
  absl::SleepFor(absl::Milliseconds(300));
  EXPECT_EQ(PhaseOf("after"), "Pending");
  Listen();
  EXPECT_TRUE(Until([&] { return PhaseOf("after") == "Running"; }));
}

}  // namespace
}  // namespace hekla::cmd::heklactl

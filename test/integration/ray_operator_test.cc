#include <signal.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "cmd/heklactl/kubeconfig.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/util/testing/temp_folder.h"
#include "test/integration/manifest.h"
#include "test/integration/process.h"

// The operator's program against the embedded API server over HTTP: rights, signals, the lease, and
// what a crash leaves behind.
namespace hekla::test {
namespace {

using apis::json::Value;
using cmd::heklactl::HostedCluster;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kToken[] = "operator-token";
constexpr char kAccount[] = "system:serviceaccount:ray-system:hekla-ray-operator";

// A head and two workers whose pods are born on a hollow node.
Value RayCluster(const std::string& name, const std::string& node) {
  Value pod;
  pod["spec"].Set("nodeName", node);
  pod["spec"]["containers"].Append(
      Value::MakeObject({{"name", "ray"}, {"image", "rayproject/ray:2.52.0"}}));
  Value cluster = Value::MakeObject({{"apiVersion", "ray.io/v1"}, {"kind", "RayCluster"}});
  cluster["metadata"].Set("name", name);
  cluster["metadata"].Set("namespace", "default");
  cluster["spec"]["headGroupSpec"].Set("template", pod);
  cluster["spec"]["headGroupSpec"].Set("rayStartParams", Value::MakeObject());
  Value group = Value::MakeObject({{"groupName", "w"}, {"replicas", 2}, {"minReplicas", 2}});
  group.Set("maxReplicas", 2);
  group.Set("rayStartParams", Value::MakeObject());
  group.Set("template", pod);
  cluster["spec"]["workerGroupSpecs"].Append(std::move(group));
  return cluster;
}

// Stands before the API server and lets the creation of pods wait for ever.
class HoldingFront final : public http::Handler {
 public:
  void SetInner(http::Handler* inner) { inner_ = inner; }
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override {
    if (request.method == "POST" && absl::EndsWith(request.target, "/pods")) {
      absl::MutexLock lock(&mutex_);
      held_.push_back(std::move(responder));
      return;
    }
    inner_->Handle(std::move(request), peer, std::move(responder));
  }
  size_t held() {
    absl::MutexLock lock(&mutex_);
    return held_.size();
  }
  // Before the cluster stops.
  void LetGo() {
    absl::MutexLock lock(&mutex_);
    for (const auto& responder : held_) responder->Respond({.status = 503});
    held_.clear();
  }

 private:
  http::Handler* inner_ = nullptr;
  absl::Mutex mutex_;
  std::vector<std::shared_ptr<http::Responder>> held_ ABSL_GUARDED_BY(mutex_);
};

class RayOperatorTest : public ::testing::Test {
 protected:
  ~RayOperatorTest() override {
    operator_.reset();
    if (cluster_ != nullptr) cluster_->Stop();
  }

  void StartCluster(bool enforce_rbac = false, HoldingFront* front = nullptr) {
    HostedCluster::Options options;
    options.front = front;
    if (enforce_rbac) {
      options.users = {{.token = kToken,
                        .name = kAccount,
                        .groups = {"system:serviceaccounts", "system:authenticated"}}};
      options.enforce_rbac = true;
    }
    cluster_ = std::make_unique<HostedCluster>(std::move(options));
    if (front != nullptr) front->SetInner(&cluster_->server());
    ASSERT_TRUE(cluster_->Start().ok());
    apiserver::kubelet::NodeTemplate node;
    node.pods = "2000";
    ASSERT_TRUE(cluster_->AddNodes(node, "node-", 1).ok());
    ASSERT_TRUE(server()
                    .Create(*apis::json::Parse(R"({"apiVersion":"v1","kind":"Namespace",
                                                   "metadata":{"name":"ray-system"}})"))
                    .ok());
    ASSERT_TRUE(cmd::heklactl::WritePrivateFile(
                    folder_ + "/kubeconfig",
                    cmd::heklactl::KubeconfigText(cluster_->url(), enforce_rbac ? kToken : ""))
                    .ok());
  }
  void StartOperator(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(),
                 {absl::StrCat("--kubeconfig=", folder_, "/kubeconfig"), "--metrics-addr=0",
                  "--health-probe-bind-address=0", "--leader-election-namespace=ray-system",
                  "--qps=5000", "--burst=5000"});
    auto started = Process::Start(HEKLA_RAY_OPERATOR, flags, folder_ + "/log");
    ASSERT_TRUE(started.ok()) << started.status();
    operator_.emplace(*std::move(started));
  }
  bool Until(const std::function<bool()>& what, absl::Duration limit = absl::Seconds(60)) {
    const absl::Time end = absl::Now() + limit;
    while (!what()) {
      if (absl::Now() > end) return false;
      absl::SleepFor(absl::Milliseconds(10));
    }
    return true;
  }
  bool Working() {
    return Until([this] { return absl::StrContains(operator_->Output(), "starting workers"); });
  }
  std::vector<Value> List(const std::string& api_version, const std::string& kind) {
    auto objects = server().List(api_version, kind, "default");
    return objects.ok() ? *std::move(objects) : std::vector<Value>();
  }
  size_t ReadyClusters() {
    size_t ready = 0;
    for (const Value& cluster : List("ray.io/v1", "RayCluster")) {
      ready += cluster.At("status").GetString("state") == "ready" ? 1 : 0;
    }
    return ready;
  }
  apiserver::ApiServer& server() { return cluster_->server(); }

  const util::testing::TempFolder temp_;
  const std::string& folder_ = temp_.path();
  std::unique_ptr<HostedCluster> cluster_;
  std::optional<Process> operator_;
};

TEST_F(RayOperatorTest, EverySampleFitsTheShippedRole) {
  StartCluster(/*enforce_rbac=*/true);
  for (const Value& object : ObjectsIn("config/rbac/ray-operator.yaml")) {
    ASSERT_TRUE(server().Create(object).ok()) << object.GetString("kind");
  }
  StartOperator({"--enable-metrics", "--reconcile-concurrency=4",
                 "--feature-gates=RayClusterNetworkPolicy=true,"
                 "GCSFaultToleranceEmbeddedStorage=true,RayClusterHistoryServer=true"});
  ASSERT_TRUE(Working()) << operator_->Output();
  size_t clusters = 0;
  for (const auto& entry : std::filesystem::directory_iterator("config/samples")) {
    const std::string name = entry.path().filename().string();
    // Without cert-manager a cluster with TLS is refused.
    if (!absl::StartsWith(name, "raycluster") || name == "raycluster-mtls.yaml") continue;
    for (const Value& object : ObjectsIn(entry.path().string())) {
      ASSERT_TRUE(server().Create(object).ok()) << entry.path();
      clusters += object.GetString("kind") == "RayCluster" ? 1 : 0;
    }
  }
  ASSERT_GT(clusters, 10u);
  // All of them get as far as a head pod, but for the one that is suspended.
  const auto heads = [this] {
    size_t count = 0;
    for (const Value& pod : List("v1", "Pod")) {
      count += pod.At("metadata").At("labels").GetString("ray.io/node-type") == "head" ? 1 : 0;
    }
    return count;
  };
  EXPECT_TRUE(Until([&] { return heads() >= clusters - 1; })) << heads() << " of " << clusters;
  for (const Value& cluster : List("ray.io/v1", "RayCluster")) {
    const std::string name(cluster.At("metadata").GetString("name"));
    ASSERT_TRUE(server().Delete("ray.io/v1", "RayCluster", "default", name).ok());
  }
  EXPECT_EQ(operator_->Terminate(absl::Seconds(10)), 0);
  EXPECT_THAT(operator_->Output(), Not(HasSubstr("forbidden")));
  EXPECT_THAT(operator_->Output(), Not(HasSubstr("cannot watch")));
}

TEST_F(RayOperatorTest, ARightThatIsMissingIsNamed) {
  StartCluster(/*enforce_rbac=*/true);
  StartOperator({"--enable-leader-election=false"});
  EXPECT_TRUE(Until([this] {
    return absl::StrContains(operator_->Output(), "cannot watch kind=rayclusters.ray.io");
  })) << operator_->Output();
  EXPECT_THAT(operator_->Output(), Not(HasSubstr("starting workers")));
  EXPECT_EQ(operator_->Terminate(absl::Seconds(10)), 0);
}

TEST_F(RayOperatorTest, ALostLeaseEndsTheProcessAtOnce) {
  StartCluster();
  StartOperator();
  ASSERT_TRUE(Working());
  const auto take = [this] {
    auto lease =
        server().Get("coordination.k8s.io/v1", "Lease", "ray-system", "ray-operator-leader");
    if (!lease.ok()) return false;
    (*lease)["spec"].Set("holderIdentity", "somebody-else");
    (*lease)["spec"].Set("leaseDurationSeconds", 3600);
    return server().Update(*lease).ok();
  };
  ASSERT_TRUE(Until(take));
  EXPECT_EQ(operator_->Wait(absl::Seconds(30)), 1);
  EXPECT_THAT(operator_->Output(), HasSubstr("leader election lost"));
}

TEST_F(RayOperatorTest, SigtermEndsInOrder) {
  StartCluster();
  StartOperator({"--reconcile-concurrency=10"});
  ASSERT_TRUE(Working());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(server().Create(RayCluster(absl::StrCat("c-", i), "node-0")).ok());
  }
  EXPECT_EQ(operator_->Terminate(absl::Seconds(20)), 0);
  EXPECT_THAT(operator_->Output(), HasSubstr("\"msg\":\"stopped\""));
}

TEST_F(RayOperatorTest, ASecondSignalEndsAtOnce) {
  HoldingFront front;
  StartCluster(/*enforce_rbac=*/false, &front);
  StartOperator();
  ASSERT_TRUE(Working());
  ASSERT_TRUE(server().Create(RayCluster("held", "node-0")).ok());
  ASSERT_TRUE(Until([&] { return front.held() > 0; })) << "a reconcile is under way";
  operator_->Signal(SIGTERM);
  ASSERT_TRUE(Until([this] { return absl::StrContains(operator_->Output(), "\"stopping\""); }));
  EXPECT_TRUE(operator_->Running()) << "it waits for the reconcile";
  operator_->Signal(SIGTERM);
  EXPECT_EQ(operator_->Wait(absl::Seconds(5)), 1);
  front.LetGo();
  cluster_->Stop();
}

TEST_F(RayOperatorTest, WhatCannotRunEndsWithOne) {
  StartCluster();
  for (const auto& [flag, text] : std::vector<std::pair<std::string, std::string>>{
           {"--feature-gates=Nope=true", "unrecognized feature gate: Nope"},
           {"--batch-scheduler=default", "accepted: volcano, yunikorn"},
           {"--config=/nonexistent/config.yaml", "/nonexistent/config.yaml"},
           {"--feature-gates=KubernetesWAS=true", "scheduling.k8s.io/v1alpha2"},
           {absl::StrCat("--metrics-addr=127.0.0.1:", cluster_->port()), "cannot run"}}) {
    StartOperator({flag});
    EXPECT_EQ(operator_->Wait(absl::Seconds(20)), 1) << flag;
    EXPECT_THAT(operator_->Output(), HasSubstr(text));
  }
  StartOperator({"--nope"});
  EXPECT_EQ(operator_->Wait(absl::Seconds(20)), 2);
}

// Killed in the middle of many creations, started again: the end is the same as without.
TEST_F(RayOperatorTest, ACrashLosesNothingAndDoublesNothing) {
  constexpr size_t kClusters = 300;
  StartCluster();
  StartOperator({"--reconcile-concurrency=10", "--enable-leader-election=false"});
  ASSERT_TRUE(Working());
  for (size_t i = 0; i < kClusters; ++i) {
    ASSERT_TRUE(server().Create(RayCluster(absl::StrCat("c-", i), "node-0")).ok());
  }
  const auto pods = [this] { return List("v1", "Pod").size(); };
  // Three times, at a third, at two thirds, and near the end.
  for (const size_t when : {kClusters, 2 * kClusters, 3 * kClusters - 30}) {
    ASSERT_TRUE(Until([&] { return pods() >= when; }));
    operator_->Signal(SIGKILL);
    EXPECT_EQ(operator_->Wait(absl::Seconds(10)), 128 + SIGKILL);
    StartOperator({"--reconcile-concurrency=10", "--enable-leader-election=false"});
  }
  ASSERT_TRUE(Until([&] { return ReadyClusters() == kClusters; }, absl::Minutes(3)))
      << ReadyClusters();
  std::map<std::string, std::map<std::string, int>> by_cluster;
  for (const Value& pod : List("v1", "Pod")) {
    const Value& labels = pod.At("metadata").At("labels");
    ++by_cluster[std::string(labels.GetString("ray.io/cluster"))]
                [std::string(labels.GetString("ray.io/node-type"))];
  }
  EXPECT_EQ(by_cluster.size(), kClusters);
  for (const auto& [name, types] : by_cluster) {
    EXPECT_EQ(types, (std::map<std::string, int>{{"head", 1}, {"worker", 2}})) << name;
  }
  EXPECT_EQ(operator_->Terminate(absl::Seconds(10)), 0);
}

}  // namespace
}  // namespace hekla::test

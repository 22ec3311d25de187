#include "pkg/apiserver/kubelet/kubelet.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/schema/schema.h"
#include "pkg/util/clock.h"

namespace hekla::apiserver::kubelet {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

Value J(absl::string_view text) {
  auto value = Parse(text);
  EXPECT_TRUE(value.ok()) << text << value.status();
  return value.ok() ? *value : Value();
}

NodeTemplate Named(const std::string& name) {
  NodeTemplate node;
  node.name = name;
  return node;
}

// A small server: keeps pods and nodes, applies the patches and tells the kubelet at once.
class FakeApi final : public Api {
 public:
  absl::Status PatchPodStatus(absl::string_view ns, absl::string_view name,
                              const Value& patch) override {
    ++writes;
    if (!fail.ok()) return fail;
    return Patch(pods, absl::StrCat(ns, "/", name), "Pod", patch);
  }
  absl::Status DeletePodNow(absl::string_view ns, absl::string_view name,
                            absl::string_view uid) override {
    ++writes;
    if (!fail.ok()) return fail;
    const std::string key = absl::StrCat(ns, "/", name);
    const auto it = pods.find(key);
    if (it == pods.end()) return absl::NotFoundError(key);
    if (it->second.At("metadata").GetString("uid") != uid) return absl::AbortedError(key);
    const Value gone = it->second;
    pods.erase(it);
    if (kubelet != nullptr) kubelet->OnPod(gone, true);
    return absl::OkStatus();
  }
  absl::Status PatchNodeStatus(absl::string_view name, const Value& patch) override {
    ++writes;
    if (!fail.ok()) return fail;
    return Patch(nodes, std::string(name), "Node", patch);
  }
  absl::Status PutNodeLease(const Value& lease) override {
    ++leases;
    last_lease = lease;
    return absl::OkStatus();
  }

  void Put(std::map<std::string, Value>& store, const std::string& key, const Value& object) {
    store[key] = object;
    if (kubelet == nullptr) return;
    if (&store == &pods) kubelet->OnPod(object, false);
    if (&store == &nodes) kubelet->OnNode(object, false);
  }

  std::map<std::string, Value> pods, nodes;
  HollowKubelet* kubelet = nullptr;
  absl::Status fail;
  int writes = 0, leases = 0;
  Value last_lease;

 private:
  absl::Status Patch(std::map<std::string, Value>& store, const std::string& key,
                     absl::string_view kind, const Value& patch) {
    const auto it = store.find(key);
    if (it == store.end()) return absl::NotFoundError(key);
    auto out =
        patch::ApplyStrategicMergePatch(*schema::FindKind("", "v1", kind), it->second, patch);
    if (!out.ok()) return out.status();
    Put(store, key, *out);
    return absl::OkStatus();
  }
};

class KubeletTest : public ::testing::Test {
 protected:
  void Make(Options options = {}) {
    options.lease_renewal = leases_;
    kubelet_ = std::make_unique<HollowKubelet>(api_, options);
    api_.kubelet = kubelet_.get();
  }
  int Pump() { return kubelet_->Pump(clock_.Now()); }
  void AddNode(const std::string& name) {
    api_.Put(api_.nodes, name, MakeNode(Named(name), next_node_++, clock_.Now()));
  }
  void AddPod(const std::string& name, const std::string& node, absl::string_view more = "{}") {
    Value pod =
        J(absl::StrCat(R"({"metadata":{"namespace":"d","name":")", name, R"(","uid":"u-)", name,
                       R"("},"spec":{"nodeName":")", node,
                       R"(","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Pending",
        "conditions":[{"type":"PodScheduled","status":"True"}]}})"));
    api_.Put(api_.pods, "d/" + name, patch::ApplyMergePatch(pod, J(more)));
  }
  std::string Phase(const std::string& name) {
    const auto it = api_.pods.find("d/" + name);
    return it == api_.pods.end() ? "gone" : std::string(it->second.At("status").GetString("phase"));
  }
  Value Condition(const std::string& pod, absl::string_view type) {
    for (const Value& c : api_.pods["d/" + pod].At("status").At("conditions").as_array()) {
      if (c.GetString("type") == type) return c;
    }
    return Value();
  }

  util::FakeClock clock_;
  FakeApi api_;
  absl::Duration leases_ = absl::ZeroDuration();
  std::unique_ptr<HollowKubelet> kubelet_;
  int next_node_ = 0;
};

TEST_F(KubeletTest, BoundPodsBecomeRunning) {
  Make();
  AddNode("n1");
  AddPod("p", "n1", R"({"spec":{"initContainers":[{"name":"i","image":"x"}],
      "readinessGates":[{"conditionType":"g"}]}})");
  AddPod("unbound", "");
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("p"), "Running");
  EXPECT_EQ(Phase("unbound"), "Pending");
  const Value& status = api_.pods["d/p"].At("status");
  EXPECT_EQ(status.GetString("hostIP"), "172.16.0.1");
  EXPECT_EQ(status.GetString("podIP"), "10.0.0.1");
  EXPECT_EQ(status.At("podIPs"), J(R"([{"ip":"10.0.0.1"}])"));
  EXPECT_EQ(status.GetString("startTime"), "2026-01-01T00:00:00Z");
  for (const char* type : {"PodScheduled", "Initialized", "Ready", "ContainersReady", "g"}) {
    EXPECT_EQ(Condition("p", type).GetString("status"), "True") << type;
  }
  const Value& container = status.At("containerStatuses").as_array()[0];
  EXPECT_TRUE(container.GetBool("ready"));
  EXPECT_TRUE(container.At("state").Has("running"));
  EXPECT_EQ(status.At("initContainerStatuses")
                .as_array()[0]
                .At("state")
                .At("terminated")
                .GetString("reason"),
            "Completed");
  EXPECT_EQ(Pump(), 0);
  EXPECT_EQ(kubelet_->NextDue(), clock_.Now() + absl::Minutes(5));  // the heartbeat
}

TEST_F(KubeletTest, PodsEndAfterTheirRunTime) {
  Make();
  AddNode("n1");
  AddPod("ok", "n1", R"({"metadata":{"annotations":{"hekla.dev/run-seconds":"60"}}})");
  AddPod("bad", "n1", R"({"metadata":{"annotations":{"hekla.dev/run-seconds":"90.5",
      "hekla.dev/exit-code":"3"}}})");
  AddPod("late", "n1", R"({"spec":{"activeDeadlineSeconds":100}})");
  AddPod("instant", "n1", R"({"metadata":{"annotations":{"hekla.dev/run-seconds":"0"}}})");
  Pump();
  EXPECT_EQ(Phase("instant"), "Succeeded");
  EXPECT_EQ(kubelet_->NextDue(), clock_.Now() + absl::Seconds(60));
  clock_.Advance(absl::Seconds(59));
  EXPECT_EQ(Pump(), 0);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("ok"), "Succeeded");
  EXPECT_EQ(Condition("ok", "Ready").GetString("status"), "False");
  EXPECT_EQ(Condition("ok", "Ready").GetString("reason"), "PodCompleted");
  clock_.Advance(absl::Seconds(50));
  EXPECT_EQ(Pump(), 2);
  EXPECT_EQ(Phase("bad"), "Failed");
  const Value& status = api_.pods["d/bad"].At("status");
  EXPECT_EQ(status.At("containerStatuses").as_array()[0].At("state").At("terminated"),
            J(R"({"exitCode":3,"reason":"Error","startedAt":"2026-01-01T00:00:00Z",
                  "finishedAt":"2026-01-01T00:01:50Z"})"));
  EXPECT_EQ(Phase("late"), "Failed");
  EXPECT_EQ(api_.pods["d/late"].At("status").GetString("reason"), "DeadlineExceeded");
}

TEST_F(KubeletTest, RunningPodsOfALoadedStateCountFromTheirStart) {
  Make();
  AddNode("n1");
  AddPod("p", "n1", R"({"metadata":{"annotations":{"hekla.dev/run-seconds":"60"}},
      "status":{"phase":"Running","startTime":"2025-12-31T23:59:30Z"}})");
  EXPECT_EQ(Pump(), 0);
  EXPECT_EQ(kubelet_->NextDue(), clock_.Now() + absl::Seconds(30));
  AddPod("q", "n1", R"({"status":{"phase":"Running"}})");
  EXPECT_EQ(Pump(), 0);
  // A run time that is given later counts as well.
  AddPod("q", "n1", R"({"metadata":{"annotations":{"hekla.dev/run-seconds":"5"}},
      "status":{"phase":"Running"}})");
  clock_.Advance(absl::Seconds(5));
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("q"), "Succeeded");
}

TEST_F(KubeletTest, DeletedPodsLeave) {
  Options options;
  options.stop_delay = absl::Seconds(10);
  Make(options);
  AddNode("n1");
  AddPod("quick", "n1");
  AddPod("slow", "n1");
  AddPod("pending", "n1");
  Pump();
  const char* deleted = R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:30Z",
      "deletionGracePeriodSeconds":3},"status":{"phase":"Running"}})";
  AddPod("quick", "n1", deleted);
  AddPod("slow", "n1", R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:30Z",
      "deletionGracePeriodSeconds":30},"status":{"phase":"Running"}})");
  EXPECT_EQ(Pump(), 0);
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("quick"), "gone");
  EXPECT_EQ(Phase("slow"), "Running");
  clock_.Advance(absl::Seconds(7));
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("slow"), "gone");
  EXPECT_EQ(Phase("pending"), "Running");
}

TEST_F(KubeletTest, JobPodsCompleteInTheFastProfile) {
  Options options;
  options.complete_job_pods = true;
  Make(options);
  AddNode("n1");
  AddPod("p", "n1", R"({"metadata":{"ownerReferences":[{"kind":"Job","name":"j"}]}})");
  AddPod("own", "n1", R"({"metadata":{"ownerReferences":[{"kind":"Job","name":"j"}],
      "annotations":{"hekla.dev/run-seconds":"9"}}})");
  Pump();
  EXPECT_EQ(Phase("p"), "Succeeded");
  EXPECT_EQ(Phase("own"), "Running");
}

TEST_F(KubeletTest, PodsOnUnknownOrForeignNodesStayPending) {
  Options options;
  options.all_nodes = false;
  Make(options);
  AddPod("p", "later");
  Value foreign = MakeNode(Named("foreign"), 7, clock_.Now());
  foreign.Find("metadata")->Remove("annotations");
  api_.Put(api_.nodes, "foreign", foreign);
  AddPod("q", "foreign");
  EXPECT_EQ(Pump(), 0);
  AddNode("later");
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("p"), "Running");
  EXPECT_EQ(Phase("q"), "Pending");
}

TEST_F(KubeletTest, ANodeThatIsDownDoesNothingUntilItIsBack) {
  Make();
  AddNode("n1");
  AddPod("a", "n1", R"({"metadata":{"annotations":{"hekla.dev/run-seconds":"10"}}})");
  Pump();
  kubelet_->SetNodeDown("n1", true);
  Pump();
  EXPECT_EQ(api_.nodes["n1"].At("status").At("conditions").as_array()[0].GetString("status"),
            "Unknown");
  AddPod("b", "n1");
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(Pump(), 0);
  EXPECT_EQ(Phase("b"), "Pending");
  EXPECT_EQ(Phase("a"), "Running");
  kubelet_->SetNodeDown("n1", false);
  EXPECT_EQ(Pump(), 3);  // Ready again, a ends, b starts
  EXPECT_EQ(Phase("b"), "Running");
  EXPECT_EQ(Phase("a"), "Succeeded");
  const Value& status = api_.nodes["n1"].At("status");
  EXPECT_EQ(status.At("conditions").as_array()[0].GetString("status"), "True");
  EXPECT_EQ(status.At("capacity").GetString("cpu"), "32");
}

TEST_F(KubeletTest, ANodeWithoutStatusIsInitialised) {
  Make();
  api_.Put(api_.nodes, "bare", J(R"({"metadata":{"name":"bare","uid":"u"},
      "status":{"capacity":{"cpu":"4"}}})"));
  EXPECT_EQ(Pump(), 1);
  const Value& status = api_.nodes["bare"].At("status");
  EXPECT_EQ(status.At("allocatable"), J(R"({"cpu":"4"})"));
  EXPECT_EQ(status.At("conditions").size(), 5u);
  EXPECT_EQ(status.At("addresses").size(), 2u);
  api_.Put(api_.nodes, "empty", J(R"({"metadata":{"name":"empty","uid":"u2"}})"));
  Pump();
  EXPECT_EQ(api_.nodes["empty"].At("status").At("allocatable"),
            J(R"({"cpu":"1k","memory":"1Ti","pods":"1M"})"));
}

TEST_F(KubeletTest, HeartbeatsAndLeases) {
  leases_ = absl::Seconds(10);
  Make();
  AddNode("n1");
  Pump();
  EXPECT_EQ(api_.leases, 1);
  EXPECT_EQ(api_.last_lease.At("metadata").GetString("namespace"), "kube-node-lease");
  EXPECT_EQ(api_.last_lease.At("spec"), J(R"({"holderIdentity":"n1","leaseDurationSeconds":40,
                  "renewTime":"2026-01-01T00:00:00.000000Z"})"));
  clock_.Advance(absl::Minutes(5));
  Pump();
  EXPECT_EQ(api_.leases, 2);  // what was missed is not made up for
  EXPECT_EQ(
      api_.nodes["n1"].At("status").At("conditions").as_array()[0].GetString("lastHeartbeatTime"),
      "2026-01-01T00:05:00Z");
}

TEST_F(KubeletTest, FailedWritesAreTriedAgain) {
  Make();
  AddNode("n1");
  AddPod("p", "n1");
  api_.fail = absl::UnavailableError("down");
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("p"), "Pending");
  EXPECT_EQ(Pump(), 0);
  api_.fail = absl::OkStatus();
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("p"), "Running");
}

TEST_F(KubeletTest, APodOfTheSameNameIsAnotherPod) {
  Make();
  AddNode("n1");
  AddPod("p", "n1");
  Pump();
  AddPod("p", "n1", R"({"metadata":{"uid":"second"}})");
  EXPECT_EQ(Pump(), 1);
  EXPECT_EQ(Phase("p"), "Running");
  // An old status does not start it again.
  AddPod("p", "n1", R"({"metadata":{"uid":"second"}})");
  EXPECT_EQ(Pump(), 0);
}

TEST_F(KubeletTest, WritesPerPumpAreBounded) {
  Options options;
  options.max_writes_per_pump = 2;
  Make(options);
  AddNode("n1");
  for (int i = 0; i < 5; ++i) AddPod(absl::StrCat("p", i), "n1");
  EXPECT_EQ(Pump(), 2);
  EXPECT_EQ(Pump(), 2);
  EXPECT_EQ(Pump(), 1);
}

// Counts only: what many pods cost the kubelet itself.
class CountingApi final : public Api {
 public:
  absl::Status PatchPodStatus(absl::string_view, absl::string_view, const Value&) override {
    ++patches;
    return absl::OkStatus();
  }
  absl::Status DeletePodNow(absl::string_view, absl::string_view, absl::string_view) override {
    return absl::OkStatus();
  }
  absl::Status PatchNodeStatus(absl::string_view, const Value&) override {
    return absl::OkStatus();
  }
  absl::Status PutNodeLease(const Value&) override { return absl::OkStatus(); }
  int patches = 0;
};

TEST(KubeletScaleTest, IdlePodsCostNothing) {
  CountingApi api;
  Options options;
  options.heartbeat = absl::ZeroDuration();
  options.lease_renewal = absl::ZeroDuration();
  HollowKubelet kubelet(api, options);
  const absl::Time now = absl::FromUnixSeconds(1767225600);
  constexpr int kNodes = 200, kPods = 20000;
  for (int i = 0; i < kNodes; ++i) {
    kubelet.OnNode(MakeNode(Named(absl::StrCat("n", i)), i, now), false);
  }
  Value pod = J(R"({"metadata":{"namespace":"d"},"spec":{"containers":[{"name":"c"}]},
                    "status":{"phase":"Pending"}})");
  for (int i = 0; i < kPods; ++i) {
    pod.Find("metadata")->Set("name", absl::StrCat("p", i));
    pod.Find("metadata")->Set("uid", absl::StrCat("u", i));
    pod.Find("spec")->Set("nodeName", absl::StrCat("n", i % kNodes));
    kubelet.OnPod(pod, false);
  }
  EXPECT_EQ(kubelet.Pump(now), kPods);
  EXPECT_EQ(api.patches, kPods);
  EXPECT_EQ(kubelet.Pump(now + absl::Hours(1)), 0);
  EXPECT_EQ(kubelet.NextDue(), absl::InfiniteFuture());
}

TEST(MakeNodeTest, ShapeOfANode) {
  NodeTemplate node = Named("gpu-1");
  node.gpus = 8;
  node.zone = "z";
  node.labels = {{"a", "b"}};
  node.extra_resources = {{"ephemeral-storage", "1Ti"}};
  const Value made = MakeNode(node, 256, absl::FromUnixSeconds(0));
  EXPECT_EQ(made.At("status").At("allocatable"),
            J(R"({"cpu":"32","memory":"128Gi","pods":"110","nvidia.com/gpu":"8",
                  "ephemeral-storage":"1Ti"})"));
  EXPECT_EQ(made.At("metadata").At("labels").GetString("kubernetes.io/hostname"), "gpu-1");
  EXPECT_EQ(made.At("metadata").At("labels").GetString("topology.kubernetes.io/zone"), "z");
  EXPECT_EQ(made.At("metadata").At("labels").GetString("a"), "b");
  EXPECT_EQ(made.At("metadata").At("annotations").GetString("kwok.x-k8s.io/node"), "fake");
  EXPECT_EQ(made.At("status").At("addresses").as_array()[0].GetString("address"), "172.16.1.1");
}

}  // namespace
}  // namespace hekla::apiserver::kubelet

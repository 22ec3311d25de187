#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "pkg/cache/scheduler_cache.h"
#include "pkg/cache/testing/fake_api.h"
#include "pkg/cache/testing/fake_recorder.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/random.h"

namespace hekla::cache {
namespace {

using apis::json::Value;
using model::TaskStatus;

constexpr char kPods[] = "/api/v1/namespaces/n/pods";
constexpr char kGroups[] = "/apis/scheduling.volcano.sh/v1beta1/namespaces/n/podgroups";

// A scheduler that decides at random, before a server that fails at random: requests are refused,
// lost before or after they took effect, or never answered; watches lag; somebody else deletes and
// replaces pods. When the faults end, the tables must say what the server says.
class FaultRun {
 public:
  explicit FaultRun(uint64_t seed) : random_(seed), executor_(&clock_), api_(&executor_) {
    kube::RestClient::Options options;
    options.qps = 0;
    options.timeout = absl::Seconds(5);
    client_ = std::make_unique<kube::RestClient>(
        kube::RestClient::Deps{.transport = &api_, .executor = &executor_}, options);
    for (const char* name : {"n1", "n2"}) {
      api_.Put("/api/v1/nodes", *apis::json::Parse(absl::StrCat(
                                    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")",
                                    name, R"("},"status":{"allocatable":{"cpu":"1k"}}})")));
    }
    api_.Put(kGroups, *apis::json::Parse(
                          R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
                              "metadata":{"namespace":"n","name":"g"},"spec":{"minMember":1}})"));
    cache_ = std::make_unique<SchedulerCache>(
        SchedulerCache::Deps{client_.get(), &executor_, &recorder_, nullptr, nullptr},
        SchedulerCache::Options{});
    cache_->Start();
    executor_.Advance(absl::Seconds(1));
  }

  void Run(int steps) {
    api_.fault = [this](const http::Request& r) { return Fault(r); };
    for (int i = 0; i < steps; ++i) {
      Step();
      executor_.Advance(absl::Milliseconds(static_cast<int64_t>(random_.Below(50))));
    }
    api_.fault = nullptr;
    api_.HoldWatches(false);
    executor_.Advance(absl::Minutes(30));
  }

  void Check() {
    model::Cluster& cluster = cache_->Snapshot();
    const model::Tables& tables = cluster.tables();
    EXPECT_EQ(cache_->PendingWrites(), 0u);
    size_t live = 0;
    for (uint32_t i = 0; i < tables.tasks.size(); ++i) live += tables.tasks.live[model::TaskId(i)];
    size_t stored = 0;
    for (const std::string& name : names_) {
      const Value* pod = api_.Find(absl::StrCat(kPods, "/", name));
      if (pod == nullptr) continue;
      ++stored;
      const model::TaskId task =
          cluster.FindTask(std::string(pod->At("metadata").GetString("uid")));
      ASSERT_TRUE(task.valid()) << name;
      const std::string node(pod->At("spec").GetString("nodeName"));
      const TaskStatus status = tables.tasks.status[task];
      EXPECT_EQ(status, node.empty() ? TaskStatus::kPending : TaskStatus::kBound) << name;
      const model::NodeId row = tables.tasks.node[task];
      EXPECT_EQ(
          row.valid() ? std::string(cluster.dictionary().symbols.Text(tables.nodes.name[row])) : "",
          node)
          << name;
      // A pod stands where we last sent it, and nowhere else.
      if (!node.empty()) {
        EXPECT_EQ(node, sent_[std::string(pod->At("metadata").GetString("uid"))]);
      }
    }
    EXPECT_EQ(live, stored);
    cluster.CheckConsistency();
    if (wanted_phase_) {
      EXPECT_EQ(api_.Find(absl::StrCat(kGroups, "/g"))->At("status").GetString("phase"),
                std::string(model::PhaseName(*wanted_phase_)));
    }
  }

 private:
  std::optional<testing::FakeApi::Fault> Fault(const http::Request& r) {
    // Lists and watches have a test of their own; here they only lag.
    if (r.method == "GET" && r.target.find("/pods/") == std::string::npos) return std::nullopt;
    switch (random_.Below(12)) {
      case 0:
        return testing::FakeApi::Fault{.status = 500, .applied = random_.Below(2) == 0};
      case 1:
        return testing::FakeApi::Fault{.status = 429};
      case 2:
        return testing::FakeApi::Fault{.status = 503, .applied = random_.Below(2) == 0};
      case 3:
        return testing::FakeApi::Fault{.applied = random_.Below(2) == 0};
      case 4:
        return testing::FakeApi::Fault{.applied = random_.Below(2) == 0, .silent = true};
      case 5:
        if (r.method == "PUT") return testing::FakeApi::Fault{.status = 409};
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  void Step() {
    model::Cluster& cluster = cache_->Snapshot();
    const std::string name = absl::StrCat("p", random_.Below(12));
    names_.insert(name);
    const std::string path = absl::StrCat(kPods, "/", name);
    const Value* pod = api_.Find(path);
    const uint64_t what = random_.Below(20);
    if (pod == nullptr && what < 8) {
      Value fresh = *apis::json::Parse(
          absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":")",
                       name, R"(","uid":")", name, "-", ++made_,
                       R"(","annotations":{"scheduling.k8s.io/group-name":"g"}},
              "spec":{"schedulerName":"volcano","containers":[{"resources":{"requests":{
              "cpu":"1"}}}]},"status":{"phase":"Pending"}})"));
      api_.Put(kPods, std::move(fresh));
    } else if (pod != nullptr && what == 8) {
      api_.Remove(path);
    } else if (what == 9) {
      api_.HoldWatches(random_.Below(2) == 0);
    } else if (what == 10) {
      ports::PodGroupStatus status;
      status.namespace_name = "n";
      status.name = "g";
      status.uid = "uid-g";
      status.phase = static_cast<model::PodGroupPhase>(1 + random_.Below(4));
      wanted_phase_ = status.phase;
      cache_->WritePodGroup(status);
    } else {
      Decide(cluster);
    }
  }

  // Binds one pending task, evicts one bound one, or notes why one waits.
  void Decide(model::Cluster& cluster) {
    const model::Tables& tables = cluster.tables();
    if (tables.tasks.size() == 0) return;
    const model::TaskId task(static_cast<uint32_t>(random_.Below(tables.tasks.size())));
    if (!tables.tasks.live[task]) return;
    const model::TaskSpec& spec = *tables.tasks.spec[task];
    const std::string node = random_.Below(2) == 0 ? "n1" : "n2";
    if (tables.tasks.status[task] == TaskStatus::kBound) {
      if (random_.Below(3) != 0) return;
      cluster.MoveTask(task, TaskStatus::kReleasing, tables.tasks.node[task]);
      cluster.SetEvicted(task);
      cache_->Evict({{spec.uid, "n", spec.name, "n", "g", "preempt"}});
    } else if (tables.tasks.status[task] == TaskStatus::kPending) {
      if (random_.Below(4) == 0) {
        cache_->WritePodCondition(
            {spec.uid, "n", spec.name, "Unschedulable", absl::StrCat("m", random_.Below(3)), ""});
        return;
      }
      cluster.MoveTask(task, TaskStatus::kBinding, cluster.FindNode(node));
      sent_[spec.uid] = node;
      ports::BindRequest request;
      request.uid = spec.uid;
      request.namespace_name = "n";
      request.name = spec.name;
      request.node = node;
      cache_->Bind({request});
    }
  }

  util::Random random_;
  util::FakeClock clock_;
  util::ManualExecutor executor_;
  testing::FakeApi api_;
  testing::FakeRecorder recorder_;
  std::unique_ptr<kube::RestClient> client_;
  std::unique_ptr<SchedulerCache> cache_;
  std::set<std::string> names_;
  std::map<std::string, std::string> sent_;  // uid -> the node it was last sent to
  std::optional<model::PodGroupPhase> wanted_phase_;
  int made_ = 0;
};

TEST(CacheFaultTest, PropertyTablesEndWithWhatTheServerHas) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    FaultRun run(seed);
    run.Run(300);
    run.Check();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hekla::cache

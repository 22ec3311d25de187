#include "pkg/controller/controller.h"

#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/controller/client.h"
#include "pkg/controller/manager.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/controller/worker_pool.h"
#include "pkg/http/inline_transport.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/kube/api_status.h"
#include "pkg/kube/testing/fake_api.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/thread_executor.h"

namespace hekla::controller {
namespace {

using apis::json::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const kube::Resource kThings{"lab.io", "v1", "things", "Thing"};
const kube::Resource kPods{"", "v1", "pods", "Pod"};
constexpr char kThingPath[] = "/apis/lab.io/v1/things";
constexpr char kPodPath[] = "/api/v1/pods";

Value Thing(const std::string& name, const std::string& ns = "lab") {
  Value object = Value::MakeObject({{"apiVersion", "lab.io/v1"}, {"kind", "Thing"}});
  object["metadata"].Set("name", name);
  object["metadata"].Set("namespace", ns);
  return object;
}

Value PodOf(const std::string& thing, const std::string& name) {
  Value pod = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
  pod["metadata"].Set("name", name);
  pod["metadata"].Set("namespace", "lab");
  pod["metadata"]["labels"].Set("thing", thing);
  pod["metadata"]["ownerReferences"].Append(Value::MakeObject({{"apiVersion", "lab.io/v1"},
                                                               {"kind", "Thing"},
                                                               {"name", thing},
                                                               {"uid", "u-" + thing},
                                                               {"controller", true}}));
  return pod;
}

// Notes the keys it gets and answers what the test says.
class Noting final : public Reconciler {
 public:
  absl::StatusOr<Result> Reconcile(const Request& request) override {
    seen.push_back(request.Key());
    return answer ? answer(request) : Result();
  }
  std::function<absl::StatusOr<Result>(const Request&)> answer = nullptr;
  std::vector<std::string> seen;
};

// Everything on one thread under virtual time.
class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    cache_.AddKind({.resource = kThings});
    cache_.AddKind({.resource = kPods, .index_labels = {"thing"}});
  }
  void Start(Controller::Options options = {}) {
    options.name = "thing";
    options.limiter.bucket_per_second = 0;
    controller_ = std::make_unique<Controller>(
        Controller::Deps{.reconciler = &noting_, .executor = &executor_, .metrics = &metrics_},
        std::move(options));
    controller_->Watch({.resource = kThings, .handler = EnqueueSelf()});
    controller_->Watch(
        {.resource = kPods, .handler = EnqueueOwner({.group = "lab.io", .kind = "Thing"})});
    controller_->Start(cache_);
    cache_.Start();
    executor_.RunReady();
    ASSERT_TRUE(controller_->Synced());
  }
  // Reconciles what is ready; the keys, in order.
  std::vector<std::string> Work() {
    executor_.RunReady();
    while (controller_->ProcessNext()) executor_.RunReady();
    return std::exchange(noting_.seen, {});
  }
  bool Exposes(const std::string& line) {
    return registry_.Expose().find(line + "\n") != std::string::npos;
  }

  util::FakeClock clock_;
  util::ManualExecutor executor_{&clock_};
  kube::FakeApi api_;
  http::LoopbackTransport loopback_{&api_, &executor_};
  http::InlineTransport inline_{&api_};
  kube::RestClient watch_client_{{.transport = &loopback_, .executor = &executor_}, {.qps = 0}};
  kube::RestClient write_client_{{.transport = &inline_, .executor = &executor_},
                                 {.qps = 0, .max_retries = 0}};
  Cache cache_{{.client = &watch_client_, .io = &executor_}, {}};
  ApiClient client_{&cache_, &write_client_};
  metrics::Registry registry_;
  ControllerMetrics metrics_{registry_};
  Noting noting_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(ControllerTest, TheInitialListAndLaterNewsBecomeKeys) {
  api_.Put(kThingPath, Thing("a"));
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  api_.Put(kThingPath, Thing("b"));
  api_.Put(kPodPath, PodOf("c", "c-0"));
  EXPECT_THAT(Work(), ElementsAre("lab/b", "lab/c"));
  api_.Delete(kPodPath, "lab/c-0");
  EXPECT_THAT(Work(), ElementsAre("lab/c"));
}

TEST_F(ControllerTest, ALiveChangeOvertakesTheBacklogOfARestart) {
  for (const char* name : {"a", "b", "c"}) api_.Put(kThingPath, Thing(name));
  Start();
  api_.Put(kThingPath, Thing("c"));
  EXPECT_THAT(Work(), ElementsAre("lab/c", "lab/a", "lab/b"));
}

TEST_F(ControllerTest, WithoutTheSwitchTheBacklogIsServedInOrder) {
  for (const char* name : {"a", "b", "c"}) api_.Put(kThingPath, Thing(name));
  Start({.low_priority_initial = false});
  api_.Put(kThingPath, Thing("c"));
  EXPECT_THAT(Work(), ElementsAre("lab/a", "lab/b", "lab/c"));
}

TEST_F(ControllerTest, ErrorsAreTriedAgainWithBackOffUntilForgotten) {
  api_.Put(kThingPath, Thing("a"));
  int failures = 3;
  noting_.answer = [&](const Request&) -> absl::StatusOr<Result> {
    if (failures-- > 0) return absl::InternalError("no luck");
    return Result();
  };
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  executor_.Advance(absl::Milliseconds(4));
  EXPECT_THAT(Work(), IsEmpty());
  executor_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  executor_.Advance(absl::Milliseconds(10));
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  executor_.Advance(absl::Milliseconds(20));
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  EXPECT_EQ(controller_->queue().NumRequeues({.ns = "lab", .name = "a"}), 0);
  EXPECT_TRUE(
      Exposes(R"(controller_runtime_reconcile_total{controller="thing",result="error"} 3)"));
  EXPECT_TRUE(
      Exposes(R"(controller_runtime_reconcile_total{controller="thing",result="success"} 1)"));
  EXPECT_TRUE(Exposes(R"(controller_runtime_reconcile_errors_total{controller="thing"} 3)"));
}

TEST_F(ControllerTest, TerminalErrorsAreNotTriedAgain) {
  api_.Put(kThingPath, Thing("a"));
  noting_.answer = [](const Request&) -> absl::StatusOr<Result> {
    return TerminalError(absl::InvalidArgumentError("nonsense"));
  };
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  executor_.Advance(absl::Hours(1));
  EXPECT_THAT(Work(), IsEmpty());
  EXPECT_TRUE(
      Exposes(R"(controller_runtime_terminal_reconcile_errors_total{controller="thing"} 1)"));
}

TEST_F(ControllerTest, QuirkOfUpstreamATerminalErrorForgetsEarlierFailures) {
  api_.Put(kThingPath, Thing("a"));
  int call = 0;
  noting_.answer = [&](const Request&) -> absl::StatusOr<Result> {
    if (++call == 3) return TerminalError(absl::InvalidArgumentError("nonsense"));
    return absl::InternalError("no luck");
  };
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  executor_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  executor_.Advance(absl::Milliseconds(10));
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  EXPECT_EQ(controller_->queue().NumRequeues({.ns = "lab", .name = "a"}), 0);
}

TEST_F(ControllerTest, RequeueAfterFreesTheWorkerAtOnceAndKeepsThePriority) {
  api_.Put(kThingPath, Thing("a"));
  noting_.answer = [](const Request&) { return Result::After(absl::Seconds(300)); };
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  EXPECT_EQ(controller_->queue().counts(), (PriorityQueue::Counts{.waiting = 1}));
  executor_.Advance(absl::Seconds(300));
  EXPECT_EQ(controller_->queue().counts(), (PriorityQueue::Counts{.ready = 1}));
  EXPECT_TRUE(Exposes(R"(workqueue_depth{controller="thing",name="thing",priority="-100"} 1)"));
  EXPECT_TRUE(Exposes(
      R"(controller_runtime_reconcile_total{controller="thing",result="requeue_after"} 1)"));
}

TEST_F(ControllerTest, RequeueIsRateLimited) {
  api_.Put(kThingPath, Thing("a"));
  noting_.answer = [](const Request&) {
    Result result;
    result.requeue = true;
    result.priority = 7;
    return result;
  };
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  EXPECT_EQ(controller_->queue().NumRequeues({.ns = "lab", .name = "a"}), 1);
  executor_.Advance(absl::Milliseconds(5));
  EXPECT_TRUE(Exposes(R"(workqueue_depth{controller="thing",name="thing",priority="7"} 1)"));
}

TEST_F(ControllerTest, AnExceptionIsAnErrorLikeAnyOther) {
  api_.Put(kThingPath, Thing("a"));
  noting_.answer = [](const Request&) -> absl::StatusOr<Result> {
    throw std::runtime_error("boom");
  };
  Start();
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
  EXPECT_TRUE(Exposes(R"(controller_runtime_reconcile_panics_total{controller="thing"} 1)"));
  EXPECT_TRUE(Exposes(R"(controller_runtime_reconcile_errors_total{controller="thing"} 1)"));
  executor_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(Work(), ElementsAre("lab/a"));
}

TEST_F(ControllerTest, AllSeriesExistBeforeTheFirstReconcile) {
  Start({.max_concurrent = 3});
  for (const char* result : {"error", "requeue", "requeue_after", "success"}) {
    EXPECT_TRUE(Exposes(absl::StrCat(
        R"(controller_runtime_reconcile_total{controller="thing",result=")", result, R"("} 0)")));
  }
  EXPECT_TRUE(Exposes(R"(controller_runtime_max_concurrent_reconciles{controller="thing"} 3)"));
  EXPECT_TRUE(Exposes(R"(controller_runtime_active_workers{controller="thing"} 0)"));
  EXPECT_THAT(
      registry_.Expose(),
      HasSubstr(R"(controller_runtime_reconcile_time_seconds_bucket{controller="thing",le="60"})"));
}

TEST_F(ControllerTest, AReadAfterAWriteShowsItOnceTheNewsArrived) {
  Start();
  const absl::StatusOr<Value> created = client_.Create(kPods, PodOf("a", "a-0"));
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_TRUE(kube::IsNotFound(client_.Get(kPods, "lab", "a-0").status())) << "the cache lags";
  EXPECT_EQ(client_.Get(kPods, "lab", "a-0").status().message(), "pods \"a-0\" not found");
  EXPECT_TRUE(client_.GetLive(kPods, "lab", "a-0").ok());
  executor_.RunReady();
  EXPECT_TRUE(client_.Get(kPods, "lab", "a-0").ok());
}

TEST_F(ControllerTest, WritesAnswerInsideTheCall) {
  Start();
  ASSERT_TRUE(client_.Create(kThings, Thing("a")).ok());
  EXPECT_TRUE(kube::IsAlreadyExists(client_.Create(kThings, Thing("a")).status()));
  Value stale = Thing("a");
  stale["metadata"].Set("resourceVersion", "4711");
  EXPECT_TRUE(kube::IsConflict(client_.Update(kThings, stale).status()));
  EXPECT_TRUE(kube::IsConflict(client_.UpdateStatus(kThings, stale).status()));
  EXPECT_TRUE(client_.Update(kThings, Thing("a")).ok());
  EXPECT_TRUE(client_.Delete(kThings, "lab", "a").ok());
  EXPECT_TRUE(kube::IsNotFound(client_.Delete(kThings, "lab", "a")));
  EXPECT_THAT(api_.log(),
              ::testing::Contains("PUT /apis/lab.io/v1/namespaces/lab/things/a/status"));
  // What cannot be addressed is refused without anybody running the executor.
  EXPECT_FALSE(client_.Create(kThings, Thing("a", "")).ok());
  EXPECT_FALSE(client_.Delete(kThings, "lab", "").ok());
  EXPECT_FALSE(
      client_.Patch(kThings, {.ns = "", .name = "a"}, kube::PatchType::kMerge, Value()).ok());
  EXPECT_FALSE(client_.DeleteCollection(kPods, "", {}).ok());
}

TEST_F(ControllerTest, AReadAfterAnUpdateShowsTheUpdate) {
  api_.Put(kThingPath, Thing("a"));
  Start();
  const auto size = [this] { return (*client_.Get(kThings, "lab", "a"))->GetInt("size"); };
  const auto write = [this](int64_t size) {
    Value thing = **client_.Get(kThings, "lab", "a");  // with the version that was read
    thing.Set("size", size);
    return client_.Update(kThings, thing).status();
  };
  EXPECT_TRUE(write(1).ok());
  EXPECT_EQ(size(), 1) << "the news has not arrived";
  EXPECT_TRUE(write(2).ok()) << "no conflict with ourselves";
  Value foreign = Thing("a");
  foreign.Set("size", 7);
  api_.Put(kThingPath, foreign);
  EXPECT_EQ(size(), 2);
  EXPECT_TRUE(kube::IsConflict(write(3))) << "others' changes are not overwritten";
  executor_.RunReady();
  EXPECT_EQ(size(), 7);
  EXPECT_TRUE(write(8).ok());
  executor_.RunReady();
  EXPECT_EQ(size(), 8);
}

TEST_F(ControllerTest, AnUpdateOfAnObjectThatWentAwayIsForgotten) {
  api_.Put(kThingPath, Thing("a"));
  Start();
  Value thing = **client_.Get(kThings, "lab", "a");
  ASSERT_TRUE(client_.Update(kThings, thing).ok());
  api_.Delete(kThingPath, "lab/a");
  executor_.RunReady();
  EXPECT_FALSE(client_.Get(kThings, "lab", "a").ok());
  Value again = Thing("a");
  again["metadata"].Set("uid", "another");
  api_.Put(kThingPath, again);
  executor_.RunReady();
  EXPECT_EQ(UidOf(**client_.Get(kThings, "lab", "a")), "another");
  EXPECT_TRUE(
      client_.Patch(kThings, {.ns = "lab", .name = "gone"}, kube::PatchType::kMerge, Value())
          .status()
          .code() == absl::StatusCode::kNotFound);
}

TEST_F(ControllerTest, ListsAreFilteredAndOrdered) {
  Value first = PodOf("a", "z-first");
  first["metadata"].Set("creationTimestamp", "2026-01-01T00:00:00Z");
  api_.Put(kPodPath, first);
  for (const char* name : {"b-1", "b-0"}) {
    Value pod = PodOf("a", name);
    pod["metadata"].Set("creationTimestamp", "2026-01-02T00:00:00Z");
    api_.Put(kPodPath, pod);
  }
  api_.Put(kPodPath, PodOf("other", "x"));
  Start();
  const auto names = [this](const ListFilter& filter) {
    const absl::StatusOr<std::vector<ObjectPtr>> pods = client_.List(kPods, filter);
    std::vector<std::string> out;
    for (const ObjectPtr& pod : *pods) out.emplace_back(NameOf(*pod));
    return out;
  };
  EXPECT_THAT(names({.ns = "lab", .labels = {{"thing", "a"}}}),
              ElementsAre("z-first", "b-0", "b-1"));
  EXPECT_THAT(names({.labels = {{"thing", "a"}}}), ElementsAre("z-first", "b-0", "b-1"));
  EXPECT_THAT(names({.controller_uid = "u-other"}), ElementsAre("x"));
  EXPECT_THAT(names({.ns = "elsewhere"}), IsEmpty());
  EXPECT_THAT(names({.requirements = *apis::meta::ParseLabelSelector("thing!=a")}),
              ElementsAre("x"));
  EXPECT_EQ(cache_.Size(kPods), 4u);
  EXPECT_TRUE(absl::IsFailedPrecondition(client_.List({"", "v1", "nodes", "Node"}, {}).status()));
}

TEST_F(ControllerTest, ACacheOfTwoNamespacesSeesOnlyThem) {
  Cache two({.client = &watch_client_, .io = &executor_}, {.namespaces = {"a", "b"}});
  two.AddKind({.resource = kThings, .transform = [](Value& object) { object.Remove("big"); }});
  int synced = 0;
  two.WhenSynced([&] { ++synced; });
  for (const char* ns : {"a", "b", "c"}) {
    Value thing = Thing("x", ns);
    thing.Set("big", "text");
    thing["metadata"].Set("managedFields", Value::MakeArray());
    api_.Put(kThingPath, thing);
  }
  EXPECT_FALSE(two.HasSynced());
  EXPECT_THAT(two.Missing(), ElementsAre("things.lab.io"));
  two.Start();
  executor_.RunReady();
  EXPECT_TRUE(two.HasSynced());
  EXPECT_EQ(synced, 1);
  EXPECT_EQ(two.Size(kThings), 2u);
  const ObjectPtr thing = *two.Get(kThings, "b", "x");
  EXPECT_FALSE(thing->Has("big") || thing->At("metadata").Has("managedFields"));
  EXPECT_FALSE(two.Get(kThings, "c", "x").ok());
  two.Stop();
}

TEST_F(ControllerTest, TheManagerBeginsWhenCachesAreComplete) {
  api_.Put(kThingPath, Thing("a"));
  bool server_down = true;
  api_.fail = [&](const http::Request&) -> std::optional<http::Response> {
    if (!server_down) return std::nullopt;
    http::Response response;
    response.status = 503;
    return response;
  };
  Controller controller({.reconciler = &noting_, .executor = &executor_, .metrics = &metrics_},
                        {.name = "thing"});
  controller.Watch({.resource = kThings, .handler = EnqueueSelf()});
  int ready = 0;
  Manager manager(
      {.io = &executor_, .cache = &cache_, .metrics = &metrics_, .on_ready = [&] { ++ready; }},
      std::nullopt);
  manager.Add(&controller);
  manager.Start();
  executor_.Advance(absl::Seconds(1));
  EXPECT_FALSE(manager.Ready() || manager.Working());
  EXPECT_EQ(ready, 0);
  server_down = false;
  executor_.Advance(absl::Minutes(1));
  EXPECT_TRUE(manager.Ready() && manager.Working() && manager.IsLeading());
  EXPECT_EQ(ready, 1);
  EXPECT_EQ(controller.queue().counts().ready, 1u);
  bool stopped = false;
  manager.Stop([&] { stopped = true; });
  executor_.RunReady();
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(controller.queue().shutting_down());
  EXPECT_FALSE(controller.ProcessNext());
}

TEST_F(ControllerTest, AStandbyIsReadyAndDoesNotWorkUntilItLeads) {
  api_.Put(kThingPath, Thing("a"));
  Value lease = *apis::json::Parse(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
          "metadata":{"name":"op","namespace":"lab"},
          "spec":{"holderIdentity":"other","leaseDurationSeconds":15,
                  "renewTime":"2026-01-01T00:00:00.000000Z"}})");
  const std::string leases = "/apis/coordination.k8s.io/v1/leases";
  api_.Put(leases, lease);
  Controller controller({.reconciler = &noting_, .executor = &executor_, .metrics = &metrics_},
                        {.name = "thing"});
  controller.Watch({.resource = kThings, .handler = EnqueueSelf()});
  absl::Status lost;
  Manager::Election election{.client = &watch_client_, .executor = &executor_};
  election.options.ns = "lab";
  election.options.name = "op";
  election.options.identity = "me";
  Manager manager({.io = &executor_,
                   .cache = &cache_,
                   .metrics = &metrics_,
                   .on_lost = [&](const absl::Status& status) { lost = status; }},
                  election);
  manager.Add(&controller);
  manager.Start();
  executor_.Advance(absl::Seconds(5));
  EXPECT_TRUE(manager.Ready());
  EXPECT_FALSE(manager.IsLeading() || manager.Working());
  EXPECT_EQ(controller.queue().counts().ready, 0u);
  executor_.Advance(absl::Seconds(20));  // the other process is silent for longer than its lease
  EXPECT_TRUE(manager.IsLeading() && manager.Working());
  EXPECT_EQ(controller.queue().counts().ready, 1u);
  EXPECT_TRUE(Exposes(R"(leader_election_master_status{name="op"} 1)"));
  api_.fail = [](const http::Request&) -> std::optional<http::Response> {
    http::Response response;
    response.status = 500;
    return response;
  };
  executor_.Advance(absl::Seconds(15));
  EXPECT_EQ(lost.message(), "leader election lost");
  EXPECT_TRUE(Exposes(R"(leader_election_master_status{name="op"} 0)"));
  manager.Stop([] {});
  executor_.RunReady();
}

// Real workers. A reconcile that runs when the queue is shut down ends; nothing begins after it.
TEST(WorkerPoolTest, ShutdownDrains) {
  class Gate final : public Reconciler {
   public:
    absl::StatusOr<Result> Reconcile(const Request&) override {
      ++started;
      first.Notify();
      open.WaitForNotification();
      ++ended;
      return Result();
    }
    absl::Notification first;
    absl::Notification open;
    std::atomic<int> started{0};
    std::atomic<int> ended{0};
  };
  metrics::Registry registry;
  ControllerMetrics metrics(registry);
  util::ThreadExecutor executor("queue");
  Gate gate;
  Controller controller({.reconciler = &gate, .executor = &executor, .metrics = &metrics},
                        {.name = "thing", .max_concurrent = 1});
  WorkerPool pool;
  pool.Start(&controller);
  controller.queue().Add({.ns = "lab", .name = "a"});
  gate.first.WaitForNotification();
  controller.queue().Add({.ns = "lab", .name = "b"});
  controller.ShutDown();
  gate.open.Notify();
  pool.Join();
  EXPECT_EQ(gate.started, 1);
  EXPECT_EQ(gate.ended, 1);
  executor.Stop();
}

}  // namespace
}  // namespace hekla::controller

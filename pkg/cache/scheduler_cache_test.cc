#include "pkg/cache/scheduler_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/cache/testing/fake_api.h"
#include "pkg/cache/testing/fake_recorder.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::cache {
namespace {

using apis::json::Value;
using model::TaskStatus;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPods[] = "/api/v1/namespaces/n/pods";
constexpr char kGroups[] = "/apis/scheduling.volcano.sh/v1beta1/namespaces/n/podgroups";
constexpr char kQueues[] = "/apis/scheduling.volcano.sh/v1beta1/queues";

class SchedulerCacheTest : public ::testing::Test {
 protected:
  SchedulerCacheTest() : executor_(&clock_), api_(&executor_) {
    kube::RestClient::Options options;
    options.qps = 0;
    client_ = std::make_unique<kube::RestClient>(kube::RestClient::Deps{&api_, &executor_, nullptr},
                                                 options);
    api_.Put("/api/v1/nodes", *apis::json::Parse(
                                  R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},
            "status":{"allocatable":{"cpu":"4","pods":"10"}}})"));
  }

  static Value Pod(absl::string_view name, absl::string_view node = "") {
    Value pod = *apis::json::Parse(absl::StrCat(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":")", name,
        R"(","annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano",
            "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},
            "status":{"phase":"Pending","hostIP":"kept"}})"));
    if (!node.empty()) {
      pod.Ensure({"spec"}).Set("nodeName", node);
      pod.Ensure({"status"}).Set("phase", "Running");
    }
    return pod;
  }
  static Value Group() {
    return *apis::json::Parse(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
            "metadata":{"namespace":"n","name":"g","labels":{"keep":"me"}},
            "spec":{"minMember":1,"queue":"default","future":7},"status":{"phase":"Pending"}})");
  }
  void Start(SchedulerCache::Options options = {}) {
    cache_ = std::make_unique<SchedulerCache>(
        SchedulerCache::Deps{client_.get(), &executor_, &recorder_, nullptr, [this] { ++wakes_; }},
        options);
    cache_->Start();
    Run();
    ASSERT_TRUE(cache_->Synced()) << ::testing::PrintToString(cache_->Missing());
    Snapshot();
    api_.ClearLog();
    wakes_ = 0;
  }
  void Run(absl::Duration d = absl::Milliseconds(1)) { executor_.Advance(d); }
  const model::Tables& Snapshot() { return cache_->Snapshot().tables(); }
  std::string Uid(absl::string_view name) const { return absl::StrCat("uid-", name); }
  TaskStatus Status(absl::string_view name) {
    const model::TaskId task = cache_->Snapshot().FindTask(Uid(name));
    return task.valid() ? cache_->Snapshot().tables().tasks.status[task] : TaskStatus::kUnknown;
  }
  bool Known(absl::string_view name) { return cache_->Snapshot().FindTask(Uid(name)).valid(); }
  // As a committed statement does.
  void Bind(absl::string_view name, absl::string_view node = "n1") {
    model::Cluster& cluster = cache_->Snapshot();
    cluster.MoveTask(cluster.FindTask(Uid(name)), TaskStatus::kBinding, cluster.FindNode(node));
    ports::BindRequest request;
    request.uid = Uid(name);
    request.namespace_name = "n";
    request.name = std::string(name);
    request.node = std::string(node);
    cache_->Bind({request});
  }
  void Evict(absl::string_view name) {
    model::Cluster& cluster = cache_->Snapshot();
    const model::TaskId task = cluster.FindTask(Uid(name));
    cluster.MoveTask(task, TaskStatus::kReleasing, cluster.tables().tasks.node[task]);
    cache_->Evict({{Uid(name), "n", std::string(name), "n", "g", "preempt"}});
  }
  // The first request that matches gets the fault.
  void FailOnce(std::string needle, testing::FakeApi::Fault fault) { FailTimes(1, needle, fault); }
  void FailTimes(int times, std::string needle, testing::FakeApi::Fault fault) {
    api_.fault = [needle, fault, left = times](
                     const http::Request& r) mutable -> std::optional<testing::FakeApi::Fault> {
      if (left <= 0 || !absl::StrContains(absl::StrCat(r.method, " ", r.target), needle)) {
        return std::nullopt;
      }
      --left;
      return fault;
    };
  }
  const Value& Stored(absl::string_view name) {
    const Value* pod = api_.Find(absl::StrCat(kPods, "/", name));
    static const Value* const none = new Value();
    return pod == nullptr ? *none : *pod;
  }
  static const Value* Condition(const Value& object, absl::string_view type) {
    const Value* list = object.FindPath({"status", "conditions"});
    if (list == nullptr) return nullptr;
    for (const Value& c : list->as_array()) {
      if (c.GetString("type") == type) return &c;
    }
    return nullptr;
  }

  util::FakeClock clock_;
  util::ManualExecutor executor_;
  testing::FakeApi api_;
  testing::FakeRecorder recorder_;
  std::unique_ptr<kube::RestClient> client_;
  std::unique_ptr<SchedulerCache> cache_;
  int wakes_ = 0;
};

TEST_F(SchedulerCacheTest, NothingIsSyncedBeforeEveryListIsThere) {
  api_.fault = [](const http::Request& r) -> std::optional<testing::FakeApi::Fault> {
    if (absl::StrContains(r.target, "/pods")) return testing::FakeApi::Fault{403};
    return std::nullopt;
  };
  cache_ = std::make_unique<SchedulerCache>(
      SchedulerCache::Deps{client_.get(), &executor_, nullptr, nullptr, nullptr},
      SchedulerCache::Options{});
  cache_->Start();
  Run(absl::Seconds(1));
  EXPECT_FALSE(cache_->Synced());
  EXPECT_THAT(cache_->Missing(), ElementsAre(HasSubstr("pods: ")));
  api_.fault = nullptr;
  Run(absl::Minutes(2));
  EXPECT_TRUE(cache_->Synced());
}

TEST_F(SchedulerCacheTest, MirrorFollowsTheServer) {
  api_.Put(kGroups, Group());
  api_.Put(kPods, Pod("a"));
  Start();
  EXPECT_EQ(Status("a"), TaskStatus::kPending);
  EXPECT_TRUE(cache_->Snapshot().FindNode("n1").valid());
  EXPECT_TRUE(cache_->Snapshot().FindJob("n/g").valid());
  api_.Put(kPods, Pod("b", "n1"));
  Run();
  EXPECT_GT(wakes_, 0);
  EXPECT_EQ(Status("b"), TaskStatus::kRunning);
  api_.Remove(absl::StrCat(kPods, "/a"));
  Run();
  EXPECT_FALSE(Known("a"));
}

TEST_F(SchedulerCacheTest, MissingQueuesAreMade) {
  api_.Put(
      kQueues,
      *apis::json::Parse(
          R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"root"},
          "spec":{"weight":3}})"));
  Start();
  Run();
  EXPECT_EQ(api_.Find(absl::StrCat(kQueues, "/root"))->At("spec").GetInt("weight"), 3);
  const Value* made = api_.Find(absl::StrCat(kQueues, "/default"));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->At("spec").GetInt("weight"), 1);
  EXPECT_TRUE(made->At("spec").GetBool("reclaimable"));
  EXPECT_TRUE(cache_->Snapshot().FindQueue("default").valid());
}

TEST_F(SchedulerCacheTest, QueueCreationIsTriedAgain) {
  FailTimes(3, "POST", {500});
  Start();
  EXPECT_EQ(api_.Find(absl::StrCat(kQueues, "/default")), nullptr);
  Run(absl::Seconds(5));
  EXPECT_NE(api_.Find(absl::StrCat(kQueues, "/root")), nullptr);
  EXPECT_NE(api_.Find(absl::StrCat(kQueues, "/default")), nullptr);
}

TEST_F(SchedulerCacheTest, BindingIsSentOnceAndConfirmedByTheWatch) {
  api_.Put(kPods, Pod("a"));
  Start();
  Bind("a");
  EXPECT_EQ(cache_->PendingWrites(), 1u);
  Run();
  EXPECT_THAT(api_.log(), ElementsAre("POST /api/v1/namespaces/n/pods/a/binding"));
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
  EXPECT_EQ(cache_->PendingWrites(), 0u);
  EXPECT_THAT(recorder_.events,
              ElementsAre("Pod n/a Normal Scheduled: Successfully assigned n/a to n1"));
}

TEST_F(SchedulerCacheTest, RefusedBindingRestoresTheTaskAndTellsWhy) {
  api_.Put(kPods, Pod("a"));
  Start();
  FailOnce("/binding", {500});
  Bind("a");
  Run();
  EXPECT_EQ(Status("a"), TaskStatus::kPending);
  EXPECT_EQ(Stored("a").At("spec").GetString("nodeName"), "");
  const Value* condition = Condition(Stored("a"), "PodScheduled");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->GetString("reason"), "SchedulerError");
  EXPECT_THAT(std::string(condition->GetString("message")),
              HasSubstr("failed to bind to node n1: "));
  EXPECT_EQ(Stored("a").At("status").GetString("hostIP"), "kept");
  EXPECT_THAT(recorder_.events, ElementsAre(HasSubstr("Warning FailedScheduling: failed to bind")));
  EXPECT_EQ(api_.Count("POST"), 1);
}

TEST_F(SchedulerCacheTest, LostAnswerOfABindingThatTookEffectIsSuccess) {
  api_.Put(kPods, Pod("a"));
  Start();
  api_.HoldWatches(true);
  FailOnce("/binding", {.status = 0, .applied = true});
  Bind("a");
  Run();
  EXPECT_EQ(api_.Count("POST"), 1);
  EXPECT_EQ(api_.Count("GET"), 1);
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
  EXPECT_THAT(recorder_.events, ElementsAre(HasSubstr("Normal Scheduled")));
  api_.HoldWatches(false);
  Run();
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
}

TEST_F(SchedulerCacheTest, LostBindingThatDidNotTakeEffectComesBack) {
  api_.Put(kPods, Pod("a"));
  Start();
  FailOnce("/binding", {.status = 0, .applied = false});
  Bind("a");
  Run();
  EXPECT_EQ(Status("a"), TaskStatus::kPending);
  // The second try goes through.
  Bind("a");
  Run();
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
}

TEST_F(SchedulerCacheTest, TooManyRequestsIsRepeatedWithoutTellingAnybody) {
  api_.Put(kPods, Pod("a"));
  Start();
  FailTimes(3, "/binding", {429});
  Bind("a");
  Run(absl::Seconds(2));
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
  EXPECT_EQ(api_.Count("POST"), 4);
  EXPECT_EQ(api_.Count("GET"), 0);
  EXPECT_THAT(recorder_.events, ElementsAre(HasSubstr("Scheduled")));
}

TEST_F(SchedulerCacheTest, PodBoundElsewhereOrGoneOrReplacedIsRecognised) {
  api_.Put(kPods, Pod("elsewhere"));
  api_.Put(kPods, Pod("gone"));
  api_.Put(kPods, Pod("replaced"));
  Start();
  api_.HoldWatches(true);
  api_.Put(kPods, Pod("elsewhere", "n2"));
  api_.Remove(absl::StrCat(kPods, "/gone"));
  api_.Remove(absl::StrCat(kPods, "/replaced"));
  Value other = Pod("replaced");
  other.Ensure({"metadata"}).Set("uid", "uid-other");
  api_.Put(kPods, other);
  for (const char* name : {"elsewhere", "gone", "replaced"}) Bind(name);
  Run();
  EXPECT_EQ(Status("elsewhere"), TaskStatus::kRunning);
  EXPECT_FALSE(Known("gone"));
  EXPECT_FALSE(Known("replaced"));
  api_.HoldWatches(false);
  Run();
  EXPECT_TRUE(Known("other"));
  EXPECT_EQ(Stored("replaced").At("spec").GetString("nodeName"), "");
  EXPECT_EQ(Status("elsewhere"), TaskStatus::kRunning);
}

TEST_F(SchedulerCacheTest, RepeatedFailuresOfOnePodWaitLonger) {
  api_.Put(kPods, Pod("a"));
  Start();
  FailTimes(3, "/binding", {500});
  for (int i = 0; i < 3; ++i) {
    Bind("a");
    Run(absl::Milliseconds(i == 2 ? 15 : 1));
    if (i == 0) {
      EXPECT_EQ(Status("a"), TaskStatus::kPending);
      continue;
    }
    // 10 ms after the second failure, 20 ms after the third.
    EXPECT_EQ(Status("a"), TaskStatus::kBinding) << i;
    Run(absl::Milliseconds(15));
    EXPECT_EQ(Status("a"), TaskStatus::kPending) << i;
  }
}

TEST_F(SchedulerCacheTest, ServerThatIsAwayLosesAndDoublesNothing) {
  api_.Put(kPods, Pod("a"));
  Start();
  api_.fault = [](const http::Request&) { return testing::FakeApi::Fault{}; };
  Bind("a");
  Run(absl::Seconds(40));
  EXPECT_EQ(Status("a"), TaskStatus::kBinding);
  EXPECT_GT(cache_->PendingWrites(), 0u);
  api_.fault = nullptr;
  Run(absl::Minutes(2));
  EXPECT_EQ(Status("a"), TaskStatus::kPending);
  Bind("a");
  Run();
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
}

// Spec scheduler-core E23.
TEST_F(SchedulerCacheTest, EvictionWorkedExample) {
  api_.Put(kGroups, Group());
  api_.Put(kPods, Pod("v", "n1"));
  Start();
  Value before_delete;
  api_.fault = [&](const http::Request& r) -> std::optional<testing::FakeApi::Fault> {
    if (r.method == "DELETE") before_delete = Stored("v");
    return std::nullopt;
  };
  Evict("v");
  Run();
  EXPECT_THAT(recorder_.events,
              ElementsAre("PodGroup n/g Normal Evict: preempt",
                          "Pod n/v Warning Evict: Pod is evicted, because of preempt"));
  const Value* ready = Condition(before_delete, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->GetString("status"), "False");
  EXPECT_EQ(ready->GetString("reason"), "Evict");
  EXPECT_EQ(ready->GetString("message"), "Pod is evicted, because of preempt");
  const Value* target = Condition(before_delete, "DisruptionTarget");
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->GetString("status"), "True");
  EXPECT_EQ(target->GetString("reason"), "PreemptionByScheduler");
  EXPECT_EQ(target->GetString("message"),
            "volcano: preempting to accommodate a higher priority pod");
  EXPECT_THAT(api_.log(), ElementsAre("GET /api/v1/namespaces/n/pods/v",
                                      "PUT /api/v1/namespaces/n/pods/v/status",
                                      "DELETE /api/v1/namespaces/n/pods/v"));
  EXPECT_FALSE(Known("v"));
}

TEST_F(SchedulerCacheTest, FailedEvictionComesBackAndTheNextOneDeletesAllTheSame) {
  api_.Put(kPods, Pod("v", "n1"));
  Start();
  FailOnce("DELETE", {500});
  Evict("v");
  Run();
  EXPECT_EQ(Status("v"), TaskStatus::kRunning);
  // The conditions stand already; upstream would stop here without deleting.
  Evict("v");
  Run();
  EXPECT_FALSE(Known("v"));
}

TEST_F(SchedulerCacheTest, EvictionSurvivesAConflictAndSparesANewPodOfThatName) {
  api_.Put(kPods, Pod("v", "n1"));
  api_.Put(kPods, Pod("w", "n1"));
  Start();
  FailOnce("pods/v/status", {409});
  Evict("v");
  Run();
  EXPECT_FALSE(Known("v"));
  EXPECT_EQ(api_.Count("GET"), 2);
  api_.HoldWatches(true);
  api_.Remove(absl::StrCat(kPods, "/w"));
  Value other = Pod("w", "n1");
  other.Ensure({"metadata"}).Set("uid", "uid-other");
  api_.Put(kPods, other);
  Evict("w");
  Run();
  EXPECT_EQ(api_.Count("DELETE /api/v1/namespaces/n/pods/w"), 0);
}

class StatusTest : public SchedulerCacheTest {
 protected:
  ports::PodGroupStatus GroupStatus(std::string message, bool message_only = false) {
    ports::PodGroupStatus status;
    status.namespace_name = "n";
    status.name = "g";
    status.uid = Uid("g");
    status.phase = model::PodGroupPhase::kInqueue;
    status.conditions.push_back(
        {"Unschedulable", "True", "NotEnoughResources", std::move(message), "id", clock_.Now()});
    status.message_only = message_only;
    return status;
  }
  ports::PodConditionWrite PodWrite(std::string message) {
    return {Uid("a"), "n", "a", "Unschedulable", std::move(message), ""};
  }
};

TEST_F(StatusTest, PodGroupIsWrittenWholeAndItsEchoWakesNobody) {
  api_.Put(kGroups, Group());
  Start();
  cache_->WritePodGroup(GroupStatus("m"));
  Run();
  const Value& group = *api_.Find(absl::StrCat(kGroups, "/g"));
  EXPECT_EQ(group.At("status").GetString("phase"), "Inqueue");
  EXPECT_EQ(group.At("spec").GetInt("future"), 7);
  EXPECT_EQ(group.At("metadata").At("labels").GetString("keep"), "me");
  EXPECT_EQ(api_.Count("PUT"), 1);
  EXPECT_EQ(wakes_, 0);
  // The same again is not sent, whatever its time and id.
  ports::PodGroupStatus same = GroupStatus("m");
  same.conditions[0].transition_id = "other";
  same.conditions[0].last_transition += absl::Hours(1);
  cache_->WritePodGroup(same);
  Run();
  EXPECT_EQ(api_.Count("PUT"), 1);
  // Somebody else's change does wake.
  Value changed = group;
  changed.Ensure({"spec"}).Set("minMember", 2);
  api_.Put(kGroups, changed);
  Run();
  EXPECT_GT(wakes_, 0);
}

TEST_F(StatusTest, PodGroupConflictIsTriedAgainWithWhatTheWatchBrings) {
  api_.Put(kGroups, Group());
  Start();
  api_.HoldWatches(true);
  Value changed = Group();
  changed.Ensure({"spec"}).Set("minMember", 2);
  api_.Put(kGroups, changed);
  cache_->WritePodGroup(GroupStatus("m"));
  Run(absl::Milliseconds(500));
  EXPECT_EQ(api_.Count("PUT"), 1);
  api_.HoldWatches(false);
  Run(absl::Seconds(10));
  const Value& group = *api_.Find(absl::StrCat(kGroups, "/g"));
  EXPECT_EQ(group.At("status").GetString("phase"), "Inqueue");
  EXPECT_EQ(group.At("spec").GetInt("minMember"), 2);
  EXPECT_EQ(cache_->PendingWrites(), 0u);
}

TEST_F(StatusTest, WordingAloneIsWrittenAtMostOncePerSecond) {
  api_.Put(kGroups, Group());
  Start();
  cache_->WritePodGroup(GroupStatus("0"));
  Run();
  for (int i = 1; i <= 5; ++i) {
    cache_->WritePodGroup(GroupStatus(absl::StrCat(i), /*message_only=*/true));
    Run();
  }
  EXPECT_EQ(api_.Count("PUT"), 2);
  Run(absl::Seconds(1));
  EXPECT_EQ(api_.Count("PUT"), 3);
  EXPECT_EQ(
      Condition(*api_.Find(absl::StrCat(kGroups, "/g")), "Unschedulable")->GetString("message"),
      "5");
}

TEST_F(StatusTest, PodConditionIsWrittenIntoTheFreshStatus) {
  api_.Put(kPods, Pod("a"));
  Start();
  api_.HoldWatches(true);
  Value fresh = Pod("a");
  fresh.Ensure({"status"}).Set("hostIP", "changed");
  api_.Put(kPods, fresh);
  ports::PodConditionWrite write = PodWrite("no room");
  write.nominated_node = "n1";
  cache_->WritePodCondition(write);
  Run();
  EXPECT_EQ(Condition(Stored("a"), "PodScheduled")->GetString("message"), "no room");
  EXPECT_EQ(Stored("a").At("status").GetString("hostIP"), "changed");
  EXPECT_EQ(Stored("a").At("status").GetString("nominatedNodeName"), "n1");
  EXPECT_EQ(wakes_, 0);
  cache_->WritePodCondition(write);
  Run();
  EXPECT_EQ(api_.Count("PUT"), 1);
}

TEST_F(StatusTest, PodConditionIsNotWrittenOntoABoundPod) {
  api_.Put(kPods, Pod("a"));
  Start();
  api_.HoldWatches(true);
  api_.Put(kPods, Pod("a", "n1"));
  cache_->WritePodCondition(PodWrite("no room"));
  Run();
  EXPECT_EQ(api_.Count("PUT"), 0);
}

TEST_F(StatusTest, PodConditionIsRepeatedUntilTheServerTakesIt) {
  api_.Put(kPods, Pod("a"));
  Start();
  FailTimes(4, "PUT", {503});
  cache_->WritePodCondition(PodWrite("no room"));
  Run(absl::Minutes(2));
  ASSERT_NE(Condition(Stored("a"), "PodScheduled"), nullptr);
  EXPECT_EQ(cache_->PendingWrites(), 0u);
}

TEST_F(StatusTest, PodConditionHasOneEventHoweverOftenItIsTried) {
  api_.Put(kPods, Pod("a"));
  Start();
  FailTimes(3, "PUT", {503});
  cache_->WritePodCondition(PodWrite("no room"));
  Run(absl::Minutes(1));
  EXPECT_EQ(api_.Count("PUT"), 4);
  EXPECT_THAT(recorder_.events, ElementsAre("Pod n/a Warning FailedScheduling: no room"));
}

// Others have written it: the watch has not told yet.
TEST_F(StatusTest, PodConditionThatIsThereHasNoEvent) {
  api_.Put(kPods, Pod("a"));
  Start();
  api_.HoldWatches(true);
  Value told = Pod("a");
  told.Ensure({"status"})["conditions"].Append(*apis::json::Parse(
      R"({"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room"})"));
  api_.Put(kPods, told);
  cache_->WritePodCondition(PodWrite("no room"));
  Run();
  EXPECT_EQ(api_.Count("PUT"), 0);
  EXPECT_THAT(recorder_.events, ElementsAre());
}

TEST_F(StatusTest, NewestPodConditionTakesThePlaceOfOneThatWaits) {
  api_.Put(kPods, Pod("a"));
  Start();
  for (int i = 0; i <= 5; ++i) cache_->WritePodCondition(PodWrite(absl::StrCat(i)));
  Run();
  EXPECT_EQ(Condition(Stored("a"), "PodScheduled")->GetString("message"), "5");
  // The first was under way.
  EXPECT_THAT(recorder_.events, ElementsAre("Pod n/a Warning FailedScheduling: 0",
                                            "Pod n/a Warning FailedScheduling: 5"));
  EXPECT_EQ(api_.Count("PUT"), 2);
}

// What the pod shows is about to change.
TEST_F(StatusTest, PodConditionThatIsAsBeforeIsWrittenOverOneUnderWay) {
  api_.Put(kPods, Pod("a"));
  Start();
  cache_->WritePodCondition(PodWrite("A"));
  Run();
  cache_->WritePodCondition(PodWrite("B"));
  cache_->WritePodCondition(PodWrite("A"));
  Run();
  EXPECT_EQ(Condition(Stored("a"), "PodScheduled")->GetString("message"), "A");
  EXPECT_EQ(cache_->PendingWrites(), 0u);
}

TEST_F(StatusTest, QueueStatusIsWrittenWhereAmountsDiffer) {
  api_.Put(
      kQueues,
      *apis::json::Parse(
          R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},
          "spec":{"weight":3},"status":{"state":"Open","allocated":{"cpu":"1000m"}}})"));
  Start();
  cache_->WriteQueue({"q", 0, {{"cpu", "1"}}});
  Run();
  EXPECT_EQ(api_.Count("PUT"), 0);
  FailOnce("queues/q/status", {409});
  cache_->WriteQueue({"q", 0, {{"cpu", "1500m"}, {"memory", "0"}}});
  Run();
  const Value& queue = *api_.Find(absl::StrCat(kQueues, "/q"));
  EXPECT_EQ(queue.At("status").At("allocated").GetString("cpu"), "1500m");
  EXPECT_EQ(queue.At("status").GetString("state"), "Open");
  EXPECT_EQ(wakes_, 0);
}

TEST_F(StatusTest, QueueStatusIsRepeatedUntilTheServerTakesIt) {
  api_.Put(kQueues, *apis::json::Parse(
                        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",
                   "metadata":{"name":"q"},"spec":{"weight":3}})"));
  Start();
  FailTimes(4, "queues/q/status", {503});
  cache_->WriteQueue({"q", 0, {{"cpu", "1"}}});
  Run(absl::Minutes(1));
  EXPECT_EQ(api_.Find(absl::StrCat(kQueues, "/q"))->At("status").At("allocated").GetString("cpu"),
            "1");
  EXPECT_EQ(cache_->PendingWrites(), 0u);
}

// A server that has just started refuses everybody for a moment; nobody decides on the status anew.
TEST_F(StatusTest, WhatAServerRefusesUntilItKnowsItsRolesIsWrittenAllTheSame) {
  api_.Put(kGroups, Group());
  api_.Put(kPods, Pod("a"));
  api_.Put(kQueues, *apis::json::Parse(
                        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",
                   "metadata":{"name":"q"},"spec":{"weight":3}})"));
  for (const int status : {403, 401}) {
    SCOPED_TRACE(status);
    if (status == 403) Start();
    const std::string text = absl::StrCat(status);
    FailTimes(6, "PUT", {status});
    cache_->WritePodGroup(GroupStatus(text));
    cache_->WritePodCondition(PodWrite(text));
    cache_->WriteQueue({"q", 0, {{"cpu", text}}});
    Run(absl::Minutes(2));
    const Value& group = *api_.Find(absl::StrCat(kGroups, "/g"));
    ASSERT_EQ(group.At("status").At("conditions").size(), 1u);
    EXPECT_EQ(group.At("status").At("conditions").as_array()[0].GetString("message"), text);
    ASSERT_NE(Condition(Stored("a"), "PodScheduled"), nullptr);
    EXPECT_EQ(Condition(Stored("a"), "PodScheduled")->GetString("message"), text);
    EXPECT_EQ(api_.Find(absl::StrCat(kQueues, "/q"))->At("status").At("allocated").GetString("cpu"),
              text);
    EXPECT_EQ(cache_->PendingWrites(), 0u);
  }
}

TEST_F(StatusTest, EventsAndGates) {
  api_.Put(kPods, Pod("a"));
  Start();
  cache_->Emit({ports::EventWrite::Object::kPodGroup, "n", "g", "u", true, "Unschedulable", "m"});
  cache_->RemoveGate({Uid("a"), "n", "a"});
  Run();
  EXPECT_THAT(recorder_.events, ElementsAre("PodGroup n/g Warning Unschedulable: m"));
  EXPECT_THAT(api_.log(), ElementsAre("PATCH /api/v1/namespaces/n/pods/a"));
}

TEST_F(SchedulerCacheTest, StopSendsWhatWasDecided) {
  for (int i = 0; i < 300; ++i) api_.Put(kPods, Pod(absl::StrCat("p", i)));
  Start();
  for (int i = 0; i < 300; ++i) Bind(absl::StrCat("p", i));
  bool stopped = false;
  cache_->Stop([&] { stopped = true; });
  Bind("p0");
  EXPECT_FALSE(stopped);
  Run();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(api_.Count("POST"), 300);
}

TEST_F(SchedulerCacheTest, VolumesAreBoundBeforeThePod) {
  api_.Put(kPods, Pod("a"));
  api_.Put(
      "/api/v1/persistentvolumes",
      *apis::json::Parse(
          R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv1"},"spec":{}})"));
  for (const char* name : {"c1", "c2"}) {
    api_.Put("/api/v1/namespaces/n/persistentvolumeclaims",
             *apis::json::Parse(absl::StrCat(
                 R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"n",
            "name":")",
                 name, R"("},"spec":{}})")));
  }
  Start();
  model::Cluster& cluster = cache_->Snapshot();
  cluster.MoveTask(cluster.FindTask("uid-a"), TaskStatus::kBinding, cluster.FindNode("n1"));
  ports::BindRequest request{"uid-a", "n", "a", "n1", {}, {}};
  request.volumes.bind_volumes.push_back({"pv1", "n", "c1", "uid-c1"});
  request.volumes.select_nodes.push_back({"n", "c2"});
  cache_->Bind({request});
  Run();
  const std::string claims = "/api/v1/namespaces/n/persistentvolumeclaims/";
  EXPECT_EQ(api_.Find("/api/v1/persistentvolumes/pv1")->At("spec").At("claimRef").GetString("uid"),
            "uid-c1");
  EXPECT_EQ(api_.Find(claims + "c2")
                ->At("metadata")
                .At("annotations")
                .GetString("volume.kubernetes.io/selected-node"),
            "n1");
  EXPECT_EQ(api_.Count("POST"), 0);
  for (const char* name : {"c1", "c2"}) {
    Value claim = *api_.Find(claims + name);
    claim.Ensure({"spec"}).Set("volumeName", "pv");
    claim.Ensure({"metadata", "annotations"}).Set("pv.kubernetes.io/bind-completed", "yes");
    api_.Put("/api/v1/namespaces/n/persistentvolumeclaims", claim);
  }
  Run(absl::Seconds(2));
  EXPECT_EQ(api_.Count("POST"), 1);
  EXPECT_EQ(Status("a"), TaskStatus::kBound);
}

TEST_F(SchedulerCacheTest, VolumesThatStayUnboundFailTheBinding) {
  api_.Put(kPods, Pod("a"));
  api_.Put("/api/v1/namespaces/n/persistentvolumeclaims",
           *apis::json::Parse(
               R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"n",
          "name":"c"},"spec":{}})"));
  Start();
  model::Cluster& cluster = cache_->Snapshot();
  cluster.MoveTask(cluster.FindTask("uid-a"), TaskStatus::kBinding, cluster.FindNode("n1"));
  ports::BindRequest request{"uid-a", "n", "a", "n1", {}, {}};
  request.volumes.select_nodes.push_back({"n", "c"});
  request.volumes.timeout = absl::Seconds(5);
  cache_->Bind({request});
  Run(absl::Seconds(10));
  EXPECT_EQ(Status("a"), TaskStatus::kPending);
  EXPECT_EQ(Condition(Stored("a"), "PodScheduled")->GetString("message"),
            "execute preBind for pod n/a failed: binding volumes: context deadline exceeded, "
            "resync the task");
}

TEST(SchedulerCacheWithoutClientTest, ObjectsComeThroughIngest) {
  util::FakeClock clock;
  util::ManualExecutor executor(&clock);
  SchedulerCache cache({nullptr, &executor, nullptr, nullptr, nullptr}, {});
  HEKLA_ASSERT_OK(cache.Ingest(
      *apis::json::Parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})")));
  HEKLA_ASSERT_OK(cache.Ingest(*apis::json::Parse(R"({"apiVersion":"v1","kind":"Secret"})")));
  EXPECT_THAT(cache.Ingest(
                  *apis::json::Parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":7}})")),
              util::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                      "metadata.name: expected string, got integer"));
  EXPECT_FALSE(cache.Synced());
  cache.MarkSynced();
  EXPECT_TRUE(cache.Synced());
  EXPECT_TRUE(cache.Snapshot().FindNode("n1").valid());
  EXPECT_EQ(cache.PendingDeltas(), 0u);
  EXPECT_EQ(cache.PendingWrites(), 0u);
}

}  // namespace
}  // namespace hekla::cache

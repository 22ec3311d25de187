#include "pkg/cache/stores/kind_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "pkg/cache/stores/stores.h"
#include "pkg/model/cluster.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::cache {
namespace {

using apis::json::Value;
using kube::EventType;

Value Node(absl::string_view name, int version, absl::string_view extra = "") {
  return *apis::json::Parse(absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")",
                                         name, R"(","uid":"u-)", name, R"(","resourceVersion":")",
                                         version, R"("},"status":{"allocatable":{"cpu":"4")", extra,
                                         "}}}"));
}

Value Pod(absl::string_view name, int version, absl::string_view spec = "",
          absl::string_view uid = "") {
  return *apis::json::Parse(absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"n","name":")", name,
      R"(","uid":")", uid.empty() ? name : uid, R"(","resourceVersion":")", version,
      R"("},"spec":{"schedulerName":"volcano")", spec, R"(},"status":{"phase":"Pending"}})"));
}

class KindStoreTest : public ::testing::Test {
 protected:
  KindStoreTest()
      : dictionary_(std::make_shared<model::Dictionary>()),
        deltas_([this] { ++wakes_; }),
        stores_(dictionary_, &deltas_, {}) {}

  kube::ReflectorSink& Sink(absl::string_view kind) {
    for (const WatchedKind& watched : stores_.kinds()) {
      if (watched.resource.kind == kind) return *watched.store;
    }
    ADD_FAILURE() << kind;
    return *stores_.kinds()[0].store;
  }
  // What was queued since the last call, such as "+n1 -n2".
  std::string Taken() {
    std::vector<model::Delta> deltas;
    deltas_.TakeAll(deltas);
    std::vector<std::string> out;
    for (const model::Delta& delta : deltas) {
      if (auto* d = std::get_if<model::Upsert<model::NodeSpec>>(&delta)) {
        out.push_back("+" + d->spec->name);
      } else if (auto* d = std::get_if<model::Remove<model::NodeSpec>>(&delta)) {
        out.push_back("-" + d->key);
      } else if (auto* d = std::get_if<model::Upsert<model::TaskSpec>>(&delta)) {
        out.push_back("+" + d->spec->uid);
      } else if (auto* d = std::get_if<model::Remove<model::TaskSpec>>(&delta)) {
        out.push_back("-" + d->key);
      } else {
        out.push_back("?");
      }
    }
    return absl::StrJoin(out, " ");
  }

  std::shared_ptr<model::Dictionary> dictionary_;
  int wakes_ = 0;
  DeltaQueue deltas_;
  Stores stores_;
};

TEST_F(KindStoreTest, FullStateAddsAndRemoves) {
  kube::ReflectorSink& nodes = Sink("Node");
  nodes.BeginReplace();
  nodes.ReplaceItem(Node("n1", 1));
  nodes.ReplaceItem(Node("n2", 2));
  nodes.ReplaceItem(Node("n3", 3));
  nodes.EndReplace("5");
  EXPECT_EQ(Taken(), "+n1 +n2 +n3");
  // Unchanged objects are passed over, what is not named is gone, in the order of names.
  nodes.BeginReplace();
  nodes.ReplaceItem(Node("n2", 7, R"(,"memory":"1Gi")"));
  nodes.EndReplace("8");
  EXPECT_EQ(Taken(), "+n2 -n1 -n3");
}

TEST_F(KindStoreTest, AbortedReplaceRemovesNothing) {
  kube::ReflectorSink& nodes = Sink("Node");
  nodes.BeginReplace();
  nodes.ReplaceItem(Node("n1", 1));
  nodes.EndReplace("1");
  nodes.BeginReplace();
  nodes.AbortReplace();
  EXPECT_EQ(Taken(), "+n1");
}

TEST_F(KindStoreTest, HeartbeatsOfNodesTellNobody) {
  kube::ReflectorSink& nodes = Sink("Node");
  nodes.OnEvent(EventType::kAdded, Node("n1", 1));
  Taken();
  wakes_ = 0;
  nodes.OnEvent(EventType::kModified, Node("n1", 2));
  EXPECT_EQ(Taken(), "");
  EXPECT_EQ(wakes_, 0);
  nodes.OnEvent(EventType::kModified, Node("n1", 3, R"(,"memory":"1Gi")"));
  EXPECT_EQ(Taken(), "+n1");
  EXPECT_EQ(wakes_, 1);
}

TEST_F(KindStoreTest, StatusUpdatesOfWorkloadsTellNobody) {
  const auto set = [](int version, int ready, absl::string_view label) {
    return *apis::json::Parse(absl::StrCat(
        R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"namespace":"n","name":"r",
            "resourceVersion":")",
        version, R"("},"spec":{"selector":{"matchLabels":{"a":")", label,
        R"("}}},"status":{"readyReplicas":)", ready, "}}"));
  };
  kube::ReflectorSink& sets = Sink("ReplicaSet");
  sets.OnEvent(EventType::kAdded, set(1, 0, "x"));
  EXPECT_EQ(Taken(), "?");
  sets.OnEvent(EventType::kModified, set(2, 1, "x"));
  EXPECT_EQ(Taken(), "");
  sets.OnEvent(EventType::kModified, set(3, 1, "y"));
  EXPECT_EQ(Taken(), "?");
}

TEST_F(KindStoreTest, OlderEventsAndRepeatsArePassedOver) {
  kube::ReflectorSink& pods = Sink("Pod");
  pods.OnEvent(EventType::kAdded, Pod("p", 5));
  EXPECT_EQ(Taken(), "+p");
  pods.OnEvent(EventType::kModified, Pod("p", 5));
  pods.OnEvent(EventType::kModified, Pod("p", 4, R"(,"priority":3)"));
  EXPECT_EQ(Taken(), "");
}

TEST_F(KindStoreTest, PodThatCameAgainUnderItsNameIsAnotherOne) {
  kube::ReflectorSink& pods = Sink("Pod");
  pods.OnEvent(EventType::kAdded, Pod("p", 5));
  pods.OnEvent(EventType::kModified, Pod("p", 9, "", "p2"));
  EXPECT_EQ(Taken(), "+p -p +p2");
}

TEST_F(KindStoreTest, ForeignPodsCountOnceTheyHaveANode) {
  kube::ReflectorSink& pods = Sink("Pod");
  const auto foreign = [](int version, absl::string_view node) {
    Value pod = Pod("f", version);
    pod.Ensure({"spec"}).Set("schedulerName", "other");
    if (!node.empty()) pod.Ensure({"spec"}).Set("nodeName", node);
    return pod;
  };
  pods.OnEvent(EventType::kAdded, foreign(1, ""));
  EXPECT_EQ(Taken(), "");
  pods.OnEvent(EventType::kModified, foreign(2, "n1"));
  EXPECT_EQ(Taken(), "+f");
  pods.OnEvent(EventType::kDeleted, foreign(3, "n1"));
  EXPECT_EQ(Taken(), "-f");
}

TEST_F(KindStoreTest, ObjectThatCannotBeDecodedIsLeftOutAlone) {
  kube::ReflectorSink& pods = Sink("Pod");
  pods.BeginReplace();
  pods.ReplaceItem(Pod("good", 1));
  pods.ReplaceItem(Pod("bad", 2, R"(,"priority":"high")"));
  pods.EndReplace("3");
  EXPECT_EQ(Taken(), "+good");
  EXPECT_EQ(stores_.rejected(), 1);
  EXPECT_THAT(
      stores_.Put(Pod("bad", 4, R"(,"containers":[{"resources":{"requests":{"cpu":"x"}}}])")),
      util::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                              "spec.containers[0].resources.requests.cpu: invalid quantity"));
  // A known one keeps its last good state.
  pods.OnEvent(EventType::kModified, Pod("good", 5, R"(,"priority":"high")"));
  EXPECT_EQ(Taken(), "");
  ASSERT_NE(stores_.pods().Find("n/good"), nullptr);
}

TEST_F(KindStoreTest, AnswersRunAheadButBringNothingBack) {
  kube::ReflectorSink& pods = Sink("Pod");
  pods.OnEvent(EventType::kAdded, Pod("p", 5));
  Taken();
  const auto seen = stores_.pods().Observe(Pod("p", 8, R"(,"priority":7)"));
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->priority, 7);
  EXPECT_EQ(Taken(), "");
  // An older answer does not hide what is known.
  EXPECT_EQ(stores_.pods().Observe(Pod("p", 6))->priority, 7);
  pods.OnEvent(EventType::kDeleted, Pod("p", 9));
  EXPECT_EQ(Taken(), "-p");
  EXPECT_EQ(stores_.pods().Observe(Pod("p", 8)), nullptr);
  EXPECT_EQ(stores_.pods().size(), 0u);
}

// An answer from before the deletion arrives while the list from after it is under way. No event of
// the deletion will come: the watch begins where the list ends.
TEST_F(KindStoreTest, AnswersAreNoSignOfLifeForAList) {
  kube::ReflectorSink& pods = Sink("Pod");
  pods.OnEvent(EventType::kAdded, Pod("p", 5));
  pods.OnEvent(EventType::kAdded, Pod("q", 6));
  pods.BeginReplace();
  stores_.pods().Observe(Pod("p", 7));
  stores_.pods().ObserveQuietly(Pod("q", 8));
  Taken();
  pods.EndReplace("11");
  EXPECT_EQ(Taken(), "-p -q");
}

TEST_F(KindStoreTest, OwnConditionWritesWakeNobody) {
  kube::ReflectorSink& pods = Sink("Pod");
  pods.OnEvent(EventType::kAdded, Pod("p", 5));
  wakes_ = 0;
  Value echo = Pod("p", 6);
  echo.Ensure({"status"})
      .Set(
          "conditions",
          *apis::json::Parse(
              R"([{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m"}])"));
  pods.OnEvent(EventType::kModified, echo);
  EXPECT_EQ(wakes_, 0);
  EXPECT_EQ(Taken(), "+p +p");
  EXPECT_EQ(stores_.pods().Find("n/p")->spec->scheduled_condition->message, "m");
}

TEST_F(KindStoreTest, SyncedOnceEveryKindIsListedOrAbsent) {
  EXPECT_FALSE(stores_.Synced());
  for (const WatchedKind& watched : stores_.kinds()) {
    if (watched.resource.kind == "CSIDriver") {
      watched.store->OnError(absl::NotFoundError("the server could not find the resource"));
    } else if (watched.resource.kind == "Pod") {
      watched.store->OnError(absl::PermissionDeniedError("pods is forbidden"));
    } else {
      watched.store->BeginReplace();
      watched.store->EndReplace("1");
    }
  }
  EXPECT_FALSE(stores_.Synced());
  EXPECT_EQ(stores_.Missing(), std::vector<std::string>{"pods: pods is forbidden"});
  Sink("Pod").BeginReplace();
  Sink("Pod").EndReplace("1");
  EXPECT_TRUE(stores_.Synced());
  EXPECT_TRUE(stores_.Missing().empty());
}

TEST_F(KindStoreTest, MissingKindDoesNotEmptyWhatIsKnown) {
  kube::ReflectorSink& nodes = Sink("Node");
  nodes.OnEvent(EventType::kAdded, Node("n1", 1));
  nodes.OnError(absl::NotFoundError("strange proxy"));
  EXPECT_EQ(Taken(), "+n1");
}

TEST_F(KindStoreTest, WriteBackKeepsUnknownMembersButNotManagedFields) {
  HEKLA_ASSERT_OK(stores_.Put(*apis::json::Parse(
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{
          "namespace":"n","name":"g","uid":"u","resourceVersion":"3","managedFields":[{}]},
          "spec":{"minMember":1,"later":true}})")));
  const PodGroupStore::Entry* entry = stores_.pod_groups().Find("n/g");
  ASSERT_NE(entry, nullptr);
  const Value raw = *apis::json::Parse(entry->raw);
  EXPECT_TRUE(raw.At("spec").GetBool("later"));
  EXPECT_FALSE(raw.At("metadata").Has("managedFields"));
}

// However lists, events, answers and repeats mix, the tables end with what the server has.
TEST_F(KindStoreTest, PropertyTablesFollowTheServer) {
  util::Random random(99);
  model::Cluster cluster(dictionary_, {});
  kube::ReflectorSink& pods = Sink("Pod");
  std::map<std::string, Value> server;
  int version = 0;
  const auto apply = [&] {
    std::vector<model::Delta> deltas;
    deltas_.TakeAll(deltas);
    for (const model::Delta& delta : deltas) cluster.Apply(delta);
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string name = absl::StrCat("p", random.Below(8));
    ++version;
    const uint64_t what = random.Below(10);
    if (what < 5) {
      const bool known = server.contains(name);
      Value pod = Pod(name, version, absl::StrCat(R"(,"priority":)", version),
                      known ? std::string(server[name].At("metadata").GetString("uid"))
                            : absl::StrCat(name, "-", version));
      server[name] = pod;
      if (what < 4) pods.OnEvent(known ? EventType::kModified : EventType::kAdded, pod);
      if (what == 4) {  // the event is lost; a relist follows
        pods.BeginReplace();
        for (const auto& [key, object] : server) pods.ReplaceItem(object);
        pods.EndReplace(absl::StrCat(version));
      }
      if (known && random.Below(3) == 0) pods.OnEvent(EventType::kModified, pod);  // a repeat
    } else if (what < 8 && server.contains(name)) {
      const Value gone = server[name];
      server.erase(name);
      pods.OnEvent(EventType::kDeleted, gone);
      (void)stores_.pods().Observe(gone);  // a late answer
    } else if (server.contains(name)) {
      stores_.pods().ObserveQuietly(server[name]);
    }
    apply();
    ASSERT_EQ(stores_.pods().size(), server.size()) << round;
    for (const auto& [key, object] : server) {
      const model::TaskId task =
          cluster.FindTask(std::string(object.At("metadata").GetString("uid")));
      ASSERT_TRUE(task.valid()) << round << " " << key;
      ASSERT_EQ(cluster.tables().tasks.spec[task]->priority, object.At("spec").GetInt("priority"))
          << round;
    }
  }
  pods.BeginReplace();
  pods.EndReplace("1");
  apply();
  EXPECT_EQ(stores_.pods().size(), 0u);
}

// Sets what stands at a path, in all items of lists on the way; makes what is missing.
void SetAt(Value& at, absl::Span<const std::string> path, const Value& value) {
  if (path.empty()) {
    at = value;
  } else if (at.is_array()) {
    for (Value& item : at.as_array()) SetAt(item, path, value);
  } else {
    SetAt(at[path[0]], path.subspan(1), value);
  }
}

// No decoder looks at what the reflectors leave out: it would refuse a number there.
TEST_F(KindStoreTest, NothingThatIsLeftOutOfTheWatchIsRead) {
  const Value object = *apis::json::Parse(R"({"metadata":{"name":"a","namespace":"n","uid":"u"},
      "spec":{"schedulerName":"volcano","nodeName":"n1","selector":{"matchLabels":{"a":"b"}},
              "containers":[{"name":"c"},{"name":"d"}],"initContainers":[{"name":"e"}]},
      "status":{"phase":"Running","containerStatuses":[{"name":"c","resources":{}}],
                "initContainerStatuses":[{"name":"e","resources":{}}]}})");
  int paths = 0;
  for (const WatchedKind& watched : stores_.kinds()) {
    ASSERT_THAT(watched.unread, ::testing::Contains("metadata.managedFields"));
    for (const absl::string_view path : watched.unread) {
      Value changed = object;
      if (watched.resource.kind == "ReplicationController" || watched.resource.kind == "Service") {
        changed.Ensure({"spec", "selector"}) = Value::MakeObject({{"a", "b"}});
      }
      const std::vector<std::string> steps = absl::StrSplit(path, '.');
      SetAt(changed, steps, 7);
      ASSERT_NE(changed, object);
      const absl::Status put = watched.store->Put(changed);
      EXPECT_TRUE(put.ok()) << watched.resource.kind << " " << path << " " << put;
      ++paths;
    }
  }
  EXPECT_GT(paths, 30);
}

}  // namespace
}  // namespace hekla::cache

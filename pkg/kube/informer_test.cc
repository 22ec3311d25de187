#include "pkg/kube/informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/kube/testing/fake_api.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::kube {
namespace {

using apis::json::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kPods[] = "/api/v1/pods";

// A typed object: what an informer needs, and one field of its own.
struct Thing {
  apis::meta::ObjectMeta metadata;
  int64_t size = 0;
};

absl::StatusOr<Thing> DecodeThing(const Value& value) {
  Thing thing;
  const apis::meta::Reader root(value);
  apis::meta::ReadObjectMeta(root, thing.metadata);
  root.Int("size", thing.size);
  if (!root.status().ok()) return root.status();
  return thing;
}

Value Object(const std::string& name, int64_t size = 0, const std::string& ns = "ns") {
  Value object;
  object["metadata"].Set("name", name);
  object["metadata"].Set("namespace", ns);
  object.Set("size", size);
  return object;
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() { Make({}); }
  void Make(Informer<Thing>::Options options) {
    informer_.reset();
    options.reflector.resource = {"", "v1", "pods", "Pod", true};
    options.on_error = [this](const absl::Status& s) { errors_.push_back(s); };
    informer_ = std::make_unique<Informer<Thing>>(client_.get(), &executor_, DecodeThing, options);
  }
  // A handler that writes what it sees.
  Handler<Thing> Logger(std::vector<std::string>* log) {
    using Object = std::shared_ptr<const Thing>;
    Handler<Thing> handler;
    handler.on_add = [log](const Object& o, bool initial) {
      log->push_back(absl::StrCat("add ", o->metadata.name, initial ? " initial" : ""));
    };
    handler.on_update = [log](const Object& before, const Object& now) {
      log->push_back(
          absl::StrCat("update ", now->metadata.name, " ", before->size, "->", now->size));
    };
    handler.on_delete = [log](const Object& o, bool missed) {
      log->push_back(absl::StrCat("delete ", o->metadata.name, "@", o->metadata.resource_version,
                                  missed ? " missed" : ""));
    };
    handler.on_synced = [log] { log->push_back("synced"); };
    return handler;
  }
  std::vector<std::string> Take(std::vector<std::string>& log) { return std::exchange(log, {}); }
  // What the informer holds: name -> version.
  std::map<std::string, std::string> Mirror() {
    std::map<std::string, std::string> out;
    for (const auto& o : informer_->store().List()) {
      out[o->metadata.Key()] = o->metadata.resource_version;
    }
    return out;
  }
  std::map<std::string, std::string> Truth() {
    std::map<std::string, std::string> out;
    for (const auto& [key, object] : api_.Objects(kPods)) out[key] = ResourceVersionOf(object);
    return out;
  }

  util::FakeClock clock_;
  util::ManualExecutor executor_{&clock_};
  FakeApi api_;
  http::LoopbackTransport transport_{&api_, &executor_};
  std::unique_ptr<RestClient> client_ = std::make_unique<RestClient>(
      RestClient::Deps{&transport_, &executor_, nullptr}, RestClient::Options{.qps = 0});
  std::vector<absl::Status> errors_;
  std::unique_ptr<Informer<Thing>> informer_;
  std::vector<std::string> log_;
};

TEST_F(InformerTest, InitialStateThenNews) {
  api_.Put(kPods, Object("a", 1));
  informer_->AddHandler(Logger(&log_));
  informer_->Start();
  EXPECT_FALSE(informer_->HasSynced());
  executor_.RunReady();
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_THAT(Take(log_), ElementsAre("add a initial", "synced"));
  api_.Put(kPods, Object("b"));
  api_.Put(kPods, Object("a", 2));
  api_.Delete(kPods, "ns/b");
  executor_.RunReady();
  EXPECT_THAT(Take(log_), ElementsAre("add b", "update a 1->2", "delete b@4"));
  EXPECT_EQ(informer_->store().Get("ns/a")->size, 2);
  EXPECT_EQ(informer_->store().Get("ns/b"), nullptr);
}

TEST_F(InformerTest, AnEmptyKindSyncsAtOnce) {
  informer_->AddHandler(Logger(&log_));
  informer_->Start();
  executor_.RunReady();
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_THAT(log_, ElementsAre("synced"));
}

// spec kube-machinery worked example 7.
TEST_F(InformerTest, ARelistDeletesFirstAndThenFollowsTheList) {
  api_.watch_list = false;
  for (const char* name : {"a", "b", "c"}) api_.Put(kPods, Object(name));
  informer_->AddHandler(Logger(&log_));
  std::vector<std::string> resyncing;
  Handler<Thing> with_resync = Logger(&resyncing);
  with_resync.resync = absl::Hours(10);
  informer_->AddHandler(with_resync);
  informer_->Start();
  executor_.RunReady();
  Take(log_);
  Take(resyncing);
  // Unseen by the watch: it ends, and its window is gone.
  api_.CloseWatches();
  api_.fail = [](const http::Request& r) -> std::optional<http::Response> {
    if (http::ParseTarget(r.target).Get("watch").empty()) return std::nullopt;
    return http::Response{.status = 410, .headers = {}, .body = "{}"};
  };
  api_.Delete(kPods, "ns/a");
  api_.Put(kPods, Object("b", 9));
  api_.Put(kPods, Object("d"));
  executor_.RunReady();
  api_.fail = nullptr;
  executor_.Advance(absl::Seconds(2));
  EXPECT_THAT(Take(log_), ElementsAre("delete a@1 missed", "update b 0->9", "add d"));
  EXPECT_THAT(Take(resyncing),
              ElementsAre("delete a@1 missed", "update b 0->9", "update c 0->0", "add d"));
}

TEST_F(InformerTest, HandlersThatComeLaterGetTheStoreFirst) {
  api_.Put(kPods, Object("a"));
  informer_->Start();
  executor_.RunReady();
  const auto id = informer_->AddHandler(Logger(&log_));
  EXPECT_THAT(Take(log_), ElementsAre("add a initial", "synced"));
  api_.Put(kPods, Object("b"));
  executor_.RunReady();
  EXPECT_THAT(Take(log_), ElementsAre("add b"));
  informer_->RemoveHandler(id);
  api_.Put(kPods, Object("c"));
  executor_.RunReady();
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(InformerTest, ResyncRepeatsTheStore) {
  api_.Put(kPods, Object("a", 3));
  Handler<Thing> handler = Logger(&log_);
  handler.resync = absl::Milliseconds(1);  // raised to a second
  informer_->AddHandler(handler);
  informer_->Start();
  executor_.RunReady();
  Take(log_);
  executor_.Advance(absl::Milliseconds(2500));
  EXPECT_THAT(Take(log_), ElementsAre("update a 3->3", "update a 3->3"));
  informer_->Stop();
  executor_.Advance(absl::Minutes(10));
  EXPECT_THAT(log_, IsEmpty());
  EXPECT_EQ(executor_.pending(), 0u);
}

TEST_F(InformerTest, AnObjectThatCannotBeDecodedIsSkippedAlone) {
  api_.Put(kPods, Object("good"));
  Value bad = Object("bad");
  bad.Set("size", "many");
  api_.Put(kPods, bad);
  informer_->AddHandler(Logger(&log_));
  informer_->Start();
  executor_.RunReady();
  EXPECT_THAT(Take(log_), ElementsAre("add good initial", "synced"));
  EXPECT_EQ(informer_->decode_errors(), 1);
  // It becomes readable, breaks again (the last good state stays), and goes.
  api_.Put(kPods, Object("bad", 1));
  api_.Put(kPods, bad);
  executor_.RunReady();
  EXPECT_THAT(Take(log_), ElementsAre("add bad"));
  EXPECT_EQ(informer_->store().Get("ns/bad")->size, 1);
  api_.Delete(kPods, "ns/bad");
  executor_.RunReady();
  EXPECT_THAT(Take(log_), ElementsAre("delete bad@3"));
}

TEST_F(InformerTest, FilteringTurnsUpdatesIntoAddsAndDeletes) {
  const auto big = [](const Thing& thing) { return thing.size >= 10; };
  informer_->AddHandler(FilteringHandler<Thing>(big, Logger(&log_)));
  informer_->Start();
  executor_.RunReady();
  Take(log_);
  for (int64_t size : {1, 10, 11, 2}) api_.Put(kPods, Object("a", size));
  api_.Delete(kPods, "ns/a");
  executor_.RunReady();
  EXPECT_THAT(Take(log_), ElementsAre("add a", "update a 10->11", "delete a@3"));
}

TEST_F(InformerTest, TransformRunsBeforeStoring) {
  Informer<Thing>::Options options;
  options.transform = [](Thing& thing) { thing.size *= 2; };
  Make(options);
  api_.Put(kPods, Object("a", 4));
  informer_->Start();
  executor_.RunReady();
  EXPECT_EQ(informer_->store().Get("ns/a")->size, 8);
}

TEST_F(InformerTest, ForbiddenKindsAreReportedAndTriedAgain) {
  api_.fail = [](const http::Request&) -> std::optional<http::Response> {
    return http::Response{.status = 403, .headers = {}, .body = ""};
  };
  informer_->Start();
  executor_.RunReady();
  ASSERT_FALSE(errors_.empty());
  EXPECT_EQ(errors_[0].code(), absl::StatusCode::kPermissionDenied);
  EXPECT_FALSE(informer_->HasSynced());
  api_.fail = nullptr;
  executor_.Advance(absl::Seconds(5));
  EXPECT_TRUE(informer_->HasSynced());
}

TEST(StoreTest, IndexesFollowEveryChange) {
  Store<Thing> store;
  const auto thing = [](const std::string& name, int64_t size) {
    auto out = std::make_shared<Thing>();
    out->metadata.name = name;
    out->size = size;
    return out;
  };
  const auto names = [&](const std::string& value) {
    std::vector<std::string> out;
    for (const auto& o : store.ByIndex("size", value)) out.push_back(o->metadata.name);
    return out;
  };
  store.Put("a", thing("a", 1));
  HEKLA_ASSERT_OK(store.AddIndex(
      "size", [](const Thing& t) { return std::vector<std::string>{absl::StrCat(t.size)}; }));
  EXPECT_EQ(store.AddIndex("size", nullptr).message(), "indexer conflict: size");
  EXPECT_THAT(names("1"), ElementsAre("a"));
  store.Put("b", thing("b", 1));
  EXPECT_THAT(names("1"), UnorderedElementsAre("a", "b"));
  store.Put("a", thing("a", 2));
  EXPECT_THAT(names("1"), ElementsAre("b"));
  EXPECT_THAT(names("2"), ElementsAre("a"));
  EXPECT_EQ(store.Erase("b")->size, 1);
  EXPECT_EQ(store.Erase("b"), nullptr);
  EXPECT_THAT(names("1"), IsEmpty());
  EXPECT_EQ(store.size(), 1u);
}

// Random changes under random failures: when the failures stop, the mirror equals the server, and
// the handlers' calls add up to the same state.
class InformerFaultTest : public InformerTest, public ::testing::WithParamInterface<int> {
 protected:
  void Change(util::Random& random) {
    const std::string name = absl::StrCat("o", random.Below(12));
    if (random.Below(3) == 0) {
      api_.Delete(kPods, "ns/" + name);
    } else {
      api_.Put(kPods, Object(name, static_cast<int64_t>(random.Below(100))));
    }
  }
  void Disturb(util::Random& random) {
    switch (random.Below(7)) {
      case 0:
        api_.CloseWatches();
        break;
      case 1:
        api_.BreakWatches(410, "Expired");
        break;
      case 2:
        api_.BreakWatches(500, "InternalError");
        break;
      case 3:
        api_.SendGarbage();
        break;
      case 4:
        api_.Compact();
        transport_.DropConnections();
        break;
      case 5:
        api_.SendBookmarks();
        break;
      default:
        transport_.DropConnections();
    }
  }
};

TEST_P(InformerFaultTest, TheMirrorIsRightWhenTheFaultsStop) {
  util::Random random(static_cast<uint64_t>(GetParam()));
  Informer<Thing>::Options options;
  options.reflector.page_size = 3;
  options.reflector.seed = random.Next();
  options.reflector.watch_list = random.Below(2) == 0;
  Make(options);
  api_.watch_list = random.Below(2) == 0;
  std::map<std::string, std::string> replayed;  // from the handlers' calls alone
  using Object = std::shared_ptr<const Thing>;
  Handler<Thing> handler;
  handler.on_add = [&](const Object& o, bool) {
    EXPECT_TRUE(replayed.emplace(o->metadata.Key(), o->metadata.resource_version).second);
  };
  handler.on_update = [&](const Object& before, const Object& now) {
    EXPECT_EQ(replayed[now->metadata.Key()], before->metadata.resource_version);
    replayed[now->metadata.Key()] = now->metadata.resource_version;
  };
  handler.on_delete = [&](const Object& o, bool) { replayed.erase(o->metadata.Key()); };
  informer_->AddHandler(handler);
  bool faults = true;
  api_.fail = [&](const http::Request&) -> std::optional<http::Response> {
    if (!faults || random.Below(4) != 0) return std::nullopt;
    static constexpr int kCodes[] = {429, 500, 503, 410, 504, 403};
    return http::Response{.status = kCodes[random.Below(6)], .headers = {}, .body = "oops"};
  };
  informer_->Start();
  for (int step = 0; step < 300; ++step) {
    Change(random);
    if (random.Below(5) == 0) Disturb(random);
    for (uint64_t n = random.Below(6); n > 0; --n) executor_.RunOne();
    if (random.Below(4) == 0) executor_.Advance(absl::Seconds(20) * random.Unit());
  }
  faults = false;
  executor_.Advance(absl::Minutes(3));
  EXPECT_TRUE(informer_->HasSynced());
  EXPECT_EQ(Mirror(), Truth());
  EXPECT_EQ(replayed, Truth());
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerFaultTest, ::testing::Range(0, 60));

}  // namespace
}  // namespace hekla::kube

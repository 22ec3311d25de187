
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/apiserver/storage/journal.h"
#include "pkg/apiserver/testing/test_server.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::apiserver {
namespace {

namespace fs = std::filesystem;
using apis::json::Value;
using testing::Brief;
using testing::J;
using testing::TestServer;

constexpr char kQueues[] = "/apis/scheduling.volcano.sh/v1beta1/queues";

class RecoveryTest : public ::testing::Test {
 protected:
  struct Running {
    std::unique_ptr<storage::Journal> journal;
    std::unique_ptr<TestServer> server;
    TestServer* operator->() const { return server.get(); }
  };
  static Running Start(const std::string& folder, Options options = {}) {
    auto journal = storage::Journal::Open({.folder = folder, .min_compact_bytes = 1000});
    EXPECT_TRUE(journal.ok()) << journal.status();
    Running out;
    out.journal = *std::move(journal);
    options.journal = out.journal.get();
    out.server = std::make_unique<TestServer>(options);
    return out;
  }
  // What a process leaves that is killed now.
  std::string Killed() {
    const std::string copy = absl::StrCat(root_, "/killed-", copies_++);
    fs::copy(folder_, copy);
    return copy;
  }

  const util::testing::TempFolder temp_;
  const std::string& root_ = temp_.path();
  const std::string folder_ = root_ + "/data";
  int copies_ = 0;
};

TEST_F(RecoveryTest, ARestartKeepsObjectsVersionsAndUids) {
  Running first = Start(folder_);
  const Value pod = first->MakePod("a", R"("labels":{"x":"y"})");
  first->MakePod("b");
  first->Delete("/api/v1/namespaces/default/pods/b");
  const int64_t version = first->server->resource_version();
  const Value list = first->Get("/api/v1/pods").body;
  Running second = Start(Killed());
  EXPECT_EQ(second->server->resource_version(), version);
  EXPECT_EQ(second->Get("/api/v1/namespaces/default/pods/a").body, pod);
  EXPECT_EQ(second->Get("/api/v1/pods?labelSelector=x%3Dy").body, list);
  const Value next = second->MakePod("c");
  EXPECT_EQ(next.At("metadata").GetString("resourceVersion"), absl::StrCat(version + 1));
  EXPECT_NE(next.At("metadata").GetString("uid"), pod.At("metadata").GetString("uid"));
  // An update by the version that was read before the restart still fits.
  Value changed = pod;
  changed["metadata"]["labels"].Set("x", "z");
  EXPECT_EQ(second->Put("/api/v1/namespaces/default/pods/a", apis::json::Dump(changed)).status,
            200);
}

TEST_F(RecoveryTest, WatchesFromBeforeGet410AndFromTheLastVersionGoOn) {
  Running first = Start(folder_);
  first->MakePod("a");
  const int64_t old = first->server->resource_version();
  first->MakePod("b");
  const int64_t last = first->server->resource_version();
  Running second = Start(Killed());
  const auto late = second->Watch(absl::StrCat("/api/v1/pods?watch=1&resourceVersion=", old));
  ASSERT_NE(late, nullptr);
  const std::vector<Value> events = late->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].GetString("type"), "ERROR");
  EXPECT_EQ(events[0].At("object").GetInt("code"), 410);
  EXPECT_TRUE(late->closed());
  const auto watch = second->Watch(absl::StrCat("/api/v1/pods?watch=1&resourceVersion=", last));
  ASSERT_NE(watch, nullptr);
  second->MakePod("c");
  EXPECT_EQ(Brief(watch->TakeEvents()),
            std::vector<std::string>({absl::StrCat("ADDED c@", last + 1)}));
}

TEST_F(RecoveryTest, CustomKindsAndTheirObjectsComeBack) {
  Running first = Start(folder_);
  ASSERT_TRUE(shipped::LoadCrds(*first->server).ok());
  const Value queue = first
                          ->Post(kQueues, R"({"apiVersion":"scheduling.volcano.sh/v1beta1",)"
                                          R"("kind":"Queue","metadata":{"name":"q"},)"
                                          R"("spec":{"weight":3}})")
                          .body;
  ASSERT_EQ(queue.At("spec").GetInt("weight"), 3);
  const int64_t version = first->server->resource_version();
  Running second = Start(Killed());
  EXPECT_EQ(second->Get(absl::StrCat(kQueues, "/q")).body, queue);
  ASSERT_TRUE(shipped::LoadCrds(*second->server).ok());
  EXPECT_EQ(second->server->resource_version(), version);  // nothing to be changed
  EXPECT_EQ(
      second->Patch(absl::StrCat(kQueues, "/q"), "merge", R"({"spec":{"weight":"x"}})").status,
      422);
  ASSERT_EQ(second
                ->Delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                         "queues.scheduling.volcano.sh")
                .status,
            200);
  EXPECT_EQ(second->Get(kQueues).status, 404);
}

TEST_F(RecoveryTest, ObjectsOfARemovedKindDoNotComeBackWithIt) {
  constexpr char kCrd[] =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
      R"({"name":"things.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":)"
      R"({"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,)"
      R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  constexpr char kThings[] = "/apis/example.com/v1/things";
  Running first = Start(folder_);
  ASSERT_TRUE(first->server->LoadCrd(J(kCrd)).ok());
  first->Post(kThings, R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"}})");
  first->Delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com");
  Running second = Start(Killed());
  EXPECT_EQ(second->Get(kThings).status, 404);
  ASSERT_TRUE(second->server->LoadCrd(J(kCrd)).ok());
  EXPECT_EQ(second->Get(kThings).body.At("items").size(), 0u);
}

TEST_F(RecoveryTest, WhatWasLeftUndoneIsDoneAfterTheRestart) {
  Options no_controllers;
  no_controllers.cluster_controllers = false;
  Running first = Start(folder_, no_controllers);
  first->Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":)"
                                    R"({"name":"ending"}})");
  const Value owner = first
                          ->Post("/api/v1/namespaces/default/configmaps",
                                 R"({"apiVersion":"v1","kind":"ConfigMap","metadata":)"
                                 R"({"name":"owner"}})")
                          .body;
  first->MakePod("owned",
                 absl::StrCat(R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",)"
                              R"("name":"owner","uid":")",
                              owner.At("metadata").GetString("uid"), R"("}])"));
  first->Delete("/api/v1/namespaces/default/configmaps/owner");
  first->Delete("/api/v1/namespaces/ending");
  EXPECT_EQ(first->Get("/api/v1/namespaces/ending").status, 200);
  Running second = Start(Killed());
  EXPECT_EQ(second->Get("/api/v1/namespaces/ending").status, 404);
  EXPECT_EQ(second->Get("/api/v1/namespaces/default/pods/owned").status, 404);
  EXPECT_EQ(second->Get("/api/v1/namespaces/default/serviceaccounts/default").status, 200);
}

TEST_F(RecoveryTest, TokensHoldWithTheKeyOfTheLastStart) {
  Options options;
  options.tokens = {"root"};
  options.enforce_rbac = true;
  options.require_token = true;
  options.token_key = std::string(32, 'k');
  Running first = Start(folder_, options);
  const auto send = [](Running& server, const std::string& method, const std::string& target,
                       const std::string& token) {
    http::Request request{.method = method, .target = target};
    if (method == "POST") request.body = R"({"spec":{}})";
    request.headers.Set("Content-Type", "application/json");
    request.headers.Set("Authorization", absl::StrCat("Bearer ", token));
    return server->Send(std::move(request));
  };
  const auto made =
      send(first, "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", "root");
  ASSERT_EQ(made.status, 201) << made.text;
  const std::string token(made.body.At("status").GetString("token"));
  EXPECT_EQ(send(first, "GET", "/api/v1/pods", token).status, 403);
  Running second = Start(Killed(), options);
  EXPECT_EQ(send(second, "GET", "/api/v1/pods", token).status, 403);
  options.token_key = std::string(32, 'l');
  Running other = Start(Killed(), options);
  EXPECT_EQ(send(other, "GET", "/api/v1/pods", token).status, 401);
}

TEST_F(RecoveryTest, TendingShortensTheJournal) {
  {
    Running first = Start(folder_);
    for (int i = 0; i < 50; ++i) {
      first->MakePod("a");
      first->Delete("/api/v1/namespaces/default/pods/a");
    }
    const auto before = fs::file_size(folder_ + "/log-0000000001");
    first->server->TendJournal();
    EXPECT_FALSE(fs::exists(folder_ + "/log-0000000001"));
    EXPECT_LT(fs::file_size(folder_ + "/snapshot-0000000002"), before);
    first->MakePod("b");
  }
  EXPECT_EQ(Start(folder_)->Get("/api/v1/pods").body.At("items").size(), 1u);
}

}  // namespace
}  // namespace hekla::apiserver

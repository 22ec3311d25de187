#include "pkg/kube/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "absl/strings/match.h"
#include "pkg/kube/testing/scripted_server.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::kube {
namespace {

using ::testing::ElementsAre;
using util::testing::StatusIs;

class DiscoveryTest : public ::testing::Test {
 protected:
  void Start() {
    Discover(&client_, [this](absl::StatusOr<ApiCatalog> c) { catalog_ = std::move(c); });
  }
  ScriptedServer server_;
  RestClient client_{{&server_.transport, &server_.executor, nullptr}, {.qps = 0}};
  std::optional<absl::StatusOr<ApiCatalog>> catalog_;
};

TEST_F(DiscoveryTest, TheAggregatedDocumentIsEnough) {
  Start();
  auto& core = server_.Next();
  EXPECT_EQ(core.request.target, "/api");
  EXPECT_TRUE(absl::StrContains(core.request.headers.Get("Accept"), "as=APIGroupDiscoveryList"));
  core.Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
      {"version":"v1","resources":[{"resource":"pods","responseKind":{"kind":"Pod"},
       "scope":"Namespaced","verbs":["get","list"],"subresources":[{"subresource":"binding"}]},
       {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","verbs":["get"]}]}]}]})");
  server_.Next().Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[
      {"metadata":{"name":"topology.volcano.sh"},"versions":[{"version":"v1alpha1",
       "freshness":"Stale","resources":[]}]}]})");
  EXPECT_TRUE(server_.Idle());
  ASSERT_TRUE(catalog_.has_value());
  HEKLA_ASSERT_OK(*catalog_);
  const ApiCatalog& catalog = **catalog_;
  EXPECT_TRUE(catalog.Has({"", "v1", "pods", "Pod", true}));
  EXPECT_THAT(catalog.Find("", "v1", "pods")->verbs, ElementsAre("get", "list"));
  EXPECT_FALSE(catalog.Find("", "v1", "nodes")->resource.namespaced);
  EXPECT_EQ(catalog.Find("apps", "v1", "deployments"), nullptr);
  EXPECT_THAT(catalog.unreadable, ElementsAre("topology.volcano.sh/v1alpha1"));
}

TEST_F(DiscoveryTest, OlderServersAreAskedGroupByGroup) {
  Start();
  server_.Next().Answer(200, R"({"kind":"APIVersions","versions":["v1"]})");
  server_.Next().Answer(200, R"({"kind":"APIGroupList","groups":[{"name":"batch","versions":[
      {"groupVersion":"batch/v1"},{"groupVersion":"batch/v1beta1"}]}]})");
  auto& core = server_.Next();
  EXPECT_EQ(core.request.target, "/api/v1");
  core.Answer(200, R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
      {"name":"pods","kind":"Pod","namespaced":true,"verbs":["get"]},
      {"name":"pods/status","kind":"Pod","namespaced":true,"verbs":["get"]}]})");
  auto& batch = server_.Next();
  EXPECT_EQ(batch.request.target, "/apis/batch/v1");
  batch.Answer(200, R"({"kind":"APIResourceList","groupVersion":"batch/v1","resources":[
      {"name":"jobs","kind":"Job","namespaced":true,"verbs":["get"]}]})");
  server_.Next().Answer(503, "{}");
  EXPECT_TRUE(server_.Idle());
  HEKLA_ASSERT_OK(*catalog_);
  const ApiCatalog& catalog = **catalog_;
  EXPECT_EQ(catalog.entries.size(), 2u);
  EXPECT_EQ(catalog.PreferredVersion("batch", "jobs", {"v2", "v1"}), "v1");
  EXPECT_EQ(catalog.PreferredVersion("batch", "jobs", {"v2"}), "");
  EXPECT_THAT(catalog.unreadable, ElementsAre("batch/v1beta1"));
}

TEST_F(DiscoveryTest, TheFirstRequestsFailureIsTheAnswer) {
  Start();
  server_.Next().Answer(403, "{}");
  server_.Idle();
  EXPECT_THAT(*catalog_, StatusIs(absl::StatusCode::kPermissionDenied, ""));
}

TEST_F(DiscoveryTest, ServerVersions) {
  std::optional<absl::StatusOr<ServerVersion>> version;
  GetServerVersion(&client_, [&](absl::StatusOr<ServerVersion> v) { version = std::move(v); });
  server_.Next().Answer(200, R"({"major":"1","minor":"36+","gitVersion":"v1.36.1-x"})");
  server_.Idle();
  HEKLA_ASSERT_OK(*version);
  EXPECT_EQ((*version)->major, 1);
  EXPECT_EQ((*version)->minor, 36);
  EXPECT_EQ((*version)->git_version, "v1.36.1-x");
}

}  // namespace
}  // namespace hekla::kube

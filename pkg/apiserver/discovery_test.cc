#include "pkg/apiserver/discovery.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using testing::TestServer;

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

TEST(DiscoveryTest, PlainAndAggregatedFormsNameTheSameResources) {
  TestServer s;
  const auto reply = s.Get("/apis", kAggregated);
  EXPECT_EQ(reply.headers.Get("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(reply.body.GetString("apiVersion"), "apidiscovery.k8s.io/v2");
  for (const Value& group : reply.body.At("items").as_array()) {
    const std::string name(group.At("metadata").GetString("name"));
    for (const Value& version : group.At("versions").as_array()) {
      const Value list =
          s.Get("/apis/" + name + "/" + std::string(version.GetString("version"))).body;
      size_t plain = 0;
      for (const Value& r : list.At("resources").as_array()) {
        if (r.GetString("name").find('/') == absl::string_view::npos) ++plain;
      }
      EXPECT_EQ(plain, version.At("resources").size()) << name;
    }
  }
}

TEST(DiscoveryTest, UnchangedDocumentsAreNotSentAgain) {
  TestServer s;
  const auto first = s.Get("/apis", kAggregated);
  http::Request again;
  again.method = "GET";
  again.target = "/apis";
  again.headers.Set("Accept", kAggregated);
  again.headers.Set("If-None-Match", first.headers.Get("ETag"));
  const auto second = s.Send(again);
  EXPECT_EQ(second.status, 304);
  EXPECT_EQ(second.text, "");
}

TEST(DiscoveryTest, EveryKindAnInformerWaitsForHasAListAndAWatch) {
  TestServer s;
  for (const char* path : {"/api/v1/pods",
                           "/api/v1/nodes",
                           "/api/v1/namespaces",
                           "/api/v1/services",
                           "/api/v1/configmaps",
                           "/api/v1/secrets",
                           "/api/v1/serviceaccounts",
                           "/api/v1/events",
                           "/api/v1/persistentvolumeclaims",
                           "/api/v1/persistentvolumes",
                           "/api/v1/replicationcontrollers",
                           "/api/v1/resourcequotas",
                           "/api/v1/endpoints",
                           "/api/v1/limitranges",
                           "/apis/apps/v1/replicasets",
                           "/apis/apps/v1/statefulsets",
                           "/apis/apps/v1/daemonsets",
                           "/apis/apps/v1/deployments",
                           "/apis/batch/v1/jobs",
                           "/apis/batch/v1/cronjobs",
                           "/apis/scheduling.k8s.io/v1/priorityclasses",
                           "/apis/policy/v1/poddisruptionbudgets",
                           "/apis/storage.k8s.io/v1/storageclasses",
                           "/apis/storage.k8s.io/v1/csinodes",
                           "/apis/storage.k8s.io/v1/csidrivers",
                           "/apis/storage.k8s.io/v1/csistoragecapacities",
                           "/apis/storage.k8s.io/v1/volumeattachments",
                           "/apis/coordination.k8s.io/v1/leases",
                           "/apis/events.k8s.io/v1/events",
                           "/apis/discovery.k8s.io/v1/endpointslices",
                           "/apis/rbac.authorization.k8s.io/v1/roles",
                           "/apis/rbac.authorization.k8s.io/v1/rolebindings",
                           "/apis/networking.k8s.io/v1/ingresses",
                           "/apis/networking.k8s.io/v1/ingressclasses",
                           "/apis/networking.k8s.io/v1/networkpolicies",
                           "/apis/resource.k8s.io/v1/resourceclaims",
                           "/apis/resource.k8s.io/v1/resourceslices",
                           "/apis/resource.k8s.io/v1/deviceclasses",
                           "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}) {
    const auto list = s.Get(path);
    EXPECT_EQ(list.status, 200) << path;
    EXPECT_TRUE(list.body.At("items").is_array()) << path;
    EXPECT_NE(s.Watch(std::string(path) + "?watch=1"), nullptr) << path;
  }
}

TEST(DiscoveryTest, VersionIsConfigurable) {
  Options options;
  options.version.git_version = "v1.32.1";
  options.version.minor = "32";
  TestServer s(options);
  const Value version = s.Get("/version").body;
  EXPECT_EQ(version.GetString("gitVersion"), "v1.32.1");
  EXPECT_EQ(version.GetString("minor"), "32");
}

TEST(DiscoveryTest, VersionsAreOrderedByMaturity) {
  EXPECT_TRUE(VersionLess("v2", "v1"));
  EXPECT_TRUE(VersionLess("v10", "v2"));
  EXPECT_TRUE(VersionLess("v1", "v2beta1"));
  EXPECT_TRUE(VersionLess("v1beta2", "v1beta1"));
  EXPECT_TRUE(VersionLess("v1beta1", "v2alpha1"));
  EXPECT_TRUE(VersionLess("v1alpha1", "foo"));
}

TEST(DiscoveryTest, ReviewsAllowEverything) {
  TestServer s;
  const auto reply =
      s.Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
             R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
             R"("spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})");
  EXPECT_EQ(reply.status, 201);
  EXPECT_TRUE(reply.body.At("status").GetBool("allowed"));
  EXPECT_EQ(s.Get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").status, 405);
}

TEST(DiscoveryTest, WrongMethodsAndPathsSaySo) {
  TestServer s;
  EXPECT_EQ(s.Post("/api/v1/pods", "{}").status, 405);
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/nodes").status, 404);
  EXPECT_EQ(s.Get("/api/v1/pods/a").status, 404);
  EXPECT_EQ(s.Get("/apis/apps/v9/deployments").body.GetString("message"),
            "the server could not find the requested resource");
  EXPECT_EQ(s.Get("/apis/none.example.com/v9/things").text, "404 page not found\n");
  EXPECT_EQ(s.Post("/api/v1", "{}").status, 405);
  EXPECT_EQ(
      s.Get("/apis", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList").status,
      406);
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/pods/a/nothing").status, 404);
}

}  // namespace
}  // namespace hekla::apiserver

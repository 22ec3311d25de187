#include "pkg/ray/controllers/common/kinds.h"

#include <gtest/gtest.h>

namespace hekla::ray::controllers {
namespace {

using apis::json::Value;

// `text` as the cache keeps it.
std::string Kept(const kube::Resource& resource, const std::string& text) {
  for (const controller::Cache::Kind& kind : CacheKinds({.routes = true})) {
    if (kind.resource.qualified_name() != resource.qualified_name()) continue;
    auto object = apis::json::Parse(text);
    EXPECT_TRUE(object.ok()) << object.status();
    if (kind.transform != nullptr) kind.transform(*object);
    return apis::json::Dump(*object);
  }
  return "no such kind";
}

TEST(CacheKindsTest, OfAPodStaysWhatTheControllersLookAt) {
  EXPECT_EQ(
      Kept(Pods(),
           R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","generateName":"p-",)"
           R"("labels":{"ray.io/cluster":"c","mine":"1"},"annotations":{"mine":"1",)"
           R"("ray.io/kuberay-version":"v"},"ownerReferences":[{"uid":"u","controller":true},)"
           R"({"uid":"v"}]},"spec":{"restartPolicy":"Never","nodeName":"n","containers":[{)"
           R"("name":"ray","env":[{"name":"A"}]},{"name":"side"}]},"status":{"phase":"Running",)"
           R"("podIP":"10.0.0.1","hostIP":"10.0.0.2","conditions":[{"type":"PodScheduled",)"
           R"("status":"True"},{"type":"Ready","status":"False","reason":"ContainersNotReady",)"
           R"("message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}],"containerStatuses":[{)"
           R"("name":"ray","image":"i","state":{"terminated":{"exitCode":2}}},{"name":"side",)"
           R"("state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}},{"name":"slow","state":{)"
           R"("waiting":{"reason":"ImagePullBackOff"}}}]}})"),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)"
      R"("labels":{"ray.io/cluster":"c","mine":"1"},"annotations":{"ray.io/kuberay-version":"v"},)"
      R"("ownerReferences":[{"uid":"u","controller":true}]},"spec":{"restartPolicy":"Never",)"
      R"("containers":[{"name":"ray"}]},"status":{"phase":"Running","podIP":"10.0.0.1",)"
      R"("conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady",)"
      R"("message":"m"}],"containerStatuses":[{"name":"ray","state":{"terminated":{"exitCode":2}}},)"
      R"({"name":"slow","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})");
  EXPECT_EQ(Kept(Pods(), "{}"), "{}");
  EXPECT_EQ(Kept(Pods(), R"({"metadata":7,"spec":"x","status":[]})"),
            R"({"metadata":7,"spec":"x","status":[]})");
}

TEST(CacheKindsTest, OthersStayAsFarAsTheyAreRead) {
  EXPECT_EQ(Kept(Services(), R"({"metadata":{"name":"s"},"spec":{"clusterIP":"None","ports":[],)"
                             R"("selector":{"a":"b"}},"status":{"loadBalancer":{}}})"),
            R"({"metadata":{"name":"s"},"spec":{"clusterIP":"None","ports":[]}})");
  EXPECT_EQ(Kept(Jobs(), R"({"metadata":{"name":"j"},"spec":{"template":{}},"status":{"active":1,)"
                         R"("conditions":[{"type":"Complete","status":"True"}]}})"),
            R"({"metadata":{"name":"j"},"status":{"conditions":[{"type":"Complete",)"
            R"("status":"True"}]}})");
  EXPECT_EQ(Kept(Secrets(), R"({"metadata":{"name":"s"},"data":{"auth_token":"c2VjcmV0"}})"),
            R"({"metadata":{"name":"s"},"data":{"auth_token":""}})");
  EXPECT_EQ(Kept(Secrets(), R"({"metadata":{"name":"s","annotations":{)"
                            R"("kubectl.kubernetes.io/last-applied-configuration":"c2VjcmV0"}},)"
                            R"("type":"Opaque","stringData":{"a":"b"},"data":{"a":{"b":"c"}}})"),
            R"({"metadata":{"name":"s"},"data":{"a":""}})");
  EXPECT_EQ(Kept(Secrets(), R"({"metadata":"s","data":"c2VjcmV0"})"),
            R"({"metadata":"s","data":null})");
  for (const kube::Resource* resource :
       {&ServiceAccounts(), &Roles(), &RoleBindings(), &Routes()}) {
    EXPECT_EQ(Kept(*resource, R"({"metadata":{"name":"r","annotations":{"a":"b"}},"rules":[{}]})"),
              R"({"metadata":{"name":"r"}})");
  }
}

// They are written back as they were read.
TEST(CacheKindsTest, WhatIsUpdatedStaysWhole) {
  const std::string whole = R"({"metadata":{"name":"x","annotations":{"a":"b"}},"spec":{"a":1}})";
  for (const kube::Resource* resource : {&RayClusters(), &Claims(), &Ingresses()}) {
    EXPECT_EQ(Kept(*resource, whole), whole);
  }
}

}  // namespace
}  // namespace hekla::ray::controllers

// What the server refuses and in which words, as a real one does.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using ::testing::HasSubstr;
using testing::TestServer;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

struct Refusal {
  const char* path;
  const char* body;
  int status;
  const char* message;
};

std::string Pod(absl::string_view container, absl::string_view spec = "") {
  return absl::StrCat(R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i")",
                      container, "}]", spec, "}}");
}

TEST(RulesTest, PodsAreCheckedPartByPart) {
  const struct {
    std::string container, spec;
    const char* message;
  } cases[] = {
      {R"(,"env":[{"name":"A","valueFrom":{}}])", "",
       "spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of"},
      {R"(,"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.image"}}}])", "",
       "error converting fieldPath: field label not supported: spec.image"},
      {R"(,"ports":[{"containerPort":80,"name":"A_"}])", "",
       "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"},
      {R"(,"livenessProbe":{})", "",
       "spec.containers[0].livenessProbe: Required value: must specify a handler type"},
      {R"(,"livenessProbe":{"tcpSocket":{"port":80},"successThreshold":2})", "",
       "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"},
      {R"(,"volumeMounts":[{"name":"v","mountPath":"/x","subPath":"../y"}])",
       R"(,"volumes":[{"name":"v","emptyDir":{}}])",
       "spec.containers[0].volumeMounts.subPath: Invalid value: \"../y\": must not contain "
       "'..'"},
      {"", R"(,"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}])",
       "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"},
      {"", R"(,"volumes":[{"name":"v","hostPath":{"path":"/a/../b"}}])",
       "spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"},
      {"", R"(,"volumes":[{"name":"v","secret":{"secretName":"s","defaultMode":999}}])",
       "must be a number between 0 and 0777 (octal), both inclusive"},
      {"", R"(,"schedulingGates":[{"name":"g"},{"name":"g"}])",
       "spec.schedulingGates[1]: Duplicate value: \"g\""},
      {"", R"(,"securityContext":{"fsGroup":-1})",
       "spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, "
       "inclusive"},
  };
  for (const auto& c : cases) {
    TestServer s;
    const TestServer::Reply reply = s.Post(kPods, Pod(c.container, c.spec));
    EXPECT_EQ(reply.status, 422) << reply.text;
    EXPECT_THAT(std::string(reply.body.GetString("message")), HasSubstr(c.message));
  }
}

TEST(RulesTest, OtherKindsAreChecked) {
  const Refusal cases[] = {
      {kMaps, R"({"metadata":{"name":"a"},"data":{"a":"1"},"binaryData":{"a":"AA=="}})", 422,
       "data[a]: Invalid value: \"a\": duplicate of key present in binaryData"},
      {kMaps, R"(["a"])", 400,
       "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value"},
      {kMaps, R"({"kind":5})", 400,
       "cannot unmarshal number into Go struct field .kind of type string"},
      {"/api/v1/namespaces/default/secrets",
       R"({"metadata":{"name":"a"},"type":"kubernetes.io/tls","data":{"tls.crt":"MQ=="}})", 422,
       "data[tls.key]: Required value"},
      {"/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":1,"nodePort":30000}]}})", 422,
       "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
      {"/apis/apps/v1/namespaces/default/deployments",
       R"({"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
       R"("strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}},)"
       R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":)"
       R"([{"name":"c","image":"i"}]}}}})",
       422, "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type`"},
      {"/apis/batch/v1/namespaces/default/cronjobs",
       R"({"metadata":{"name":"a"},"spec":{"schedule":"x"}})", 422,
       "spec.schedule: Invalid value: \"x\": expected exactly 5 fields, found 1: [x]"},
      {"/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
       R"({"metadata":{"name":"a"},"roleRef":{"kind":"X","name":"r"}})", 422,
       "roleRef.kind: Unsupported value: \"X\": supported values: \"Role\", \"ClusterRole\""},
  };
  for (const Refusal& c : cases) {
    TestServer s;
    const TestServer::Reply reply = s.Post(c.path, c.body);
    EXPECT_EQ(reply.status, c.status) << reply.text;
    EXPECT_THAT(std::string(reply.body.GetString("message")), HasSubstr(c.message));
  }
}

TEST(RulesTest, PatchesThatDoNotFitAreUnprocessable) {
  TestServer s;
  s.Post(kMaps, R"({"metadata":{"name":"a"},"data":{"a":"1"}})");
  const std::string path = absl::StrCat(kMaps, "/a");
  const TestServer::Reply merged = s.Patch(path, "merge", R"({"data":{"a":1}})");
  EXPECT_EQ(merged.status, 422);
  EXPECT_THAT(std::string(merged.body.GetString("message")),
              HasSubstr(" \"\" is invalid: patch: Invalid value: "));
  EXPECT_EQ(s.Patch(path, "strategic", R"({"data":["a"]})").body.GetString("message"),
            " \"\" is invalid: patch: Invalid value: \"map[data:[a]]\": cannot restore map from "
            "slice");
  EXPECT_EQ(s.Patch(path, "json", R"(["x"])").body.GetString("message"),
            "error decoding patch: json: cannot unmarshal string into Go value of type "
            "handlers.jsonPatchOp");
  EXPECT_EQ(s.Patch(path, "merge", R"({"metadata":{"resourceVersion":"x"}})").status, 500);
}

TEST(RulesTest, FlagsOfTheQueryAreSetByAnyValueButFalse) {
  TestServer s;
  s.Post(kMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_NE(s.Watch(absl::StrCat(kMaps, "?watch=maybe&timeoutSeconds=1")), nullptr);
  EXPECT_EQ(s.Watch(absl::StrCat(kMaps, "?watch=False")), nullptr);
  EXPECT_EQ(s.Get(absl::StrCat(kMaps, "?limit=")).status, 400);
  EXPECT_EQ(s.Get(absl::StrCat(kMaps, "/a?resourceVersion=x")).status, 500);
  // What comes from the cache comes in one page.
  s.Post(kMaps, R"({"metadata":{"name":"b"}})");
  EXPECT_EQ(s.Get(absl::StrCat(kMaps, "?limit=1&resourceVersion=0")).body.At("items").size(), 2u);
}

// Defaults may move what was read before them, at any size of the spec.
TEST(RulesTest, ServicesGetTheDefaultsOfTheirType) {
  TestServer s;
  for (int more = 0; more < 6; ++more) {
    std::string spec = R"("type":"LoadBalancer","ports":[{"port":80}])";
    for (int i = 0; i < more; ++i) {
      constexpr const char* kFields[] = {
          R"(,"publishNotReadyAddresses":true)",
          R"(,"healthCheckNodePort":0)",
          R"(,"externalIPs":["192.0.2.1"])",
          R"(,"selector":{"a":"b"})",
          R"(,"loadBalancerSourceRanges":["0.0.0.0/0"])",
      };
      absl::StrAppend(&spec, kFields[i]);
    }
    const TestServer::Reply reply =
        s.Post("/api/v1/namespaces/default/services",
               absl::StrCat(R"({"metadata":{"name":"s)", more, R"("},"spec":{)", spec, "}}"));
    EXPECT_EQ(reply.status, 201) << reply.text;
    const apis::json::Value& made = reply.body.At("spec");
    EXPECT_EQ(made.GetString("externalTrafficPolicy"), "Cluster") << reply.text;
    EXPECT_EQ(made.GetString("internalTrafficPolicy"), "Cluster") << reply.text;
    EXPECT_TRUE(made.At("allocateLoadBalancerNodePorts").is_bool()) << reply.text;
  }
}

TEST(RulesTest, BoundPodsGetTheTopologyOfTheirNode) {
  TestServer s;
  s.Post("/api/v1/nodes",
         R"({"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z","a":"b"}}})");
  s.MakePod("p");
  s.Bind("p", "n");
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/p")).body.At("metadata").At("labels"),
            testing::J(R"({"topology.kubernetes.io/zone":"z"})"));
}

}  // namespace
}  // namespace hekla::apiserver

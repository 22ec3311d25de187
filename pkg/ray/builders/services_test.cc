#include "pkg/ray/builders/services.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using apis::json::Dump;
using apis::json::Value;
using testing::Cluster;
using testing::Yaml;

constexpr char kPorts[] = R"(
spec:
  headGroupSpec:
    template:
      spec:
        containers:
        - name: h
          ports:
          - {name: gcs-server, containerPort: 6379}
          - {name: dashboard, containerPort: 8265, protocol: UDP}
          - {containerPort: 9000}
)";

std::string Ports(const Value& service) {
  std::vector<std::string> out;
  const Value& ports = service.At("spec").At("ports");
  if (ports.is_array()) {
    for (const Value& port : ports.as_array()) {
      out.push_back(absl::StrCat(port.GetString("name"), ":", port.GetInt("port")));
    }
  }
  return absl::StrJoin(out, " ");
}

Value Head(const std::string& changes, const BuildOptions& options = {}) {
  return *BuildHeadService(Cluster(changes), options);
}

// Worked example E17.
TEST(HeadServiceTest, HasThePortsOfTheContainerSorted) {
  const Value service = Head(kPorts);
  EXPECT_EQ(Ports(service), "9000-port:9000 dashboard:8265 gcs-server:6379 metrics:8080");
  EXPECT_EQ(service.At("spec").GetString("clusterIP"), "None");
  EXPECT_TRUE(service.At("spec").GetBool("publishNotReadyAddresses"));
  EXPECT_EQ(Ports(Head("")), "client:10001 dashboard:8265 gcs-server:6379 metrics:8080 serve:8000");
}

TEST(HeadServiceTest, TheLastPortOfANameCounts) {
  EXPECT_EQ(Ports(Head("spec: {headGroupSpec: {template: {spec: {containers: [{name: h, ports: "
                       "[{name: a, containerPort: 1}, {name: a, containerPort: 2}]}]}}}}")),
            "a:2 metrics:8080");
}

TEST(HeadServiceTest, TypeAndSwitchDecideAboutItsAddress) {
  const Value node_port = Head("spec: {headGroupSpec: {serviceType: NodePort}}");
  EXPECT_EQ(node_port.At("spec").GetString("type"), "NodePort");
  EXPECT_FALSE(node_port.At("spec").Has("clusterIP"));
  const Value cluster_ip = Head("spec: {headGroupSpec: {serviceType: ClusterIP}}");
  EXPECT_EQ(cluster_ip.At("spec").GetString("clusterIP"), "None");
  BuildOptions options;
  options.head_cluster_ip_service = true;
  EXPECT_FALSE(Head("", options).At("spec").Has("clusterIP"));
}

TEST(HeadServiceTest, FollowsTheOverriddenNameLabelOnly) {
  const Value service = Head(
      "spec: {headGroupSpec: {template: {metadata: {labels: {app.kubernetes.io/name: mine, "
      "ray.io/identifier: other}}}}}");
  const Value& selector = service.At("spec").At("selector");
  EXPECT_EQ(selector.GetString("app.kubernetes.io/name"), "mine");
  EXPECT_EQ(selector.GetString("ray.io/identifier"), "alpha-head");
  EXPECT_EQ(service.At("metadata").At("labels"), selector);
}

TEST(HeadServiceTest, OddUserServicesDoNotCrash) {
  const auto service =
      BuildHeadService(Cluster("spec: {headGroupSpec: {headService: {metadata: 1, spec: {ports: "
                               "x}}}}"),
                       {});
  ASSERT_TRUE(service.ok());
  EXPECT_EQ(service->At("metadata").GetString("name"), "alpha-head-svc");
}

// Spec 7.6.
TEST(HeadServiceTest, OfARayServiceCarriesItsName) {
  const ServiceOwner owner{"RayService", "llm", Yaml("{kind: RayService, name: llm}")};
  const Value service = *BuildHeadService(Cluster(), {}, &owner);
  EXPECT_EQ(service.At("metadata").GetString("name"), "llm-head-svc");
  EXPECT_EQ(Dump(service.At("metadata").At("labels")),
            R"({"ray.io/identifier":"llm-head","ray.io/node-type":"head",)"
            R"("ray.io/originated-from-cr-name":"llm","ray.io/originated-from-crd":"RayService"})");
  EXPECT_EQ(service.At("spec").At("selector").GetString("ray.io/cluster"), "alpha");
  EXPECT_EQ(Dump(service.At("metadata").At("ownerReferences")),
            R"([{"kind":"RayService","name":"llm"}])");
}

TEST(EndpointsTest, NodePortsComeFirstAndOldEntriesStay) {
  apis::meta::StringMap endpoints = {{"gone", "1"}};
  MergeEndpoints(Yaml("spec: {ports: [{name: dashboard, targetPort: 8265, nodePort: 30265}, {name: "
                      "a, targetPort: 7}, {name: b, targetPort: http}, {targetPort: 9}]}"),
                 endpoints);
  EXPECT_EQ(Dump(apis::meta::EncodeStringMap(endpoints)),
            R"({"a":"7","b":"http","dashboard":"30265","gone":"1"})");
}

TEST(ServeServiceTest, TakesTheServePortsAndNeedsOne) {
  const auto service = BuildServeService(
      Cluster("spec: {headGroupSpec: {template: {spec: {containers: [{name: h, ports: [{name: "
              "serve, containerPort: 8000}, {name: serve-grpc, containerPort: 9}, {name: server, "
              "containerPort: 7}]}]}}}}"));
  ASSERT_TRUE(service.ok());
  EXPECT_EQ(Ports(*service), "serve:8000 serve-grpc:9");
  EXPECT_FALSE(service->At("spec").At("ports").as_array()[0].Has("appProtocol"));
  EXPECT_EQ(
      Dump(service->At("metadata").At("labels")),
      R"({"ray.io/originated-from-cr-name":"alpha","ray.io/originated-from-crd":"RayCluster",)"
      R"("ray.io/serve":"alpha-serve"})");
  EXPECT_EQ(Dump(service->At("spec").At("selector")), R"({"ray.io/cluster":"alpha"})");
  EXPECT_FALSE(BuildServeService(Cluster(kPorts)).ok());
  const ServiceOwner owner{"RayService", "llm", Yaml("{kind: RayService}")};
  const auto of_service = BuildServeService(Cluster(), &owner);
  EXPECT_EQ(of_service->At("spec").At("selector").GetString("ray.io/serve"), "true");
  EXPECT_EQ(of_service->At("metadata").GetString("name"), "llm-serve-svc");
}

TEST(ServiceSwitchesTest, FollowAnnotationAndHosts) {
  EXPECT_FALSE(WantsServeService(Cluster()));
  EXPECT_FALSE(
      WantsServeService(Cluster("metadata: {annotations: {ray.io/enable-serve-service: 'True'}}")));
  EXPECT_TRUE(
      WantsServeService(Cluster("metadata: {annotations: {ray.io/enable-serve-service: 'true'}}")));
  EXPECT_FALSE(NeedsHeadlessService(Cluster()));
  EXPECT_TRUE(
      NeedsHeadlessService(Cluster("spec: {workerGroupSpecs: [{groupName: a, numOfHosts: 2}]}")));
}

TEST(IngressTest, TakesItsOptionsAndTheClassAnnotation) {
  const auto ingress = BuildIngress(Cluster(R"(
metadata: {annotations: {kubernetes.io/ingress.class: nginx, a: b}}
spec:
  headGroupSpec:
    enableIngress: true
    ingressOptions: {host: ray.example, path: /ray, pathType: Exact, tls: [{secretName: s}]}
    template: {spec: {containers: [{name: h, ports: [{name: dashboard, containerPort: 80}]}]}}
)"));
  ASSERT_TRUE(ingress.ok());
  EXPECT_EQ(Dump(ingress->At("metadata").At("annotations")), R"({"a":"b"})");
  EXPECT_EQ(Dump(ingress->At("spec")),
            R"({"ingressClassName":"nginx","rules":[{"http":{"paths":[{"path":"/ray","pathType":)"
            R"("Exact","backend":{"service":{"name":"alpha-head-svc","port":{"number":80}}}}]},)"
            R"("host":"ray.example"}],"tls":[{"secretName":"s"}]})");
}

TEST(IngressTest, QuirkForeignAnnotationsGoAndTheLiveClassStays) {
  const Value wanted = *BuildIngress(Cluster("metadata: {annotations: {a: b}}"));
  Value live = wanted;
  live["spec"].Set("ingressClassName", "default-one");
  EXPECT_FALSE(UpdatedIngress(live, wanted).has_value());
  live["metadata"]["annotations"].Set("controller", "note");
  const auto updated = UpdatedIngress(live, wanted);
  ASSERT_TRUE(updated.has_value());
  EXPECT_EQ(Dump(updated->At("metadata").At("annotations")), R"({"a":"b"})");
  EXPECT_EQ(updated->At("spec").GetString("ingressClassName"), "default-one");
}

TEST(RouteTest, PointsToTheDashboard) {
  const Value route = *BuildRoute(Cluster("metadata: {annotations: {a: b}}"));
  EXPECT_EQ(route.At("metadata").GetString("name"), "alpha-head-route");
  EXPECT_EQ(Dump(route.At("spec")),
            R"({"to":{"kind":"Service","name":"alpha-head-svc","weight":100},)"
            R"("port":{"targetPort":8265},"wildcardPolicy":"None"})");
  EXPECT_EQ(route.At("metadata").At("annotations").GetString("a"), "b");
}

}  // namespace
}  // namespace hekla::ray::builders

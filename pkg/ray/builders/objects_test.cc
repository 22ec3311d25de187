// Rights, secret, claim, NetworkPolicies and certificates: what the recordings do not show.
#include <array>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/network_policy.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/rbac.h"
#include "pkg/ray/builders/storage.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using apis::json::Dump;
using apis::json::Value;
using apis::ray::RayCluster;
using testing::Cluster;
using testing::Yaml;

TEST(OwnerTest, OnlyTheControllerReferenceCounts) {
  const RayCluster cluster = Cluster();
  Value object = Yaml("metadata: {ownerReferences: [{uid: uid-1}]}");
  EXPECT_FALSE(ControlledBy(cluster, object));
  EXPECT_FALSE(ControlledBy(cluster, Value()));
  SetController(cluster, object);
  EXPECT_TRUE(ControlledBy(cluster, object));
  object = Yaml("metadata: {ownerReferences: [{uid: other, controller: true}]}");
  EXPECT_FALSE(ControlledBy(cluster, object));
}

TEST(RbacTest, LongNamesAreCutInTheObjectsAndTheirReferences) {
  const RayCluster cluster =
      Cluster("metadata: {name: analytics-nightly-reranker-finetune-production-eu-001}");
  const Value binding = BuildAutoscalerRoleBinding(cluster);
  const std::string cut = "lytics-nightly-reranker-finetune-production-eu-001";
  EXPECT_EQ(binding.At("metadata").GetString("name"), cut);
  EXPECT_EQ(binding.At("roleRef").GetString("name"), cut);
  EXPECT_EQ(binding.At("subjects").as_array()[0].GetString("name"), cut);
  EXPECT_EQ(BuildAutoscalerServiceAccount(cluster).At("metadata").GetString("name"), cut);
}

TEST(AuthSecretTest, HoldsTheEncodedBytes) {
  std::array<unsigned char, kAuthTokenBytes> random{};
  random[0] = 255;
  const Value secret = BuildAuthSecret(Cluster(), random);
  std::string decoded;
  ASSERT_TRUE(absl::Base64Unescape(secret.At("stringData").GetString("auth_token"), &decoded));
  EXPECT_EQ(decoded.size(), kAuthTokenBytes);
  EXPECT_EQ(static_cast<unsigned char>(decoded[0]), 255);
}

TEST(AuthSecretTest, IsNeededUnlessTheTokenComesFromElsewhere) {
  EXPECT_FALSE(NeedsAuthSecret(Cluster()));
  EXPECT_TRUE(NeedsAuthSecret(Cluster("spec: {authOptions: {}}")));  // quirk, see the header
  EXPECT_TRUE(NeedsAuthSecret(Cluster("spec: {authOptions: {mode: token}}")));
  EXPECT_FALSE(NeedsAuthSecret(Cluster("spec: {authOptions: {mode: disabled}}")));
  EXPECT_FALSE(NeedsAuthSecret(Cluster("spec: {authOptions: {mode: token, secretName: s}}")));
  EXPECT_FALSE(
      NeedsAuthSecret(Cluster("spec: {authOptions: {mode: token, enableK8sTokenAuth: true}}")));
}

TEST(GcsClaimTest, HasDefaultsAndAnOwnerUnlessRetained) {
  const Value claim =
      BuildGcsClaim(Cluster("spec: {gcsFaultToleranceOptions: {backend: rocksdb}}"));
  EXPECT_EQ(Dump(claim.At("spec")),
            R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}})");
  EXPECT_TRUE(claim.At("metadata").Has("ownerReferences"));
  const RayCluster retained = Cluster(
      "spec: {gcsFaultToleranceOptions: {backend: rocksdb, storage: {deletionPolicy: Retain}}}");
  EXPECT_FALSE(BuildGcsClaim(retained).At("metadata").Has("ownerReferences"));
  EXPECT_FALSE(OwnsGcsClaim(retained));
  EXPECT_TRUE(NeedsGcsClaim(retained));
  EXPECT_FALSE(NeedsGcsClaim(
      Cluster("spec: {gcsFaultToleranceOptions: {backend: rocksdb, storage: {claimName: mine}}}")));
  EXPECT_FALSE(NeedsGcsClaim(Cluster("spec: {gcsFaultToleranceOptions: {redisAddress: r}}")));
}

TEST(GcsClaimTest, DriftIsNamed) {
  const RayCluster cluster = Cluster(
      "spec: {gcsFaultToleranceOptions: {backend: rocksdb, storage: {size: 4Gi, storageClassName: "
      "fast, accessModes: [ReadWriteMany, ReadWriteOnce]}}}");
  const auto live = [](const char* spec) { return Yaml(std::string("spec: ") + spec); };
  EXPECT_EQ(GcsClaimDrift(cluster, live("{accessModes: [ReadWriteOnce, ReadWriteMany], "
                                        "storageClassName: fast, resources: {requests: {storage: "
                                        "4096Mi}}}")),
            std::nullopt);
  EXPECT_EQ(GcsClaimDrift(cluster, live("{accessModes: [ReadWriteOnce, ReadWriteMany], "
                                        "storageClassName: fast, resources: {requests: {storage: "
                                        "3Gi}}}")),
            "requested size 4Gi != current 3Gi");
  EXPECT_NE(GcsClaimDrift(cluster, live("{}")), std::nullopt);
  // A class that is not asked for does not matter.
  EXPECT_EQ(GcsClaimDrift(Cluster("spec: {gcsFaultToleranceOptions: {backend: rocksdb}}"),
                          live("{accessModes: [ReadWriteOnce], storageClassName: any, resources: "
                               "{requests: {storage: 1Gi}}}")),
            std::nullopt);
}

TEST(NetworkPolicyTest, GroupRulesReplaceThoseOfAllWorkers) {
  const auto policies = BuildNetworkPolicies(Cluster(R"(
spec:
  networkPolicy:
    head: {ingressRules: [{ports: [{port: 1}]}]}
    worker: {egressRules: [{ports: [{port: 2}]}]}
    workerGroups: [{groupName: b, egressRules: [{ports: [{port: 3}]}]}]
  workerGroupSpecs: [{groupName: a}, {groupName: b}]
)"));
  ASSERT_EQ(policies.size(), 3u);
  EXPECT_EQ(Dump(policies[0].At("spec").At("ingress").as_array()[1]), R"({"ports":[{"port":1}]})");
  EXPECT_EQ(policies[0].At("spec").At("egress").size(), 1u);
  EXPECT_EQ(Dump(policies[1].At("spec").At("egress").as_array()[1]), R"({"ports":[{"port":2}]})");
  EXPECT_EQ(Dump(policies[2].At("spec").At("egress").as_array()[1]), R"({"ports":[{"port":3}]})");
  EXPECT_EQ(Dump(policies[2].At("spec").At("policyTypes")), R"(["Ingress","Egress"])");
  EXPECT_TRUE(BuildNetworkPolicies(Cluster()).empty());
}

TEST(NetworkPolicyTest, SubmitterPodOfARayJobReachesTheDashboard) {
  const std::string job = R"(
metadata:
  labels: {ray.io/job-submission-mode: K8sJobMode}
  ownerReferences: [{apiVersion: ray.io/v1, kind: RayJob, name: train, controller: true}]
spec: {networkPolicy: {}, headGroupSpec: {rayStartParams: {dashboard-port: '80'}}}
)";
  const auto policies = BuildNetworkPolicies(Cluster(job));
  EXPECT_EQ(Dump(policies[0].At("spec").At("ingress").as_array()[1]),
            R"({"from":[{"podSelector":{"matchLabels":{"ray.io/originated-from-cr-name":"train",)"
            R"("ray.io/originated-from-crd":"RayJob"}}}],"ports":[{"protocol":"TCP","port":80}]})");
  EXPECT_EQ(policies[1].At("spec").At("ingress").size(), 1u);
}

TEST(NetworkPolicyTest, LivePoliciesAreComparedWithDefaultProtocols) {
  const Value wanted = BuildNetworkPolicies(
      Cluster("spec: {networkPolicy: {head: {ingressRules: [{ports: [{port: 1}]}]}}}"))[0];
  Value live = wanted;
  live["spec"]["ingress"].as_array()[1]["ports"].as_array()[0].Set("protocol", "TCP");
  EXPECT_FALSE(UpdatedNetworkPolicy(live, wanted).has_value());
  live["metadata"]["labels"].Set("extra", "x");
  const auto updated = UpdatedNetworkPolicy(live, wanted);
  ASSERT_TRUE(updated.has_value());
  EXPECT_EQ(updated->At("metadata").At("labels"), wanted.At("metadata").At("labels"));
}

TEST(MtlsTest, AddressesAreThoseOfLivePodsSortedAndUnique) {
  const Value a = Yaml("status: {phase: Running, podIP: 9.0.0.1}");
  const Value b = Yaml("status: {phase: Pending, podIP: 10.0.0.1}");
  const Value gone =
      Yaml("{metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {podIP: 8.8.8.8}}");
  const Value done = Yaml("status: {phase: Failed, podIP: 7.7.7.7}");
  const Value none = Yaml("status: {}");
  EXPECT_EQ(LeafIps({&a, &b, &a, &gone, &done, &none}),
            (std::vector<std::string>{"10.0.0.1", "127.0.0.1", "9.0.0.1"}));
}

TEST(MtlsTest, LeavesAreUpdatedWhenTheirNamesDiffer) {
  const RayCluster cluster = Cluster();
  const Value wanted = BuildLeafCertificate(cluster, "head", {"127.0.0.1", "1.1.1.1"}, {});
  const Value same_set = BuildLeafCertificate(cluster, "head", {"1.1.1.1", "127.0.0.1"}, {});
  EXPECT_FALSE(LeafNeedsUpdate(same_set, wanted));
  Value live = BuildLeafCertificate(cluster, "head", {"127.0.0.1"}, {});
  live["spec"].Set("secretName", "kept");
  EXPECT_TRUE(LeafNeedsUpdate(live, wanted));
  const Value updated = UpdatedLeaf(live, wanted);
  EXPECT_FALSE(LeafNeedsUpdate(updated, wanted));
  EXPECT_EQ(updated.At("spec").GetString("secretName"), "kept");
}

TEST(MtlsTest, ReadinessIsOfThePresentGeneration) {
  const auto certificate = [](const char* condition) {
    return Yaml(std::string("{metadata: {generation: 2}, status: {notAfter: "
                            "'2027-01-01T00:00:00Z', conditions: [") +
                condition + "]}}");
  };
  EXPECT_TRUE(
      CertificateReady(certificate("{type: Ready, status: 'True', observedGeneration: 2}")));
  EXPECT_FALSE(
      CertificateReady(certificate("{type: Ready, status: 'True', observedGeneration: 1}")));
  EXPECT_FALSE(
      CertificateReady(certificate("{type: Ready, status: 'False', observedGeneration: 2}")));
  EXPECT_FALSE(CertificateReady(Value()));
  EXPECT_EQ(CertificateExpiry(certificate("")), absl::FromUnixSeconds(1798761600));
  EXPECT_EQ(CertificateExpiry(Value()), absl::InfinitePast());
  EXPECT_TRUE(TlsSecretComplete(Yaml("data: {tls.crt: a, tls.key: b, ca.crt: c}")));
  EXPECT_FALSE(TlsSecretComplete(Yaml("data: {tls.crt: a, tls.key: b}")));
}

}  // namespace
}  // namespace hekla::ray::builders

#include "pkg/ray/builders/names.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using testing::Cluster;

constexpr char kLong[] = "analytics-nightly-reranker-finetune-production-eu-001";  // 53

// Worked example E1.
TEST(NamesTest, ShortNamesAreWhole) {
  const auto cluster = Cluster();
  EXPECT_EQ(HeadGenerateName("alpha"), "alpha-head-");
  EXPECT_EQ(WorkerGenerateName("alpha", "gpu"), "alpha-gpu-worker-");
  EXPECT_EQ(HeadServiceName(cluster), "alpha-head-svc");
  EXPECT_EQ(HeadFqdn(cluster, BuildOptions()), "alpha-head-svc.ml.svc.cluster.local");
  EXPECT_EQ(ServeServiceName("alpha"), "alpha-serve-svc");
  EXPECT_EQ(HeadlessServiceName("alpha"), "alpha-headless");
  EXPECT_EQ(IngressName("alpha"), "alpha-head-ingress");
  EXPECT_EQ(RedisCleanupJobName("alpha"), "alpha-redis-cleanup");
  EXPECT_EQ(GcsClaimName(cluster), "alpha-gcs-pvc");
  EXPECT_EQ(AuthSecretName(cluster), "alpha");
  EXPECT_EQ(AutoscalerServiceAccountName(cluster), "alpha");
  EXPECT_EQ(HeadNetworkPolicyName("alpha"), "alpha-head");
  EXPECT_EQ(WorkerNetworkPolicyName("alpha", "gpu"), "alpha-workers-gpu");
  EXPECT_EQ(Identifier("alpha", "head"), "alpha-head");
  EXPECT_EQ(Identifier("alpha", "worker"), "alpha-worker");
}

// Worked example E2. Quirk: pod names and routes keep the front of a name, all others its end.
TEST(NamesTest, QuirkLongNamesAreCutAtEitherEnd) {
  EXPECT_EQ(HeadGenerateName(kLong), "analytics-nightly-reranker-finetune-production-eu--head-");
  EXPECT_EQ(WorkerGenerateName(kLong, "GPU-A"),
            "analytics-nightly-reranker-finetune-production-eu--worker-");
  EXPECT_EQ(CheckName(kLong), "lytics-nightly-reranker-finetune-production-eu-001");
  EXPECT_EQ(IngressName(kLong), "y-reranker-finetune-production-eu-001-head-ingress");
  EXPECT_EQ(RouteName(kLong, "ml-platform"), "analytics-nightly-reranker-finetune-prod");
  EXPECT_EQ(RedisCleanupJobName(kLong),
            "ytics-nightly-reranker-finetune-production-eu-001-redis-cleanup");
  EXPECT_EQ(IngressName("eval-2026-large-context-retrieval-benchmark-07"),
            "rlarge-context-retrieval-benchmark-07-head-ingress");
}

TEST(NamesTest, FirstCharactersThatNamesMayNotHaveBecomeR) {
  EXPECT_EQ(CheckName("1a"), "ra");
  EXPECT_EQ(CheckName("-a"), "ra");
  EXPECT_EQ(CheckName(""), "");
  EXPECT_EQ(CheckLabel("1a"), "1a");
  EXPECT_EQ(CheckLabel(".a"), "ra");
  EXPECT_EQ(PodName("Upper", "head"), "upper-head");
  EXPECT_EQ(RouteName("a", std::string(60, 'n')), "");
}

TEST(NamesTest, UsersMayNameServiceAccountClaimAndSecret) {
  const auto cluster = Cluster(R"(
spec:
  headGroupSpec:
    headService: {metadata: {name: front}}
    template: {spec: {serviceAccountName: robot}}
  authOptions: {mode: token, secretName: mine}
  gcsFaultToleranceOptions: {backend: rocksdb, storage: {claimName: disk}}
)");
  EXPECT_EQ(HeadServiceName(cluster), "front");
  EXPECT_EQ(AutoscalerServiceAccountName(cluster), "robot");
  EXPECT_EQ(AuthSecretName(cluster), "mine");
  EXPECT_EQ(GcsClaimName(cluster), "disk");
}

TEST(SelectorsTest, MatchWhatTheBuildersLabel) {
  const apis::meta::StringMap labels = {{"ray.io/cluster", "alpha"},
                                        {"ray.io/node-type", "worker"},
                                        {"ray.io/group", "gpu"},
                                        {"more", "x"}};
  EXPECT_TRUE(Matches(AllPodsSelector("alpha"), labels));
  EXPECT_TRUE(Matches(NodeTypeSelector("alpha", "worker"), labels));
  EXPECT_TRUE(Matches(GroupSelector("alpha", "gpu"), labels));
  EXPECT_FALSE(Matches(GroupSelector("alpha", "cpu"), labels));
  EXPECT_FALSE(Matches(NodeTypeSelector("alpha", "head"), labels));
  EXPECT_FALSE(Matches(HeadServiceSelector("alpha"), labels));
  EXPECT_FALSE(Matches(HeadlessServiceSelector("alpha"), labels));
}

}  // namespace
}  // namespace hekla::ray::builders

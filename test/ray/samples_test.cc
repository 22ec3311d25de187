// The samples under config/samples: valid under the shipped definition, valid for the operator, and
// every object the operator makes of them equal to the golden file beside this test. After a wanted
// change write the golden files anew:
//   HEKLA_UPDATE_GOLDEN=1 build/dev/bin/ray_samples_test
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/apis/ray/validation.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/network_policy.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/builders/rbac.h"
#include "pkg/ray/builders/services.h"
#include "pkg/ray/builders/storage.h"
#include "pkg/yaml/yaml.h"
#include "test/ray/definition.h"

namespace hekla::ray {
namespace {

namespace fs = std::filesystem;
using apis::json::Value;
using apis::ray::RayCluster;

std::string Read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> SampleNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("config/samples")) {
    const std::string name = entry.path().stem();
    if (absl::StartsWith(name, "raycluster")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The flags a sample asks for in its line `# operator: ...`.
std::string OperatorFlags(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "# operator: ")) return std::string(line);
  }
  return "";
}

struct Sample {
  Value object;
  RayCluster cluster;
  builders::BuildOptions options;
  apis::ray::ValidationGates gates;
  std::unique_ptr<batchscheduler::BatchScheduler> scheduler;
};

Sample Load(const std::string& name) {
  const std::string text = Read(absl::StrCat("config/samples/", name, ".yaml"));
  const auto document = yaml::ParseOne(text);
  EXPECT_TRUE(document.ok()) << document.status();
  Sample sample;
  sample.object = document->value;
  EXPECT_EQ(StoreAsRayCluster(sample.object), "") << name;
  sample.object["metadata"].Set("namespace", "default");
  sample.object["metadata"].Set("uid", "11111111-2222-3333-4444-555555555555");
  auto cluster = apis::ray::DecodeRayCluster(sample.object);
  EXPECT_TRUE(cluster.ok()) << name << " " << cluster.status();
  sample.cluster = *std::move(cluster);
  const std::string flags = OperatorFlags(text);
  const auto on = [&](const char* gate) {
    return absl::StrContains(flags, absl::StrCat(gate, "=true"));
  };
  sample.gates.network_policy = on("RayClusterNetworkPolicy");
  sample.gates.embedded_gcs_storage = on("GCSFaultToleranceEmbeddedStorage");
  sample.gates.mtls = on("RayClusterMTLS");
  sample.gates.history_server = on("RayClusterHistoryServer");
  sample.options.history_server = sample.gates.history_server;
  std::string scheduler;
  for (const char* known : {"volcano", "yunikorn", "kai-scheduler", "scheduler-plugins"}) {
    if (absl::StrContains(flags, absl::StrCat("--batch-scheduler=", known))) scheduler = known;
  }
  sample.scheduler = *batchscheduler::MakeBatchScheduler(scheduler);
  return sample;
}

// One pod per role: the head and the first of every group.
void AddPods(const Sample& s, std::vector<Value>& out) {
  Value head =
      builders::BuildHeadPod(s.cluster, s.options, apis::ray::UpgradeHash(s.object.At("spec")));
  s.scheduler->DecoratePod(s.cluster, apis::ray::kHeadGroup, head);
  out.push_back(std::move(head));
  for (const apis::ray::WorkerGroupSpec& group : s.cluster.spec.worker_groups) {
    builders::WorkerIndex index;
    if (group.multi_host()) index.replica_name = absl::StrCat(group.group_name, "-xxxxx");
    Value worker = builders::BuildWorkerPod(s.cluster, group, s.options, index);
    s.scheduler->DecoratePod(s.cluster, group.group_name, worker);
    out.push_back(std::move(worker));
  }
}

void AddCertificates(const Sample& s, std::vector<Value>& out) {
  if (!apis::ray::TlsEnabled(s.cluster)) return;
  out.push_back(builders::BuildSelfSignedIssuer(s.cluster));
  out.push_back(builders::BuildCaCertificate(s.cluster));
  out.push_back(builders::BuildCaIssuer(s.cluster));
  for (absl::string_view type : {apis::ray::kHeadNode, apis::ray::kWorkerNode}) {
    out.push_back(
        builders::BuildLeafCertificate(s.cluster, type, builders::LeafIps({}), s.options));
  }
}

// What the operator makes of the sample, in the order in which it does.
std::vector<Value> Objects(const Sample& s) {
  std::vector<Value> out;
  if (s.cluster.spec.enable_in_tree_autoscaling) {
    out.push_back(builders::BuildAutoscalerServiceAccount(s.cluster));
    out.push_back(builders::BuildAutoscalerRole(s.cluster));
    out.push_back(builders::BuildAutoscalerRoleBinding(s.cluster));
  }
  if (s.cluster.spec.head.enable_ingress) out.push_back(*builders::BuildIngress(s.cluster));
  if (builders::NeedsAuthSecret(s.cluster)) {
    const std::array<unsigned char, builders::kAuthTokenBytes> zeros{};
    out.push_back(builders::BuildAuthSecret(s.cluster, zeros));
  }
  out.push_back(*builders::BuildHeadService(s.cluster, s.options));
  if (builders::NeedsHeadlessService(s.cluster)) {
    out.push_back(builders::BuildHeadlessService(s.cluster));
  }
  if (builders::WantsServeService(s.cluster)) {
    out.push_back(*builders::BuildServeService(s.cluster));
  }
  if (builders::NeedsGcsClaim(s.cluster)) out.push_back(builders::BuildGcsClaim(s.cluster));
  const auto pod_group = s.scheduler->BuildPodGroup(s.cluster);
  if (pod_group.ok() && pod_group->has_value()) out.push_back(**pod_group);
  AddCertificates(s, out);
  AddPods(s, out);
  for (Value& policy : builders::BuildNetworkPolicies(s.cluster)) out.push_back(std::move(policy));
  return out;
}

std::string Text(const std::vector<Value>& objects) {
  std::string text;
  for (const Value& object : objects) absl::StrAppend(&text, "---\n", yaml::Dump(object));
  return text;
}

class SampleTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SampleTest, GivesTheObjectsOfItsGoldenFile) {
  const Sample sample = Load(GetParam());
  const auto result = apis::ray::ValidateRayCluster(sample.cluster, sample.gates, true);
  EXPECT_FALSE(result.failure.has_value()) << result.failure->note;
  EXPECT_FALSE(result.warning.has_value()) << result.warning->note;
  const std::string text = Text(Objects(sample));
  const fs::path golden = fs::path("test/ray/golden") / absl::StrCat(GetParam(), ".yaml");
  if (std::getenv("HEKLA_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(golden.parent_path());
    std::ofstream(golden) << text;
  }
  EXPECT_EQ(Read(golden), text) << golden << ": see the head of this test";
}

INSTANTIATE_TEST_SUITE_P(All, SampleTest, ::testing::ValuesIn(SampleNames()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(DefinitionTest, TemplatesKeepFiveMembersOfTheirMetadataAndAllOfTheirSpec) {
  for (const char* version : {"ray.io/v1", "ray.io/v1alpha1"}) {
    const auto document = yaml::ParseOne(absl::StrCat("apiVersion: ", version, R"(
kind: RayCluster
metadata: {name: a}
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      metadata: {name: a, namespace: b, labels: {c: d}, annotations: {e: f}, finalizers: [g/h]}
      spec: {future: 1, containers: [{name: h, future: 2, ports: [{containerPort: 1, future: 3}]}]}
)"));
    ASSERT_TRUE(document.ok()) << document.status();
    Value cluster = document->value;
    EXPECT_EQ(StoreAsRayCluster(cluster), "");
    const Value& spec = *cluster.FindPath({"spec", "headGroupSpec", "template", "spec"});
    EXPECT_EQ(apis::json::Dump(spec.At("containers").as_array()[0].At("ports")),
              R"([{"containerPort":1,"future":3,"protocol":"TCP"}])");
    EXPECT_EQ(spec.GetInt("future"), 1);
    cluster["spec"]["headGroupSpec"]["template"]["metadata"].Set("uid", "x");
    EXPECT_EQ(StoreAsRayCluster(cluster), "unknown: spec.headGroupSpec.template.metadata.uid");
  }
}

TEST(SamplesTest, AreEnoughAndEachHasAGoldenFile) {
  EXPECT_GE(SampleNames().size(), 15u);
  for (const auto& entry : fs::directory_iterator("test/ray/golden")) {
    EXPECT_TRUE(fs::exists(fs::path("config/samples") / entry.path().filename())) << entry;
  }
}

}  // namespace
}  // namespace hekla::ray

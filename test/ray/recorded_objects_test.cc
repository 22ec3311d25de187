// Every child object of the recorded cases, built from the RayCluster and compared with what the
// real operator was seen to store.
#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/network_policy.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/builders/rbac.h"
#include "pkg/ray/builders/resources.h"
#include "pkg/ray/builders/services.h"
#include "pkg/ray/builders/storage.h"
#include "pkg/ray/testing/recordings.h"
#include "test/ray/definition.h"
#include "test/ray/recorded_options.h"
#include "test/ray/stored_object.h"

namespace hekla::ray {
namespace {

using apis::json::Member;
using apis::json::Value;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;
using testing::LoadRecordings;
using testing::Recording;

// One recorded state: the cluster and what is built from it.
struct State {
  const Recording& recording;
  size_t step;
  Value raw;
  RayCluster cluster;
  builders::BuildOptions options;
  std::unique_ptr<batchscheduler::BatchScheduler> scheduler;

  std::string Where(const std::string& name) const {
    return absl::StrCat(recording.name(), " step ", step + 1, " ", name);
  }
};

void ForEachState(const std::function<void(const State&)>& visit) {
  for (const Recording& r : LoadRecordings()) {
    for (size_t step = 0; step < r.steps().size(); ++step) {
      Value raw = r.ClusterAt(step);
      if (!raw.is_object()) continue;
      auto cluster = apis::ray::DecodeRayCluster(raw);
      ASSERT_TRUE(cluster.ok()) << r.name() << " " << cluster.status();
      visit(State{r, step, std::move(raw), *std::move(cluster), OptionsOf(r), SchedulerOf(r)});
    }
  }
}

void ExpectStored(const Value& sent, const Value& stored, const std::string& where) {
  const std::vector<std::string> differences = DifferencesFromStored(sent, stored);
  EXPECT_TRUE(differences.empty()) << where << "\n  " << absl::StrJoin(differences, "\n  ");
}

bool CreatedIn(const State& s, const std::string& object) {
  const Value& created = s.recording.steps().as_array()[s.step].At("created");
  if (!created.is_array()) return false;
  return std::any_of(created.as_array().begin(), created.as_array().end(),
                     [&](const Value& item) { return item.as_string() == object; });
}

const WorkerGroupSpec* GroupOf(const RayCluster& cluster, absl::string_view name) {
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (group.group_name == name) return &group;
  }
  return nullptr;
}

std::optional<builders::WorkerIndex> IndexOf(const Value& labels) {
  const absl::string_view text = labels.GetString(apis::ray::kReplicaIndexLabel);
  if (text.empty()) return std::nullopt;
  builders::WorkerIndex index;
  EXPECT_TRUE(absl::SimpleAtoi(text, &index.replica_index));
  index.replica_name = std::string(labels.GetString(apis::ray::kReplicaNameLabel));
  (void)absl::SimpleAtoi(labels.GetString(apis::ray::kHostIndexLabel), &index.host_index);
  return index;
}

// The pod we would have created in the place of a recorded one.
std::optional<Value> PodLike(const State& s, const Value& stored) {
  const Value& labels = stored.At("metadata").At("labels");
  const absl::string_view group_name = labels.GetString(apis::ray::kGroupLabel);
  Value pod;
  if (labels.GetString(apis::ray::kNodeTypeLabel) == apis::ray::kHeadNode) {
    pod = builders::BuildHeadPod(s.cluster, s.options, apis::ray::UpgradeHash(s.raw.At("spec")));
  } else {
    const WorkerGroupSpec* group = GroupOf(s.cluster, group_name);
    if (group == nullptr) return std::nullopt;
    EXPECT_EQ(IndexOf(labels).has_value(), s.options.multi_host_indexing);
    pod = builders::BuildWorkerPod(s.cluster, *group, s.options, IndexOf(labels));
  }
  s.scheduler->DecoratePod(s.cluster, group_name, pod);
  return pod;
}

TEST(RecordedObjectsTest, ShippedDefinitionStoresWhatWasStored) {
  int compared = 0;
  for (const Recording& r : LoadRecordings()) {
    Value manifest = r.raw().At("manifest");
    const Value stored = r.ClusterAt(0);
    const std::string problem = StoreAsRayCluster(manifest);
    EXPECT_EQ(problem.empty(), stored.is_object()) << r.name() << " " << problem;
    if (!stored.is_object()) continue;
    // The finalizer is written with the whole object.
    if (stored.At("metadata").Has("finalizers")) manifest = apis::ray::GoObject(manifest);
    EXPECT_EQ(manifest.At("spec"), stored.At("spec"))
        << r.name() << "\n"
        << apis::json::Dump(manifest.At("spec")) << "\n"
        << apis::json::Dump(stored.At("spec"));
    ++compared;
  }
  std::cout << compared << " specs compared\n";
}

TEST(RecordedObjectsTest, PodsAreBuiltAsTheyWereStored) {
  int compared = 0;
  ForEachState([&](const State& s) {
    const Value pods = s.recording.ObjectsAt(s.step, "pods");
    if (!pods.is_object()) return;
    for (const Member& pod : pods.as_object()) {
      // Later pods of a template are covered by the first; stray ones are the test's own.
      if (!CreatedIn(s, absl::StrCat("pods/", pod.key)) ||
          !pod.value.At("metadata").At("ownerReferences").is_array()) {
        continue;
      }
      const std::optional<Value> built = PodLike(s, pod.value);
      if (!built) continue;
      ExpectStored(*built, pod.value, s.Where(pod.key));
      ++compared;
    }
  });
  std::cout << compared << " pods compared\n";
}

// Compares the objects of one kind with those that `build` gives, by name.
int CompareKind(const std::string& kind,
                const std::function<std::vector<Value>(const State&)>& build) {
  int compared = 0;
  ForEachState([&](const State& s) {
    const Value stored = s.recording.ObjectsAt(s.step, kind);
    if (!stored.is_object()) return;
    const std::vector<Value> built = build(s);
    for (const Member& object : stored.as_object()) {
      // Objects without owner are the case's own, but for retained claims.
      if (!CreatedIn(s, absl::StrCat(kind, "/", object.key)) ||
          (!object.value.At("metadata").At("ownerReferences").is_array() &&
           !builders::NeedsGcsClaim(s.cluster))) {
        continue;
      }
      bool found = false;
      for (const Value& candidate : built) {
        if (candidate.At("metadata").GetString("name") != object.key) continue;
        found = true;
        ExpectStored(candidate, object.value, s.Where(object.key));
        ++compared;
      }
      EXPECT_TRUE(found) << s.Where(object.key) << ": not built";
    }
  });
  std::cout << compared << " " << kind << " compared\n";
  return compared;
}

TEST(RecordedObjectsTest, ServicesAreBuiltAsTheyWereStored) {
  CompareKind("services", [](const State& s) {
    std::vector<Value> out;
    const auto head = builders::BuildHeadService(s.cluster, s.options);
    EXPECT_TRUE(head.ok()) << head.status();
    out.push_back(*head);
    if (builders::NeedsHeadlessService(s.cluster)) {
      out.push_back(builders::BuildHeadlessService(s.cluster));
    }
    if (builders::WantsServeService(s.cluster)) {
      const auto serve = builders::BuildServeService(s.cluster);
      if (serve.ok()) out.push_back(*serve);
    }
    return out;
  });
}

TEST(RecordedObjectsTest, IngressesAreBuiltAsTheyWereStored) {
  CompareKind("ingresses", [](const State& s) {
    return std::vector<Value>{*builders::BuildIngress(s.cluster)};
  });
}

TEST(RecordedObjectsTest, AutoscalerRightsAreBuiltAsTheyWereStored) {
  CompareKind("serviceaccounts", [](const State& s) {
    return std::vector<Value>{builders::BuildAutoscalerServiceAccount(s.cluster)};
  });
  CompareKind("roles", [](const State& s) {
    return std::vector<Value>{builders::BuildAutoscalerRole(s.cluster)};
  });
  CompareKind("rolebindings", [](const State& s) {
    return std::vector<Value>{builders::BuildAutoscalerRoleBinding(s.cluster)};
  });
}

TEST(RecordedObjectsTest, ClaimsAreBuiltAsTheyWereStored) {
  CompareKind("persistentvolumeclaims", [](const State& s) {
    return std::vector<Value>{builders::BuildGcsClaim(s.cluster)};
  });
}

TEST(RecordedObjectsTest, SecretsAreBuiltAsTheyWereStored) {
  int compared = 0;
  ForEachState([&](const State& s) {
    const Value stored = s.recording.ObjectsAt(s.step, "secrets");
    const std::string name = builders::AuthSecretName(s.cluster);
    if (!stored.is_object() || !builders::NeedsAuthSecret(s.cluster) || !stored.Has(name)) return;
    const std::array<unsigned char, builders::kAuthTokenBytes> random{};
    Value built = builders::BuildAuthSecret(s.cluster, random);
    const std::string token(built.At("stringData").GetString(apis::ray::kAuthTokenKey));
    built.Remove("stringData");
    built.Set("dataKeys",
              Value::MakeObject({{"auth_token", absl::StrCat(token.size(), " bytes")}}));
    ExpectStored(built, stored.At(name), s.Where(name));
    ++compared;
  });
  std::cout << compared << " secrets compared\n";
}

TEST(RecordedObjectsTest, NetworkPoliciesAreBuiltAsTheyWereStored) {
  CompareKind("networkpolicies",
              [](const State& s) { return builders::BuildNetworkPolicies(s.cluster); });
}

TEST(RecordedObjectsTest, CertificatesAreBuiltAsTheyWereStored) {
  const auto secret = [](Value object) {
    // The recordings write <uid8> for the first characters of the UID.
    if (Value* name = object.FindPath({"spec", "secretName"}); name != nullptr) {
      if (absl::StrContains(name->as_string(), "-ca-secret-")) *name = "mtls-ca-secret-<uid8>";
    }
    if (Value* name = object.FindPath({"spec", "ca", "secretName"}))
      *name = "mtls-ca-secret-<uid8>";
    return object;
  };
  CompareKind("issuers", [&](const State& s) {
    return std::vector<Value>{secret(builders::BuildSelfSignedIssuer(s.cluster)),
                              secret(builders::BuildCaIssuer(s.cluster))};
  });
  CompareKind("certificates", [&](const State& s) {
    std::vector<Value> out = {secret(builders::BuildCaCertificate(s.cluster))};
    for (absl::string_view type : {apis::ray::kHeadNode, apis::ray::kWorkerNode}) {
      out.push_back(
          builders::BuildLeafCertificate(s.cluster, type, builders::LeafIps({}), s.options));
    }
    return out;
  });
}

TEST(RecordedObjectsTest, CleanupJobsAreBuiltAsTheyWereStored) {
  CompareKind("jobs", [](const State& s) {
    return std::vector<Value>{builders::BuildRedisCleanupJob(s.cluster, s.options)};
  });
}

TEST(RecordedObjectsTest, PodGroupsAreBuiltAsTheyWereStored) {
  for (const char* kind : {"podgroups", "podgroups.x-k8s.io"}) {
    CompareKind(kind, [](const State& s) {
      std::vector<Value> out;
      const auto group = s.scheduler->BuildPodGroup(s.cluster);
      if (group.ok() && group->has_value()) out.push_back(**group);
      return out;
    });
  }
}

TEST(RecordedObjectsTest, DesiredAmountsAreThoseOfTheStatus) {
  int compared = 0;
  ForEachState([&](const State& s) {
    // The amounts are written with the status only: compare where it is up to date.
    const apis::ray::RayClusterStatus& stored = s.cluster.status;
    if (stored.observed_generation != s.cluster.metadata.generation) return;
    apis::ray::RayClusterStatus built = stored;
    builders::FillDesired(s.cluster, built);
    EXPECT_EQ(built.desired_worker_replicas, stored.desired_worker_replicas) << s.Where("");
    EXPECT_EQ(built.min_worker_replicas, stored.min_worker_replicas) << s.Where("");
    EXPECT_EQ(built.max_worker_replicas, stored.max_worker_replicas) << s.Where("");
    EXPECT_EQ(built.desired_cpu.ToString(), stored.desired_cpu.ToString()) << s.Where("");
    EXPECT_EQ(built.desired_memory.ToString(), stored.desired_memory.ToString()) << s.Where("");
    EXPECT_EQ(built.desired_gpu.ToString(), stored.desired_gpu.ToString()) << s.Where("");
    EXPECT_EQ(built.desired_tpu.ToString(), stored.desired_tpu.ToString()) << s.Where("");
    ++compared;
  });
  std::cout << compared << " statuses compared\n";
}

TEST(RecordedObjectsTest, EndpointsAreThoseOfTheHeadService) {
  int compared = 0;
  ForEachState([&](const State& s) {
    const Value services = s.recording.ObjectsAt(s.step, "services");
    const std::string name = builders::HeadServiceName(s.cluster);
    if (!services.is_object() || !services.Has(name) || s.cluster.status.endpoints.empty()) return;
    // Node ports that the server chose are not recorded.
    if (absl::StrContains(apis::json::Dump(services.At(name)), "<nodePort>")) return;
    apis::meta::StringMap endpoints = s.cluster.status.endpoints;
    builders::MergeEndpoints(services.At(name), endpoints);
    EXPECT_EQ(apis::json::Dump(apis::meta::EncodeStringMap(endpoints)),
              apis::json::Dump(apis::meta::EncodeStringMap(s.cluster.status.endpoints)))
        << s.Where("");
    ++compared;
  });
  std::cout << compared << " endpoints compared\n";
}

}  // namespace
}  // namespace hekla::ray

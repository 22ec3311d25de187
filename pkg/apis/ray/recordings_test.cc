// Hashes, notes and the stored form of what the real operator was seen to write.
#include "pkg/ray/testing/recordings.h"

#include <iostream>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/apis/ray/validation.h"

namespace hekla::apis::ray {
namespace {

using hekla::ray::testing::LoadRecordings;
using hekla::ray::testing::Recording;
using json::Value;

ValidationGates GatesOf(const Recording& r) {
  ValidationGates gates;
  gates.ray_job_deletion_policy = r.Gate("RayJobDeletionPolicy", true);
  gates.network_policy = r.Gate("RayClusterNetworkPolicy", false);
  gates.embedded_gcs_storage = r.Gate("GCSFaultToleranceEmbeddedStorage", false);
  gates.mtls = r.Gate("RayClusterMTLS", false);
  gates.history_server = r.Gate("RayClusterHistoryServer", false);
  return gates;
}

TEST(RecordingsTest, UpgradeHashIsTheOneOnEachNewHeadPod) {
  int compared = 0;
  for (const Recording& r : LoadRecordings()) {
    std::set<std::string> seen;
    for (size_t step = 0; step < r.steps().size(); ++step) {
      const Value cluster = r.ClusterAt(step);
      const Value pods = r.ObjectsAt(step, "pods");
      if (!cluster.is_object() || !pods.is_object()) continue;
      for (const json::Member& pod : pods.as_object()) {
        const Value* annotations = pod.value.FindPath({"metadata", "annotations"});
        if (annotations == nullptr || !annotations->Has(kRecreateHashAnnotation)) continue;
        // A pod keeps the hash of the spec it was made from: compare it when it is new.
        const std::string hash(annotations->GetString(kRecreateHashAnnotation));
        if (!seen.insert(hash).second) continue;
        EXPECT_EQ(UpgradeHash(cluster.At("spec")), hash) << r.name() << " step " << step + 1;
        ++compared;
      }
    }
  }
  std::cout << compared << " hashes compared\n";
}

TEST(RecordingsTest, WholeObjectWritesLeaveTheRecordedSpec) {
  int compared = 0;
  for (const Recording& r : LoadRecordings()) {
    const Value first = r.ClusterAt(0);
    const Value* finalizers = first.FindPath({"metadata", "finalizers"});
    if (finalizers == nullptr || r.raw().At("manifest").At("metadata").Has("finalizers")) continue;
    // The finalizer was written with the whole object: what was stored is in that form.
    EXPECT_EQ(GoSpec(first.At("spec")), first.At("spec")) << r.name();
    ++compared;
  }
  std::cout << compared << " specs compared\n";
}

// The event notes of the first step that are about validation.
std::set<std::string> ValidationNotes(const Recording& r, size_t step) {
  std::set<std::string> notes;
  const Value& events = r.steps().as_array()[step].At("events");
  if (!events.is_array()) return notes;
  for (const Value& event : events.as_array()) {
    if (event.GetString("action") == "Validate" &&
        event.GetString("reason").substr(0, 7) == "Invalid") {
      notes.insert(std::string(event.GetString("message")));
    }
  }
  return notes;
}

TEST(RecordingsTest, ValidationGivesTheRecordedNotes) {
  int compared = 0;
  for (const Recording& r : LoadRecordings()) {
    const Value value = r.ClusterAt(0);
    if (!value.is_object()) continue;
    const auto cluster = DecodeRayCluster(value);
    ASSERT_TRUE(cluster.ok()) << r.name() << " " << cluster.status();
    std::set<std::string> want = ValidationNotes(r, 0);
    // An externally managed cluster is not looked at.
    if (!ManagedByUs(*cluster)) continue;
    const ValidationResult result = ValidateRayCluster(*cluster, GatesOf(r), true);
    std::set<std::string> got;
    for (const auto& finding : {result.warning, result.failure}) {
      // The API server refuses longer notes.
      if (finding && finding->note.size() <= 1024) got.insert(finding->note);
    }
    EXPECT_EQ(got, want) << r.name();
    if (r.name() == "67-inv-labels") {
      ASSERT_TRUE(result.failure.has_value());
      EXPECT_GT(result.failure->note.size(), 1024u);
    }
    ++compared;
  }
  std::cout << compared << " clusters compared\n";
}

TEST(RecordingsTest, StatusSurvivesDecodingAndWriting) {
  int compared = 0;
  for (const Recording& r : LoadRecordings()) {
    for (size_t step = 0; step < r.steps().size(); ++step) {
      const Value cluster = r.ClusterAt(step);
      if (!cluster.is_object() || cluster.At("status").size() == 0) continue;
      const auto decoded = DecodeRayCluster(cluster);
      ASSERT_TRUE(decoded.ok()) << r.name() << " " << decoded.status();
      Value written = cluster;
      written.Remove("status");
      WriteRayClusterStatus(decoded->status, written);
      EXPECT_EQ(written.At("status"), cluster.At("status")) << r.name() << " step " << step + 1;
      ++compared;
    }
  }
  std::cout << compared << " statuses compared\n";
}

}  // namespace
}  // namespace hekla::apis::ray

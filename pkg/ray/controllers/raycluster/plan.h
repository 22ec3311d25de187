#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/resource.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/controllers/common/event_sink.h"
#include "pkg/ray/controllers/common/options.h"
#include "pkg/ray/controllers/raycluster/observe.h"
#include "pkg/ray/expectations/scale_expectations.h"

// What one pass writes, decided from what was read. Pure.
// Source: spec ray-cluster 4.
namespace hekla::ray::controllers::raycluster {

// One thing to do. What fails ends the plan, unless its kind of failure is fine.
struct Write {
  enum class Verb : uint8_t {
    kCreate,
    kUpdate,             // PUT of the whole object
    kMergePatch,         // `object` is the patch
    kDelete,             // by name
    kDeleteCollection,   // by labels
    kNote,               // nothing but the event
    kFail,               // ends the plan with `failure`
    kForgetExpectations  // of the cluster
  };

  Verb verb = Verb::kNote;
  const kube::Resource* resource = nullptr;
  apis::json::Value object = {};
  std::string name = {};
  std::string uid = {};  // of what is deleted by name; empty: whatever has that name
  std::vector<std::pair<std::string, std::string>> labels = {};
  absl::Status failure = absl::OkStatus();

  bool exists_is_fine = false;   // AlreadyExists; says nothing
  bool missing_is_fine = false;  // NotFound; says nothing
  bool missing_is_done = false;  // NotFound counts as success
  bool failing_is_fine = false;  // anything; is logged

  // Events, none where the reason is empty. The note of `done` is followed by "namespace/name" of
  // the created object where `names_object`; that of `failed` by the error.
  EventNote done = {};
  bool names_object = false;
  EventNote failed = {};
  // Of the condition ReplicaFailure; empty: the condition is left as it is.
  absl::string_view marker = {};
  // What the cache is expected to show; group "" is the head.
  struct Expectation {
    std::string group;
    expectations::Action action;
  };
  std::optional<Expectation> expects = std::nullopt;
};

struct Plan {
  std::vector<Write> writes = {};
  // Off: the pass ends after the writes, with `requeue`.
  bool status = true;
  absl::Duration requeue = absl::ZeroDuration();
};

// What a plan depends on beside the observation.
struct PlanInput {
  const ClusterOptions* options = nullptr;
  const batchscheduler::BatchScheduler* batch = nullptr;  // may be null
  absl::Time now = absl::InfinitePast();
  // Groups with open expectations; "" is the head.
  std::set<std::string> waiting = {};
  std::function<std::string(size_t)> secret_bytes = nullptr;
  // Five characters of a replica's name.
  std::function<std::string()> replica_suffix = nullptr;
};

// The whole pass of a valid cluster that this operator looks after.
Plan MakePlan(const Observed& observed, const PlanInput& input);

// --- Its parts; each appends, and returns false where the chain ends ---

// Deletion with Redis cleanup (4.2).
Plan PlanRedisCleanup(const Observed& observed, const PlanInput& input);
// Steps 1 to 9 of 4.3.
bool PlanResources(const Observed& observed, const PlanInput& input, Plan& plan);
// Step 10 (4.4).
void PlanPods(const Observed& observed, const PlanInput& input, Plan& plan);
// Worker groups in order, from step 9 of 4.4 on.
void PlanWorkers(const Observed& observed, const PlanInput& input, Plan& plan);
// What Kubernetes' own gang scheduling needs (11.6); false: an error ends the step.
bool PlanWorkload(const Observed& observed, Plan& plan);
// One group whose replicas have several hosts (4.5); false: an error ends the step.
bool PlanMultiHostGroup(const Observed& observed, const PlanInput& input,
                        const apis::ray::WorkerGroupSpec& group, Plan& plan);

// --- Shared by the parts ---

// Why a pod is deleted as unhealthy (4.6).
struct Unhealthy {
  std::string reason;      // a sentence
  std::string event_tail;  // StateTail
};
std::optional<Unhealthy> JudgePod(const apis::json::Value& pod);
// "; Pod status: ...; Pod restart policy: ...; Ray container terminated status: ..."
std::string StateTail(const apis::json::Value& pod);

Write Fail(std::string message);
Write CreatePod(apis::json::Value pod, const std::string& group);
Write DeletePodNamed(const std::string& name, const std::string& group, std::string note);
// Deletes what matches, unless all of `pods` are terminating already; then only the event is left.
Write DeletePods(const std::vector<controller::ObjectPtr>& pods,
                 const apis::meta::StringMap& selector);
// Surplus pods are deleted without being asked for by name.
bool MayDeleteSurplus(const Observed& observed, const PlanInput& input);
// Stops the step where TLS is on and certificates are missing.
bool CertificatesMissing(const Observed& observed);

}  // namespace hekla::ray::controllers::raycluster

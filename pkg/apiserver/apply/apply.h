#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/apply/type_ref.h"

// Field ownership (`metadata.managedFields`) and server-side apply.
// Pure functions; objects are passed after decoding, defaulting and pruning.
// Source: spec kube-machinery 3.12 "Minimal apply"; the public description of server-side apply.
namespace hekla::apiserver::apply {

// Who writes.
struct Manager {
  std::string name;         // fieldManager, or the user agent up to the first '/'
  std::string api_version;  // of the object in the request
  std::string subresource;  // "" or "status", "scale"
  absl::Time time;
};

// Brings `after.metadata.managedFields` up to date for a create (`before` null), update or
// non-apply patch: what the request changed belongs to the manager from now on, and nobody else.
// `after` carries the managed fields of `before` or what the client sent: null entries or `[]`
// reset the record, as in a real server. Entries left without fields vanish. A write that changes
// no field leaves the list as it was (same time), so that it stays a no-op.
// Members that the server itself sets are never owned: metadata.{uid, resourceVersion, generation,
// creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, managedFields, selfLink, name,
// namespace}, apiVersion, kind; with a status sub-resource also `status` on the main path.
void TrackUpdate(const TypeRef& type, const apis::json::Value* before, apis::json::Value& after,
                 const Manager& manager);

struct Conflict {
  std::string manager;  // as printed: `one`, `kubectl-client-side-apply using v1`
  std::string field;    // `.data.a`, `.spec.containers[name="c"].image`
};

struct ApplyOutcome {
  // The merged object, with its managed fields; empty where there were conflicts.
  // The caller defaults, validates and stores it, and calls FinishApply after defaulting.
  std::optional<apis::json::Value> object;
  std::vector<Conflict> conflicts;
};

// Merges an apply patch into the live object (nullptr: the object is created).
// Errors: kInvalidArgument where the patch does not fit the form, for instance list-map items
// without their keys or with equal ones (`.spec.containers: duplicate entries for key [name="c"]`).
absl::StatusOr<ApplyOutcome> Apply(const TypeRef& type, const apis::json::Value* live,
                                   const apis::json::Value& patch, const Manager& manager,
                                   bool force);

// `Apply failed with 1 conflict: conflict with "one": .data.a`, several as the real server lists
// them (grouped by manager, one line each).
std::string ConflictMessage(const std::vector<Conflict>& conflicts);
// The causes of the 409 answer: {reason: FieldManagerConflict, message, field}.
apis::json::Value ConflictCauses(const std::vector<Conflict>& conflicts);

}  // namespace hekla::apiserver::apply

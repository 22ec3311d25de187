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
  // The kind has a status sub-resource: `status` belongs to nobody on the main path, `spec` to
  // nobody on the status path.
  bool separate_status = true;
};

// Brings `after.metadata.managedFields` up to date for a create (`before` null), update or
// non-apply patch: what the request changed belongs to the manager from now on, and to nobody else.
// `after` carries the managed fields that the client sent: `[{}]` or `[]` resets the record, none
// keeps that of `before`, as in a real server. Entries left without fields vanish. A write that
// changes no field leaves the list as it was (same time), so that it stays a no-op.
// Members that the server itself sets are never owned (uid, resourceVersion, generation,
// creationTimestamp, name, namespace, ...).
// An object without a record keeps having none until it is applied to; a server may thus skip the
// call for creates of kinds where ownership is not worth its cost.
void TrackUpdate(const TypeRef& type, const apis::json::Value* before, apis::json::Value& after,
                 const Manager& manager);

struct Conflict {
  std::string manager;  // as printed: `"one"`, `"kubectl-create" using v1`
  std::string field;    // `.data.a`, `.spec.containers[name="c"].image`
};

struct ApplyOutcome {
  // The merged object, with its managed fields; empty where there were conflicts. The caller
  // decodes, defaults, validates and stores it; what defaulting adds belongs to nobody.
  std::optional<apis::json::Value> object;
  std::vector<Conflict> conflicts;
  // The live object already was like that: nothing but ownership can differ.
  bool unchanged = false;
};

// Merges an apply patch into the live object (nullptr: the object is created). `patch` is what the
// client sent, not yet decoded: what it says is what the manager owns from now on. Fields that the
// manager applied before and does not name any more are removed unless somebody else owns them.
// Errors: kInvalidArgument (400) where the patch carries managed fields or another version,
//         kInternal (500 without reason) where it does not fit the form: `failed to create typed
//         patch object (ns/name; /v1, Kind=ConfigMap): .x: field not declared in schema`.
absl::StatusOr<ApplyOutcome> Apply(const TypeRef& type, const apis::json::Value* live,
                                   const apis::json::Value& patch, const Manager& manager,
                                   bool force);

// `Apply failed with 1 conflict: conflict with "one": .data.a`; several are listed by manager, one
// line each.
std::string ConflictMessage(const std::vector<Conflict>& conflicts);
// The causes of the 409 answer: {reason: FieldManagerConflict, message, field}.
apis::json::Value ConflictCauses(const std::vector<Conflict>& conflicts);

}  // namespace hekla::apiserver::apply

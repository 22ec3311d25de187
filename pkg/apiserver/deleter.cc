#include "pkg/apiserver/deleter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/collector.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/writer.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr int kMaxRaces = 100;

void RemoveFinalizer(Value& object, absl::string_view finalizer) {
  Value* list = object["metadata"].Find("finalizers");
  if (list == nullptr || !list->is_array()) return;
  Value::Array& items = list->as_array();
  items.erase(std::remove(items.begin(), items.end(), Value(finalizer)), items.end());
  if (items.empty()) object["metadata"].Remove("finalizers");
}

bool IsNamespaces(const Resource& resource) {
  return resource.group.empty() && resource.plural == "namespaces";
}

// Kinds whose dependents stay when nobody says what to do with them.
bool OrphansByDefault(const Resource& resource) {
  return (resource.group == "batch" && resource.plural == "jobs") ||
         (resource.group.empty() && resource.plural == "replicationcontrollers");
}

// Brings the finalizers that stand for a propagation policy in line with the request.
void ApplyPropagation(const Resource& resource, const std::string& policy, Value& object) {
  std::string wanted = policy;
  if (wanted.empty()) {
    const bool decided =
        HasFinalizer(object, kForegroundFinalizer) || HasFinalizer(object, kOrphanFinalizer);
    if (decided) return;
    if (!OrphansByDefault(resource)) return;
    wanted = "Orphan";
  }
  RemoveFinalizer(object, wanted == "Foreground" ? kOrphanFinalizer : kForegroundFinalizer);
  if (wanted == "Background") RemoveFinalizer(object, kOrphanFinalizer);
  if (wanted == "Foreground") AddFinalizer(object, kForegroundFinalizer);
  if (wanted == "Orphan") AddFinalizer(object, kOrphanFinalizer);
}

bool IsHeld(const Resource& resource, const Value& object) {
  if (object.At("metadata").At("finalizers").size() > 0) return true;
  return IsNamespaces(resource) && object.At("spec").At("finalizers").size() > 0;
}

void BumpGeneration(Value& metadata) {
  const int64_t generation = metadata.GetInt("generation");
  if (generation > 0) metadata.Set("generation", generation + 1);
}

bool IsDefinitions(const Resource& resource) { return resource.group == "apiextensions.k8s.io"; }

// Marks an object that only its finalizers still hold.
void MarkDeleting(const Resource& resource, absl::Time now, Value& object) {
  Value& metadata = object["metadata"];
  if (metadata.Has("deletionTimestamp")) return;
  metadata.Set("deletionTimestamp", TimeText(now));
  if (IsDefinitions(resource)) return;
  if (!IsNamespaces(resource)) metadata.Set("deletionGracePeriodSeconds", 0);
  BumpGeneration(metadata);
  if (IsNamespaces(resource)) object.Ensure({"status"}).Set("phase", "Terminating");
}

absl::Status CheckSystemClass(const Resource& resource, absl::string_view name) {
  if (resource.plural != "priorityclasses" ||
      (name != "system-node-critical" && name != "system-cluster-critical")) {
    return absl::OkStatus();
  }
  return Forbidden(resource.group_resource(), name,
                   "this is a system priority class and cannot be deleted");
}

// Pods: returns whether the object is to go now.
bool MarkGraceful(const DeleteParams& params, absl::Time now, Value& object) {
  Value& metadata = object["metadata"];
  const Value& spec = object.At("spec");
  const absl::string_view phase = object.At("status").GetString("phase");
  const bool immediate =
      spec.GetString("nodeName").empty() || phase == "Succeeded" || phase == "Failed";
  std::optional<GraceState> before;
  if (metadata.Has("deletionTimestamp")) {
    before = GraceState{ParseTimeText(metadata.GetString("deletionTimestamp")),
                        metadata.GetInt("deletionGracePeriodSeconds")};
  }
  const GraceResult next =
      NextGrace(before, params.grace_seconds, spec.GetInt("terminationGracePeriodSeconds", 30),
                immediate, now);
  if (next.changed) {
    metadata.Set("deletionTimestamp", TimeText(next.state.deletion));
    metadata.Set("deletionGracePeriodSeconds", static_cast<long long>(next.state.grace));
    if (!before.has_value()) BumpGeneration(metadata);
  }
  return next.state.grace == 0;
}

}  // namespace

bool HasFinalizer(const Value& object, absl::string_view finalizer) {
  const Value& list = object.At("metadata").At("finalizers");
  return list.is_array() && std::any_of(list.as_array().begin(), list.as_array().end(),
                                        [&](const Value& f) { return f == Value(finalizer); });
}

void AddFinalizer(Value& object, absl::string_view finalizer) {
  if (!HasFinalizer(object, finalizer)) object["metadata"]["finalizers"].Append(Value(finalizer));
}

absl::Status DropFinalizer(Writer& writer, const Resource& resource, absl::string_view ns,
                           absl::string_view name, absl::string_view finalizer) {
  Writer::UpdateOptions options;
  options.retry = true;
  options.needs_version = false;
  WriteParams params;
  params.internal = true;
  return writer
      .Update(
          resource, ns, name,
          [finalizer](const Value* present) -> absl::StatusOr<Value> {
            Value changed = *present;
            RemoveFinalizer(changed, finalizer);
            return changed;
          },
          options, params)
      .status();
}

GraceResult NextGrace(const std::optional<GraceState>& before, std::optional<int64_t> asked,
                      int64_t own_period, bool immediate, absl::Time now) {
  int64_t grace = asked.value_or(own_period);
  if (grace < 0) grace = 1;
  if (immediate) grace = 0;
  if (!before.has_value()) return {{now + absl::Seconds(grace), grace}, true};
  const bool keeps = (!asked.has_value() && !immediate) || grace >= before->grace;
  if (keeps) return {*before, false};
  absl::Time deletion = before->deletion - absl::Seconds(before->grace) + absl::Seconds(grace);
  if (deletion < now) {
    deletion = now;
    if (grace != 0) grace = 1;
  }
  return {{deletion, grace}, true};
}

absl::Status Deleter::CheckPreconditions(const Resource& resource, absl::string_view name,
                                         const storage::StoredObject& current,
                                         const DeleteParams& params) const {
  const GroupResource as_kind{resource.group, resource.kind};
  if (!params.uid.empty() && params.uid != current.uid()) {
    return Conflict(as_kind, name,
                    absl::StrCat("the UID in the precondition (", params.uid,
                                 ") does not match the UID in record (", current.uid(),
                                 "). The object might have been deleted and then recreated"));
  }
  const std::string version = absl::StrCat(current.resource_version());
  if (!params.resource_version.empty() && params.resource_version != version) {
    return Conflict(
        as_kind, name,
        absl::StrCat("the ResourceVersion in the precondition (", params.resource_version,
                     ") does not match the ResourceVersion in record (", version,
                     "). The object might have been modified"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Deleted> Deleter::Delete(const Resource& resource, absl::string_view ns,
                                        absl::string_view name, const DeleteParams& params) {
  const std::string key = KeyOf(resource, ns, name);
  if (IsNamespaces(resource) &&
      (name == "default" || name == "kube-system" || name == "kube-public")) {
    return Forbidden(resource.group_resource(), name, "this namespace may not be deleted");
  }
  for (int race = 0; race < kMaxRaces; ++race) {
    storage::ObjectPtr current = core_.store.Get(*resource.table, key);
    if (current == nullptr) return NotFound(resource.group_resource(), name);
    HEKLA_RETURN_IF_ERROR(CheckPreconditions(resource, name, *current, params));
    const Value old = current->Parse();
    HEKLA_RETURN_IF_ERROR(CheckSystemClass(resource, name));
    Value object = old;
    ApplyPropagation(resource, params.propagation, object);
    // Holds a definition until its objects are gone.
    if (IsDefinitions(resource)) AddFinalizer(object, kDefinitionCleanup);
    bool leaves = !IsHeld(resource, object);
    if (resource.graceful) {
      const bool due = MarkGraceful(params, core_.Now(), object);
      leaves = leaves && due;
    } else if (!leaves) {
      MarkDeleting(resource, core_.Now(), object);
    }
    if (params.dry_run) return Deleted{std::move(object), leaves};
    // Graceful kinds show their last state to watchers before they go.
    const bool writes = object != old && (resource.graceful || !leaves);
    if (writes) {
      const auto stored =
          core_.store.Update(*resource.table, storage::Encode(object, resource.table->fields()),
                             current->resource_version(), core_.Now());
      if (absl::IsDataLoss(stored.status())) return stored.status();
      if (!stored.ok()) continue;
      current = *stored;
      object["metadata"].Set("resourceVersion", absl::StrCat(current->resource_version()));
    }
    if (!leaves) {
      if (writes) collector_.Changed(resource, old, object);
      return Deleted{std::move(object), false};
    }
    const auto gone = core_.store.Delete(*resource.table, key, current->resource_version());
    if (absl::IsDataLoss(gone.status())) return gone.status();
    if (!gone.ok()) continue;
    collector_.Removed(resource, object);
    return Deleted{std::move(object), true};
  }
  return StaleWrite(resource.group_resource(), name);
}

}  // namespace hekla::apiserver

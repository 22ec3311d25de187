#include "pkg/apiserver/apply/apply.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apiserver/apply/managed_fields.h"
#include "pkg/apiserver/apply/walk.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::apply {
namespace {

using apis::json::Value;

constexpr char kBeforeFirstApply[] = "before-first-apply";
constexpr char kKubectl[] = "kubectl";
constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

// What the server itself writes.
const FieldSet& ServerFields() {
  static const FieldSet* const fields = [] {
    auto* out = new FieldSet;
    for (const char* name : {"f:apiVersion", "f:kind", "f:metadata"}) out->Insert({name});
    for (const char* name :
         {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid", "f:clusterName",
          "f:generation", "f:managedFields", "f:resourceVersion"}) {
      out->Insert({"f:metadata", name});
    }
    return out;
  }();
  return *fields;
}

// Drops what a write on this path resets.
void DropReset(const Manager& manager, FieldSet& fields) {
  if (manager.subresource.empty()) {
    if (manager.separate_status) fields.RemoveTree({"f:status"});
  } else if (manager.subresource == "status") {
    fields.RemoveTree({"f:spec"});
  }
}

Comparison CompareFor(const TypeRef& type, const Value& before, const Value& after,
                      const Manager& manager) {
  Comparison out = Compare(type, before, after);
  DropReset(manager, out.added);
  DropReset(manager, out.removed);
  DropReset(manager, out.modified);
  return out;
}

void RemoveRecord(Value& object) {
  if (Value* metadata = object.Find("metadata"); metadata != nullptr) {
    metadata->Remove("managedFields");
  }
}

Entry SelfEntry(const Manager& manager, bool applied) {
  Entry self;
  self.manager = manager.name;
  self.applied = applied;
  self.api_version = manager.api_version;
  self.subresource = manager.subresource;
  self.time = TimeText(manager.time);
  return self;
}

// Gives the manager what the step from `before` to `after` changed.
void Account(const TypeRef& type, const Value& before, const Value& after, const Manager& manager,
             std::vector<Entry>& entries) {
  const Comparison change = CompareFor(type, before, after, manager);
  FieldSet taken = change.modified;
  taken.UnionWith(change.added);
  FieldSet lost = taken;
  lost.UnionWith(change.removed);
  if (!lost.empty()) {
    for (Entry& entry : entries) entry.fields = entry.fields.Minus(lost);
  }
  taken = taken.Minus(ServerFields());
  if (taken.empty()) return;
  Entry self = SelfEntry(manager, false);
  const auto mine = std::find_if(entries.begin(), entries.end(),
                                 [&](const Entry& e) { return e.SameManagerAs(self); });
  if (mine == entries.end()) {
    self.fields = std::move(taken);
    entries.push_back(std::move(self));
    return;
  }
  mine->fields.UnionWith(taken);
  mine->time = self.time;
}

// Removes what the manager applied before, does not apply now, and nobody else owns.
Value Prune(const TypeRef& type, const Value& merged, const FieldSet& last,
            const std::vector<Entry>& entries) {
  if (last.empty()) return merged;
  FieldSet owned;
  for (const Entry& entry : entries) owned.UnionWith(entry.fields);
  const FieldSet all = PlacesOf(type, merged).WithNamedFields(type);
  Value pruned = Without(type, merged, last.WithNamedFields(type));
  FieldSet kept = PlacesOf(type, pruned).WithNamedFields(type);
  kept.UnionWith(owned.WithNamedFields(type));
  pruned = Without(type, merged, all.Minus(kept));
  kept = PlacesOf(type, pruned).WithNamedFields(type);
  return Without(type, merged, all.Minus(kept).Intersect(last.WithNamedFields(type)));
}

// The name of the object and its kind, as errors carry it: `ns/name; /v1, Kind=ConfigMap`.
std::string Described(const Value& object) {
  const absl::string_view version = object.GetString("apiVersion");
  const Value& metadata = object.At("metadata");
  return absl::StrCat(metadata.GetString("namespace"), "/", metadata.GetString("name"), "; ",
                      absl::StrContains(version, "/") ? "" : "/", version,
                      ", Kind=", object.GetString("kind"));
}

absl::Status CheckPatch(const TypeRef& type, const Value& patch, const Manager& manager) {
  const absl::string_view version = patch.GetString("apiVersion");
  if (version != manager.api_version) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Incorrect version specified in apply patch. Specified patch version: ", version,
        ", expected: ", manager.api_version));
  }
  if (!patch.At("metadata").At("managedFields").is_null()) {
    return absl::InvalidArgumentError("metadata.managedFields must be nil");
  }
  const std::vector<std::string> misfits = Misfits(type, patch);
  if (misfits.empty()) return absl::OkStatus();
  const std::string text = misfits.size() == 1
                               ? misfits[0]
                               : absl::StrCat("errors:\n  ", absl::StrJoin(misfits, "\n  "));
  return absl::InternalError(
      absl::StrCat("failed to create typed patch object (", Described(patch), "): ", text));
}

// Fields that kubectl applied on the client side and that are still as it left them.
FieldSet LastAppliedFields(const TypeRef& type, const Value& live, const Manager& manager) {
  const Value& annotations = live.At("metadata").At("annotations");
  auto last = apis::json::Parse(annotations.GetString(kLastApplied));
  if (!last.ok() || last->GetString("apiVersion") != manager.api_version) return FieldSet();
  const Comparison change = Compare(type, *last, live);
  return PlacesOf(type, *last).Minus(change.modified).Minus(change.added).Minus(change.removed);
}

// kubectl keeps its annotation in step when it applies on the server side.
void RefreshLastApplied(const Value& patch, Value& object) {
  const Value* annotations = object.FindPath({"metadata", "annotations"});
  if (annotations == nullptr || annotations->GetString(kLastApplied).empty()) return;
  Value applied = patch;
  if (Value* own = applied.FindPath({"metadata", "annotations"}); own != nullptr) {
    own->Remove(kLastApplied);
  }
  object.Ensure({"metadata", "annotations"})
      .Set(kLastApplied, absl::StrCat(apis::json::Dump(applied), "\n"));
}

struct Taken {
  FieldSet fields;
  std::string manager;
};

std::vector<Conflict> Listed(std::vector<Taken>& taken, const FieldSet& allowed) {
  std::vector<Conflict> out;
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.manager < b.manager; });
  for (const Taken& one : taken) {
    one.fields.ForEach([&](const FieldSet::Path& path) {
      if (!allowed.Has(path)) out.push_back({one.manager, PathText(path)});
    });
  }
  return out;
}

}  // namespace

void TrackUpdate(const TypeRef& type, const Value* before, Value& after, const Manager& manager) {
  std::vector<Entry> entries;
  const bool reset = manager.subresource.empty() && IsReset(after);
  if (!reset) {
    if (manager.subresource.empty()) entries = ReadManagedFields(after);
    if (entries.empty() && before != nullptr) entries = ReadManagedFields(*before);
  }
  RemoveRecord(after);
  // What has no record gets none, other than by being created or applied to.
  if (entries.empty() && before != nullptr) return;
  Account(type, before != nullptr ? *before : type.Empty(), after, manager, entries);
  WriteManagedFields(std::move(entries), after);
}

absl::StatusOr<ApplyOutcome> Apply(const TypeRef& type, const Value* live, const Value& patch,
                                   const Manager& manager, bool force) {
  HEKLA_RETURN_IF_ERROR(CheckPatch(type, patch, manager));
  Value stored = live != nullptr ? *live : type.Empty();
  std::vector<Entry> entries = ReadManagedFields(stored);
  RemoveRecord(stored);
  if (entries.empty() && live != nullptr) {
    Manager first = manager;
    first.name = kBeforeFirstApply;
    Account(type, type.Empty(), stored, first, entries);
  }
  Entry self = SelfEntry(manager, true);
  FieldSet last;
  std::string last_time;
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (!it->SameManagerAs(self)) continue;
    last = std::move(it->fields);
    last_time = it->time;
    entries.erase(it);
    break;
  }
  self.fields = PlacesOf(type, patch);
  DropReset(manager, self.fields);
  entries.push_back(self);
  Value merged = Prune(type, Merge(type, stored, patch), last, entries);
  entries.pop_back();

  const Comparison change = CompareFor(type, stored, merged, manager);
  FieldSet touched = change.modified;
  touched.UnionWith(change.added);
  std::vector<Taken> taken;
  for (const Entry& entry : entries) {
    FieldSet common = entry.fields.Intersect(touched);
    if (!common.empty()) taken.push_back({std::move(common), entry.Printed()});
  }
  ApplyOutcome outcome;
  if (!force && !taken.empty()) {
    const FieldSet allowed =
        manager.name == kKubectl ? LastAppliedFields(type, stored, manager) : FieldSet();
    outcome.conflicts = Listed(taken, allowed);
    if (!outcome.conflicts.empty()) return outcome;
  }
  touched.UnionWith(change.removed);
  for (Entry& entry : entries) entry.fields = entry.fields.Minus(touched);
  outcome.unchanged = merged == stored;
  if (outcome.unchanged && !last_time.empty()) self.time = last_time;
  self.fields = self.fields.Minus(ServerFields());
  entries.push_back(std::move(self));
  if (manager.name == kKubectl) RefreshLastApplied(patch, merged);
  WriteManagedFields(std::move(entries), merged);
  outcome.object = std::move(merged);
  return outcome;
}

std::string ConflictMessage(const std::vector<Conflict>& conflicts) {
  if (conflicts.size() == 1) {
    return absl::StrCat("Apply failed with 1 conflict: conflict with ", conflicts[0].manager, ": ",
                        conflicts[0].field);
  }
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const Conflict& conflict : conflicts) {
    by_manager[conflict.manager].push_back(conflict.field);
  }
  std::vector<std::string> lines;
  for (const auto& [manager, fields] : by_manager) {
    lines.push_back(absl::StrCat("conflicts with ", manager, ":"));
    for (const std::string& field : fields) lines.push_back(absl::StrCat("- ", field));
  }
  return absl::StrCat("Apply failed with ", conflicts.size(),
                      " conflicts: ", absl::StrJoin(lines, "\n"));
}

Value ConflictCauses(const std::vector<Conflict>& conflicts) {
  Value out = Value::MakeArray();
  for (const Conflict& conflict : conflicts) {
    out.Append(Value::MakeObject({{"reason", "FieldManagerConflict"},
                                  {"message", absl::StrCat("conflict with ", conflict.manager)},
                                  {"field", conflict.field}}));
  }
  return out;
}

}  // namespace hekla::apiserver::apply

#include "pkg/apiserver/definitions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/writer.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

std::vector<std::string> Strings(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) {
    if (item.is_string()) out.push_back(item.as_string());
  }
  return out;
}

Subresource Sub(absl::string_view name, absl::string_view group, absl::string_view version,
                absl::string_view kind) {
  return {std::string(name),
          std::string(group),
          std::string(version),
          std::string(kind),
          {"get", "patch", "update"}};
}

// Sets a condition; its time changes only with its status.
void SetCondition(Value& conditions, absl::string_view type, bool on, absl::string_view reason,
                  absl::string_view message, const std::string& now) {
  Value wanted = Value::MakeObject({{"type", type},
                                    {"status", on ? "True" : "False"},
                                    {"lastTransitionTime", now},
                                    {"reason", reason},
                                    {"message", message}});
  if (!conditions.is_array()) conditions = Value::MakeArray();
  for (Value& c : conditions.as_array()) {
    if (c.GetString("type") != type) continue;
    if (c.At("status") == wanted.At("status") && c.Has("lastTransitionTime")) {
      wanted.Set("lastTransitionTime", c.At("lastTransitionTime"));
    }
    c = std::move(wanted);
    return;
  }
  conditions.Append(std::move(wanted));
}

absl::string_view StorageVersion(const Value& crd) {
  const Value& versions = crd.At("spec").At("versions");
  if (!versions.is_array()) return "";
  for (const Value& v : versions.as_array()) {
    if (v.GetBool("storage")) return v.GetString("name");
  }
  return "";
}

std::shared_ptr<const crd::CustomKind> CompileStored(const Value& spec) {
  for (const Value& version : spec.At("versions").as_array()) {
    if (version.GetBool("storage")) return crd::CustomKind::Compile(version);
  }
  return nullptr;
}

std::shared_ptr<Resource> MakeResource(const Value& crd, const Value& version) {
  const Value& spec = crd.At("spec");
  const Value& names = spec.At("names");
  auto r = std::make_shared<Resource>();
  r->group = std::string(spec.GetString("group"));
  r->version = std::string(version.GetString("name"));
  r->plural = std::string(names.GetString("plural"));
  r->singular = std::string(names.GetString("singular"));
  r->kind = std::string(names.GetString("kind"));
  r->list_kind = std::string(names.GetString("listKind"));
  r->namespaced = spec.GetString("scope") == "Namespaced";
  r->short_names = Strings(names.At("shortNames"));
  r->categories = Strings(names.At("categories"));
  r->verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  r->custom = crd::CustomKind::Compile(version);
  r->has_status = r->custom->has_status();
  r->has_scale = r->custom->scale().has_value();
  r->has_generation = true;
  r->unconditional_update = false;
  r->stored_api_version = absl::StrCat(r->group, "/", StorageVersion(crd));
  r->view = r->stored_api_version == r->api_version() ? View::kStored : View::kApiVersion;
  r->storage_hash = StorageVersionHash(r->group, StorageVersion(crd), r->kind);
  r->strategy = &kinds::StrategyOf("", "");
  if (r->has_status) r->subresources.push_back(Sub("status", r->group, r->version, r->kind));
  if (r->has_scale) r->subresources.push_back(Sub("scale", "autoscaling", "v1", "Scale"));
  return r;
}

// Other versions than the stored one know it too; it is compiled once.
void ShareStoredKind(const Value& spec, const std::vector<std::shared_ptr<Resource>>& resources) {
  std::shared_ptr<const crd::CustomKind> stored;
  for (const auto& r : resources) {
    if (r->view == View::kStored) stored = r->custom;
  }
  for (const auto& r : resources) {
    if (r->view == View::kStored) continue;
    if (stored == nullptr) stored = CompileStored(spec);  // its own version is not served
    r->stored_custom = stored;
  }
}

}  // namespace

std::string Definitions::NameConflict(const Value& crd) const {
  const Value& spec = crd.At("spec");
  const Value& names = spec.At("names");
  const absl::string_view group = spec.GetString("group");
  const absl::string_view plural = names.GetString("plural");
  for (const std::string& version : core_.registry.Versions(group)) {
    for (const ResourcePtr& other : core_.registry.Resources(group, version)) {
      if (other->is_custom() && other->plural == plural) continue;
      const auto taken = [&](absl::string_view name) {
        return other->plural == name || other->singular == name ||
               std::find(other->short_names.begin(), other->short_names.end(), name) !=
                   other->short_names.end();
      };
      std::vector<std::string> wanted = Strings(names.At("shortNames"));
      wanted.emplace_back(plural);
      wanted.emplace_back(names.GetString("singular"));
      for (const std::string& name : wanted) {
        if (taken(name)) return absl::StrCat("\"", name, "\" is already in use");
      }
      for (const char* field : {"kind", "listKind"}) {
        const absl::string_view name = names.GetString(field);
        if (other->kind == name || other->list_kind == name) {
          return absl::StrCat("\"", name, "\" is already in use");
        }
      }
    }
  }
  return "";
}

Value Definitions::WithStatus(const Value& crd, const std::string& conflict) const {
  Value out = crd;
  const std::string now = TimeText(core_.Now());
  Value& status = out["status"];
  if (!status.is_object()) status = Value::MakeObject();
  Value& conditions = status["conditions"];
  const bool accepted = conflict.empty();
  SetCondition(conditions, "NamesAccepted", accepted, accepted ? "NoConflicts" : "NamesConflict",
               accepted ? "no conflicts found" : conflict, now);
  SetCondition(
      conditions, "Established", accepted, accepted ? "InitialNamesAccepted" : "NotAccepted",
      accepted ? "the initial names have been accepted" : "not all names are accepted", now);
  status.Set("acceptedNames", accepted ? crd.At("spec").At("names")
                                       : Value::MakeObject({{"plural", ""}, {"kind", ""}}));
  Value stored = status.At("storedVersions");
  if (!stored.is_array()) stored = Value::MakeArray();
  const Value version(StorageVersion(crd));
  if (std::find(stored.as_array().begin(), stored.as_array().end(), version) ==
      stored.as_array().end()) {
    stored.Append(version);
  }
  status.Set("storedVersions", std::move(stored));
  return out;
}

void Definitions::Recover() {
  const ResourcePtr crds =
      core_.registry.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const auto list = core_.store.List(*crds->table, storage::ListQuery());
  if (!list.ok()) return;
  for (const bool established : {true, false}) {
    for (const storage::ObjectPtr& object : list->objects) {
      const Value crd = object->Parse();
      if (apis::meta::ConditionIsTrue(crd, "Established") != established) continue;
      if (NameConflict(crd).empty()) Serve(crd);  // also one that is being deleted: it has objects
      Sync(std::string(object->key()));
    }
  }
}

void Definitions::Sync(const std::string& name) {
  const ResourcePtr crds =
      core_.registry.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  const storage::ObjectPtr stored = core_.store.Get(*crds->table, name);
  if (stored == nullptr) return;
  const Value crd = stored->Parse();
  if (crd.At("metadata").Has("deletionTimestamp")) {
    Finish(name, crd);
    return;
  }
  const std::string conflict = NameConflict(crd);
  if (conflict.empty()) Serve(crd);
  const auto amended =
      writer_.Amend(*crds, name, [&](const Value& present) -> absl::StatusOr<Value> {
        return Canonical(*crds, WithStatus(present, conflict));
      });
  LOG_IF(WARNING, !amended.ok()) << "status of definition not written name=" << name
                                 << " error=" << amended.status();
}

void Definitions::Serve(const Value& crd) {
  const Value& spec = crd.At("spec");
  const std::string name(crd.At("metadata").GetString("name"));
  Entry entry;
  {
    absl::MutexLock lock(&mutex_);
    auto it = entries_.find(name);
    if (it != entries_.end()) {
      if (it->second.spec == spec) return;
      entry = it->second;
    }
  }
  std::vector<std::shared_ptr<Resource>> resources;
  for (const Value& version : spec.At("versions").as_array()) {
    if (version.GetBool("served")) resources.push_back(MakeResource(crd, version));
  }
  if (resources.empty()) return;
  ShareStoredKind(spec, resources);
  if (entry.table == nullptr) {
    entry.table =
        core_.store.AddTable(resources[0]->group_resource().ToString(), resources[0]->namespaced,
                             resources[0]->custom->selectable_fields());
  }
  entry.spec = spec;
  entry.group = resources[0]->group;
  entry.plural = resources[0]->plural;
  core_.registry.Remove(entry.group, entry.plural);
  std::sort(resources.begin(), resources.end(),
            [](const auto& a, const auto& b) { return VersionLess(a->version, b->version); });
  for (std::shared_ptr<Resource>& r : resources) {
    r->table = entry.table;
    core_.registry.Add(std::move(r));
  }
  absl::MutexLock lock(&mutex_);
  entries_[name] = std::move(entry);
}

void Definitions::Finish(const std::string& name, const Value& crd) {
  const Value& spec = crd.At("spec");
  const std::vector<std::string> versions = core_.registry.Versions(spec.GetString("group"));
  bool empty = true;
  for (const std::string& version : versions) {
    const ResourcePtr resource =
        core_.registry.Find(spec.GetString("group"), version, spec.At("names").GetString("plural"));
    if (resource == nullptr || !resource->is_custom()) continue;
    const auto list = core_.store.List(*resource->table, storage::ListQuery());
    if (!list.ok()) continue;
    for (const storage::ObjectPtr& object : list->objects) {
      DeleteParams params;
      params.propagation = "Background";
      const auto result = deleter_.Delete(*resource, object->ns(), object->name(), params);
      if (!result.ok() ? !absl::IsNotFound(result.status()) : !result->gone) empty = false;
    }
    break;
  }
  const ResourcePtr crds =
      core_.registry.Find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (!empty) {
    const std::string now = TimeText(core_.Now());
    const auto amended =
        writer_.Amend(*crds, name, [&](const Value& present) -> absl::StatusOr<Value> {
          Value out = present;
          SetCondition(out.Ensure({"status"})["conditions"], "Terminating", true,
                       "InstanceDeletionInProgress", "CustomResource deletion is in progress", now);
          return out;
        });
    LOG_IF(WARNING, !amended.ok())
        << "status of definition not written name=" << name << " error=" << amended.status();
    return;
  }
  const absl::Status done = DropFinalizer(writer_, *crds, "", name, kDefinitionCleanup);
  LOG_IF(WARNING, !done.ok()) << "definition not removed name=" << name << " error=" << done;
}

void Definitions::Remove(const std::string& name) {
  Entry entry;
  {
    absl::MutexLock lock(&mutex_);
    auto it = entries_.find(name);
    if (it == entries_.end()) return;
    entry = std::move(it->second);
    entries_.erase(it);
  }
  core_.registry.Remove(entry.group, entry.plural);
  core_.store.DropTable(entry.table);
}

}  // namespace hekla::apiserver

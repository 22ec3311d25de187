#include "pkg/apiserver/collector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apiserver/budgets.h"
#include "pkg/apiserver/definitions.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/writer.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr absl::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";

bool IsCore(const Resource& resource, absl::string_view plural) {
  return resource.group.empty() && resource.plural == plural;
}

std::string KeyOfObject(const Value& object) {
  const absl::string_view ns = object.At("metadata").GetString("namespace");
  const absl::string_view name = object.At("metadata").GetString("name");
  return ns.empty() ? std::string(name) : absl::StrCat(ns, "/", name);
}

std::pair<absl::string_view, absl::string_view> SplitKey(absl::string_view key) {
  const size_t slash = key.find('/');
  if (slash == absl::string_view::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

absl::string_view GroupOf(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == absl::string_view::npos ? "" : api_version.substr(0, slash);
}

bool WaitsForDependents(const Value& object) {
  return object.At("metadata").Has("deletionTimestamp") &&
         (HasFinalizer(object, kForegroundFinalizer) || HasFinalizer(object, kOrphanFinalizer));
}

// The claims that a pod's volumes name, "namespace/name".
std::vector<std::string> ClaimsOf(const Value& pod) {
  std::vector<std::string> out;
  const Value& volumes = pod.At("spec").At("volumes");
  for (size_t i = 0; volumes.is_array() && i < volumes.size(); ++i) {
    const Value& claim = volumes.as_array()[i].At("persistentVolumeClaim");
    if (!claim.is_object()) continue;
    out.push_back(
        absl::StrCat(pod.At("metadata").GetString("namespace"), "/", claim.GetString("claimName")));
  }
  return out;
}

bool HasTaint(const Value& node, absl::string_view key) {
  const Value& taints = node.At("spec").At("taints");
  return taints.is_array() &&
         std::any_of(taints.as_array().begin(), taints.as_array().end(),
                     [&](const Value& t) { return t.GetString("key") == key; });
}

}  // namespace

void Collector::Connect(const Peers& peers) {
  writer_ = peers.writer;
  deleter_ = peers.deleter;
  definitions_ = peers.definitions;
  budgets_ = peers.budgets;
}

void Collector::TouchBudgets(const Resource& resource, const Value& object) {
  if (!core_.options.cluster_controllers) return;
  if (!IsCore(resource, "pods") && resource.plural != "poddisruptionbudgets") return;
  budgets_->Touch(object.At("metadata").GetString("namespace"));
}

void Collector::Note(Task task) {
  absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
}

void Collector::Created(const Resource& resource, const Value& object) {
  TouchBudgets(resource, object);
  const Value& metadata = object.At("metadata");
  if (metadata.At("ownerReferences").size() > 0) {
    const Value::Array& owners = metadata.At("ownerReferences").as_array();
    const absl::string_view ns = metadata.GetString("namespace");
    if (std::none_of(owners.begin(), owners.end(),
                     [&](const Value& o) { return OwnerExists(o, ns); })) {
      Note({Task::Kind::kDependent, KeyOfObject(object), "", ByTable(resource.table.get())});
    }
  }
  if (IsCore(resource, "nodes") && apis::meta::ConditionIsTrue(object, "Ready")) {
    Note({Task::Kind::kNode, KeyOfObject(object), "", nullptr});
  }
  if (IsCore(resource, "namespaces")) {
    Note({Task::Kind::kNewNamespace, KeyOfObject(object), "", nullptr});
  }
  if (resource.plural == "customresourcedefinitions") {
    Note({Task::Kind::kDefinition, KeyOfObject(object), "", nullptr});
  }
}

void Collector::Changed(const Resource& resource, const Value& old, const Value& object) {
  TouchBudgets(resource, object);
  if (WaitsForDependents(object)) {
    Note({Task::Kind::kOwner, KeyOfObject(object), "", ByTable(resource.table.get())});
  }
  if (IsCore(resource, "nodes") && apis::meta::ConditionIsTrue(object, "Ready") &&
      HasTaint(object, kNotReadyTaint)) {
    Note({Task::Kind::kNode, KeyOfObject(object), "", nullptr});
  }
  if (IsCore(resource, "namespaces") && object.At("metadata").Has("deletionTimestamp")) {
    {
      absl::MutexLock lock(&mutex_);
      ending_namespaces_.insert(KeyOfObject(object));
    }
    Note({Task::Kind::kNamespace, KeyOfObject(object), "", nullptr});
  }
  if (IsCore(resource, "persistentvolumeclaims") &&
      object.At("metadata").Has("deletionTimestamp")) {
    Note({Task::Kind::kClaim, KeyOfObject(object), "", nullptr});
  }
  if (resource.plural == "customresourcedefinitions") {
    if (object.At("metadata").Has("deletionTimestamp")) {
      absl::MutexLock lock(&mutex_);
      ending_definitions_.insert(KeyOfObject(object));
    }
    Note({Task::Kind::kDefinition, KeyOfObject(object), "", nullptr});
  }
  if (old.At("metadata").At("ownerReferences") != object.At("metadata").At("ownerReferences")) {
    NoteWaitingOwners(resource, old);
  }
}

void Collector::Removed(const Resource& resource, const Value& object) {
  TouchBudgets(resource, object);
  const Value& metadata = object.At("metadata");
  Note({Task::Kind::kDependents, "", std::string(metadata.GetString("uid")), nullptr});
  NoteWaitingOwners(resource, object);
  if (IsCore(resource, "pods")) {
    for (const std::string& claim : ClaimsOf(object)) {
      Note({Task::Kind::kClaim, claim, "", nullptr});
    }
  }
  if (resource.plural == "customresourcedefinitions") {
    Note({Task::Kind::kUndefine, KeyOfObject(object), "", nullptr});
  }
  absl::MutexLock lock(&mutex_);
  if (IsCore(resource, "namespaces")) ending_namespaces_.erase(KeyOfObject(object));
  const std::string ns(metadata.GetString("namespace"));
  if (ending_namespaces_.contains(ns)) tasks_.push_back({Task::Kind::kNamespace, ns, "", nullptr});
  if (resource.plural == "customresourcedefinitions") {
    ending_definitions_.erase(KeyOfObject(object));
  }
  if (ending_definitions_.empty() || !resource.is_custom()) return;
  const std::string definition = resource.group_resource().ToString();
  if (ending_definitions_.contains(definition)) {
    tasks_.push_back({Task::Kind::kDefinition, definition, "", nullptr});
  }
}

void Collector::Recover() {
  for (const ResourcePtr& resource : core_.registry.OnePerTable()) {
    const auto list = core_.store.List(*resource->table, storage::ListQuery());
    if (!list.ok()) continue;
    const bool always = IsCore(*resource, "nodes") || IsCore(*resource, "namespaces") ||
                        resource->plural == "poddisruptionbudgets";
    for (const storage::ObjectPtr& stored : list->objects) {
      const bool owned = !stored->owner_uids().empty();
      const bool ending = absl::StrContains(stored->json(), "\"deletionTimestamp\"");
      if (!always && !owned && !ending) continue;
      const Value object = stored->Parse();
      if (object.At("metadata").Has("deletionTimestamp")) {
        Changed(*resource, object, object);
      } else {
        Created(*resource, object);
      }
      if (owned) Note({Task::Kind::kDependent, std::string(stored->key()), "", resource});
    }
  }
}

// Owners that are only waiting for this dependent may go now.
void Collector::NoteWaitingOwners(const Resource& resource, const Value& object) {
  const Value& owners = object.At("metadata").At("ownerReferences");
  if (!owners.is_array()) return;
  const absl::string_view ns = object.At("metadata").GetString("namespace");
  for (const Value& owner : owners.as_array()) {
    const ResourcePtr kind = core_.registry.FindGroupKind(GroupOf(owner.GetString("apiVersion")),
                                                          owner.GetString("kind"));
    if (kind == nullptr || (kind->namespaced && !resource.namespaced)) continue;
    Note({Task::Kind::kOwner, KeyOf(*kind, ns, owner.GetString("name")), "", kind});
  }
}

void Collector::Run() {
  {
    absl::MutexLock lock(&mutex_);
    if (running_ || tasks_.empty()) return;
    running_ = true;
  }
  while (true) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      if (tasks_.empty()) {
        running_ = false;
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    Do(task);
  }
}

void Collector::Do(const Task& task) {
  const bool of_server = task.kind == Task::Kind::kDefinition || task.kind == Task::Kind::kUndefine;
  if (!of_server && !core_.options.cluster_controllers) return;
  switch (task.kind) {
    case Task::Kind::kDependents:
      CollectDependents(task.uid);
      return;
    case Task::Kind::kDependent:
      if (task.resource != nullptr) CollectDependent(*task.resource, task.key);
      return;
    case Task::Kind::kOwner:
      if (task.resource != nullptr) FinishOwner(*task.resource, task.key);
      return;
    case Task::Kind::kNamespace:
      FinishNamespace(task.key);
      return;
    case Task::Kind::kNode:
      ClearNodeTaint(task.key);
      return;
    case Task::Kind::kDefinition:
      definitions_->Sync(task.key);
      return;
    case Task::Kind::kUndefine:
      definitions_->Remove(task.key);
      return;
    case Task::Kind::kNewNamespace:
      FillNamespace(task.key);
      return;
    case Task::Kind::kClaim:
      ReleaseClaim(task.key);
      return;
  }
}

ResourcePtr Collector::ByTable(const storage::Table* table) const {
  for (const ResourcePtr& r : core_.registry.OnePerTable()) {
    if (r->table.get() == table) return r;
  }
  return nullptr;
}

bool Collector::OwnerExists(const Value& owner, absl::string_view ns) const {
  const ResourcePtr kind =
      core_.registry.FindGroupKind(GroupOf(owner.GetString("apiVersion")), owner.GetString("kind"));
  if (kind == nullptr) return true;  // of a kind nobody knows yet: not for us to judge
  if (kind->namespaced && ns.empty()) return true;
  const storage::ObjectPtr object =
      core_.store.Get(*kind->table, KeyOf(*kind, ns, owner.GetString("name")));
  return object != nullptr && object->uid() == owner.GetString("uid");
}

void Collector::CollectDependents(const std::string& owner_uid) {
  for (const storage::Store::Dependent& d : core_.store.DependentsOf(owner_uid)) {
    const ResourcePtr resource = ByTable(d.table);
    if (resource != nullptr) CollectDependent(*resource, d.key);
  }
}

void Collector::CollectDependent(const Resource& resource, const std::string& key) {
  const storage::ObjectPtr stored = core_.store.Get(*resource.table, key);
  if (stored == nullptr) return;
  const Value object = stored->Parse();
  const Value& owners = object.At("metadata").At("ownerReferences");
  const auto [ns, name] = SplitKey(key);
  if (!owners.is_array()) return;
  Value::Array alive;
  for (const Value& owner : owners.as_array()) {
    if (OwnerExists(owner, ns)) alive.push_back(owner);
  }
  if (alive.size() == owners.size()) return;
  if (alive.empty()) {
    DeleteParams params;
    params.uid = stored->uid();
    if (!WaitsForDependents(object)) params.propagation = "Background";
    const auto result = deleter_->Delete(resource, ns, name, params);
    LOG_IF(WARNING, !result.ok() && !absl::IsNotFound(result.status()))
        << "garbage collection failed object=" << key << " error=" << result.status();
    return;
  }
  const auto amended =
      writer_->Amend(resource, key, [&](const Value& present) -> absl::StatusOr<Value> {
        Value changed = present;
        changed["metadata"].Set("ownerReferences", Value::MakeArray(alive));
        return changed;
      });
  LOG_IF(WARNING, !amended.ok() && !absl::IsNotFound(amended.status()))
      << "owner reference not dropped object=" << key << " error=" << amended.status();
}

void Collector::ReleaseClaim(const std::string& key) {
  const ResourcePtr claims = core_.registry.Find("", "v1", "persistentvolumeclaims");
  const storage::ObjectPtr stored = core_.store.Get(*claims->table, key);
  if (stored == nullptr) return;
  const Value claim = stored->Parse();
  if (!claim.At("metadata").Has("deletionTimestamp") || !HasFinalizer(claim, kClaimProtection)) {
    return;
  }
  const auto [ns, name] = SplitKey(key);
  storage::ListQuery query;
  query.filter.ns = std::string(ns);
  const auto pods = core_.store.List(*core_.registry.Find("", "v1", "pods")->table, query);
  if (!pods.ok()) return;
  for (const storage::ObjectPtr& object : pods->objects) {
    if (!absl::StrContains(object->json(), "\"persistentVolumeClaim\"")) continue;
    const Value pod = object->Parse();
    const absl::string_view phase = pod.At("status").GetString("phase");
    if (phase == "Succeeded" || phase == "Failed") continue;
    const std::vector<std::string> used = ClaimsOf(pod);
    if (std::find(used.begin(), used.end(), key) != used.end()) return;
  }
  const absl::Status done = DropFinalizer(*writer_, *claims, ns, name, kClaimProtection);
  LOG_IF(WARNING, !done.ok() && !absl::IsNotFound(done))
      << "claim not released object=" << key << " error=" << done;
}

void Collector::FinishOwner(const Resource& resource, const std::string& key) {
  const storage::ObjectPtr stored = core_.store.Get(*resource.table, key);
  if (stored == nullptr) return;
  const Value object = stored->Parse();
  if (!WaitsForDependents(object)) return;
  const bool orphan = HasFinalizer(object, kOrphanFinalizer);
  bool blocked = false;
  for (const storage::Store::Dependent& d : core_.store.DependentsOf(stored->uid())) {
    const ResourcePtr kind = ByTable(d.table);
    const storage::ObjectPtr dependent =
        kind == nullptr ? nullptr : core_.store.Get(*d.table, d.key);
    if (dependent == nullptr) continue;
    if (orphan) {
      const auto amended =
          writer_->Amend(*kind, d.key, [&](const Value& present) -> absl::StatusOr<Value> {
            Value changed = present;
            Value::Array& refs = changed["metadata"]["ownerReferences"].as_array();
            refs.erase(
                std::remove_if(refs.begin(), refs.end(),
                               [&](const Value& o) { return o.GetString("uid") == stored->uid(); }),
                refs.end());
            if (refs.empty()) changed["metadata"].Remove("ownerReferences");
            return changed;
          });
      LOG_IF(WARNING, !amended.ok())
          << "dependent not orphaned object=" << d.key << " error=" << amended.status();
      continue;
    }
    const Value content = dependent->Parse();
    for (const Value& owner : content.At("metadata").At("ownerReferences").as_array()) {
      if (owner.GetString("uid") == stored->uid()) blocked |= owner.GetBool("blockOwnerDeletion");
    }
    if (content.At("metadata").Has("deletionTimestamp")) continue;
    DeleteParams params;
    params.uid = dependent->uid();
    params.propagation =
        core_.store.DependentsOf(dependent->uid()).empty() ? "Background" : "Foreground";
    const auto [ns, name] = SplitKey(d.key);
    const auto result = deleter_->Delete(*kind, ns, name, params);
    LOG_IF(WARNING, !result.ok() && !absl::IsNotFound(result.status()))
        << "dependent not deleted object=" << d.key << " error=" << result.status();
    if (result.ok() && result->gone) {
      Note({Task::Kind::kOwner, key, "", ByTable(resource.table.get())});
    }
  }
  if (blocked) return;
  const auto [ns, name] = SplitKey(key);
  const absl::Status done =
      DropFinalizer(*writer_, resource, ns, name, orphan ? kOrphanFinalizer : kForegroundFinalizer);
  LOG_IF(WARNING, !done.ok() && !absl::IsNotFound(done))
      << "finalizer not removed object=" << key << " error=" << done;
}

void Collector::FinishNamespace(const std::string& name) {
  const ResourcePtr namespaces = core_.registry.Find("", "v1", "namespaces");
  const storage::ObjectPtr stored = core_.store.Get(*namespaces->table, name);
  if (stored == nullptr || !stored->Parse().At("metadata").Has("deletionTimestamp")) return;
  bool empty = true;
  for (const ResourcePtr& resource : core_.registry.OnePerTable()) {
    if (!resource->namespaced) continue;
    storage::ListQuery query;
    query.filter.ns = name;
    const auto list = core_.store.List(*resource->table, query);
    if (!list.ok()) continue;
    for (const storage::ObjectPtr& object : list->objects) {
      const bool deleting = absl::StrContains(object->json(), "\"deletionTimestamp\"") &&
                            object->Parse().At("metadata").Has("deletionTimestamp");
      if (deleting) {
        empty = false;
        continue;
      }
      DeleteParams params;
      params.propagation = "Background";
      const auto result = deleter_->Delete(*resource, name, object->name(), params);
      if (!result.ok() ? !absl::IsNotFound(result.status()) : !result->gone) empty = false;
    }
  }
  if (!empty) return;
  const auto amended =
      writer_->Amend(*namespaces, name, [](const Value& present) -> absl::StatusOr<Value> {
        Value changed = present;
        changed.Ensure({"spec"}).Remove("finalizers");
        return changed;
      });
  if (!amended.ok() || amended->At("metadata").At("finalizers").size() > 0) return;
  const auto result = deleter_->Delete(*namespaces, "", name, DeleteParams());
  LOG_IF(WARNING, !result.ok()) << "namespace not removed name=" << name
                                << " error=" << result.status();
}

void Collector::ClearNodeTaint(const std::string& name) {
  const ResourcePtr nodes = core_.registry.Find("", "v1", "nodes");
  const auto amended =
      writer_->Amend(*nodes, name, [](const Value& present) -> absl::StatusOr<Value> {
        if (!apis::meta::ConditionIsTrue(present, "Ready") || !HasTaint(present, kNotReadyTaint))
          return Value();
        Value changed = present;
        Value::Array& taints = changed["spec"]["taints"].as_array();
        taints.erase(
            std::remove_if(taints.begin(), taints.end(),
                           [](const Value& t) { return t.GetString("key") == kNotReadyTaint; }),
            taints.end());
        if (taints.empty()) changed["spec"].Remove("taints");
        return changed;
      });
  LOG_IF(WARNING, !amended.ok() && !absl::IsNotFound(amended.status()))
      << "taint not removed node=" << name << " error=" << amended.status();
}

void Collector::FillNamespace(const std::string& name) {
  const ResourcePtr accounts = core_.registry.Find("", "v1", "serviceaccounts");
  Value account = Value::MakeObject({{"kind", "ServiceAccount"},
                                     {"apiVersion", "v1"},
                                     {"metadata", Value::MakeObject({{"name", "default"}})}});
  WriteParams params;
  params.internal = true;
  const auto created = writer_->Create(*accounts, name, std::move(account), params);
  LOG_IF(WARNING, !created.ok() && !absl::IsAlreadyExists(created.status()) &&
                      !absl::IsNotFound(created.status()))
      << "default service account not created namespace=" << name << " error=" << created.status();
}

}  // namespace hekla::apiserver

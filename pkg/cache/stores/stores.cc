#include "pkg/cache/stores/stores.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/cache/stores/same.h"
#include "pkg/util/status_macros.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

// compile hook out of a decoder and a compiler.
template <typename Decoder, typename Compiler>
auto Compile(Decoder decode, Compiler compile) {
  return
      [decode, compile](const Value& object) -> absl::StatusOr<decltype(compile(*decode(object)))> {
        HEKLA_ASSIGN_OR_RETURN(auto typed, decode(object));
        return compile(typed);
      };
}

std::string OwnerKey(const model::PodOwnerSpec& owner) {
  static constexpr absl::string_view kKinds[] = {"Service", "ReplicationController", "ReplicaSet",
                                                 "StatefulSet"};
  return absl::StrCat(kKinds[static_cast<int>(owner.kind)], "/", owner.namespace_name, "/",
                      owner.name);
}

template <typename Spec>
std::string NamespacedKey(const Spec& spec) {
  return absl::StrCat(spec.namespace_name, "/", spec.name);
}

template <typename Spec>
std::string NameKey(const Spec& spec) {
  return spec.name;
}

// What no decoder reads of an object and makes up most of it.
std::vector<absl::string_view> UnreadOf(const kube::Resource& resource) {
  std::vector<absl::string_view> out = {"metadata.managedFields"};
  const auto add = [&out](std::initializer_list<absl::string_view> paths) {
    out.insert(out.end(), paths);
  };
  if (resource.kind == "Pod") {
    add({"spec.containers.args",
         "spec.containers.command",
         "spec.containers.env",
         "spec.containers.envFrom",
         "spec.containers.lifecycle",
         "spec.containers.livenessProbe",
         "spec.containers.readinessProbe",
         "spec.containers.securityContext",
         "spec.containers.startupProbe",
         "spec.containers.volumeMounts",
         "spec.initContainers.args",
         "spec.initContainers.command",
         "spec.initContainers.env",
         "spec.initContainers.envFrom",
         "spec.initContainers.securityContext",
         "spec.initContainers.volumeMounts",
         "status.containerStatuses.lastState",
         "status.containerStatuses.state",
         "status.containerStatuses.volumeMounts",
         "status.initContainerStatuses.lastState",
         "status.initContainerStatuses.state",
         "status.initContainerStatuses.volumeMounts"});
  } else if (resource.group == "apps" || resource.kind == "ReplicationController") {
    add({"spec.template"});
  }
  return out;
}

// Status aside, and the version.
bool SameGroup(const model::JobSpec& a, const model::JobSpec& b) {
  return a.uid == b.uid && a.queue == b.queue && a.min_member == b.min_member &&
         a.min_task_member == b.min_task_member && a.min_resources == b.min_resources &&
         a.priority_class == b.priority_class && a.preemptable == b.preemptable &&
         a.revocable_zone == b.revocable_zone && a.sla_waiting_time == b.sla_waiting_time &&
         a.budget_min_available == b.budget_min_available &&
         a.budget_max_unavailable == b.budget_max_unavailable && a.topology == b.topology &&
         a.sub_groups == b.sub_groups && a.annotations == b.annotations;
}

// Only status.allocated differs, which we write.
bool SameQueue(const model::QueueSpec& a, const model::QueueSpec& b) {
  return a.uid == b.uid && a.weight == b.weight && a.priority == b.priority &&
         a.reclaimable == b.reclaimable && a.capability == b.capability &&
         a.guarantee == b.guarantee && a.deserved == b.deserved && a.parent == b.parent &&
         a.hierarchy == b.hierarchy && a.hierarchy_weights == b.hierarchy_weights &&
         a.group_affinity == b.group_affinity && a.state == b.state &&
         a.annotations == b.annotations;
}

}  // namespace

bool SameForScheduling(const model::TaskSpec& a, const model::TaskSpec& b) {
  return a.uid == b.uid && a.pod == b.pod && a.labels == b.labels && a.job == b.job &&
         a.solo == b.solo && a.queue == b.queue && a.role == b.role && a.priority == b.priority &&
         a.preemptable == b.preemptable && a.revocable_zone == b.revocable_zone &&
         a.gated == b.gated && a.only_queue_gate == b.only_queue_gate &&
         a.queue_gate_opt_in == b.queue_gate_opt_in && a.deleting == b.deleting &&
         a.status == b.status && a.node == b.node && a.host_error == b.host_error &&
         a.controller_uid == b.controller_uid;
}

template <typename Spec>
KindStore<Spec>* Stores::Add(kube::Resource resource, typename KindStore<Spec>::Hooks hooks) {
  if constexpr (requires(const Spec& s) { Same(s, s); }) {
    if (hooks.same == nullptr) hooks.same = [](const Spec& a, const Spec& b) { return Same(a, b); };
  }
  auto store =
      std::make_unique<KindStore<Spec>>(resource.qualified_name(), deltas_, std::move(hooks));
  KindStore<Spec>* raw = store.get();
  std::vector<absl::string_view> unread = UnreadOf(resource);
  kinds_.push_back({std::move(resource), std::move(unread), raw});
  stores_.push_back(std::move(store));
  return raw;
}

Stores::Stores(std::shared_ptr<model::Dictionary> dictionary, DeltaQueue* deltas, Options options)
    : dictionary_(std::move(dictionary)),
      deltas_(deltas),
      options_(std::move(options)),
      pod_compiler_(dictionary_, options_.pods),
      objects_(dictionary_),
      volumes_(dictionary_),
      node_filter_(options_.node_selector) {
  AddScheduling();
  AddStorage();
  AddWorkload();
}

void Stores::AddScheduling() {
  using apis::core::Node;
  Add<model::NamespaceSpec>(
      {"", "v1", "namespaces", "Namespace", false},
      {Compile(apis::core::DecodeNamespace,
               [this](const apis::core::Namespace& ns) { return objects_.Namespace(ns); }),
       NameKey<model::NamespaceSpec>});
  if (options_.priority_class) {
    Add<model::PriorityClassSpec>(
        {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false},
        {Compile(apis::scheduling::DecodePriorityClass,
                 [this](const apis::scheduling::PriorityClass& pc) {
                   return objects_.PriorityClass(pc);
                 }),
         NameKey<model::PriorityClassSpec>});
  }
  queues_ = Add<model::QueueSpec>(
      {"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false},
      {[this](const Value& object) -> absl::StatusOr<std::shared_ptr<const model::QueueSpec>> {
         HEKLA_ASSIGN_OR_RETURN(const apis::scheduling::Queue queue,
                                apis::scheduling::DecodeQueue(object));
         return objects_.Queue(queue, object.At("spec").At("affinity"));
       },
       NameKey<model::QueueSpec>, /*same=*/nullptr, SameQueue, options_.queue_removed,
       /*keep_raw=*/true});
  Add<model::NodeSpec>(
      {"", "v1", "nodes", "Node", false},
      {Compile(apis::core::DecodeNode,
               [this](const Node& node) {
                 return node_filter_.Accepts(node.metadata.labels) ? objects_.Node(node) : nullptr;
               }),
       NameKey<model::NodeSpec>});
  pod_groups_ = Add<model::JobSpec>(
      {"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true},
      {Compile(apis::scheduling::DecodePodGroup,
               [this](const apis::scheduling::PodGroup& group) { return objects_.Job(group); }),
       NamespacedKey<model::JobSpec>, /*same=*/nullptr,
       [this](const model::JobSpec& before, const model::JobSpec& after) {
         return SameGroup(before, after) && options_.is_own_write != nullptr &&
                options_.is_own_write(after);
       },
       options_.group_removed, /*keep_raw=*/true});
  pods_ =
      Add<model::TaskSpec>({"", "v1", "pods", "Pod", true},
                           {[this](const Value& object) { return pod_compiler_.Compile(object); },
                            [](const model::TaskSpec& task) { return task.uid; }, /*same=*/nullptr,
                            SameForScheduling, options_.pod_removed});
}

void Stores::AddStorage() {
  using apis::storage::CsiDriver;
  Add<model::ClaimSpec>(
      {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true},
      {Compile(apis::core::DecodePersistentVolumeClaim,
               [this](const apis::core::PersistentVolumeClaim& c) { return volumes_.Claim(c); }),
       NamespacedKey<model::ClaimSpec>});
  Add<model::VolumeSpec>(
      {"", "v1", "persistentvolumes", "PersistentVolume", false},
      {Compile(apis::core::DecodePersistentVolume,
               [this](const apis::core::PersistentVolume& v) { return volumes_.Volume(v); }),
       NameKey<model::VolumeSpec>});
  Add<model::StorageClassSpec>(
      {"storage.k8s.io", "v1", "storageclasses", "StorageClass", false},
      {Compile(apis::storage::DecodeStorageClass,
               [this](const apis::storage::StorageClass& c) { return volumes_.StorageClass(c); }),
       NameKey<model::StorageClassSpec>});
  Add<model::CsiNodeSpec>(
      {"storage.k8s.io", "v1", "csinodes", "CSINode", false},
      {Compile(apis::storage::DecodeCsiNode,
               [this](const apis::storage::CsiNode& n) { return volumes_.CsiNode(n); }),
       NameKey<model::CsiNodeSpec>});
  Add<model::VolumeAttachmentSpec>(
      {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false},
      {Compile(apis::storage::DecodeVolumeAttachment,
               [this](const apis::storage::VolumeAttachment& a) { return volumes_.Attachment(a); }),
       NameKey<model::VolumeAttachmentSpec>});
  if (!options_.csi_storage) return;
  Add<model::CsiDriverSpec>({"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false},
                            {Compile(apis::storage::DecodeCsiDriver,
                                     [this](const CsiDriver& d) { return volumes_.CsiDriver(d); }),
                             NameKey<model::CsiDriverSpec>});
  Add<model::CsiCapacitySpec>(
      {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", true},
      {Compile(
           apis::storage::DecodeCsiStorageCapacity,
           [this](const apis::storage::CsiStorageCapacity& c) { return volumes_.CsiCapacity(c); }),
       NamespacedKey<model::CsiCapacitySpec>});
}

void Stores::AddWorkload() {
  const auto add = [this](kube::Resource resource, auto decode, auto prototype) {
    using Typed = decltype(prototype);
    Add<model::PodOwnerSpec>(
        std::move(resource),
        {Compile(decode, [this](const Typed& owner) { return objects_.Owner(owner); }), OwnerKey});
  };
  add({"", "v1", "services", "Service", true}, apis::core::DecodeService, apis::core::Service());
  add({"", "v1", "replicationcontrollers", "ReplicationController", true},
      apis::core::DecodeReplicationController, apis::core::ReplicationController());
  add({"apps", "v1", "replicasets", "ReplicaSet", true}, apis::apps::DecodeReplicaSet,
      apis::apps::ReplicaSet());
  add({"apps", "v1", "statefulsets", "StatefulSet", true}, apis::apps::DecodeStatefulSet,
      apis::apps::StatefulSet());
}

absl::Status Stores::Put(const Value& object) {
  const absl::string_view api_version = object.GetString("apiVersion");
  const absl::string_view kind = object.GetString("kind");
  for (const WatchedKind& watched : kinds_) {
    if (watched.resource.kind == kind && watched.resource.api_version() == api_version) {
      return watched.store->Put(object);
    }
  }
  return absl::OkStatus();
}

void Stores::MarkSynced() {
  for (const WatchedKind& watched : kinds_) watched.store->MarkSynced();
}

bool Stores::Synced() const {
  for (const WatchedKind& watched : kinds_) {
    if (!watched.store->synced()) return false;
  }
  return true;
}

std::vector<std::string> Stores::Missing() const {
  std::vector<std::string> out;
  for (const WatchedKind& watched : kinds_) {
    if (watched.store->synced()) continue;
    const std::string problem = watched.store->problem();
    out.push_back(problem.empty() ? watched.store->name()
                                  : absl::StrCat(watched.store->name(), ": ", problem));
  }
  return out;
}

int64_t Stores::rejected() const {
  int64_t total = 0;
  for (const WatchedKind& watched : kinds_) total += watched.store->rejected();
  return total;
}

}  // namespace hekla::cache

#include "pkg/apis/scheduling/queue.h"

namespace hekla::apis::scheduling {
namespace {

using meta::Reader;

void ReadNodeGroups(const Reader& affinity, absl::string_view key, NodeGroupAffinity& out) {
  affinity.Object(key, [&](Reader& groups) {
    groups.Strings("requiredDuringSchedulingIgnoredDuringExecution", out.required);
    groups.Strings("preferredDuringSchedulingIgnoredDuringExecution", out.preferred);
  });
}

void WriteNodeGroups(const NodeGroupAffinity& groups, absl::string_view key, json::Value& spec) {
  if (groups.empty()) return;
  json::Value& out = spec.Ensure({"affinity", key});
  if (!groups.required.empty()) {
    out.Set("requiredDuringSchedulingIgnoredDuringExecution", meta::EncodeStrings(groups.required));
  }
  if (!groups.preferred.empty()) {
    out.Set("preferredDuringSchedulingIgnoredDuringExecution",
            meta::EncodeStrings(groups.preferred));
  }
}

void ReadSpec(const Reader& spec, QueueSpec& out) {
  spec.Int("weight", out.weight);
  spec.Int("priority", out.priority);
  spec.Bool("reclaimable", out.reclaimable);
  spec.Resources("capability", out.capability);
  spec.Object("guarantee", [&](Reader& g) { g.Resources("resource", out.guarantee); });
  spec.Resources("deserved", out.deserved);
  spec.String("parent", out.parent);
  spec.String("type", out.type);
  spec.String("dequeueStrategy", out.dequeue_strategy);
  spec.Object("affinity", [&](Reader& affinity) {
    ReadNodeGroups(affinity, "nodeGroupAffinity", out.node_group_affinity);
    ReadNodeGroups(affinity, "nodeGroupAntiAffinity", out.node_group_anti_affinity);
  });
}

void ReadStatus(const Reader& status, QueueStatus& out) {
  status.String("state", out.state);
  status.Int("unknown", out.unknown);
  status.Int("pending", out.pending);
  status.Int("running", out.running);
  status.Int("inqueue", out.inqueue);
  status.Int("completed", out.completed);
  status.Resources("allocated", out.allocated);
}

void SetCount(json::Value& status, absl::string_view key, int32_t count) {
  if (count == 0) {
    status.Remove(key);
  } else {
    status.Set(key, count);
  }
}

void SetResources(json::Value& object, absl::string_view key, const meta::ResourceList& list) {
  if (list.empty()) {
    object.Remove(key);
  } else {
    object.Set(key, meta::EncodeResources(list));
  }
}

}  // namespace

absl::StatusOr<Queue> DecodeQueue(const json::Value& value) {
  Queue queue;
  const Reader root(value);
  meta::ReadObjectMeta(root, queue.metadata);
  root.Object("spec", [&](Reader& spec) { ReadSpec(spec, queue.spec); });
  root.Object("status", [&](Reader& status) { ReadStatus(status, queue.status); });
  if (!root.status().ok()) return root.status();
  return queue;
}

absl::StatusOr<PriorityClass> DecodePriorityClass(const json::Value& value) {
  PriorityClass pc;
  const Reader root(value);
  meta::ReadObjectMeta(root, pc.metadata);
  root.Int("value", pc.value);
  root.Bool("globalDefault", pc.global_default);
  root.String("preemptionPolicy", pc.preemption_policy);
  if (!root.status().ok()) return root.status();
  return pc;
}

json::Value EncodeQueue(const Queue& queue, json::Value base) {
  base.Set("apiVersion", Queue::kApiVersion);
  base.Set("kind", Queue::kKind);
  meta::WriteObjectMeta(queue.metadata, base);
  json::Value& spec = base.Ensure({"spec"});
  spec.Set("weight", queue.spec.weight);
  if (queue.spec.priority != 0) spec.Set("priority", queue.spec.priority);
  if (queue.spec.reclaimable) spec.Set("reclaimable", *queue.spec.reclaimable);
  SetResources(spec, "capability", queue.spec.capability);
  SetResources(spec, "deserved", queue.spec.deserved);
  if (!queue.spec.guarantee.empty()) {
    spec.Ensure({"guarantee"}).Set("resource", meta::EncodeResources(queue.spec.guarantee));
  }
  meta::SetOrRemove(spec, "parent", queue.spec.parent);
  meta::SetOrRemove(spec, "type", queue.spec.type);
  meta::SetOrRemove(spec, "dequeueStrategy", queue.spec.dequeue_strategy);
  WriteNodeGroups(queue.spec.node_group_affinity, "nodeGroupAffinity", spec);
  WriteNodeGroups(queue.spec.node_group_anti_affinity, "nodeGroupAntiAffinity", spec);
  json::Value& status = base.Ensure({"status"});
  meta::SetOrRemove(status, "state", queue.status.state);
  SetCount(status, "unknown", queue.status.unknown);
  SetCount(status, "pending", queue.status.pending);
  SetCount(status, "running", queue.status.running);
  SetCount(status, "inqueue", queue.status.inqueue);
  SetCount(status, "completed", queue.status.completed);
  SetResources(status, "allocated", queue.status.allocated);
  return base;
}

}  // namespace hekla::apis::scheduling

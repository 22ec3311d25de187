#include "pkg/cache/ingest/object_compiler.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/cache/ingest/annotations.h"
#include "pkg/cache/ingest/resources.h"

namespace hekla::cache {
namespace {

using apis::meta::ObjectMeta;

absl::Time CreationOf(const ObjectMeta& meta) {
  return apis::meta::IsSet(meta.creation_timestamp) ? meta.creation_timestamp : absl::UnixEpoch();
}

// What a node lends out beyond its own amount; annotations with anything but a number lend nothing.
int64_t Oversubscription(const ObjectMeta& meta, absl::string_view key) {
  double amount = 0;
  const std::string* text = meta.annotations.Find(key);
  if (text == nullptr || !absl::SimpleAtod(*text, &amount) || !std::isfinite(amount)) return 0;
  if (amount <= 0 || amount > 9e18) return 0;
  return static_cast<int64_t>(amount);
}

model::NetworkTopology Topology(const apis::scheduling::NetworkTopology& topology) {
  model::NetworkTopology out;
  out.mode =
      topology.soft ? model::NetworkTopology::Mode::kSoft : model::NetworkTopology::Mode::kHard;
  out.highest_tier_allowed = topology.highest_tier_allowed;
  out.highest_tier_name = topology.highest_tier_name;
  return out;
}

model::SubGroupPolicy SubGroup(const apis::scheduling::SubGroupPolicy& policy,
                               const SelectorCompiler& selectors) {
  model::SubGroupPolicy out;
  out.name = policy.name;
  out.has_selector = policy.label_selector.has_value();
  if (policy.label_selector) out.selector = selectors.Selector(*policy.label_selector);
  for (const std::string& key : policy.match_label_keys) {
    out.match_label_keys.push_back(selectors.Intern(key));
  }
  out.sub_group_size = policy.sub_group_size.value_or(1);
  out.min_sub_groups = policy.min_sub_groups.value_or(0);
  if (policy.network_topology) out.topology = Topology(*policy.network_topology);
  return out;
}

model::QueueState ParseQueueState(absl::string_view text) {
  if (text.empty()) return model::QueueState::kNone;
  if (text == "Open") return model::QueueState::kOpen;
  if (text == "Closed") return model::QueueState::kClosed;
  if (text == "Closing") return model::QueueState::kClosing;
  return model::QueueState::kUnknown;
}

}  // namespace

ObjectCompiler::ObjectCompiler(std::shared_ptr<model::Dictionary> dictionary)
    : dictionary_(std::move(dictionary)), selectors_(dictionary_->symbols) {}

std::shared_ptr<const model::NodeSpec> ObjectCompiler::Node(const apis::core::Node& node) const {
  auto out = std::make_shared<model::NodeSpec>();
  model::ResourceLayout& layout = dictionary_->resources;
  const ObjectMeta& meta = node.metadata;
  out->name = meta.name;
  out->uid = meta.uid;
  out->creation = CreationOf(meta);
  out->allocatable = ToResource(node.status.allocatable, layout);
  out->capacity = ToResource(node.status.capacity, layout);
  // Added whether or not the oversubscription label is there, as upstream does.
  const int64_t cpu = Oversubscription(meta, apis::meta::kOversubscriptionCpu);
  const int64_t memory = Oversubscription(meta, apis::meta::kOversubscriptionMemory);
  for (model::Resource* amounts : {&out->allocatable, &out->capacity}) {
    amounts->Add(model::kCpu, cpu);
    amounts->Add(model::kMemory, memory);
  }
  out->labels = selectors_.Labels(meta.labels);
  out->taints = selectors_.Taints(node.spec.taints);
  for (const apis::core::ContainerImage& image : node.status.images) {
    for (const std::string& name : image.names) {
      out->images.push_back({selectors_.Intern(name), image.size_bytes});
    }
  }
  out->unschedulable = node.spec.unschedulable;
  out->revocable_zone = std::string(meta.labels.Get(apis::meta::kRevocableZoneKey));
  out->offline_job_evicting =
      ParseBoolText(meta.annotations.Get(apis::meta::kOfflineJobEvicting)).value_or(false);
  out->annotations = PluginAnnotations(meta);
  return out;
}

std::shared_ptr<const model::JobSpec> ObjectCompiler::Job(
    const apis::scheduling::PodGroup& group) const {
  auto out = std::make_shared<model::JobSpec>();
  const ObjectMeta& meta = group.metadata;
  out->namespace_name = meta.ns;
  out->name = meta.name;
  out->uid = meta.uid;
  out->resource_version = ParseResourceVersion(meta.resource_version);
  out->creation = CreationOf(meta);
  out->queue = group.spec.queue;
  out->min_member = group.spec.min_member;
  for (const auto& [role, minimum] : group.spec.min_task_member) {
    out->min_task_member.emplace_back(selectors_.Intern(role), minimum);
  }
  if (group.spec.min_resources) {
    out->min_resources = ToLimit(*group.spec.min_resources, dictionary_->resources);
  }
  out->priority_class = group.spec.priority_class_name;
  out->preemptable = ReadPreemptable(meta, /*fallback=*/false);
  out->revocable_zone = ReadRevocableZone(meta);
  out->sla_waiting_time = ReadSlaWaitingTime(meta);
  out->budget_min_available = std::string(meta.annotations.Get(apis::meta::kJdbMinAvailable));
  if (out->budget_min_available.empty()) {
    out->budget_max_unavailable = std::string(meta.annotations.Get(apis::meta::kJdbMaxUnavailable));
  }
  if (group.spec.network_topology) out->topology = Topology(*group.spec.network_topology);
  for (const apis::scheduling::SubGroupPolicy& policy : group.spec.sub_group_policy) {
    out->sub_groups.push_back(SubGroup(policy, selectors_));
  }
  out->phase = model::ParsePhase(group.status.phase);
  for (const apis::scheduling::PodGroupCondition& c : group.status.conditions) {
    out->conditions.push_back(
        {c.type, c.status, c.reason, c.message, c.transition_id, c.last_transition_time});
  }
  out->running = group.status.running;
  out->succeeded = group.status.succeeded;
  out->failed = group.status.failed;
  out->annotations = PluginAnnotations(meta);
  return out;
}

std::shared_ptr<const model::QueueSpec> ObjectCompiler::Queue(
    const apis::scheduling::Queue& queue, const apis::json::Value& affinity) const {
  auto out = std::make_shared<model::QueueSpec>();
  model::ResourceLayout& layout = dictionary_->resources;
  const ObjectMeta& meta = queue.metadata;
  out->name = meta.name;
  out->uid = meta.uid;
  out->resource_version = ParseResourceVersion(meta.resource_version);
  out->creation = CreationOf(meta);
  out->weight = queue.spec.weight;
  out->priority = queue.spec.priority;
  out->reclaimable = queue.spec.reclaimable;
  out->capability = ToLimit(queue.spec.capability, layout);
  out->guarantee = ToLimit(queue.spec.guarantee, layout);
  out->deserved = ToLimit(queue.spec.deserved, layout);
  out->parent = queue.spec.parent;
  out->hierarchy = std::string(meta.annotations.Get(apis::meta::kHierarchyAnnotation));
  out->hierarchy_weights =
      std::string(meta.annotations.Get(apis::meta::kHierarchyWeightsAnnotation));
  if (!affinity.is_null()) out->group_affinity.push_back(apis::json::Dump(affinity));
  out->state = ParseQueueState(queue.status.state);
  for (const auto& [name, quantity] : queue.status.allocated) {
    out->status_allocated.emplace_back(name, quantity.ToString());
  }
  out->annotations = PluginAnnotations(meta);
  return out;
}

std::shared_ptr<const model::PriorityClassSpec> ObjectCompiler::PriorityClass(
    const apis::scheduling::PriorityClass& priority_class) const {
  auto out = std::make_shared<model::PriorityClassSpec>();
  out->name = priority_class.metadata.name;
  out->value = priority_class.value;
  out->global_default = priority_class.global_default;
  return out;
}

std::shared_ptr<const model::NamespaceSpec> ObjectCompiler::Namespace(
    const apis::core::Namespace& ns) const {
  auto out = std::make_shared<model::NamespaceSpec>();
  out->name = ns.metadata.name;
  out->labels = selectors_.Labels(ns.metadata.labels);
  out->terminating = ns.phase == "Terminating" || ns.metadata.terminating();
  return out;
}

std::shared_ptr<const model::PodOwnerSpec> ObjectCompiler::MakeOwner(
    model::PodOwnerSpec::Kind kind, const ObjectMeta& meta, model::Selector selector) const {
  auto out = std::make_shared<model::PodOwnerSpec>();
  out->kind = kind;
  out->namespace_name = meta.ns;
  out->name = meta.name;
  out->selector = std::move(selector);
  return out;
}

// An owner of the old kind without selector selects nothing.
std::shared_ptr<const model::PodOwnerSpec> ObjectCompiler::Owner(
    const apis::core::Service& service) const {
  model::Selector selector = selectors_.FromMap(service.selector);
  selector.nothing = service.selector.empty();
  return MakeOwner(model::PodOwnerSpec::Kind::kService, service.metadata, std::move(selector));
}

std::shared_ptr<const model::PodOwnerSpec> ObjectCompiler::Owner(
    const apis::core::ReplicationController& controller) const {
  model::Selector selector = selectors_.FromMap(controller.selector);
  selector.nothing = controller.selector.empty();
  return MakeOwner(model::PodOwnerSpec::Kind::kReplicationController, controller.metadata,
                   std::move(selector));
}

std::shared_ptr<const model::PodOwnerSpec> ObjectCompiler::Owner(
    const apis::apps::ReplicaSet& set) const {
  return MakeOwner(model::PodOwnerSpec::Kind::kReplicaSet, set.metadata,
                   selectors_.SelectorOrNothing(set.selector));
}

std::shared_ptr<const model::PodOwnerSpec> ObjectCompiler::Owner(
    const apis::apps::StatefulSet& set) const {
  return MakeOwner(model::PodOwnerSpec::Kind::kStatefulSet, set.metadata,
                   selectors_.SelectorOrNothing(set.selector));
}

NodeFilter::NodeFilter(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    const size_t colon = entry.find(':');
    if (colon == std::string::npos || colon + 1 == entry.size()) continue;
    pairs_.emplace_back(absl::StripAsciiWhitespace(entry.substr(0, colon)),
                        absl::StripAsciiWhitespace(entry.substr(colon + 1)));
  }
}

bool NodeFilter::Accepts(const apis::meta::StringMap& labels) const {
  if (pairs_.empty()) return true;
  for (const auto& [key, value] : pairs_) {
    const std::string* have = labels.Find(key);
    if (have != nullptr && *have == value) return true;
  }
  return false;
}

}  // namespace hekla::cache

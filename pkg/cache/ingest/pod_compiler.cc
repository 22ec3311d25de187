#include "pkg/cache/ingest/pod_compiler.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/cache/ingest/annotations.h"

namespace hekla::cache {
namespace {

using apis::core::Container;
using apis::core::ContainerStatus;
using apis::core::Pod;
using apis::core::Toleration;

constexpr absl::string_view kClaimsNotSupported = "resource claims are not supported yet";

void AddHostPorts(const Container& container, const SelectorCompiler& selectors,
                  std::vector<model::HostPort>& out) {
  for (const apis::core::HostPort& port : container.host_ports) {
    model::HostPort& p = out.emplace_back();
    p.ip = selectors.Intern(port.ip.empty() ? "0.0.0.0" : port.ip);
    p.protocol = selectors.Intern(port.protocol);
    p.port = port.port;
  }
}

void AddVolumes(const Pod& pod, const SelectorCompiler& selectors,
                std::vector<model::PodVolume>& out) {
  for (const apis::core::Volume& volume : pod.spec.volumes) {
    if (volume.source == apis::core::Volume::Source::kInline) continue;
    model::PodVolume& v = out.emplace_back();
    v.ephemeral = volume.source == apis::core::Volume::Source::kEphemeral;
    v.claim = selectors.Intern(v.ephemeral ? absl::StrCat(pod.metadata.name, "-", volume.name)
                                           : volume.claim_name);
  }
}

void AddAffinity(const Pod& pod, const SelectorCompiler& selectors, model::PodTemplate& out) {
  if (!pod.spec.affinity) return;
  const apis::core::Affinity& affinity = *pod.spec.affinity;
  if (affinity.node) {
    out.has_required_affinity = affinity.node->required.has_value();
    if (affinity.node->required) {
      out.required_affinity = selectors.NodeTerms(affinity.node->required->terms);
    }
    for (const apis::core::PreferredSchedulingTerm& term : affinity.node->preferred) {
      out.preferred_affinity.push_back(selectors.NodeTerm(term.preference, term.weight));
    }
  }
  const std::string& ns = pod.metadata.ns;
  for (const auto& term : affinity.pod.required) {
    out.affinity.push_back(selectors.PodTerm(term, ns));
  }
  for (const auto& term : affinity.pod_anti.required) {
    out.anti_affinity.push_back(selectors.PodTerm(term, ns));
  }
  for (const auto& weighted : affinity.pod.preferred) {
    out.preferred_pod_affinity.push_back(selectors.PodTerm(weighted.term, ns, weighted.weight));
  }
  for (const auto& weighted : affinity.pod_anti.preferred) {
    out.preferred_anti_affinity.push_back(selectors.PodTerm(weighted.term, ns, weighted.weight));
  }
}

template <typename T, typename F>
bool SameLists(const std::vector<T>& a, const std::vector<T>& b, F same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool SameHostPorts(const apis::core::HostPort& a, const apis::core::HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol && a.ip == b.ip;
}

bool SameContainers(const Container& a, const Container& b) {
  return a.name == b.name && a.image == b.image && a.requests == b.requests &&
         a.restart_always == b.restart_always &&
         SameLists(a.host_ports, b.host_ports, SameHostPorts);
}

bool SameStatuses(const ContainerStatus& a, const ContainerStatus& b) {
  return a.name == b.name && a.has_resources == b.has_resources && a.requests == b.requests &&
         a.allocated == b.allocated;
}

bool SameTolerations(const Toleration& a, const Toleration& b) {
  return a.key == b.key && a.op == b.op && a.value == b.value && a.effect == b.effect &&
         a.unknown_effect == b.unknown_effect;
}

// Whether SameDemands sees all that a template depends on: affinity, spread and volumes also depend
// on the pod's namespace, labels and name.
bool IsComparable(const Pod& pod) {
  return !pod.spec.affinity && pod.spec.topology_spread.empty() && pod.spec.volumes.empty() &&
         pod.spec.resource_claims.empty();
}

bool SameDemands(const Pod& a, const Pod& b) {
  return SameLists(a.spec.containers, b.spec.containers, SameContainers) &&
         SameLists(a.spec.init_containers, b.spec.init_containers, SameContainers) &&
         a.spec.overhead == b.spec.overhead && a.spec.pod_requests == b.spec.pod_requests &&
         a.spec.node_selector == b.spec.node_selector &&
         SameLists(a.spec.tolerations, b.spec.tolerations, SameTolerations) &&
         SameLists(a.status.container_statuses, b.status.container_statuses, SameStatuses) &&
         SameLists(a.status.init_container_statuses, b.status.init_container_statuses,
                   SameStatuses) &&
         IsResizeInfeasible(a) == IsResizeInfeasible(b);
}

// What SameDemands looks at.
std::unique_ptr<const Pod> DemandsOf(const Pod& pod) {
  auto out = std::make_unique<Pod>();
  out->spec.containers = pod.spec.containers;
  out->spec.init_containers = pod.spec.init_containers;
  out->spec.overhead = pod.spec.overhead;
  out->spec.pod_requests = pod.spec.pod_requests;
  out->spec.node_selector = pod.spec.node_selector;
  out->spec.tolerations = pod.spec.tolerations;
  out->status.conditions = pod.status.conditions;
  out->status.container_statuses = pod.status.container_statuses;
  out->status.init_container_statuses = pod.status.init_container_statuses;
  return out;
}

}  // namespace

model::TaskStatus StatusOf(const Pod& pod) {
  const std::string& phase = pod.status.phase;
  const bool deleting = pod.metadata.terminating();
  if (phase == "Running") {
    return deleting ? model::TaskStatus::kReleasing : model::TaskStatus::kRunning;
  }
  if (phase == "Pending") {
    if (deleting) return model::TaskStatus::kReleasing;
    return pod.spec.node_name.empty() ? model::TaskStatus::kPending : model::TaskStatus::kBound;
  }
  if (phase == "Succeeded") return model::TaskStatus::kSucceeded;
  if (phase == "Failed") return model::TaskStatus::kFailed;
  return model::TaskStatus::kUnknown;
}

std::string NormalisedImage(absl::string_view image) {
  const size_t slash = image.rfind('/');
  const absl::string_view last = slash == absl::string_view::npos ? image : image.substr(slash);
  if (last.find(':') != absl::string_view::npos) return std::string(image);
  return absl::StrCat(image, ":latest");
}

PodCompiler::PodCompiler(std::shared_ptr<model::Dictionary> dictionary, Options options)
    : dictionary_(std::move(dictionary)),
      options_(std::move(options)),
      selectors_(dictionary_->symbols),
      templates_([](const model::PodTemplate& pod) { return model::HashOf(pod); }),
      labels_([](const model::Labels& labels) { return absl::HashOf(labels); }) {}

bool PodCompiler::IsOurs(const Pod& pod) const {
  return std::find(options_.scheduler_names.begin(), options_.scheduler_names.end(),
                   pod.spec.scheduler_name) != options_.scheduler_names.end();
}

bool PodCompiler::Accepts(const Pod& pod) const {
  return !pod.spec.node_name.empty() || IsOurs(pod);
}

std::shared_ptr<const model::PodTemplate> PodCompiler::TemplateOf(const Pod& pod) {
  const bool comparable = IsComparable(pod);
  if (comparable) {
    absl::MutexLock lock(&mutex_);
    if (last_ != nullptr && SameDemands(*last_, pod)) return last_template_;
  }
  std::shared_ptr<const model::PodTemplate> made = CompileTemplate(pod);
  if (!comparable) return made;
  std::unique_ptr<const Pod> demands = DemandsOf(pod);
  absl::MutexLock lock(&mutex_);
  last_ = std::move(demands);
  last_template_ = made;
  return made;
}

std::shared_ptr<const model::PodTemplate> PodCompiler::CompileTemplate(const Pod& pod) {
  model::PodTemplate out;
  model::ResourceLayout& layout = dictionary_->resources;
  out.request = PodRequest(pod, layout, options_.features);
  std::tie(out.nonzero_cpu_milli, out.nonzero_memory_bytes) =
      NonZeroRequest(pod, layout, options_.features);
  out.best_effort = out.request.IsEmpty();
  out.node_selector = selectors_.Labels(pod.spec.node_selector);
  AddAffinity(pod, selectors_, out);
  out.tolerations = selectors_.Tolerations(pod.spec.tolerations);
  for (const Container& c : pod.spec.init_containers) {
    out.images.push_back(selectors_.Intern(NormalisedImage(c.image)));
    if (c.restart_always) AddHostPorts(c, selectors_, out.host_ports);
  }
  for (const Container& c : pod.spec.containers) {
    out.images.push_back(selectors_.Intern(NormalisedImage(c.image)));
    AddHostPorts(c, selectors_, out.host_ports);
  }
  out.container_count = static_cast<int32_t>(out.images.size());
  for (const apis::core::TopologySpreadConstraint& constraint : pod.spec.topology_spread) {
    out.spread.push_back(selectors_.Spread(constraint, pod.metadata.labels));
  }
  AddVolumes(pod, selectors_, out.volumes);
  out.has_resource_claims = !pod.spec.resource_claims.empty();
  return templates_.Intern(std::move(out));
}

void PodCompiler::ReadGroup(const Pod& pod, model::TaskSpec& task) const {
  const apis::meta::ObjectMeta& meta = pod.metadata;
  task.ours = IsOurs(pod);
  task.job = std::string(meta.annotations.Get(apis::meta::kGroupNameAnnotation));
  if (task.job.empty() && task.ours) {
    task.solo = true;
    task.queue =
        std::string(meta.annotations.Get(apis::meta::kQueueNameAnnotation, options_.default_queue));
    if (task.queue.empty()) task.queue = options_.default_queue;
  }
  absl::string_view role = meta.annotations.Get(apis::meta::kTaskSpecKey);
  if (!meta.annotations.Has(apis::meta::kTaskSpecKey)) {
    role = meta.labels.Get(apis::meta::kTaskSpecKey);
  }
  if (!role.empty()) task.role = selectors_.Intern(role);
  if (const apis::meta::OwnerReference* owner = meta.ControllerRef()) {
    task.controller_kind = selectors_.Intern(owner->kind);
    task.controller_name = selectors_.Intern(owner->name);
    task.controller_uid = selectors_.Intern(owner->uid);
  }
}

void PodCompiler::ReadPriority(const Pod& pod, model::TaskSpec& task) const {
  task.priority = pod.spec.priority.value_or(1);
  int32_t priority = 0;
  const std::string* text = pod.metadata.annotations.Find(apis::meta::kTaskPriorityAnnotation);
  if (text != nullptr && absl::SimpleAtoi(*text, &priority)) task.priority = priority;
  if (!pod.spec.priority_class_name.empty()) {
    task.priority_class = selectors_.Intern(pod.spec.priority_class_name);
  }
}

void PodCompiler::ReadGates(const Pod& pod, model::TaskSpec& task) const {
  const std::vector<std::string>& gates = pod.spec.scheduling_gates;
  task.gated = !gates.empty();
  task.only_queue_gate = gates.size() == 1 && gates[0] == apis::meta::kQueueAllocationGate;
  task.queue_gate_opt_in = pod.metadata.annotations.Get(apis::meta::kQueueAllocationGate) == "true";
}

std::shared_ptr<const model::TaskSpec> PodCompiler::Compile(const Pod& pod) {
  auto task = std::make_shared<model::TaskSpec>();
  const apis::meta::ObjectMeta& meta = pod.metadata;
  task->uid = meta.uid;
  task->namespace_name = meta.ns;
  task->name = meta.name;
  task->resource_version = ParseResourceVersion(meta.resource_version);
  task->creation =
      apis::meta::IsSet(meta.creation_timestamp) ? meta.creation_timestamp : absl::UnixEpoch();
  task->pod = TemplateOf(pod);
  task->labels = labels_.Intern(selectors_.Labels(meta.labels));
  ReadGroup(pod, *task);
  ReadPriority(pod, *task);
  ReadGates(pod, *task);
  task->preemptable = ReadPreemptable(meta, /*fallback=*/true);
  task->revocable_zone = ReadRevocableZone(meta);
  task->deleting = meta.terminating();
  task->status = StatusOf(pod);
  task->node = pod.spec.node_name;
  task->nominated_node = pod.status.nominated_node_name;
  if (task->node.empty() && task->pod->has_resource_claims) {
    task->host_error = std::string(kClaimsNotSupported);
  }
  const apis::meta::Condition* scheduled = pod.status.FindCondition("PodScheduled");
  if (scheduled != nullptr && scheduled->status == "False") {
    task->scheduled_condition =
        model::ConditionText{scheduled->status, scheduled->reason, scheduled->message};
  }
  return task;
}

}  // namespace hekla::cache

#include "pkg/cache/ingest/pod_compiler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/cache/ingest/annotations.h"
#include "pkg/util/status_macros.h"

namespace hekla::cache {
namespace {

using apis::core::Container;
using apis::core::ContainerStatus;
using apis::core::Pod;
using apis::json::Value;

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

bool SameStatuses(const std::vector<ContainerStatus>& a, const std::vector<ContainerStatus>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ContainerStatus& x, const ContainerStatus& y) {
                      return x.name == y.name && x.has_resources == y.has_resources &&
                             x.requests == y.requests && x.allocated == y.allocated;
                    });
}

// Affinity, spread and volumes depend on the pod's namespace, labels and name as well.
bool HasMoreThanDemands(const Pod& pod) {
  return pod.spec.affinity.has_value() || !pod.spec.topology_spread.empty() ||
         !pod.spec.volumes.empty() || !pod.spec.resource_claims.empty();
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

absl::StatusOr<PodCompiler::TemplatePtr> PodCompiler::TemplateOf(const Value& object, Pod& pod) {
  if (HasMoreThanDemands(pod)) {
    HEKLA_RETURN_IF_ERROR(apis::core::DecodePodDemands(object, pod.spec));
    return CompileTemplate(pod);
  }
  const apis::core::PodStatus& status = pod.status;
  const bool infeasible = IsResizeInfeasible(pod);
  const uint64_t hash =
      absl::HashOf(apis::core::HashOfDemands(object), status.container_statuses.size());
  const size_t slot = hash % std::tuple_size_v<decltype(known_)>;
  {
    absl::MutexLock lock(&mutex_);
    const Known& known = known_[slot];
    if (known.made != nullptr && known.hash == hash && known.resize_infeasible == infeasible &&
        SameStatuses(known.statuses, status.container_statuses) &&
        SameStatuses(known.init_statuses, status.init_container_statuses) &&
        apis::core::SameDemands(known.demands, object)) {
      return known.made;
    }
  }
  HEKLA_RETURN_IF_ERROR(apis::core::DecodePodDemands(object, pod.spec));
  Known fresh{hash,
              apis::core::DemandsOf(object),
              status.container_statuses,
              status.init_container_statuses,
              infeasible,
              CompileTemplate(pod)};
  TemplatePtr made = fresh.made;
  absl::MutexLock lock(&mutex_);
  known_[slot] = std::move(fresh);
  return made;
}

PodCompiler::TemplatePtr PodCompiler::CompileTemplate(const Pod& pod) {
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

absl::StatusOr<std::shared_ptr<const model::TaskSpec>> PodCompiler::Compile(const Value& object) {
  HEKLA_ASSIGN_OR_RETURN(Pod pod, apis::core::DecodePodWithoutDemands(object));
  if (pod.spec.node_name.empty() && !IsOurs(pod)) return nullptr;
  HEKLA_ASSIGN_OR_RETURN(TemplatePtr pod_template, TemplateOf(object, pod));
  auto task = std::make_shared<model::TaskSpec>();
  const apis::meta::ObjectMeta& meta = pod.metadata;
  task->uid = meta.uid;
  task->namespace_name = meta.ns;
  task->name = meta.name;
  task->resource_version = ParseResourceVersion(meta.resource_version);
  task->creation =
      apis::meta::IsSet(meta.creation_timestamp) ? meta.creation_timestamp : absl::UnixEpoch();
  task->pod = std::move(pod_template);
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

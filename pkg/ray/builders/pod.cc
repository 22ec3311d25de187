#include "pkg/ray/builders/pod.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/pod_draft.h"
#include "pkg/ray/builders/start_params.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::meta::StringMap;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;

namespace {

// Members that must be lists and are something else would stop the builders: what slipped past the
// schema is dropped here.
void KeepLists(std::initializer_list<absl::string_view> keys, Value& object) {
  for (absl::string_view key : keys) {
    const Value* member = object.Find(key);
    if (member != nullptr && !member->is_array()) object.Remove(key);
  }
}

void Straighten(Value& spec) {
  if (!spec.is_object()) spec = Value::MakeObject();
  KeepLists({"containers", "initContainers", "volumes"}, spec);
  for (absl::string_view kind : {"containers", "initContainers"}) {
    Value* containers = spec.Find(kind);
    if (containers == nullptr) continue;
    for (Value& container : containers->as_array()) {
      if (!container.is_object()) container = Value::MakeObject();
      KeepLists({"env", "envFrom", "volumeMounts", "ports", "command", "args"}, container);
    }
  }
}

}  // namespace

PodDraft::PodDraft(const RayCluster& cluster, const BuildOptions& options,
                   const WorkerGroupSpec* group)
    : cluster(cluster), options(options), group(group) {
  params = head() ? cluster.spec.head.ray_start_params : group->ray_start_params;
  spec = pod_template().At("spec");
  Straighten(spec);
  // Validation has seen to it that there is a container; never crash all the same.
  Value& containers = spec["containers"];
  if (containers.size() == 0) containers.Append(Value::MakeObject());
  fqdn = HeadFqdn(cluster, options);
  head_port = HeadPort(cluster.spec.head.ray_start_params);
}

const Value& PodDraft::pod_template() const {
  return head() ? cluster.spec.head.pod_template : group->pod_template;
}

Value& PodDraft::ray() { return spec["containers"].as_array().front(); }

Value* PodDraft::container(absl::string_view name) { return FindNamed(spec["containers"], name); }

namespace {

constexpr absl::string_view kUserWins[] = {apis::ray::kIsRayNodeLabel, apis::ray::kIdentifierLabel,
                                           apis::ray::kApplicationNameLabel,
                                           apis::ray::kCreatedByLabel};

bool Overridable(absl::string_view label) {
  for (absl::string_view name : kUserWins) {
    if (label == name) return true;
  }
  return false;
}

// Labels of the template and of the group around those of the operator.
void SetBaseLabels(PodDraft& draft, const StringMap& group_labels) {
  const absl::string_view cluster = draft.cluster.name();
  const absl::string_view type = draft.head() ? apis::ray::kHeadNode : apis::ray::kWorkerNode;
  StringMap& labels = draft.labels;
  labels.Set(apis::ray::kIsRayNodeLabel, "yes");
  labels.Set(apis::ray::kClusterLabel, cluster);
  labels.Set(apis::ray::kNodeTypeLabel, type);
  labels.Set(apis::ray::kGroupLabel,
             draft.head() ? apis::ray::kHeadGroup : absl::string_view(draft.group->group_name));
  labels.Set(apis::ray::kIdentifierLabel, Identifier(cluster, type));
  labels.Set(apis::ray::kApplicationNameLabel, apis::ray::kApplicationName);
  labels.Set(apis::ray::kCreatedByLabel, apis::ray::kOperatorName);
  StringMap given = ToStringMap(draft.pod_template().At("metadata").At("labels"));
  for (const auto& [key, value] : group_labels) given.Set(key, value);
  for (const auto& [key, value] : given) {
    if (!labels.Has(key) || Overridable(key)) labels.Set(key, value);
  }
}

void SetIndexLabels(const WorkerIndex& index, PodDraft& draft) {
  draft.labels.Set(apis::ray::kReplicaIndexLabel, absl::StrCat(index.replica_index));
  if (!draft.group->multi_host()) return;
  draft.labels.Set(apis::ray::kReplicaNameLabel, index.replica_name);
  draft.labels.Set(apis::ray::kHostIndexLabel, absl::StrCat(index.host_index));
}

void SetBaseAnnotations(PodDraft& draft) {
  draft.annotations = ToStringMap(draft.pod_template().At("metadata").At("annotations"));
  if (apis::ray::IsTrueIgnoringCase(
          draft.cluster.metadata.annotations.Get(apis::ray::kOverwriteCommandAnnotation))) {
    draft.annotations.Set(apis::ray::kOverwriteCommandAnnotation, "true");
  }
}

void AddMetricsPort(PodDraft& draft) {
  Value& ports = draft.ray()["ports"];
  if (FindNamed(ports, apis::ray::kMetricsPortName) != nullptr) return;
  ports.Append(Value::MakeObject(
      {{"name", apis::ray::kMetricsPortName}, {"containerPort", apis::ray::kMetricsPort}}));
}

void AddSidecars(const std::vector<Value>& sidecars, PodDraft& draft) {
  for (const Value& sidecar : sidecars) draft.spec["containers"].Append(sidecar);
}

void AddMissing(const StringMap& defaults, StringMap& map) {
  for (const auto& [key, value] : defaults) {
    if (!map.Has(key)) map.Set(key, value);
  }
}

void SetServeLabel(PodDraft& draft) {
  if (apis::ray::CreatorKind(draft.cluster) != apis::ray::kRayServiceKind) return;
  draft.labels.Set(apis::ray::kServeLabel, draft.head() ? "false" : "true");
}

// What follows the template: the same for head and workers.
void Complete(PodDraft& draft) {
  AddSidecars(draft.head() ? draft.options.head_sidecars : draft.options.worker_sidecars, draft);
  AddMissing(draft.options.default_pod_annotations, draft.annotations);
  AddMissing(draft.options.default_pod_labels, draft.labels);
  SetServeLabel(draft);
  AddSharedMemory(draft);
  AddRayLogs(draft);
  StringMap params = draft.params;
  AutofillFromContainer(draft.ray(), params);
  const std::string ray_start = RayStartCommand(draft.head(), params);
  SetCommand(draft, ray_start);
  Value& init_containers = draft.spec["initContainers"];
  if (init_containers.is_array()) {
    for (Value& container : init_containers.as_array()) AddHeadAddress(draft, container);
  } else {
    draft.spec.Remove("initContainers");
  }
  AddEnvironment(draft, ray_start);
  if (draft.options.inject_probes) AddProbes(draft);
}

Value Assemble(PodDraft draft, absl::string_view generate_name) {
  Value pod = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
  Value& metadata = pod.Ensure({"metadata"});
  const Value& given = draft.pod_template().At("metadata");
  metadata.Set("generateName", generate_name);
  metadata.Set("namespace", draft.cluster.ns());
  metadata.Set("labels", apis::meta::EncodeStringMap(draft.labels));
  if (!draft.annotations.empty()) {
    metadata.Set("annotations", apis::meta::EncodeStringMap(draft.annotations));
  }
  if (given.At("finalizers").size() > 0) metadata.Set("finalizers", given.At("finalizers"));
  SetController(draft.cluster, pod);
  pod.Set("spec", std::move(draft.spec));
  return pod;
}

PodDraft DraftHead(const RayCluster& cluster, const BuildOptions& options) {
  PodDraft draft(cluster, options, nullptr);
  const apis::ray::HeadGroupSpec& head = cluster.spec.head;
  ApplyResourcesAndLabels(head.resources, head.labels, draft.params);
  SetBaseLabels(draft, head.labels);
  ApplyHeadDefaults(draft.params);
  SetBaseAnnotations(draft);
  draft.annotations.Set(apis::ray::kFtEnabledAnnotation,
                        apis::ray::GcsFaultToleranceEnabled(cluster) ? "true" : "false");
  if (cluster.spec.enable_in_tree_autoscaling) AddAutoscaler(draft);
  ApplyHeadFaultTolerance(draft);
  AddMetricsPort(draft);
  ApplyAuth(draft);
  ApplyTls(draft);
  AddCollector(draft);
  Complete(draft);
  return draft;
}

// Without the annotations of upgrades, which the cleanup Job does without.
Value AssembleHead(const RayCluster& cluster, const BuildOptions& options) {
  Value pod = Assemble(DraftHead(cluster, options), HeadGenerateName(cluster.name()));
  Value& metadata = pod["metadata"];
  const absl::string_view given = cluster.spec.head.pod_template.At("metadata").GetString("name");
  if (!given.empty()) metadata.Set("name", given);
  if (options.deterministic_head_name) {
    metadata.Remove("generateName");
    metadata.Set("name", PodName(cluster.name(), apis::ray::kHeadNode));
  }
  return pod;
}

}  // namespace

Value BuildHeadPod(const RayCluster& cluster, const BuildOptions& options,
                   absl::string_view upgrade_hash) {
  Value pod = AssembleHead(cluster, options);
  SetUpgradeAnnotations(upgrade_hash, options, pod);
  return pod;
}

Value BuildWorkerPod(const RayCluster& cluster, const WorkerGroupSpec& group,
                     const BuildOptions& options, const std::optional<WorkerIndex>& index) {
  PodDraft draft(cluster, options, &group);
  if (options.inject_init_container) AddWaitForGcs(draft);
  ApplyResourcesAndLabels(group.resources, group.labels, draft.params);
  SetBaseLabels(draft, group.labels);
  if (index) SetIndexLabels(*index, draft);
  ApplyWorkerDefaults(absl::StrCat(draft.fqdn, ":", draft.head_port), draft.params);
  SetBaseAnnotations(draft);
  ApplyWorkerFaultTolerance(draft);
  AddMetricsPort(draft);
  if (apis::ray::AutoscalerVersionIs(cluster, "v2")) draft.spec.Set("restartPolicy", "Never");
  ApplyAuth(draft);
  ApplyTls(draft);
  AddCollector(draft);
  Complete(draft);
  return Assemble(std::move(draft), WorkerGenerateName(cluster.name(), group.group_name));
}

void SetUpgradeAnnotations(absl::string_view hash, const BuildOptions& options, Value& pod) {
  Value& annotations = pod.Ensure({"metadata", "annotations"});
  annotations.Set(apis::ray::kRecreateHashAnnotation, hash);
  annotations.Set(apis::ray::kOperatorVersionAnnotation, options.operator_version);
}

Value BuildRedisCleanupJob(const RayCluster& cluster, const BuildOptions& options) {
  constexpr int kDeadlineSeconds = 300;
  Value pod = AssembleHead(cluster, options);
  Value& metadata = pod["metadata"];
  metadata["labels"].Set(apis::ray::kNodeTypeLabel, apis::ray::kRedisCleanupNode);
  ReduceToCleanup(options, pod["spec"]);
  Value job = NewObject("batch/v1", "Job", RedisCleanupJobName(cluster.name()), cluster.ns());
  job["metadata"].Set("labels", metadata.At("labels"));
  if (metadata.Has("annotations")) {
    job["metadata"].Set("annotations", metadata.At("annotations"));
  }
  SetController(cluster, job);
  Value& spec = job.Ensure({"spec"});
  spec.Set("backoffLimit", 0);
  spec.Set("activeDeadlineSeconds", kDeadlineSeconds);
  spec.Set("template",
           Value::MakeObject({{"metadata", metadata}, {"spec", std::move(pod["spec"])}}));
  return job;
}

}  // namespace hekla::ray::builders

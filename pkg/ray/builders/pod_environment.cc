// Volumes, command and environment that every Ray pod gets at the end.
// Source: spec ray-cluster 6.6, 6.8.
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/pod_draft.h"

namespace hekla::ray::builders {

using apis::json::Value;

namespace {

constexpr absl::string_view kSharedMemoryVolume = "shared-mem";
constexpr absl::string_view kSharedMemoryPath = "/dev/shm";
constexpr absl::string_view kLogsVolume = "ray-logs";
constexpr absl::string_view kLogsPath = "/tmp/ray";
constexpr absl::string_view kUlimit = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ";

// Kinds of events the collector can take.
constexpr absl::string_view kEventTypes =
    "TASK_DEFINITION_EVENT,TASK_LIFECYCLE_EVENT,ACTOR_TASK_DEFINITION_EVENT,TASK_PROFILE_EVENT,"
    "DRIVER_JOB_DEFINITION_EVENT,DRIVER_JOB_LIFECYCLE_EVENT,ACTOR_DEFINITION_EVENT,"
    "ACTOR_LIFECYCLE_EVENT,NODE_DEFINITION_EVENT,NODE_LIFECYCLE_EVENT";

// The memory limit, else the request; null where there is neither.
Value MemorySize(const Value& container) {
  for (absl::string_view kind : {"limits", "requests"}) {
    const Value& amount = container.At("resources").At(kind).At("memory");
    if (amount.is_null()) continue;
    const auto parsed = apis::meta::Quantity::Parse(amount.is_string() ? amount.as_string()
                                                                       : apis::json::Dump(amount));
    if (parsed.ok()) return parsed->ToString();
  }
  return Value();
}

void AddEmptyDir(absl::string_view name, Value source, Value& spec) {
  AddVolumeIfAbsent(Value::MakeObject({{"name", name}, {"emptyDir", std::move(source)}}), spec);
}

void AddLogsTo(Value* container, PodDraft& draft) {
  if (container == nullptr || HasMountAt(*container, kLogsPath)) return;
  AddMount(*container, kLogsVolume, kLogsPath);  // first: a new volume moves the containers
  AddEmptyDir(kLogsVolume, Value::MakeObject(), draft.spec);
}

// Command and arguments as one line, each word between blanks.
std::string UserCommand(const Value& container) {
  std::string out;
  for (absl::string_view key : {"command", "args"}) {
    const Value& words = container.At(key);
    if (!words.is_array()) continue;
    for (const Value& word : words.as_array()) {
      if (word.is_string()) absl::StrAppend(&out, " ", word.as_string(), " ");
    }
  }
  return out;
}

void AddCollectorEnvironment(Value& ray) {
  AddEnvIfAbsent(ray, EnvValue("RAY_enable_ray_event", "true"));
  AddEnvIfAbsent(ray, EnvValue("RAY_enable_core_worker_ray_event_to_aggregator", "true"));
  AddEnvIfAbsent(ray, EnvValue("RAY_DASHBOARD_AGGREGATOR_AGENT_EVENTS_EXPORT_ADDR",
                               absl::StrCat("http://localhost:", apis::ray::kCollectorEventsPort,
                                            "/v1/events")));
  AddEnvIfAbsent(ray,
                 EnvValue("RAY_DASHBOARD_AGGREGATOR_AGENT_EXPOSABLE_EVENT_TYPES", kEventTypes));
  AddEnvIfAbsent(
      ray, EnvValue("RAY_DASHBOARD_AGGREGATOR_AGENT_PUBLISHER_HTTP_ENDPOINT_EXPOSABLE_EVENT_TYPES",
                    kEventTypes));
}

}  // namespace

void AddSharedMemory(PodDraft& draft) {
  if (draft.params.Has("plasma-directory")) return;
  Value& ray = draft.ray();
  if (HasMountAt(ray, kSharedMemoryPath)) return;
  Value source = Value::MakeObject({{"medium", "Memory"}});
  Value size = MemorySize(ray);
  if (!size.is_null()) source.Set("sizeLimit", std::move(size));
  AddMount(ray, kSharedMemoryVolume, kSharedMemoryPath);  // first, as above
  AddEmptyDir(kSharedMemoryVolume, std::move(source), draft.spec);
}

void AddRayLogs(PodDraft& draft) {
  const bool autoscaling = draft.head() && draft.cluster.spec.enable_in_tree_autoscaling;
  const bool collector = HasCollector(draft);
  if (!autoscaling && !collector) return;
  AddLogsTo(&draft.ray(), draft);
  if (autoscaling) AddLogsTo(draft.container(apis::ray::kAutoscalerContainer), draft);
  if (collector) AddLogsTo(draft.container(apis::ray::kCollectorContainer), draft);
}

void SetCommand(PodDraft& draft, absl::string_view ray_start) {
  if (apis::ray::IsTrueIgnoringCase(
          draft.annotations.Get(apis::ray::kOverwriteCommandAnnotation))) {
    return;
  }
  Value& ray = draft.ray();
  const std::string user = UserCommand(ray);
  if (absl::StrContains(user, "ray start")) return;
  const std::string generated = absl::StrCat(kUlimit, ray_start);
  ray.Set("command", ShellWrapper(draft.options));
  ray.Set("args", Strings({user.empty() ? generated : absl::StrCat(user, " && ", generated)}));
}

void AddEnvironment(PodDraft& draft, absl::string_view ray_start) {
  Value& ray = draft.ray();
  for (const Value& entry : draft.options.default_envs) AddEnvIfAbsent(ray, entry);
  if (!draft.head()) AddHeadAddress(draft, ray);
  AddEnv(ray, EnvLabel("RAY_CLUSTER_NAME", apis::ray::kClusterLabel));
  AddEnv(ray, EnvField("RAY_CLUSTER_NAMESPACE", "metadata.namespace"));
  AddEnv(ray, EnvField("RAY_CLOUD_INSTANCE_ID", "metadata.name"));
  AddEnv(ray, EnvLabel("RAY_NODE_TYPE_NAME", apis::ray::kGroupLabel));
  AddEnv(ray, EnvValue(apis::ray::kEnvRayStartCommand, ray_start));
  AddEnvIfAbsent(ray, EnvValue(apis::ray::kEnvRayPort, draft.head_port));
  const absl::string_view creator = apis::ray::CreatorKind(draft.cluster);
  if (creator == apis::ray::kRayServiceKind) {
    AddEnvIfAbsent(ray, EnvValue("RAY_timeout_ms_task_wait_for_death_info", "0"));
    AddEnvIfAbsent(ray, EnvValue("RAY_gcs_server_request_timeout_seconds", "5"));
    AddEnvIfAbsent(ray, EnvValue("RAY_SERVE_KV_TIMEOUT_S", "5"));
  }
  AddEnvIfAbsent(
      ray, EnvValue(apis::ray::kEnvRayAddress,
                    absl::StrCat(draft.head() ? absl::string_view("127.0.0.1") : draft.fqdn, ":",
                                 draft.head_port)));
  AddEnvIfAbsent(ray, EnvValue("RAY_USAGE_STATS_KUBERAY_IN_USE", "1"));
  if (draft.head()) {
    AddEnv(ray, EnvValue("RAY_USAGE_STATS_EXTRA_TAGS",
                         absl::StrCat("kuberay_version=", draft.options.operator_version,
                                      ";kuberay_crd=", creator)));
  }
  AddEnvIfAbsent(ray, EnvValue("RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1"));
  if (HasCollector(draft)) AddCollectorEnvironment(ray);
}

}  // namespace hekla::ray::builders

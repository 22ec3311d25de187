// The containers the operator adds to Ray pods, and what the cleanup Job keeps of a head pod.
// Source: spec ray-cluster 4.2, 6.5, 6.9, 6.12, 6.13.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/pod_draft.h"

namespace hekla::ray::builders {

using apis::json::Value;

namespace {

constexpr absl::string_view kAutoscalerCommand =
    "ray kuberay-autoscaler --cluster-name $(RAY_CLUSTER_NAME) --cluster-namespace "
    "$(RAY_CLUSTER_NAMESPACE)";

// Image, pull policy and security context as the Ray container has them.
Value LikeRay(absl::string_view name, const Value& ray) {
  Value container = Value::MakeObject({{"name", name}});
  for (absl::string_view key : {"image", "imagePullPolicy", "securityContext"}) {
    if (ray.Has(key)) container.Set(key, ray.At(key));
  }
  return container;
}

void ApplyOverrides(const Value& options, Value& container) {
  for (absl::string_view key :
       {"resources", "image", "imagePullPolicy", "securityContext", "command", "args"}) {
    const Value& value = options.At(key);
    const bool empty_list = value.is_array() && value.size() == 0;
    const bool empty_text = value.is_string() && value.as_string().empty();
    if (!value.is_null() && !empty_list && !empty_text) container.Set(key, value);
  }
  for (absl::string_view key : {"env", "envFrom", "volumeMounts"}) {
    if (options.At(key).size() > 0) AppendAll(options.At(key), container[key]);
  }
}

// The shell lines of a worker that waits for its head. Tabs and blank ends as upstream sends them,
// so that pods of either operator are equal.
std::string WaitForGcsScript(const PodDraft& draft) {
  const std::string check =
      absl::StrCat("ray health-check --address ", draft.fqdn, ":", draft.head_port);
  const std::pair<int, std::string> lines[] = {
      {0, "SECONDS=0"},
      {0, "while true; do"},
      {1, "if (( SECONDS <= 120 )); then"},
      {2, absl::StrCat("if ", check, " > /dev/null 2>&1; then")},
      {3, "echo \"GCS is ready.\""},
      {3, "break"},
      {2, "fi"},
      {2, "echo \"$SECONDS seconds elapsed: Waiting for GCS to be ready.\""},
      {1, "else"},
      {2, absl::StrCat("if ", check, "; then")},
      {3, "echo \"GCS is ready. Any error messages above can be safely ignored.\""},
      {3, "break"},
      {2, "fi"},
      {2,
       "echo \"$SECONDS seconds elapsed: Still waiting for GCS to be ready. For troubleshooting, "
       "refer to the FAQ at "
       "https://docs.ray.io/en/master/cluster/kubernetes/troubleshooting.html.\""},
      {1, "fi"},
      {1, "sleep 5"},
      {0, "done"},
  };
  std::string script = "\n";
  for (const auto& [depth, line] : lines) {
    absl::StrAppend(&script, std::string(5 + depth, '\t'), line, "\n");
  }
  return absl::StrCat(script, "\t\t\t\t");
}

// Waits until the certificate names the pod's address.
constexpr absl::string_view kWaitForTlsScript =
    R"sh(CERT="/etc/ray/tls/tls.crt"
if [ -z "${POD_IP}" ]; then
  POD_IP=$(hostname -i 2>/dev/null | awk '{print $1}')
fi
if ! command -v openssl >/dev/null 2>&1; then
  echo "openssl not found; cannot verify IP SAN" >&2
  exit 1
fi
echo "Waiting for TLS cert to include IP SAN for ${POD_IP}..."
while true; do
  if openssl x509 -in "${CERT}" -noout -text )sh"
    R"sh(2>/dev/null | grep -qE "IP Address:${POD_IP}([^0-9.]|$)"; then
    echo "TLS cert now includes IP SAN for ${POD_IP}"
    exit 0
  fi
  echo "IP SAN for ${POD_IP} not yet in cert, retrying in 5s..."
  sleep 5
done)sh";

// `username_argument`: empty or one more argument of the clean-up function.
std::string CleanupScript(absl::string_view username_argument) {
  return absl::StrCat(
      "echo \"To get more information about manually deleting the storage namespace in Redis and "
      "removing the RayCluster's finalizer, please check "
      "https://docs.ray.io/en/master/cluster/kubernetes/user-guides/kuberay-gcs-ft.html for more "
      "details.\" && python -c \"from ray._private.gcs_utils import cleanup_redis_storage; from "
      "urllib.parse import urlparse; import os; import sys; redis_address = "
      "os.getenv('RAY_REDIS_ADDRESS', '').split(',')[0]; redis_address = redis_address if '://' in "
      "redis_address else 'redis://' + redis_address; parsed = urlparse(redis_address); "
      "sys.exit(1) if not cleanup_redis_storage(host=parsed.hostname, port=parsed.port, ",
      username_argument,
      "password=os.getenv('REDIS_PASSWORD', parsed.password or ''), "
      "use_ssl=parsed.scheme=='rediss', "
      "storage_namespace=os.getenv('RAY_external_storage_namespace')) else None\"");
}

}  // namespace

Value ShellWrapper(const BuildOptions& options) {
  return Strings({"/bin/bash", options.login_shell ? "-cl" : "-c", "--"});
}

void AddHeadAddress(const PodDraft& draft, Value& container) {
  AddEnv(container, EnvValue(apis::ray::kEnvFqRayIp, draft.fqdn));
  AddEnv(container, EnvValue(apis::ray::kEnvRayIp, draft.fqdn.substr(0, draft.fqdn.find('.'))));
}

void AddAutoscaler(PodDraft& draft) {
  draft.params.Set("no-monitor", "true");
  draft.spec.Set("serviceAccountName", CheckName(AutoscalerServiceAccountName(draft.cluster)));
  Value container = Value::MakeObject({{"name", apis::ray::kAutoscalerContainer},
                                       {"image", draft.ray().GetString("image")},
                                       {"imagePullPolicy", "IfNotPresent"}});
  AddEnv(container, EnvLabel("RAY_CLUSTER_NAME", apis::ray::kClusterLabel));
  AddEnv(container, EnvField("RAY_CLUSTER_NAMESPACE", "metadata.namespace"));
  AddEnv(container, EnvField("RAY_HEAD_POD_NAME", "metadata.name"));
  AddEnv(container, EnvValue("KUBERAY_CRD_VER", "v1"));
  AddEnv(container, EnvValue(apis::ray::kEnvAutoscalerCommand, kAutoscalerCommand));
  container.Set("command", ShellWrapper(draft.options));
  container.Set("args", Strings({kAutoscalerCommand}));
  container.Set("resources", FixedResources("500m", "512Mi"));
  AddAuthTo(draft, container);
  AddTlsTo(draft, container);
  if (draft.cluster.spec.autoscaler_options) {
    ApplyOverrides(draft.cluster.spec.autoscaler_options->raw, container);
  }
  draft.spec["containers"].Append(std::move(container));
  if (apis::ray::AutoscalerVersionIs(draft.cluster, "v2")) {
    AddEnv(draft.ray(), EnvValue(apis::ray::kEnvAutoscalerV2, "true"));
    draft.spec.Set("restartPolicy", "Never");
  } else if (apis::ray::AutoscalerVersionIs(draft.cluster, "v1")) {
    AddEnv(draft.ray(), EnvValue(apis::ray::kEnvAutoscalerV2, "false"));
  }
}

bool HasCollector(const PodDraft& draft) {
  return draft.options.history_server && draft.cluster.spec.history_server &&
         draft.cluster.spec.history_server->collector_options.is_object();
}

void AddCollector(PodDraft& draft) {
  if (!HasCollector(draft)) return;
  const Value& options = draft.cluster.spec.history_server->collector_options;
  Value container = Value::MakeObject(
      {{"name", apis::ray::kCollectorContainer},
       {"image", options.GetString("image")},
       {"imagePullPolicy", options.GetString("imagePullPolicy", "IfNotPresent")}});
  AddEnv(container, EnvField("POD_IP", "status.podIP"));
  AddEnv(container, EnvValue("RAY_CLUSTER_NAME", draft.cluster.name()));
  AddEnv(container, EnvValue("RAY_CLUSTER_NAMESPACE", draft.cluster.ns()));
  AddEnv(container, EnvValue("RAY_ROLE", draft.head() ? "Head" : "Worker"));
  AddEnv(container, EnvValue("EVENTS_PORT", absl::StrCat(apis::ray::kCollectorEventsPort)));
  AddEnv(container, EnvValue(apis::ray::kEnvFqRayIp, draft.fqdn));
  const apis::meta::StringMap& labels = draft.cluster.metadata.labels;
  if (!labels.Get(apis::ray::kOriginKindLabel).empty()) {
    AddEnv(container, EnvValue("OWNER_KIND", labels.Get(apis::ray::kOriginKindLabel)));
  }
  if (!labels.Get(apis::ray::kOriginNameLabel).empty()) {
    AddEnv(container, EnvValue("OWNER_NAME", labels.Get(apis::ray::kOriginNameLabel)));
  }
  constexpr absl::string_view kAddress = "RAY_DASHBOARD_ADDRESS";
  if (draft.head() && FindNamed(options.At("env"), kAddress) == nullptr) {
    AddEnv(container, EnvValue(kAddress, "http://localhost:8265"));
  }
  AppendAll(options.At("env"), container["env"]);
  if (options.At("resources").is_object()) {
    container.Set("resources", options.At("resources"));
  } else {
    Value resources = FixedResources("200m", "256Mi");
    resources.Set("requests", Value::MakeObject({{"cpu", "50m"}, {"memory", "64Mi"}}));
    container.Set("resources", std::move(resources));
  }
  AddAuthTo(draft, container);
  draft.spec["containers"].Append(std::move(container));
}

void AddWaitForGcs(PodDraft& draft) {
  const Value& ray = draft.ray();
  Value container = LikeRay(apis::ray::kWaitGcsContainer, ray);
  container.Set("command", ShellWrapper(draft.options));
  container.Set("args", Strings({WaitForGcsScript(draft)}));
  for (absl::string_view key : {"env", "volumeMounts"}) {
    if (ray.At(key).size() > 0) container.Set(key, ray.At(key));
  }
  container.Set("resources", FixedResources("200m", "256Mi"));
  draft.spec["initContainers"].Append(std::move(container));
}

void AddWaitForTls(PodDraft& draft) {
  Value container = LikeRay(apis::ray::kWaitTlsContainer, draft.ray());
  container.Set("command", Strings({"sh", "-c"}));
  container.Set("args", Strings({kWaitForTlsScript}));
  AddEnv(container, EnvField("POD_IP", "status.podIP"));
  container.Set("resources", FixedResources("50m", "64Mi"));
  AddMount(container, apis::ray::kTlsVolume, apis::ray::kTlsPath, true);
  Value& list = draft.spec["initContainers"];
  if (!list.is_array()) list = Value::MakeArray();
  if (FindNamed(list, apis::ray::kWaitTlsContainer) != nullptr) return;
  list.as_array().insert(list.as_array().begin(), std::move(container));
}

void ReduceToCleanup(const BuildOptions& options, Value& spec) {
  Value& containers = spec["containers"];
  containers.as_array().resize(1);
  Value& ray = containers.as_array().front();
  ray.Remove("livenessProbe");
  ray.Remove("readinessProbe");
  const bool username = HasEnv(ray, apis::ray::kEnvRedisUsername);
  ray.Set("command", ShellWrapper(options));
  ray.Set("args", Strings({CleanupScript(
                      username ? "username=os.getenv('REDIS_USERNAME', parsed.username), " : "")}));
  ray.Set("resources", FixedResources("200m", "256Mi"));
  AddEnv(ray, EnvValue("RAY_redis_db_connect_retries", "120"));
  AddEnv(ray, EnvValue("RAY_redis_db_connect_wait_milliseconds", "500"));
  spec.Set("restartPolicy", "Never");
  Value* init = spec.Find("initContainers");
  if (init == nullptr || !init->is_array()) return;
  std::erase_if(init->as_array(), [](const Value& container) {
    return container.GetString("name") == apis::ray::kWaitTlsContainer;
  });
  if (init->size() == 0) spec.Remove("initContainers");
}

}  // namespace hekla::ray::builders

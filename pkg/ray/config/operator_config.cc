#include "pkg/ray/config/operator_config.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace hekla::ray {
namespace {

using apis::json::Value;

constexpr absl::string_view kApiVersion = "config.ray.io/v1alpha1";
constexpr absl::string_view kKind = "Configuration";
constexpr absl::string_view kBatchSchedulers[] = {"volcano", "yunikorn", "kai-scheduler",
                                                  "scheduler-plugins"};

absl::string_view KindName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kInt:
    case Value::Kind::kDouble:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "array";
    case Value::Kind::kObject:
      return "object";
  }
  return "";
}

// Reads members one by one, keeps the first problem and remembers what was asked for.
class FieldReader {
 public:
  explicit FieldReader(const Value& document) : document_(document) {}

  void String(absl::string_view key, std::string& out) {
    if (const Value* v = Member(key, "string", &Value::is_string)) out = v->as_string();
  }
  void Bool(absl::string_view key, bool& out) {
    if (const Value* v = Member(key, "boolean", &Value::is_bool)) out = v->as_bool();
  }
  void Int(absl::string_view key, int& out) {
    if (const Value* v = Member(key, "integer", &Value::is_int))
      out = static_cast<int>(v->as_int());
  }
  void Double(absl::string_view key, double& out) {
    if (const Value* v = Member(key, "number", &Value::is_number)) out = v->as_double();
  }
  void Objects(absl::string_view key, Value::Array& out) {
    const Value* const list = Member(key, "array", &Value::is_array);
    if (list == nullptr) return;
    for (size_t i = 0; i < list->as_array().size(); ++i) {
      const Value& item = list->as_array()[i];
      if (!item.is_object()) Wrong(absl::StrCat(key, "[", i, "]"), "object", item);
    }
    out = list->as_array();
  }
  void Strings(absl::string_view key, apis::meta::StringMap& out) {
    const Value* const map = Member(key, "object", &Value::is_object);
    if (map == nullptr) return;
    for (const apis::json::Member& member : map->as_object()) {
      if (!member.value.is_string()) {
        Wrong(absl::StrCat(key, ".", member.key), "string", member.value);
      } else {
        out.Set(member.key, member.value.as_string());
      }
    }
  }

  const absl::Status& status() const { return status_; }
  std::vector<std::string> Unknown() const {
    std::vector<std::string> out;
    for (const apis::json::Member& member : document_.as_object()) {
      bool known = false;
      for (const std::string& key : asked_) known = known || key == member.key;
      if (!known) out.push_back(member.key);
    }
    return out;
  }

 private:
  // nullptr where absent, null or of the wrong type.
  const Value* Member(absl::string_view key, absl::string_view wanted, bool (Value::*is)() const) {
    asked_.emplace_back(key);
    const Value* const value = document_.Find(key);
    if (value == nullptr || value->is_null()) return nullptr;
    if ((value->*is)()) return value;
    Wrong(key, wanted, *value);
    return nullptr;
  }
  void Wrong(absl::string_view path, absl::string_view wanted, const Value& value) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(path, ": expected ", wanted, ", got ", KindName(value)));
  }

  const Value& document_;
  std::vector<std::string> asked_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<OperatorConfig> ParseOperatorConfig(const Value& document,
                                                   std::vector<std::string>* unknown) {
  if (!document.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the configuration is no object but ", KindName(document)));
  }
  if (document.GetString("apiVersion") != kApiVersion || document.GetString("kind") != kKind) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no kind \"", document.GetString("kind"), "\" is registered for version \"",
        document.GetString("apiVersion"), "\"; accepted: ", kKind, " of ", kApiVersion));
  }
  OperatorConfig config;
  FieldReader reader(document);
  std::string ignored;
  reader.String("apiVersion", ignored);
  reader.String("kind", ignored);
  reader.String("metricsAddr", config.metrics_addr);
  reader.String("probeAddr", config.probe_addr);
  reader.Bool("enableLeaderElection", config.enable_leader_election);
  reader.String("leaderElectionNamespace", config.leader_election_namespace);
  reader.Int("reconcileConcurrency", config.reconcile_concurrency);
  reader.String("watchNamespace", config.watch_namespace);
  reader.Double("qps", config.qps);
  reader.Int("burst", config.burst);
  reader.String("logFile", config.log_file);
  reader.String("logFileEncoder", config.log_file_encoder);
  reader.String("logStdoutEncoder", config.log_stdout_encoder);
  reader.String("batchScheduler", config.batch_scheduler);
  reader.Bool("enableBatchScheduler", config.enable_batch_scheduler);
  reader.Bool("useKubernetesProxy", config.use_kubernetes_proxy);
  reader.Bool("enableMetrics", config.enable_metrics);
  reader.Bool("deleteRayJobAfterJobFinishes", config.delete_ray_job_after_job_finishes);
  reader.Objects("headSidecarContainers", config.head_sidecar_containers);
  reader.Objects("workerSidecarContainers", config.worker_sidecar_containers);
  reader.Objects("defaultContainerEnvs", config.default_container_envs);
  reader.Strings("defaultPodAnnotations", config.default_pod_annotations);
  reader.Strings("defaultPodLabels", config.default_pod_labels);
  if (!reader.status().ok()) return reader.status();
  if (config.metrics_addr.empty()) config.metrics_addr = OperatorConfig().metrics_addr;
  if (config.probe_addr.empty()) config.probe_addr = OperatorConfig().probe_addr;
  if (config.reconcile_concurrency == 0) config.reconcile_concurrency = 1;
  if (unknown != nullptr) *unknown = reader.Unknown();
  return config;
}

absl::Status ValidateOperatorConfig(const OperatorConfig& config, const FeatureGates& gates) {
  const bool named = !config.batch_scheduler.empty();
  if (gates.Enabled(Feature::kKubernetesWas) && (named || config.enable_batch_scheduler)) {
    return absl::InvalidArgumentError(
        "feature gate KubernetesWAS and a batch scheduler exclude each other: remove "
        "--batch-scheduler and --enable-batch-scheduler, or switch the gate off");
  }
  if (named && config.enable_batch_scheduler) {
    return absl::InvalidArgumentError(
        "--enable-batch-scheduler and --batch-scheduler exclude each other: use "
        "--batch-scheduler only");
  }
  if (named && std::find(std::begin(kBatchSchedulers), std::end(kBatchSchedulers),
                         config.batch_scheduler) == std::end(kBatchSchedulers)) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch scheduler \"", config.batch_scheduler,
                     "\" is not supported; accepted: ", absl::StrJoin(kBatchSchedulers, ", ")));
  }
  if (config.reconcile_concurrency < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reconcile concurrency must be at least 1, not ", config.reconcile_concurrency));
  }
  return absl::OkStatus();
}

std::vector<std::string> WatchedNamespaces(absl::string_view watch_namespace,
                                           std::vector<std::string>* warnings) {
  std::vector<std::string> names;
  for (absl::string_view part : absl::StrSplit(watch_namespace, ',')) {
    const std::string name(part);
    if (warnings != nullptr && name.find(' ') != std::string::npos) {
      warnings->push_back(absl::StrCat("watch namespace \"", name,
                                       "\" contains a blank; no such namespace can exist"));
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (std::find(names.begin(), names.end(), "") == names.end()) return names;
  if (warnings != nullptr && names.size() > 1) {
    warnings->push_back(absl::StrCat("watch namespaces \"", watch_namespace,
                                     "\" have an empty element, which means all namespaces"));
  }
  return {""};
}

}  // namespace hekla::ray

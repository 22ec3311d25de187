#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/default.h"
#include "pkg/apiserver/kinds/pod_spec.h"
#include "pkg/apiserver/selector/selector.h"

// Jobs, deployments and their kin, disruption budgets.
namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr absl::string_view kControllerUid = "batch.kubernetes.io/controller-uid";

Value& SpecOf(Value& object) {
  Value& spec = object["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  return spec;
}

void DefaultTemplate(Value& spec) {
  Value* pod = spec.FindPath({"template", "spec"});
  if (pod != nullptr && pod->is_object()) SetPodSpecDefaults(*pod);
}

void ValidateTemplate(const Value& spec, const std::string& path, FieldErrors& errors) {
  ValidatePodSpec(spec.At("template").At("spec"), Child(path, "template.spec"), errors);
}

// The selector must be there and match what it makes.
void ValidateWorkload(const Value& object, FieldErrors& errors) {
  const Value& spec = object.At("spec");
  const Value& selector = spec.At("selector");
  if (!selector.is_object()) {
    errors.Required("spec.selector");
  } else {
    ValidateSelector(selector, "spec.selector", errors);
    if (selector.size() == 0) {
      errors.Invalid("spec.selector", selector, "empty selector is invalid for deployment");
    }
    const Value& labels = spec.At("template").At("metadata").At("labels");
    const absl::StatusOr<LabelSelector> parsed = LabelSelector::FromObject(selector);
    if (parsed.ok() && !parsed->Matches(labels)) {
      errors.Invalid("spec.template.metadata.labels",
                     labels.is_object() ? labels : Value::MakeObject(),
                     "`selector` does not match template `labels`");
    }
  }
  for (const char* name :
       {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
    CheckNotNegative(spec, name, "spec", errors);
  }
  ValidateTemplate(spec, "spec", errors);
  const absl::string_view policy =
      spec.At("template").At("spec").GetString("restartPolicy", "Always");
  if (policy != "Always") {
    errors.NotSupported("spec.template.spec.restartPolicy", Value(policy), {"Always"});
  }
}

void SelectorIsFixed(const Value& object, const Value& old, FieldErrors& errors) {
  const Value& now = object.At("spec").At("selector");
  if (now != old.At("spec").At("selector")) {
    errors.Invalid("spec.selector", now, "field is immutable");
  }
}

void DeploymentDefaults(Value& object) {
  Value& spec = SpecOf(object);
  DefaultTemplate(spec);
  Default(spec, "replicas", 1);
  Value& strategy = spec["strategy"];
  if (!strategy.is_object()) strategy = Value::MakeObject();
  if (strategy.GetString("type").empty()) strategy.Set("type", "RollingUpdate");
  if (strategy.GetString("type") == "RollingUpdate") {
    Value& rolling = strategy["rollingUpdate"];
    if (!rolling.is_object()) rolling = Value::MakeObject();
    Default(rolling, "maxUnavailable", "25%");
    Default(rolling, "maxSurge", "25%");
  }
  Default(spec, "revisionHistoryLimit", 10);
  Default(spec, "progressDeadlineSeconds", 600);
}

void ReplicaSetDefaults(Value& object) {
  Value& spec = SpecOf(object);
  DefaultTemplate(spec);
  Default(spec, "replicas", 1);
}

void StatefulSetDefaults(Value& object) {
  Value& spec = SpecOf(object);
  DefaultTemplate(spec);
  Default(spec, "replicas", 1);
  Default(spec, "podManagementPolicy", "OrderedReady");
  Value& strategy = spec["updateStrategy"];
  if (!strategy.is_object()) strategy = Value::MakeObject();
  if (strategy.GetString("type").empty()) strategy.Set("type", "RollingUpdate");
  if (strategy.GetString("type") == "RollingUpdate") {
    Value& rolling = strategy["rollingUpdate"];
    if (!rolling.is_object()) rolling = Value::MakeObject();
    Default(rolling, "partition", 0);
  }
  Default(spec, "revisionHistoryLimit", 10);
  Default(spec, "persistentVolumeClaimRetentionPolicy",
          Value::MakeObject({{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}}));
}

void DaemonSetDefaults(Value& object) {
  Value& spec = SpecOf(object);
  DefaultTemplate(spec);
  Value& strategy = spec["updateStrategy"];
  if (!strategy.is_object()) strategy = Value::MakeObject();
  if (strategy.GetString("type").empty()) strategy.Set("type", "RollingUpdate");
  if (strategy.GetString("type") == "RollingUpdate") {
    Value& rolling = strategy["rollingUpdate"];
    if (!rolling.is_object()) rolling = Value::MakeObject();
    Default(rolling, "maxUnavailable", 1);
    Default(rolling, "maxSurge", 0);
  }
  Default(spec, "revisionHistoryLimit", 10);
}

void ReplicationControllerDefaults(Value& object) {
  Value& spec = SpecOf(object);
  DefaultTemplate(spec);
  Default(spec, "replicas", 1);
  const Value* labels = spec.FindPath({"template", "metadata", "labels"});
  if (labels != nullptr && spec.At("selector").size() == 0) spec.Set("selector", *labels);
}

void JobDefaults(Value& object) {
  Value& spec = SpecOf(object);
  DefaultTemplate(spec);
  if (!spec.Has("completions") && !spec.Has("parallelism")) {
    spec.Set("completions", 1);
    spec.Set("parallelism", 1);
  }
  Default(spec, "parallelism", 1);
  Default(spec, "backoffLimit", spec.Has("backoffLimitPerIndex") ? 2147483647 : 6);
  Default(spec, "completionMode", "NonIndexed");
  Default(spec, "suspend", false);
  Default(spec, "manualSelector", false);
  Default(spec, "podReplacementPolicy",
          spec.Has("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
}

void JobPrepare(Value& job, const WriteContext&) {
  Value& spec = SpecOf(job);
  if (spec.GetBool("manualSelector")) return;
  const std::string uid(job.At("metadata").GetString("uid"));
  const std::string name(job.At("metadata").GetString("name"));
  Value& labels = spec.Ensure({"template", "metadata", "labels"});
  if (!labels.is_object()) labels = Value::MakeObject();
  labels.Set("controller-uid", uid);
  labels.Set(kControllerUid, uid);
  labels.Set("job-name", name);
  labels.Set("batch.kubernetes.io/job-name", name);
  Value& match = spec.Ensure({"selector", "matchLabels"});
  if (!match.is_object()) match = Value::MakeObject();
  match.Set(kControllerUid, uid);
  // A job without labels has those of its template.
  if (job.At("metadata").At("labels").size() > 0) return;
  const Value inherited = job.At("spec").At("template").At("metadata").At("labels");
  job["metadata"].Set("labels", inherited);
}

void JobValidate(const Value& job, FieldErrors& errors) {
  const Value& spec = job.At("spec");
  for (const char* name : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                           "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    CheckNotNegative(spec, name, "spec", errors);
  }
  const absl::string_view mode = spec.GetString("completionMode");
  CheckSupportedIfGiven(spec, "completionMode", "spec", {"NonIndexed", "Indexed"}, errors);
  CheckSupportedIfGiven(spec, "podReplacementPolicy", "spec", {"Failed", "TerminatingOrFailed"},
                        errors);
  if (const Value* limit = spec.Find("backoffLimitPerIndex");
      limit != nullptr && mode != "Indexed") {
    errors.Invalid("spec.backoffLimitPerIndex", *limit, "requires indexed completion mode");
  }
  if (mode == "Indexed" && !spec.Has("completions")) {
    errors.Required("spec.completions", "when completion mode is Indexed");
  }
  ValidateTemplate(spec, "spec", errors);
  const absl::string_view policy =
      spec.At("template").At("spec").GetString("restartPolicy", "Always");
  if (policy != "OnFailure" && policy != "Never") {
    errors.Required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
  }
}

void JobUpdate(const Value& job, const Value& old, FieldErrors& errors) {
  SelectorIsFixed(job, old, errors);
  const Value& now = job.At("spec");
  const Value& before = old.At("spec");
  if (now.At("completions") != before.At("completions")) {
    errors.Invalid("spec.completions", now.At("completions"), "field is immutable");
  }
  if (now.At("template") != before.At("template") && !before.GetBool("suspend")) {
    errors.Invalid("spec.template", now.At("template"), "field is immutable");
  }
}

void DeploymentValidate(const Value& object, FieldErrors& errors) {
  ValidateWorkload(object, errors);
  const Value& spec = object.At("spec");
  const Value& strategy = spec.At("strategy");
  const Value& rolling = strategy.At("rollingUpdate");
  const absl::string_view type = strategy.GetString("type");
  if (type == "Recreate") {
    if (rolling.is_object()) {
      errors.Forbidden("spec.strategy.rollingUpdate",
                       "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type == "RollingUpdate") {
    constexpr char kPath[] = "spec.strategy.rollingUpdate";
    CheckIntOrPercent(rolling, "maxUnavailable", kPath, errors);
    CheckCount(rolling, "maxSurge", kPath, errors);
    if (rolling.At("maxUnavailable") == Value(0) && rolling.At("maxSurge") == Value(0)) {
      errors.Invalid(Child(kPath, "maxUnavailable"), Value(0), "may not be 0 when `maxSurge` is 0");
    }
  }
  if (spec.At("progressDeadlineSeconds").is_int() &&
      spec.GetInt("progressDeadlineSeconds") <= spec.GetInt("minReadySeconds")) {
    errors.Invalid("spec.progressDeadlineSeconds", spec.At("progressDeadlineSeconds"),
                   "must be greater than minReadySeconds");
  }
}

void CronJobValidate(const Value& object, FieldErrors& errors) {
  const Value& spec = object.At("spec");
  const absl::string_view schedule = spec.GetString("schedule");
  const std::vector<absl::string_view> fields = absl::StrSplit(schedule, ' ', absl::SkipEmpty());
  if (schedule.empty()) {
    errors.Required("spec.schedule");
  } else if (absl::StrContains(schedule, "TZ")) {
    errors.Invalid("spec.schedule", Value(schedule),
                   "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (fields.size() != 5 && fields[0][0] != '@') {
    errors.Invalid("spec.schedule", Value(schedule),
                   absl::StrCat("expected exactly 5 fields, found ", fields.size(), ": [",
                                absl::StrJoin(fields, " "), "]"));
  }
  CheckNotNegative(spec, "startingDeadlineSeconds", "spec", errors);
  CheckSupported(spec, "concurrencyPolicy", "spec", {"Allow", "Forbid", "Replace"}, errors);
  CheckNotNegative(spec, "successfulJobsHistoryLimit", "spec", errors);
  CheckNotNegative(spec, "failedJobsHistoryLimit", "spec", errors);
}

void CronJobDefaults(Value& object) {
  Value& spec = SpecOf(object);
  Default(spec, "concurrencyPolicy", "Allow");
  Default(spec, "suspend", false);
  Default(spec, "successfulJobsHistoryLimit", 3);
  Default(spec, "failedJobsHistoryLimit", 1);
  if (Value* job = spec.FindPath({"jobTemplate", "spec"})) DefaultTemplate(*job);
}

void BudgetValidate(const Value& object, FieldErrors& errors) {
  const Value& spec = object.At("spec");
  if (spec.Has("minAvailable") && spec.Has("maxUnavailable")) {
    errors.Invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set");
  }
  for (const char* name : {"minAvailable", "maxUnavailable"}) {
    CheckIntOrPercent(spec, name, "spec", errors);
  }
  if (spec.Has("selector")) ValidateSelector(spec.At("selector"), "spec.selector", errors);
  CheckSupportedIfGiven(spec, "unhealthyPodEvictionPolicy", "spec",
                        {"AlwaysAllow", "IfHealthyBudget"}, errors);
}

void AutoscalerDefaults(Value& object) {
  Value& spec = SpecOf(object);
  Default(spec, "minReplicas", 1);
  if (spec.At("metrics").size() > 0) return;
  constexpr int kUsualPercent = 80;
  Value target =
      Value::MakeObject({{"type", "Utilization"}, {"averageUtilization", kUsualPercent}});
  Value resource = Value::MakeObject({{"name", "cpu"}, {"target", std::move(target)}});
  spec.Set("metrics", Value::MakeArray({Value::MakeObject(
                          {{"type", "Resource"}, {"resource", std::move(resource)}})}));
}

Strategy Workload(void (*defaults)(Value&)) {
  Strategy s;
  s.set_defaults = defaults;
  s.validate = ValidateWorkload;
  s.validate_update = SelectorIsFixed;
  return s;
}

}  // namespace

Strategy DeploymentStrategy() {
  Strategy s = Workload(DeploymentDefaults);
  s.validate = DeploymentValidate;
  return s;
}
Strategy ReplicaSetStrategy() { return Workload(ReplicaSetDefaults); }
Strategy StatefulSetStrategy() { return Workload(StatefulSetDefaults); }
Strategy DaemonSetStrategy() { return Workload(DaemonSetDefaults); }

Strategy ReplicationControllerStrategy() {
  Strategy s;
  s.set_defaults = ReplicationControllerDefaults;
  return s;
}

Strategy JobStrategy() {
  Strategy s;
  s.set_defaults = JobDefaults;
  s.prepare_create = JobPrepare;
  s.validate = JobValidate;
  s.validate_update = JobUpdate;
  return s;
}

Strategy CronJobStrategy() {
  Strategy s;
  s.set_defaults = CronJobDefaults;
  s.validate = CronJobValidate;
  return s;
}

Strategy AutoscalerStrategy() {
  Strategy s;
  s.set_defaults = AutoscalerDefaults;
  return s;
}

Strategy PodTemplateStrategy() {
  Strategy s;
  s.set_defaults = [](Value& object) { DefaultTemplate(object); };
  s.validate = [](const Value& object, FieldErrors& errors) {
    ValidatePodSpec(object.At("template").At("spec"), "template.spec", errors);
  };
  return s;
}

Strategy DisruptionBudgetStrategy() {
  Strategy s;
  s.validate = BudgetValidate;
  return s;
}

}  // namespace hekla::apiserver::kinds

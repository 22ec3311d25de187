#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apiserver/printing/columns.h"

// Cells of workloads, their configuration, events and services.
namespace hekla::apiserver::printing::internal {
namespace {

using apis::json::Value;

const Value& TemplateSpec(const Value& object) {
  return object.At("spec").At("template").At("spec");
}

bool JobCondition(const Value& job, absl::string_view type) {
  const Value& conditions = job.At("status").At("conditions");
  if (!conditions.is_array()) return false;
  for (const Value& condition : conditions.as_array()) {
    if (condition.GetString("type") == type) return condition.GetString("status") == "True";
  }
  return false;
}

std::string JobStatus(const Value& job) {
  if (JobCondition(job, "Complete")) return "Complete";
  if (JobCondition(job, "Failed")) return "Failed";
  if (!job.At("metadata").At("deletionTimestamp").is_null()) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (JobCondition(job, type)) return type;
  }
  return "Running";
}

std::string JobCompletions(const Value& job) {
  const int64_t succeeded = job.At("status").GetInt("succeeded");
  const Value* completions = job.At("spec").Find("completions");
  if (completions != nullptr && completions->is_int()) {
    return absl::StrCat(succeeded, "/", completions->as_int());
  }
  const int64_t parallelism = job.At("spec").GetInt("parallelism");
  return parallelism > 1 ? absl::StrCat(succeeded, "/1 of ", parallelism)
                         : absl::StrCat(succeeded, "/1");
}

std::string JobDuration(const Value& job, absl::Time now) {
  absl::Time start, end = now;
  const std::string started(job.At("status").GetString("startTime"));
  if (!absl::ParseTime(absl::RFC3339_full, started, &start, nullptr)) return "";
  const std::string ended(job.At("status").GetString("completionTime"));
  if (!ended.empty()) absl::ParseTime(absl::RFC3339_full, ended, &end, nullptr);
  return HumanDuration(end - start);
}

Value JobCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), JobStatus(o), JobCompletions(o), JobDuration(o, now),
                           Age(o, now), ContainerNames(TemplateSpec(o)),
                           ContainerImages(TemplateSpec(o)),
                           Selector(o.At("spec").At("selector"))});
}

Value CronJobCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  const Value& job = spec.At("jobTemplate").At("spec");
  const Value& pods = job.At("template").At("spec");
  const Value* suspend = spec.Find("suspend");
  const absl::string_view last = o.At("status").GetString("lastScheduleTime");
  return Value::MakeArray(
      {NameOf(o), spec.GetString("schedule"), Or(spec.GetString("timeZone"), "<none>"),
       suspend == nullptr   ? "<unset>"
       : suspend->as_bool() ? "True"
                            : "False",
       o.At("status").At("active").size(), last.empty() ? "<none>" : AgeOf(last, now), Age(o, now),
       ContainerNames(pods), ContainerImages(pods), Selector(job.At("selector"))});
}

Value ReplicaSetCells(const Value& o, absl::Time now) {
  const Value& status = o.At("status");
  return Value::MakeArray({NameOf(o), o.At("spec").GetInt("replicas"), status.GetInt("replicas"),
                           status.GetInt("readyReplicas"), Age(o, now),
                           ContainerNames(TemplateSpec(o)), ContainerImages(TemplateSpec(o)),
                           Selector(o.At("spec").At("selector"))});
}

Value ReplicationControllerCells(const Value& o, absl::Time now) {
  const Value& status = o.At("status");
  return Value::MakeArray({NameOf(o), o.At("spec").GetInt("replicas"), status.GetInt("replicas"),
                           status.GetInt("readyReplicas"), Age(o, now),
                           ContainerNames(TemplateSpec(o)), ContainerImages(TemplateSpec(o)),
                           Labels(o.At("spec").At("selector"))});
}

std::string ReadyOf(const Value& o) {
  return absl::StrCat(o.At("status").GetInt("readyReplicas"), "/", o.At("spec").GetInt("replicas"));
}

Value DeploymentCells(const Value& o, absl::Time now) {
  const Value& status = o.At("status");
  const std::string selector = Selector(o.At("spec").At("selector"));
  return Value::MakeArray({NameOf(o), ReadyOf(o), status.GetInt("updatedReplicas"),
                           status.GetInt("availableReplicas"), Age(o, now),
                           ContainerNames(TemplateSpec(o)), ContainerImages(TemplateSpec(o)),
                           selector == "<none>" ? "" : selector});
}

Value StatefulSetCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), ReadyOf(o), Age(o, now), ContainerNames(TemplateSpec(o)),
                           ContainerImages(TemplateSpec(o))});
}

Value DaemonSetCells(const Value& o, absl::Time now) {
  const Value& status = o.At("status");
  return Value::MakeArray(
      {NameOf(o), status.GetInt("desiredNumberScheduled"), status.GetInt("currentNumberScheduled"),
       status.GetInt("numberReady"), status.GetInt("updatedNumberScheduled"),
       status.GetInt("numberAvailable"), Labels(TemplateSpec(o).At("nodeSelector")), Age(o, now),
       ContainerNames(TemplateSpec(o)), ContainerImages(TemplateSpec(o)),
       Selector(o.At("spec").At("selector"))});
}

Value ControllerRevisionCells(const Value& o, absl::Time now) {
  std::string owner = "<none>";
  const Value& owners = o.At("metadata").At("ownerReferences");
  if (owners.is_array()) {
    for (const Value& reference : owners.as_array()) {
      if (!reference.GetBool("controller")) continue;
      const absl::string_view version = reference.GetString("apiVersion");
      const size_t slash = version.find('/');
      const std::string group =
          slash == absl::string_view::npos ? "" : absl::StrCat(".", version.substr(0, slash));
      owner = absl::StrCat(absl::AsciiStrToLower(reference.GetString("kind")), group, "/",
                           reference.GetString("name"));
    }
  }
  return Value::MakeArray({NameOf(o), owner, o.GetInt("revision"), Age(o, now)});
}

Value PodTemplateCells(const Value& o, absl::Time) {
  const Value& spec = o.At("template").At("spec");
  return Value::MakeArray({NameOf(o), ContainerNames(spec), ContainerImages(spec),
                           Labels(o.At("template").At("metadata").At("labels"))});
}

std::string IntOrString(const Value& value) {
  if (value.is_string()) return value.as_string();
  return value.is_int() ? absl::StrCat(value.as_int()) : "N/A";
}

Value DisruptionBudgetCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), IntOrString(o.At("spec").At("minAvailable")),
                           IntOrString(o.At("spec").At("maxUnavailable")),
                           o.At("status").GetInt("disruptionsAllowed"), Age(o, now)});
}

// Both event APIs: a name of the core form first, then that of events.k8s.io.
const Value& Either(const Value& o, absl::string_view core, absl::string_view events) {
  const Value* value = o.Find(core);
  return value != nullptr && !value->is_null() ? *value : o.At(events);
}

std::string AsText(const Value& value) {
  return value.is_string() ? value.as_string() : std::string();
}

Value EventCells(const Value& o, absl::Time now) {
  const std::string first_seen = AsText(Either(o, "firstTimestamp", "deprecatedFirstTimestamp"));
  const std::string first =
      AgeOf(first_seen.empty() ? o.GetString("eventTime") : absl::string_view(first_seen), now);
  const std::string last_seen = AsText(Either(o, "lastTimestamp", "deprecatedLastTimestamp"));
  std::string last = last_seen.empty() ? first : AgeOf(last_seen, now);
  const Value& counted = Either(o, "count", "deprecatedCount");
  int64_t count = counted.is_int() ? counted.as_int() : 0;
  const Value& series = o.At("series");
  if (series.is_object()) {
    last = AgeOf(series.GetString("lastObservedTime"), now);
    count = series.GetInt("count");
  } else if (count == 0) {
    count = 1;
  }
  const Value& about = Either(o, "involvedObject", "regarding");
  std::string target = absl::AsciiStrToLower(about.GetString("kind"));
  if (!about.GetString("name").empty()) absl::StrAppend(&target, "/", about.GetString("name"));
  const Value& source = Either(o, "source", "deprecatedSource");
  const std::string controller = AsText(Either(o, "reportingComponent", "reportingController"));
  std::string from = Or(source.GetString("component"), controller);
  const std::string host = Or(source.GetString("host"), o.GetString("reportingInstance"));
  if (!host.empty()) absl::StrAppend(&from, ", ", host);
  const std::string message = AsText(Either(o, "message", "note"));
  return Value::MakeArray(
      {last, o.GetString("type"), o.GetString("reason"), target, about.GetString("fieldPath"), from,
       std::string(absl::StripAsciiWhitespace(message)), first, count, NameOf(o)});
}

Value ConfigMapCells(const Value& o, absl::Time now) {
  return Value::MakeArray(
      {NameOf(o), o.At("data").size() + o.At("binaryData").size(), Age(o, now)});
}

Value SecretCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), o.GetString("type"), o.At("data").size(), Age(o, now)});
}

std::string LoadBalancer(const Value& service) {
  std::vector<std::string> addresses;
  const Value& ingress = service.At("status").At("loadBalancer").At("ingress");
  if (ingress.is_array()) {
    for (const Value& point : ingress.as_array()) {
      const std::string address = Or(point.GetString("ip"), point.GetString("hostname"));
      if (!address.empty()) addresses.push_back(address);
    }
  }
  std::sort(addresses.begin(), addresses.end());
  return absl::StrJoin(addresses, ",");
}

std::string ExternalAddress(const Value& service) {
  const Value& spec = service.At("spec");
  const absl::string_view type = spec.GetString("type");
  const std::string external = Join(spec.At("externalIPs"));
  if (type == "ClusterIP" || type == "NodePort") return Or(external, "<none>");
  if (type == "ExternalName") return std::string(spec.GetString("externalName"));
  if (type != "LoadBalancer") return "<unknown>";
  const std::string balanced = LoadBalancer(service);
  if (!balanced.empty() && !external.empty()) return absl::StrCat(balanced, ",", external);
  return Or(absl::StrCat(balanced, external), "<pending>");
}

Value ServiceCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  std::vector<std::string> ports;
  if (spec.At("ports").is_array()) {
    for (const Value& port : spec.At("ports").as_array()) {
      const int64_t node_port = port.GetInt("nodePort");
      ports.push_back(absl::StrCat(port.GetInt("port"),
                                   node_port > 0 ? absl::StrCat(":", node_port) : "", "/",
                                   port.GetString("protocol")));
    }
  }
  const Value& addresses = spec.At("clusterIPs");
  std::string address = "<none>";
  if (addresses.size() > 0) {
    address = addresses.as_array()[0].is_string() ? addresses.as_array()[0].as_string() : "";
  }
  return Value::MakeArray({NameOf(o), spec.GetString("type"), address, ExternalAddress(o),
                           Or(absl::StrJoin(ports, ","), "<none>"), Age(o, now),
                           Labels(spec.At("selector"))});
}

Value NameAndAgeCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), Age(o, now)});
}

}  // namespace

CellsFunction FindWorkloadCells(absl::string_view group, absl::string_view kind) {
  static constexpr struct {
    absl::string_view group;
    absl::string_view kind;
    CellsFunction cells;
  } kCells[] = {
      {"batch", "Job", &JobCells},
      {"batch", "CronJob", &CronJobCells},
      {"apps", "ReplicaSet", &ReplicaSetCells},
      {"apps", "Deployment", &DeploymentCells},
      {"apps", "StatefulSet", &StatefulSetCells},
      {"apps", "DaemonSet", &DaemonSetCells},
      {"apps", "ControllerRevision", &ControllerRevisionCells},
      {"policy", "PodDisruptionBudget", &DisruptionBudgetCells},
      {"", "ReplicationController", &ReplicationControllerCells},
      {"", "PodTemplate", &PodTemplateCells},
      {"", "Event", &EventCells},
      {"events.k8s.io", "Event", &EventCells},
      {"", "ConfigMap", &ConfigMapCells},
      {"", "Secret", &SecretCells},
      {"", "Service", &ServiceCells},
      {"", "ServiceAccount", &NameAndAgeCells},
      {"resource.k8s.io", "ResourceClaimTemplate", &NameAndAgeCells},
      {"resource.k8s.io", "DeviceClass", &NameAndAgeCells},
  };
  for (const auto& entry : kCells) {
    if (entry.group == group && entry.kind == kind) return entry.cells;
  }
  return nullptr;
}

}  // namespace hekla::apiserver::printing::internal

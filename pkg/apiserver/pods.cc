#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apiserver/resources.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Member;
using apis::json::Value;

const GroupResource kPods{"", "pods"};
const GroupResource kBinding{"", "pods/binding"};

// Sets a pod condition; its time changes with its status.
void SetPodCondition(Value& pod, absl::string_view type, absl::string_view reason,
                     absl::string_view message, const std::string& now) {
  Value wanted = Value::MakeObject({{"type", type},
                                    {"status", "True"},
                                    {"lastProbeTime", Value()},
                                    {"lastTransitionTime", now}});
  if (!reason.empty()) wanted.Set("reason", reason);
  if (!message.empty()) wanted.Set("message", message);
  Value& status = pod["status"];
  Value& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Value::MakeArray();
  for (Value& c : conditions.as_array()) {
    if (c.GetString("type") != type) continue;
    if (c.GetString("status") == "True") {
      wanted.Set("lastTransitionTime", c.At("lastTransitionTime"));
    }
    c = std::move(wanted);
    return;
  }
  conditions.Append(std::move(wanted));
}

void MergeStrings(Value& metadata, absl::string_view field, const Value& more) {
  if (!more.is_object() || more.size() == 0) return;
  Value& target = metadata[field];
  if (!target.is_object()) target = Value::MakeObject();
  for (const Member& m : more.as_object()) target.Set(m.key, m.value);
}

// Where a node stands, as labels that its pods get.
Value TopologyOf(Core& core, absl::string_view node) {
  Value out = Value::MakeObject();
  const ResourcePtr nodes = core.registry.Find("", "v1", "nodes");
  const storage::ObjectPtr found = core.store.Get(*nodes->table, node);
  if (found == nullptr) return out;
  for (const char* label : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
    if (const auto value = found->Label(label)) out.Set(label, *value);
  }
  return out;
}

absl::Status CheckBindable(const Value& pod, absl::string_view name) {
  if (pod.At("metadata").Has("deletionTimestamp")) {
    return Conflict(kBinding, name,
                    absl::StrCat("pod ", name, " is being deleted, cannot be assigned to a host"));
  }
  const absl::string_view node = pod.At("spec").GetString("nodeName");
  if (!node.empty()) {
    return Conflict(kBinding, name,
                    absl::StrCat("pod ", name, " is already assigned to node \"", node, "\""));
  }
  if (pod.At("spec").At("schedulingGates").size() > 0) {
    return Conflict(kBinding, name,
                    absl::StrCat("pod ", name, " has non-empty .spec.schedulingGates"));
  }
  return absl::OkStatus();
}

std::vector<std::string> ContainerNames(const Value& pod, absl::string_view field) {
  std::vector<std::string> out;
  const Value& list = pod.At("spec").At(field);
  if (!list.is_array()) return out;
  for (const Value& c : list.as_array()) out.emplace_back(c.GetString("name"));
  return out;
}

}  // namespace

absl::Status Resources::BindPod(Call& call, const Value& binding, bool dry_run) {
  const Value& metadata = binding.At("metadata");
  const std::string now = TimeText(core_.Now());
  const std::string node(binding.At("target").GetString("name"));
  const auto change = [&](const Value& pod) -> absl::StatusOr<Value> {
    const absl::string_view uid = metadata.GetString("uid");
    const absl::string_view have = pod.At("metadata").GetString("uid");
    if (!uid.empty() && uid != have) {
      return UidMismatch(*call.resource, call.ns, call.name, uid, have);
    }
    const absl::string_view version = metadata.GetString("resourceVersion");
    const absl::string_view present = pod.At("metadata").GetString("resourceVersion");
    if (!version.empty() && version != present) {
      return PreconditionFailed(*call.resource, call.ns, call.name,
                                absl::StrCat("ResourceVersion in precondition: ", version,
                                             ", ResourceVersion in object meta: ", present));
    }
    HEKLA_RETURN_IF_ERROR(CheckBindable(pod, call.name));
    Value bound = pod;
    MergeStrings(bound["metadata"], "annotations", metadata.At("annotations"));
    MergeStrings(bound["metadata"], "labels", metadata.At("labels"));
    MergeStrings(bound["metadata"], "labels", TopologyOf(core_, node));
    bound["spec"].Set("nodeName", node);
    bound["status"].Remove("nominatedNodeName");
    SetPodCondition(bound, "PodScheduled", "", "", now);
    return dry_run ? Value() : std::move(bound);
  };
  return writer_.Amend(*call.resource, KeyOf(*call.resource, call.ns, call.name), change).status();
}

absl::StatusOr<Answer> Resources::Bind(Call& call) {
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "CreateOptions"));
  HEKLA_ASSIGN_OR_RETURN(Value binding, DecodeKind("v1", "Binding", *call.request));
  const absl::string_view name = binding.At("metadata").GetString("name");
  if (call.name.empty() && name.empty()) return BadRequest("Name parameter required.");
  if (call.name.empty()) call.name = std::string(name);
  if (name != call.name) {
    return BadRequest("name in URL does not match name in Binding object");
  }
  const absl::string_view ns = binding.At("metadata").GetString("namespace");
  if (!ns.empty() && ns != call.ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  FieldErrors errors;
  const absl::string_view kind = binding.At("target").GetString("kind");
  if (!kind.empty() && kind != "Node") {
    errors.NotSupported("target.kind", binding.At("target").At("kind"), {"Node", "<empty>"});
  }
  if (binding.At("target").GetString("name").empty()) errors.Required("target.name");
  // Real servers lose the type of this error.
  if (!errors.empty()) return UntypedError(errors.Text());
  HEKLA_RETURN_IF_ERROR(BindPod(call, binding, query.params.dry_run));
  return ValueAnswer(201, SuccessStatus(Value(), 201), call);
}

// Takes one disruption from the budget that covers the pod; errors where none is left.
absl::Status Resources::SpendBudget(Call& call, const Value& pod, bool dry_run) {
  const ResourcePtr budgets = core_.registry.Find("policy", "v1", "poddisruptionbudgets");
  storage::ListQuery query;
  query.filter.ns = call.ns;
  HEKLA_ASSIGN_OR_RETURN(storage::ListResult list, core_.store.List(*budgets->table, query));
  std::vector<Value> matching;
  for (const storage::ObjectPtr& object : list.objects) {
    Value budget = object->Parse();
    const absl::StatusOr<LabelSelector> selector =
        LabelSelector::FromObject(budget.At("spec").At("selector"));
    if (selector.ok() && selector->Matches(pod.At("metadata").At("labels"))) {
      matching.push_back(std::move(budget));
    }
  }
  if (matching.empty()) return absl::OkStatus();
  if (matching.size() > 1) {
    return ApiError(FailureStatus(
        500, "InternalError",
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support."));
  }
  const Value& budget = matching[0];
  const std::string name(budget.At("metadata").GetString("name"));
  const Value& status = budget.At("status");
  if (!apis::meta::ConditionIsTrue(pod, "Ready")) {
    const bool always = budget.At("spec").GetString("unhealthyPodEvictionPolicy") == "AlwaysAllow";
    if (always || (status.GetInt("currentHealthy") >= status.GetInt("desiredHealthy") &&
                   status.GetInt("desiredHealthy") > 0)) {
      return absl::OkStatus();
    }
  }
  if (status.GetInt("observedGeneration") < budget.At("metadata").GetInt("generation")) {
    Value causes = Value::MakeArray({Value::MakeObject(
        {{"reason", "DisruptionBudget"},
         {"message", absl::StrCat("The disruption budget ", name,
                                  " is still being processed by the server.")}})});
    return TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10,
                           causes);
  }
  if (status.GetInt("disruptionsAllowed") <= 0) {
    Value causes = Value::MakeArray({Value::MakeObject(
        {{"reason", "DisruptionBudget"},
         {"message", absl::StrCat("The disruption budget ", name, " needs ",
                                  status.GetInt("desiredHealthy"), " healthy pods and has ",
                                  status.GetInt("currentHealthy"), " currently")}})});
    return TooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0,
                           causes);
  }
  if (dry_run) return absl::OkStatus();
  const std::string now = TimeText(core_.Now());
  return writer_
      .Amend(*budgets, KeyOf(*budgets, call.ns, name),
             [&](const Value& present) -> absl::StatusOr<Value> {
               Value changed = present;
               Value& s = changed["status"];
               const int64_t allowed = s.GetInt("disruptionsAllowed");
               if (allowed <= 0) return StaleWrite(budgets->group_resource(), name);
               s.Set("disruptionsAllowed", static_cast<long long>(allowed - 1));
               s.Ensure({"disruptedPods"}).Set(call.name, now);
               return changed;
             })
      .status();
}

absl::StatusOr<Answer> Resources::Evict(Call& call) {
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "CreateOptions"));
  HEKLA_ASSIGN_OR_RETURN(Value eviction, DecodeKind("policy/v1", "Eviction", *call.request));
  const absl::string_view name = eviction.At("metadata").GetString("name");
  if (name != call.name) {
    return BadRequest("name in URL does not match name in Eviction object");
  }
  const Resource& pods = *call.resource;
  const std::string key = KeyOf(pods, call.ns, call.name);
  const storage::ObjectPtr stored = core_.store.Get(*pods.table, key);
  if (stored == nullptr) return NotFound(kPods, call.name);
  const Value pod = stored->Parse();
  const Value& options = eviction.At("deleteOptions");
  DeleteParams params;
  params.dry_run = query.params.dry_run || options.At("dryRun").size() > 0;
  if (options.At("gracePeriodSeconds").is_int()) {
    params.grace_seconds = options.GetInt("gracePeriodSeconds");
  }
  params.propagation = std::string(options.GetString("propagationPolicy"));
  params.uid = std::string(options.At("preconditions").GetString("uid"));
  params.resource_version = std::string(options.At("preconditions").GetString("resourceVersion"));
  const absl::string_view phase = pod.At("status").GetString("phase");
  const bool free = phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
                    pod.At("metadata").Has("deletionTimestamp");
  if (!free) HEKLA_RETURN_IF_ERROR(SpendBudget(call, pod, params.dry_run));
  if (!params.dry_run && !pod.At("metadata").Has("deletionTimestamp")) {
    const std::string now = TimeText(core_.Now());
    HEKLA_RETURN_IF_ERROR(writer_
                              .Amend(pods, key,
                                     [&](const Value& present) -> absl::StatusOr<Value> {
                                       Value changed = present;
                                       SetPodCondition(changed, "DisruptionTarget",
                                                       "EvictionByEvictionAPI",
                                                       "Eviction API: evicting", now);
                                       return changed;
                                     })
                              .status());
    params.resource_version.clear();
  }
  HEKLA_RETURN_IF_ERROR(deleter_.Delete(pods, call.ns, call.name, params).status());
  return ValueAnswer(201, SuccessStatus(Value(), 201), call);
}

absl::StatusOr<Answer> Resources::PodLog(Call& call) {
  const Resource& pods = *call.resource;
  const storage::ObjectPtr stored = core_.store.Get(*pods.table, KeyOf(pods, call.ns, call.name));
  if (stored == nullptr) return NotFound(kPods, call.name);
  const Value pod = stored->Parse();
  const std::vector<std::string> containers = ContainerNames(pod, "containers");
  std::vector<std::string> all = ContainerNames(pod, "initContainers");
  all.insert(all.begin(), containers.begin(), containers.end());
  std::string container(call.Query("container"));
  if (container.empty()) {
    if (containers.size() != 1) {
      return BadRequest(absl::StrCat("a container name must be specified for pod ", call.name,
                                     ", choose one of: [", absl::StrJoin(containers, " "), "]"));
    }
    container = containers[0];
  } else if (std::find(all.begin(), all.end(), container) == all.end()) {
    return BadRequest(absl::StrCat("container ", container, " is not valid for pod ", call.name));
  }
  Answer out;
  out.content_type = "text/plain";
  if (pod.At("spec").GetString("nodeName").empty()) {
    out.status = 204;
    return out;
  }
  if (pod.At("status").GetString("phase") == "Pending") {
    return BadRequest(absl::StrCat("container \"", container, "\" in pod \"", call.name,
                                   "\" is waiting to start: ContainerCreating"));
  }
  return ApiError(FailureStatus(
      501, "NotImplemented",
      absl::StrCat("pod ", call.name,
                   " runs on a hollow node: nothing is executed there, so there are no logs")));
}

}  // namespace hekla::apiserver

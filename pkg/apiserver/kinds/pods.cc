#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_spec.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

constexpr char kImmutable[] =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)";

// podIP and podIPs are one thing in two forms.
void SyncAddresses(Value& pod) {
  Value* status = pod.Find("status");
  if (status == nullptr || !status->is_object()) return;
  const absl::string_view ip = status->GetString("podIP");
  const Value& ips = status->At("podIPs");
  if (!ip.empty()) {
    const bool fits = ips.size() > 0 && ips.as_array()[0].GetString("ip") == ip;
    if (!fits) {
      status->Set("podIPs", Value::MakeArray({Value::MakeObject({{"ip", ip}})}));
    }
  } else if (ips.size() > 0) {
    status->Set("podIP", ips.as_array()[0].At("ip"));
  }
}

void SetDefaults(Value& pod) {
  Value& spec = pod["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  SetPodSpecDefaults(spec);
  SetPodOnlyDefaults(spec);
  // What the documentation says of values below zero.
  if (spec.GetInt("terminationGracePeriodSeconds") < 0) {
    spec.Set("terminationGracePeriodSeconds", 1);
  }
  SyncAddresses(pod);
}

void ValidateStatus(const Value& pod, const Value& old, FieldErrors& errors) {
  const Value& status = pod.At("status");
  if (const absl::string_view node = status.GetString("nominatedNodeName"); !node.empty()) {
    InvalidEach("status.nominatedNodeName", Value(node), validation::DnsSubdomainProblems(node),
                errors);
    if (!pod.At("spec").GetString("nodeName").empty() &&
        status.At("nominatedNodeName") != old.At("status").At("nominatedNodeName")) {
      errors.Forbidden("status.nominatedNodeName",
                       "may not be set on pods that are already bound to a node");
    }
  }
  if (status.At("qosClass") != old.At("status").At("qosClass")) {
    errors.Invalid("status.qosClass", status.At("qosClass"), "field is immutable");
  }
  if (status.GetInt("observedGeneration") < 0) {
    errors.Invalid("status.observedGeneration", status.At("observedGeneration"),
                   "must be a non-negative integer");
  }
}

void PrepareCreate(Value& pod, const WriteContext& context) {
  const Value& spec = pod.At("spec");
  Value status = Value::MakeObject({{"phase", "Pending"}});
  if (spec.At("schedulingGates").size() > 0) {
    status.Set("conditions",
               Value::MakeArray({Value::MakeObject(
                   {{"type", "PodScheduled"},
                    {"status", "False"},
                    {"lastProbeTime", Value()},
                    {"lastTransitionTime", TimeText(context.now)},
                    {"reason", "SchedulingGated"},
                    {"message", "Scheduling is blocked due to non-empty scheduling gates"}})}));
  }
  status.Set("qosClass", QosClassOf(spec));
  pod.Set("status", std::move(status));
}

void Validate(const Value& pod, FieldErrors& errors) {
  const Value& spec = pod.At("spec");
  ValidatePodSpec(spec, "spec", errors);
  if (spec.At("ephemeralContainers").size() > 0) {
    errors.Forbidden("spec.ephemeralContainers", "cannot be set on create");
  }
  if (spec.At("schedulingGates").size() > 0 && !spec.GetString("nodeName").empty()) {
    errors.Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
}

// Gives `wanted` the old value of a member that is compared elsewhere.
void Restore(Value& wanted, const Value& old, absl::string_view name) {
  if (const Value* value = old.Find(name)) {
    wanted.Set(name, *value);
  } else {
    wanted.Remove(name);
  }
}

void RestoreImages(Value& wanted, const Value& old) {
  for (const char* list : {"containers", "initContainers"}) {
    Value* items = wanted.Find(list);
    const Value& before = old.At(list);
    if (items == nullptr || !items->is_array() || !before.is_array()) continue;
    for (size_t i = 0; i < items->size() && i < before.size(); ++i) {
      Restore(items->as_array()[i], before.as_array()[i], "image");
    }
  }
}

bool SameToleration(const Value& a, const Value& b) {
  return a.At("key") == b.At("key") && a.GetString("operator") == b.GetString("operator") &&
         a.GetString("value") == b.GetString("value") &&
         a.GetString("effect") == b.GetString("effect");
}

void CheckTolerations(const Value& now, const Value& before, FieldErrors& errors) {
  if (!before.is_array()) return;
  for (const Value& old : before.as_array()) {
    const bool kept =
        now.is_array() && std::any_of(now.as_array().begin(), now.as_array().end(),
                                      [&](const Value& t) { return SameToleration(t, old); });
    if (!kept) {
      errors.Forbidden("spec.tolerations",
                       "existing toleration can not be modified except its tolerationSeconds");
      return;
    }
  }
}

void CheckGates(const Value& now, const Value& before, FieldErrors& errors) {
  if (!now.is_array()) return;
  for (size_t i = 0; i < now.size(); ++i) {
    const bool known =
        before.is_array() && std::find(before.as_array().begin(), before.as_array().end(),
                                       now.as_array()[i]) != before.as_array().end();
    if (!known) {
      errors.Forbidden(Child(Index("spec.schedulingGates", i), "name"),
                       absl::StrCat("only deletion is allowed, but found new scheduling gate '",
                                    now.as_array()[i].GetString("name"), "'"));
    }
  }
}

void CheckDeadline(const Value& now, const Value& before, FieldErrors& errors) {
  const Value& old = before.At("activeDeadlineSeconds");
  const Value& value = now.At("activeDeadlineSeconds");
  if (old.is_null() || value == old) return;
  if (value.is_null()) {
    errors.Invalid("spec.activeDeadlineSeconds", value,
                   "must not update from a positive integer to nil value");
  } else if (value.as_int() > old.as_int()) {
    errors.Invalid("spec.activeDeadlineSeconds", value,
                   "must be less than or equal to previous value");
  }
}

// Gated pods may be narrowed down: node selectors gain labels.
void CheckNarrowed(const Value& now, const Value& before, FieldErrors& errors) {
  if (!before.is_object()) return;
  for (const apis::json::Member& m : before.as_object()) {
    if (now.At(m.key) == m.value) continue;
    errors.Invalid("spec.nodeSelector", now,
                   "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    return;
  }
}

void ValidateUpdate(const Value& pod, const Value& old, FieldErrors& errors) {
  const Value& spec = pod.At("spec");
  const Value& before = old.At("spec");
  for (const char* list : {"containers", "initContainers"}) {
    if (spec.At(list).size() != before.At(list).size()) {
      errors.Forbidden(Child("spec", list), "pod updates may not add or remove containers");
      return;
    }
  }
  CheckDeadline(spec, before, errors);
  CheckTolerations(spec.At("tolerations"), before.At("tolerations"), errors);
  CheckGates(spec.At("schedulingGates"), before.At("schedulingGates"), errors);
  Value wanted = spec;
  RestoreImages(wanted, before);
  for (const char* name : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    Restore(wanted, before, name);
  }
  if (before.GetInt("terminationGracePeriodSeconds") < 0 &&
      spec.GetInt("terminationGracePeriodSeconds") == 1) {
    Restore(wanted, before, "terminationGracePeriodSeconds");
  }
  if (before.At("schedulingGates").size() > 0 && spec.GetString("nodeName").empty()) {
    CheckNarrowed(spec.At("nodeSelector"), before.At("nodeSelector"), errors);
    Restore(wanted, before, "nodeSelector");
    Restore(wanted, before, "affinity");
  }
  if (wanted != before) errors.Forbidden("spec", kImmutable);
}

void PrepareStatus(Value& pod, const Value& old, const WriteContext&) {
  SyncAddresses(pod);
  if (const Value* qos = old.At("status").Find("qosClass")) {
    Value& status = pod.Ensure({"status"});
    if (!status.Has("qosClass")) status.Set("qosClass", *qos);
  }
}

}  // namespace

Strategy PodStrategy() {
  return Strategy{.set_defaults = SetDefaults,
                  .prepare_create = PrepareCreate,
                  .validate = Validate,
                  .prepare_update = nullptr,
                  .validate_update = ValidateUpdate,
                  .prepare_status = PrepareStatus,
                  .validate_status = ValidateStatus};
}

}  // namespace hekla::apiserver::kinds

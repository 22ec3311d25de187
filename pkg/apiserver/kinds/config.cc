#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/validation/names.h"

// Services, events, leases, config maps, secrets, storage.
namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr size_t kMaxNoteBytes = 1024;  // of an event

void Default(Value& object, absl::string_view name, Value value) {
  if (!object.Has(name)) object.Set(name, std::move(value));
}

void ServiceDefaults(Value& service) {
  Value& spec = service["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "sessionAffinity", "None");
  Default(spec, "type", "ClusterIP");
  const absl::string_view type = spec.GetString("type");
  if (Value* ports = spec.Find("ports"); ports != nullptr && ports->is_array()) {
    for (Value& port : ports->as_array()) {
      Default(port, "protocol", "TCP");
      const Value& target = port.At("targetPort");
      if (target.is_null() || target == Value(0) || target == Value("")) {
        port.Set("targetPort", port.At("port"));
      }
    }
  }
  if (type == "NodePort" || type == "LoadBalancer") {
    Default(spec, "externalTrafficPolicy", "Cluster");
  }
  if (type == "LoadBalancer") Default(spec, "allocateLoadBalancerNodePorts", true);
  if (type != "ExternalName") Default(spec, "internalTrafficPolicy", "Cluster");
}

void ServicePrepare(Value& service, const WriteContext&) {
  service.Set("status", Value::MakeObject({{"loadBalancer", Value::MakeObject()}}));
}

void ServiceUpdate(Value& service, const Value& old) {
  Value& spec = service["spec"];
  const Value& before = old.At("spec");
  if (spec.GetString("type") == "ExternalName") return;
  for (const char* name : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (!spec.Has(name) && before.Has(name)) spec.Set(name, before.At(name));
  }
  if (!spec.At("ports").is_array() || !before.At("ports").is_array()) return;
  for (Value& port : spec["ports"].as_array()) {
    if (port.GetInt("nodePort") != 0 || spec.GetString("type") == "ClusterIP") continue;
    for (const Value& was : before.At("ports").as_array()) {
      if (was.At("port") == port.At("port") && was.Has("nodePort")) {
        port.Set("nodePort", was.At("nodePort"));
      }
    }
  }
}

void ServiceValidate(const Value& service, FieldErrors& errors) {
  const Value& spec = service.At("spec");
  const absl::string_view type = spec.GetString("type");
  const Value& ports = spec.At("ports");
  if (ports.size() == 0 && spec.GetString("clusterIP") != "None" && type != "ExternalName") {
    errors.Required("spec.ports");
  }
  const std::vector<std::string> types = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"};
  if (std::find(types.begin(), types.end(), type) == types.end()) {
    errors.NotSupported("spec.type", Value(type), types);
  }
  if (type == "ExternalName" && spec.GetString("externalName").empty()) {
    errors.Required("spec.externalName");
  }
  std::vector<std::string> names;
  for (size_t i = 0; ports.is_array() && i < ports.size(); ++i) {
    const Value& port = ports.as_array()[i];
    const std::string path = Index("spec.ports", i);
    const std::string name(port.GetString("name"));
    if (name.empty() && ports.size() > 1) {
      errors.Required(Child(path, "name"));
    } else if (!name.empty()) {
      for (const std::string& p : validation::DnsLabelProblems(name)) {
        errors.Invalid(Child(path, "name"), Value(name), p);
      }
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        errors.Duplicate(Child(path, "name"), Value(name));
      }
      names.push_back(name);
    }
    const int64_t number = port.GetInt("port");
    if (number < 1 || number > 65535) {
      errors.Invalid(Child(path, "port"), port.At("port"),
                     "must be between 1 and 65535, inclusive");
    }
    const Value& target = port.At("targetPort");
    if (target.is_int() && (target.as_int() < 1 || target.as_int() > 65535)) {
      errors.Invalid(Child(path, "targetPort"), target, "must be between 1 and 65535, inclusive");
    }
  }
}

void ServiceValidateUpdate(const Value& service, const Value& old, FieldErrors& errors) {
  const Value& before = old.At("spec").At("clusterIP");
  const Value& now = service.At("spec").At("clusterIP");
  if (before.is_string() && now.is_string() && before != now &&
      service.At("spec").GetString("type") != "ExternalName") {
    errors.Invalid("spec.clusterIPs[0]", service.At("spec").At("clusterIPs"),
                   "may not change once set");
  }
}

void EventValidate(const Value& event, FieldErrors& errors) {
  const absl::string_view ns = event.At("metadata").GetString("namespace");
  const Value& involved = event.At("involvedObject");
  const absl::string_view target = involved.GetString("namespace");
  const bool matches = target.empty() ? ns == "default" || ns.empty() : ns == target;
  const bool strict = event.At("eventTime").is_string();
  if (!matches && (!target.empty() || !strict)) {
    errors.Invalid("involvedObject.namespace", Value(target), "does not match event.namespace");
  }
  if (!strict) return;
  if (event.GetString("reportingComponent").empty()) errors.Required("reportingController");
  for (const std::string& p :
       validation::QualifiedNameProblems(event.GetString("reportingComponent"))) {
    errors.Invalid("reportingController", event.At("reportingComponent"), p);
  }
  if (event.GetString("reportingInstance").empty()) errors.Required("reportingInstance");
  if (event.GetString("action").empty()) errors.Required("action");
  if (event.GetString("reason").empty()) errors.Required("reason");
  if (event.GetString("message").size() > kMaxNoteBytes) {
    errors.Invalid("message", Value(""),
                   absl::StrCat("can have at most ", kMaxNoteBytes, " characters"));
  }
  const absl::string_view type = event.GetString("type");
  if (type != "Normal" && type != "Warning") {
    errors.Invalid("type", Value(""), absl::StrCat("has invalid value: ", type));
  }
}

void LeaseValidate(const Value& lease, FieldErrors& errors) {
  const Value& spec = lease.At("spec");
  if (spec.At("leaseDurationSeconds").is_int() && spec.GetInt("leaseDurationSeconds") <= 0) {
    errors.Invalid("spec.leaseDurationSeconds", spec.At("leaseDurationSeconds"),
                   "must be greater than 0");
  }
  if (spec.At("leaseTransitions").is_int() && spec.GetInt("leaseTransitions") < 0) {
    errors.Invalid("spec.leaseTransitions", spec.At("leaseTransitions"),
                   "must be greater than or equal to 0");
  }
}

void ValidateKeys(const Value& data, const std::string& path, FieldErrors& errors) {
  if (!data.is_object()) return;
  for (const Member& m : data.as_object()) {
    const bool good = !m.key.empty() && std::all_of(m.key.begin(), m.key.end(), [](char c) {
      return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
    });
    if (!good) {
      errors.Invalid(Key(path, m.key), Value(m.key),
                     "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
                     "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation "
                     "is '[-._a-zA-Z0-9]+')");
    }
  }
}

void ConfigMapValidate(const Value& object, FieldErrors& errors) {
  ValidateKeys(object.At("data"), "data", errors);
  ValidateKeys(object.At("binaryData"), "binaryData", errors);
}

void ImmutableData(const Value& object, const Value& old, FieldErrors& errors) {
  if (!old.GetBool("immutable")) return;
  if (!object.GetBool("immutable")) {
    errors.Forbidden("immutable", "field is immutable when `immutable` is set");
  }
  for (const char* name : {"data", "binaryData"}) {
    if (object.At(name) != old.At(name)) {
      errors.Forbidden(name, "field is immutable when `immutable` is set");
    }
  }
}

void SecretDefaults(Value& secret) {
  Default(secret, "type", "Opaque");
  const Value plain = secret.At("stringData");
  if (plain.is_object() && plain.size() > 0) {
    Value& data = secret["data"];
    if (!data.is_object()) data = Value::MakeObject();
    for (const Member& m : plain.as_object()) {
      if (m.value.is_string()) data.Set(m.key, absl::Base64Escape(m.value.as_string()));
    }
  }
  secret.Remove("stringData");
}

void SecretValidate(const Value& secret, FieldErrors& errors) {
  ValidateKeys(secret.At("data"), "data", errors);
}

void SecretUpdate(const Value& secret, const Value& old, FieldErrors& errors) {
  if (secret.At("type") != old.At("type")) {
    errors.Invalid("type", secret.At("type"), "field is immutable");
  }
  ImmutableData(secret, old, errors);
}

void ClaimDefaults(Value& claim) {
  Value& spec = claim["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "volumeMode", "Filesystem");
}

void ClaimPrepare(Value& claim, const WriteContext&) {
  claim.Set("status", Value::MakeObject({{"phase", "Pending"}}));
}

void ClaimValidate(const Value& claim, FieldErrors& errors) {
  const Value& spec = claim.At("spec");
  if (spec.At("accessModes").size() == 0) {
    errors.Required("spec.accessModes", "at least 1 access mode is required");
  }
  if (!spec.At("resources").At("requests").Has("storage")) {
    errors.Required("spec.resources[storage]");
  }
}

void PolicyRuleDefaults(Value* rules) {
  if (rules == nullptr || !rules->is_array()) return;
  for (Value& rule : rules->as_array()) {
    Value* ports = rule.Find("ports");
    if (ports == nullptr || !ports->is_array()) continue;
    for (Value& port : ports->as_array()) Default(port, "protocol", "TCP");
  }
}

void PolicyDefaults(Value& policy) {
  Value& spec = policy["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  PolicyRuleDefaults(spec.Find("ingress"));
  PolicyRuleDefaults(spec.Find("egress"));
  if (spec.At("policyTypes").size() > 0) return;
  Value types = Value::MakeArray({Value("Ingress")});
  if (spec.At("egress").size() > 0) types.Append("Egress");
  spec.Set("policyTypes", std::move(types));
}

void VolumeDefaults(Value& volume) {
  Value& spec = volume["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "persistentVolumeReclaimPolicy", "Retain");
  Default(spec, "volumeMode", "Filesystem");
  if (Value* path = spec.Find("hostPath"); path != nullptr && path->is_object()) {
    Default(*path, "type", "");
  }
}

void VolumePrepare(Value& volume, const WriteContext& context) {
  volume.Set("status", Value::MakeObject({{"phase", "Pending"},
                                          {"lastPhaseTransitionTime", TimeText(context.now)}}));
}

void VolumeValidate(const Value& volume, FieldErrors& errors) {
  const Value& spec = volume.At("spec");
  if (spec.At("accessModes").size() == 0) errors.Required("spec.accessModes");
  if (spec.At("capacity").size() == 0) errors.Required("spec.capacity");
}

void StorageClassDefaults(Value& object) {
  Default(object, "reclaimPolicy", "Delete");
  Default(object, "volumeBindingMode", "Immediate");
}

void StorageClassValidate(const Value& object, FieldErrors& errors) {
  if (object.GetString("provisioner").empty()) errors.Required("provisioner");
}

void CsiDriverDefaults(Value& driver) {
  Value& spec = driver["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "attachRequired", true);
  Default(spec, "podInfoOnMount", false);
  Default(spec, "volumeLifecycleModes", Value::MakeArray({Value("Persistent")}));
  Default(spec, "storageCapacity", false);
  Default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  Default(spec, "requiresRepublish", false);
  Default(spec, "seLinuxMount", false);
}

}  // namespace

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

Strategy ServiceStrategy() {
  Strategy s;
  s.set_defaults = ServiceDefaults;
  s.prepare_create = ServicePrepare;
  s.prepare_update = ServiceUpdate;
  s.validate = ServiceValidate;
  s.validate_update = ServiceValidateUpdate;
  return s;
}

Strategy EventStrategy() {
  Strategy s;
  s.validate = EventValidate;
  return s;
}

Strategy LeaseStrategy() {
  Strategy s;
  s.validate = LeaseValidate;
  return s;
}

Strategy ConfigMapStrategy() {
  Strategy s;
  s.validate = ConfigMapValidate;
  s.validate_update = ImmutableData;
  return s;
}

Strategy SecretStrategy() {
  Strategy s;
  s.set_defaults = SecretDefaults;
  s.validate = SecretValidate;
  s.validate_update = SecretUpdate;
  return s;
}

Strategy ClaimStrategy() {
  Strategy s;
  s.set_defaults = ClaimDefaults;
  s.prepare_create = ClaimPrepare;
  s.validate = ClaimValidate;
  return s;
}

Strategy NetworkPolicyStrategy() {
  Strategy s;
  s.set_defaults = PolicyDefaults;
  return s;
}

Strategy VolumeStrategy() {
  Strategy s;
  s.set_defaults = VolumeDefaults;
  s.prepare_create = VolumePrepare;
  s.validate = VolumeValidate;
  return s;
}

Strategy StorageClassStrategy() {
  Strategy s;
  s.set_defaults = StorageClassDefaults;
  s.validate = StorageClassValidate;
  return s;
}

Strategy CsiDriverStrategy() {
  Strategy s;
  s.set_defaults = CsiDriverDefaults;
  return s;
}

}  // namespace hekla::apiserver::kinds

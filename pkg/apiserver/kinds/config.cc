#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/default.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/validation/metadata.h"
#include "pkg/apiserver/validation/names.h"

// Services, events, leases, config maps, secrets.
namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr size_t kMaxDataBytes = 1 << 20;  // of a config map
constexpr size_t kMaxEventText = 128;
constexpr size_t kMaxNoteBytes = 1024;  // of an event

void ServiceDefaults(Value& service) {
  Value& spec = service["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "sessionAffinity", "None");
  Default(spec, "type", "ClusterIP");
  const std::string type(spec.GetString("type"));  // the defaults below move what it is kept in
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
  if (spec.GetString("sessionAffinity") == "ClientIP") {
    constexpr int kThreeHours = 10800;
    Value& timeout = spec.Ensure({"sessionAffinityConfig", "clientIP"});
    if (timeout.is_null()) timeout = Value::MakeObject();
    Default(timeout, "timeoutSeconds", kThreeHours);
  }
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
  if (type == "ExternalName") {
    const absl::string_view external = spec.GetString("externalName");
    if (external.empty()) errors.Required("spec.externalName");
    if (!external.empty()) {
      InvalidEach("spec.externalName", Value(external), validation::DnsSubdomainProblems(external),
                  errors);
    }
  }
  const absl::string_view address = spec.GetString("clusterIP");
  if (address == "None" && (type == "LoadBalancer" || type == "NodePort")) {
    errors.Invalid("spec.clusterIPs[0]", Value("None"),
                   absl::StrCat("may not be set to 'None' for ", type, " services"));
  }
  if (!address.empty() && address != "None") {
    CheckIpAddress(Value(address), "spec.clusterIPs[0]", errors);
  }
  CheckSupported(spec, "sessionAffinity", "spec", {"ClientIP", "None"}, errors);
  validation::ValidateLabels(spec.At("selector"), "spec.selector", errors);
  const Value& external = spec.At("externalIPs");
  for (size_t i = 0; external.is_array() && i < external.size(); ++i) {
    CheckIpAddress(external.as_array()[i], Index("spec.externalIPs", i), errors);
  }
  CheckSupportedIfGiven(spec, "internalTrafficPolicy", "spec", {"Cluster", "Local"}, errors);
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
      errors.Invalid(Child(path, "port"), port.At("port"), kPortRange);
    }
    CheckSupported(port, "protocol", path, {"SCTP", "TCP", "UDP"}, errors);
    CheckPort(port.At("targetPort"), Child(path, "targetPort"), errors);
    if (type == "ClusterIP" && port.GetInt("nodePort") != 0) {
      errors.Forbidden(Child(path, "nodePort"), "may not be used when `type` is 'ClusterIP'");
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

// What events of the new form must have; `controller` is how its field is called there.
void CheckStrictEvent(const Value& event, absl::string_view controller, FieldErrors& errors) {
  const absl::string_view component = event.GetString("reportingComponent");
  if (component.empty()) errors.Required(controller);
  for (const std::string& p : validation::QualifiedNameProblems(component)) {
    errors.Invalid(controller, Value(component), p);
  }
  const auto text = [&](const char* name, bool limited) {
    if (event.GetString(name).empty()) errors.Required(name);
    if (limited && event.GetString(name).size() > kMaxEventText) {
      errors.Invalid(name, Value(""),
                     absl::StrCat("can have at most ", kMaxEventText, " characters"));
    }
  };
  text("reportingInstance", true);
  text("action", true);
  text("reason", true);
  if (event.GetString("message").size() > kMaxNoteBytes) {
    errors.Invalid("message", Value(""),
                   absl::StrCat("can have at most ", kMaxNoteBytes, " characters"));
  }
  const absl::string_view type = event.GetString("type");
  if (type != "Normal" && type != "Warning") {
    errors.Invalid("type", Value(""), absl::StrCat("has invalid value: ", type));
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
  if (strict) CheckStrictEvent(event, "reportingComponent", errors);
}

void NewEventValidate(const Value& event, FieldErrors& errors) {
  const absl::string_view ns = event.At("metadata").GetString("namespace");
  const absl::string_view target = event.At("involvedObject").GetString("namespace");
  const bool old_form = event.Has("firstTimestamp") && !event.At("eventTime").is_string();
  if (old_form) return;
  if (target.empty() && ns != "default" && !ns.empty()) {
    errors.Invalid("involvedObject.namespace", Value(""), "does not match event.namespace");
  }
  if (!event.At("eventTime").is_string()) errors.Required("eventTime");
  if (const Value* series = event.Find("series"); series != nullptr && series->is_object()) {
    if (series->GetInt("count") < 2) {
      errors.Invalid("series.count", Value(""), "should be at least 2");
    }
    if (!series->At("lastObservedTime").is_string()) errors.Required("series.lastObservedTime");
  }
  CheckStrictEvent(event, "reportingController", errors);
  for (const char* name : {"firstTimestamp", "lastTimestamp"}) {
    if (event.At(name).is_string()) errors.Invalid(name, Value(""), "needs to be unset");
  }
  if (event.GetInt("count") != 0) errors.Invalid("count", Value(""), "needs to be unset");
  const Value& source = event.At("source");
  if (!source.GetString("component").empty() || !source.GetString("host").empty()) {
    errors.Invalid("source", Value(""), "needs to be unset");
  }
}

// Of an event of the new form only the series changes.
void NewEventUpdate(const Value& event, const Value& old, FieldErrors& errors) {
  if (!old.At("eventTime").is_string()) return;
  for (const char* name : {"involvedObject", "reason", "message", "type", "eventTime", "action",
                           "related", "reportingComponent", "reportingInstance"}) {
    if (event.At(name) != old.At(name)) {
      errors.Invalid(name, event.At(name), "field is immutable");
    }
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
    InvalidEach(Key(path, m.key), Value(m.key), ConfigKeyProblems(m.key), errors);
  }
}

size_t BytesOf(const Value& texts) {
  size_t bytes = 0;
  if (!texts.is_object()) return bytes;
  for (const Member& m : texts.as_object()) {
    if (m.value.is_string()) bytes += m.value.as_string().size();
  }
  return bytes;
}

void ConfigMapValidate(const Value& object, FieldErrors& errors) {
  const Value& binary = object.At("binaryData");
  if (const Value& data = object.At("data"); data.is_object()) {
    for (const Member& m : data.as_object()) {
      if (binary.Has(m.key)) {
        errors.Invalid(Key("data", m.key), Value(m.key), "duplicate of key present in binaryData");
      }
    }
  }
  ValidateKeys(object.At("data"), "data", errors);
  ValidateKeys(binary, "binaryData", errors);
  if (BytesOf(object.At("data")) + BytesOf(binary) / 4 * 3 > kMaxDataBytes) {
    errors.TooLong("", static_cast<int>(kMaxDataBytes));
  }
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
  const Value& data = secret.At("data");
  ValidateKeys(data, "data", errors);
  const absl::string_view type = secret.GetString("type");
  const auto needs = [&](absl::string_view key) {
    if (!data.Has(key)) errors.Required(Key("data", key));
  };
  const auto needs_json = [&](absl::string_view key) {
    needs(key);
    std::string text;
    if (!data.Has(key) || !absl::Base64Unescape(data.GetString(key), &text)) return;
    if (!apis::json::Parse(text).ok()) {
      errors.Invalid(Key("data", key), Value("<secret contents redacted>"),
                     patch::GoSyntaxError(text));
    }
  };
  if (type == "kubernetes.io/service-account-token") {
    const Value& annotations = secret.At("metadata").At("annotations");
    constexpr char kAccount[] = "kubernetes.io/service-account.name";
    if (annotations.GetString(kAccount).empty()) {
      errors.Required(Key("metadata.annotations", kAccount));
    }
  } else if (type == "kubernetes.io/dockercfg") {
    needs_json(".dockercfg");
  } else if (type == "kubernetes.io/dockerconfigjson") {
    needs_json(".dockerconfigjson");
  } else if (type == "kubernetes.io/basic-auth") {
    if (!data.Has("username") && !data.Has("password")) {
      needs("username");
      needs("password");
    }
  } else if (type == "kubernetes.io/ssh-auth") {
    needs("ssh-privatekey");
  } else if (type == "kubernetes.io/tls") {
    needs("tls.crt");
    needs("tls.key");
  }
}

void SecretUpdate(const Value& secret, const Value& old, FieldErrors& errors) {
  if (secret.At("type") != old.At("type")) {
    errors.Invalid("type", secret.At("type"), "field is immutable");
  }
  ImmutableData(secret, old, errors);
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

Strategy NewEventStrategy() {
  Strategy s;
  s.validate = NewEventValidate;
  s.validate_update = NewEventUpdate;
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

Strategy NetworkPolicyStrategy() {
  Strategy s;
  s.set_defaults = PolicyDefaults;
  return s;
}

}  // namespace hekla::apiserver::kinds

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_parts.h"
#include "pkg/apiserver/kinds/pod_spec.h"
#include "pkg/apiserver/validation/metadata.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;

const std::vector<std::string> kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

void ValidateNodeTerm(const Value& term, const std::string& path, FieldErrors& errors) {
  for (const char* list : {"matchExpressions", "matchFields"}) {
    const Value& items = term.At(list);
    if (!items.is_array()) continue;
    for (size_t i = 0; i < items.size(); ++i) {
      const Value& r = items.as_array()[i];
      const std::string here = Index(Child(path, list), i);
      const absl::string_view op = r.GetString("operator");
      const size_t values = r.At("values").size();
      if (op == "In" || op == "NotIn") {
        if (values == 0) {
          errors.Required(Child(here, "values"),
                          "must be specified when `operator` is 'In' or 'NotIn'");
        }
      } else if (op == "Exists" || op == "DoesNotExist") {
        if (values > 0) {
          errors.Forbidden(Child(here, "values"),
                           "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
      } else if (op == "Gt" || op == "Lt") {
        if (values != 1) {
          errors.Required(Child(here, "values"),
                          "must be specified single value when `operator` "
                          "is 'Lt' or 'Gt'");
        }
      } else {
        errors.Invalid(Child(here, "operator"), Value(op), "not a valid selector operator");
      }
      if (list == absl::string_view("matchExpressions")) {
        InvalidEach(Child(here, "key"), r.At("key"),
                    validation::QualifiedNameProblems(r.GetString("key")), errors);
      }
    }
  }
}

void ValidateNodeAffinity(const Value& affinity, const std::string& path, FieldErrors& errors) {
  if (const Value* required = affinity.Find("requiredDuringSchedulingIgnoredDuringExecution")) {
    const std::string here =
        Child(path, "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    const Value& terms = required->At("nodeSelectorTerms");
    if (terms.size() == 0) {
      errors.Required(here, "must have at least one node selector term");
    } else {
      for (size_t i = 0; i < terms.size(); ++i) {
        ValidateNodeTerm(terms.as_array()[i], Index(here, i), errors);
      }
    }
  }
  const Value& preferred = affinity.At("preferredDuringSchedulingIgnoredDuringExecution");
  if (!preferred.is_array()) return;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string here =
        Index(Child(path, "preferredDuringSchedulingIgnoredDuringExecution"), i);
    const Value& item = preferred.as_array()[i];
    const int64_t weight = item.GetInt("weight");
    if (weight < 1 || weight > 100) {
      errors.Invalid(Child(here, "weight"), item.At("weight"), "must be in the range 1-100");
    }
    ValidateNodeTerm(item.At("preference"), Child(here, "preference"), errors);
  }
}

void ValidatePodTerm(const Value& term, const std::string& path, FieldErrors& errors) {
  if (term.Has("labelSelector")) {
    ValidateSelector(term.At("labelSelector"), Child(path, "labelSelector"), errors);
  }
  if (term.Has("namespaceSelector")) {
    ValidateSelector(term.At("namespaceSelector"), Child(path, "namespaceSelector"), errors);
  }
  const Value& namespaces = term.At("namespaces");
  for (size_t i = 0; namespaces.is_array() && i < namespaces.size(); ++i) {
    const Value& name = namespaces.as_array()[i];
    InvalidEach(Child(path, "namespace"), name, validation::DnsLabelProblems(name.as_string()),
                errors);
  }
  const absl::string_view key = term.GetString("topologyKey");
  if (key.empty()) {
    errors.Required(Child(path, "topologyKey"), "can not be empty");
  } else {
    InvalidEach(Child(path, "topologyKey"), Value(key), validation::QualifiedNameProblems(key),
                errors);
  }
}

void ValidatePodTerms(const Value& affinity, const std::string& path, FieldErrors& errors) {
  const Value& required = affinity.At("requiredDuringSchedulingIgnoredDuringExecution");
  for (size_t i = 0; required.is_array() && i < required.size(); ++i) {
    ValidatePodTerm(required.as_array()[i],
                    Index(Child(path, "requiredDuringSchedulingIgnoredDuringExecution"), i),
                    errors);
  }
  const Value& preferred = affinity.At("preferredDuringSchedulingIgnoredDuringExecution");
  for (size_t i = 0; preferred.is_array() && i < preferred.size(); ++i) {
    const std::string here =
        Index(Child(path, "preferredDuringSchedulingIgnoredDuringExecution"), i);
    const Value& item = preferred.as_array()[i];
    const int64_t weight = item.GetInt("weight");
    if (weight < 1 || weight > 100) {
      errors.Invalid(Child(here, "weight"), item.At("weight"), "must be in the range 1-100");
    }
    ValidatePodTerm(item.At("podAffinityTerm"), Child(here, "podAffinityTerm"), errors);
  }
}

void ValidateSpread(const Value& list, const std::string& path, FieldErrors& errors) {
  if (!list.is_array()) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    const Value& c = list.as_array()[i];
    const std::string here = Index(path, i);
    if (c.GetInt("maxSkew") <= 0) {
      errors.Invalid(Child(here, "maxSkew"), c.At("maxSkew"), "must be greater than zero");
    }
    if (c.GetString("topologyKey").empty()) {
      errors.Required(Child(here, "topologyKey"), "can not be empty");
    }
    const std::vector<std::string> modes = {"DoNotSchedule", "ScheduleAnyway"};
    if (!OneOf(c.GetString("whenUnsatisfiable"), modes)) {
      errors.NotSupported(Child(here, "whenUnsatisfiable"), c.At("whenUnsatisfiable"), modes);
    }
    if (const Value* domains = c.Find("minDomains")) {
      if (domains->is_int() && domains->as_int() <= 0) {
        errors.Invalid(Child(here, "minDomains"), *domains, "must be greater than zero");
      } else if (c.GetString("whenUnsatisfiable") != "DoNotSchedule") {
        errors.Invalid(Child(here, "minDomains"), *domains,
                       absl::StrCat("can only use minDomains if whenUnsatisfiable=DoNotSchedule, "
                                    "not ",
                                    c.GetString("whenUnsatisfiable")));
      }
    }
    for (const char* policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      CheckSupportedIfGiven(c, policy, here, {"Honor", "Ignore"}, errors);
    }
    const std::string pair =
        absl::StrCat("{", c.GetString("topologyKey"), ", ", c.GetString("whenUnsatisfiable"), "}");
    if (!seen.insert(pair).second) {
      errors.Duplicate(Child(here, "{topologyKey, whenUnsatisfiable}"), Value(pair));
    }
    if (c.Has("labelSelector")) {
      ValidateSelector(c.At("labelSelector"), Child(here, "labelSelector"), errors);
    }
  }
}

void ValidateGates(const Value& gates, const std::string& path, FieldErrors& errors) {
  if (!gates.is_array()) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < gates.size(); ++i) {
    const absl::string_view name = gates.as_array()[i].GetString("name");
    InvalidEach(Index(path, i), Value(name), validation::QualifiedNameProblems(name), errors);
    if (!seen.insert(std::string(name)).second) {
      errors.Duplicate(Index(path, i), Value(name));
    }
  }
}

}  // namespace

void ValidateSelector(const Value& selector, const std::string& path, FieldErrors& errors) {
  validation::ValidateLabels(selector.At("matchLabels"), Child(path, "matchLabels"), errors);
  const Value& list = selector.At("matchExpressions");
  for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const Value& r = list.as_array()[i];
    const std::string here = Index(Child(path, "matchExpressions"), i);
    const absl::string_view op = r.GetString("operator");
    const size_t values = r.At("values").size();
    if (op == "In" || op == "NotIn") {
      if (values == 0) {
        errors.Required(Child(here, "values"),
                        "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (values > 0) {
        errors.Forbidden(Child(here, "values"),
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      errors.Invalid(Child(here, "operator"), Value(op), "not a valid selector operator");
    }
    InvalidEach(Child(here, "key"), r.At("key"),
                validation::QualifiedNameProblems(r.GetString("key")), errors);
  }
}

void ValidateTolerations(const Value& tolerations, const std::string& path, FieldErrors& errors) {
  if (!tolerations.is_array()) return;
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const Value& t = tolerations.as_array()[i];
    const std::string here = Index(path, i);
    const absl::string_view key = t.GetString("key");
    const absl::string_view op = t.GetString("operator");
    const absl::string_view effect = t.GetString("effect");
    if (!key.empty()) {
      InvalidEach(Child(here, "key"), Value(key), validation::QualifiedNameProblems(key), errors);
    }
    if (key.empty() && op != "Exists") {
      errors.Invalid(Child(here, "operator"), Value(op),
                     "operator must be Exists when `key` is empty, which means \"match all values "
                     "and all keys\"");
    }
    if (t.Has("tolerationSeconds") && effect != "NoExecute") {
      errors.Invalid(Child(here, "effect"), Value(effect),
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (op.empty() || op == "Equal") {
      InvalidEach(Child(here, "operator"), t.At("value"),
                  validation::LabelValueProblems(t.GetString("value")), errors);
    } else if (op == "Exists") {
      if (!t.GetString("value").empty()) {
        errors.Invalid(Child(here, "operator"), t.At("value"),
                       "value must be empty when `operator` is 'Exists'");
      }
    } else {
      errors.NotSupported(Child(here, "operator"), Value(op), {"Equal", "Exists", "Lt", "Gt"});
    }
    if (!effect.empty() && !OneOf(effect, kEffects)) {
      errors.NotSupported(Child(here, "effect"), Value(effect), kEffects);
    }
  }
}

void ValidateTaints(const Value& taints, const std::string& path, FieldErrors& errors) {
  if (!taints.is_array()) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < taints.size(); ++i) {
    const Value& taint = taints.as_array()[i];
    const std::string here = Index(path, i);
    InvalidEach(Child(here, "key"), taint.At("key"),
                validation::QualifiedNameProblems(taint.GetString("key")), errors);
    InvalidEach(Child(here, "value"), taint.At("value"),
                validation::LabelValueProblems(taint.GetString("value")), errors);
    CheckSupported(taint, "effect", here, kEffects, errors);
    if (!seen.insert(absl::StrCat(taint.GetString("key"), "=", taint.GetString("effect"))).second) {
      errors.Duplicate(here, taint);
    }
  }
}

void ValidateAffinity(const Value& affinity, const std::string& path, FieldErrors& errors) {
  if (affinity.Has("nodeAffinity")) {
    ValidateNodeAffinity(affinity.At("nodeAffinity"), Child(path, "nodeAffinity"), errors);
  }
  for (const char* name : {"podAffinity", "podAntiAffinity"}) {
    if (affinity.Has(name)) ValidatePodTerms(affinity.At(name), Child(path, name), errors);
  }
}

// With the node's network a port of a container is that port of the node.
void ValidateHostPorts(const Value& spec, const std::string& path, FieldErrors& errors) {
  const Value& containers = spec.At("containers");
  if (!spec.GetBool("hostNetwork") || !containers.is_array()) return;
  for (size_t i = 0; i < containers.size(); ++i) {
    const Value& ports = containers.as_array()[i].At("ports");
    for (size_t j = 0; ports.is_array() && j < ports.size(); ++j) {
      const Value& port = ports.as_array()[j];
      if (port.GetInt("hostPort") == port.GetInt("containerPort")) continue;
      errors.Invalid(
          Child(Index(Child(Index(Child(path, "containers"), i), "ports"), j), "hostPort"),
          port.At("hostPort"), "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void CheckDns(const Value& spec, const std::string& path, FieldErrors& errors) {
  const Value& config = spec.At("dnsConfig");
  const bool none = spec.GetString("dnsPolicy") == "None";
  if (none && !config.is_object()) {
    errors.Required(Child(path, "dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None");
  }
  const Value& servers = config.At("nameservers");
  for (size_t i = 0; servers.is_array() && i < servers.size(); ++i) {
    CheckIpAddress(servers.as_array()[i], Index(Child(path, "dnsConfig.nameservers"), i), errors);
  }
}

void ValidatePodSpec(const Value& spec, const std::string& path, FieldErrors& errors) {
  ValidateContainers(spec, path, errors);
  ValidateHostPorts(spec, path, errors);
  CheckSupported(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, errors);
  CheckSupported(spec, "dnsPolicy", path,
                 {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, errors);
  validation::ValidateLabels(spec.At("nodeSelector"), Child(path, "nodeSelector"), errors);
  ValidatePodSecurity(spec, path, errors);
  if (spec.Has("affinity")) {
    ValidateAffinity(spec.At("affinity"), Child(path, "affinity"), errors);
  }
  CheckDns(spec, path, errors);
  ValidateSpread(spec.At("topologySpreadConstraints"), Child(path, "topologySpreadConstraints"),
                 errors);
  const Value& readiness = spec.At("readinessGates");
  for (size_t i = 0; readiness.is_array() && i < readiness.size(); ++i) {
    const Value& type = readiness.as_array()[i].At("conditionType");
    InvalidEach(Child(Index(Child(path, "readinessGates"), i), "conditionType"), type,
                validation::QualifiedNameProblems(type.is_string() ? type.as_string() : ""),
                errors);
  }
  ValidateGates(spec.At("schedulingGates"), Child(path, "schedulingGates"), errors);
  for (const char* name : {"serviceAccountName", "nodeName", "priorityClassName"}) {
    const absl::string_view value = spec.GetString(name);
    if (value.empty()) continue;
    InvalidEach(Child(path, name), Value(value), validation::DnsSubdomainProblems(value), errors);
  }
  for (const char* name : {"hostname", "subdomain"}) {
    const absl::string_view value = spec.GetString(name);
    if (value.empty()) continue;
    InvalidEach(Child(path, name), Value(value), validation::DnsLabelProblems(value), errors);
  }
  if (spec.At("activeDeadlineSeconds").is_int()) {
    const int64_t seconds = spec.GetInt("activeDeadlineSeconds");
    if (seconds < 1 || seconds > INT32_MAX) {
      errors.Invalid(Child(path, "activeDeadlineSeconds"), spec.At("activeDeadlineSeconds"),
                     "must be between 1 and 2147483647, inclusive");
    }
  }
  ValidateTolerations(spec.At("tolerations"), Child(path, "tolerations"), errors);
  const Value& aliases = spec.At("hostAliases");
  for (size_t i = 0; aliases.is_array() && i < aliases.size(); ++i) {
    const std::string here = Index(Child(path, "hostAliases"), i);
    CheckIpAddress(aliases.as_array()[i].At("ip"), Child(here, "ip"), errors);
    const Value& names = aliases.as_array()[i].At("hostnames");
    for (size_t j = 0; names.is_array() && j < names.size(); ++j) {
      const Value& name = names.as_array()[j];
      InvalidEach(Index(Child(here, "hostnames"), j), name,
                  validation::DnsSubdomainProblems(name.as_string()), errors);
    }
  }
  if (const Value* policy = spec.Find("preemptionPolicy")) {
    const std::vector<std::string> allowed = {"PreemptLowerPriority", "Never"};
    if (policy->is_string() && !OneOf(policy->as_string(), allowed)) {
      errors.NotSupported(Child(path, "preemptionPolicy"), *policy, allowed);
    }
  }
}

}  // namespace hekla::apiserver::kinds

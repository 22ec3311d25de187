#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_parts.h"
#include "pkg/apiserver/kinds/pod_spec.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;
using apis::meta::Quantity;

bool IsHugePages(absl::string_view name) { return absl::StartsWith(name, "hugepages-"); }

// Resources of Kubernetes itself: without a domain, or below kubernetes.io/.
bool IsNative(absl::string_view name) {
  return !absl::StrContains(name, "/") || absl::StrContains(name, "kubernetes.io/");
}

bool IsStandard(absl::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
}

void ValidateResourceName(absl::string_view name, const std::string& path, FieldErrors& errors) {
  InvalidEach(path, Value(name), validation::QualifiedNameProblems(name), errors);
  if (!absl::StrContains(name, "/") && !IsStandard(name)) {
    if (name != "storage" && name != "pods") {
      errors.Invalid(path, Value(name), "must be a standard resource type or fully qualified");
    }
    errors.Invalid(path, Value(name), "must be a standard resource for containers");
  }
}

void ValidateQuantity(absl::string_view name, const Value& value, const std::string& path,
                      FieldErrors& errors) {
  if (!value.is_string()) return;
  const auto quantity = Quantity::Parse(value.as_string());
  if (!quantity.ok()) return;
  if (quantity->nano() < 0) {
    errors.Invalid(path, value, "must be greater than or equal to 0");
  }
  if (!IsNative(name) && quantity->MilliValue() % 1000 != 0) {
    errors.Invalid(path, value, "must be an integer");
  }
}

}  // namespace

void ValidateResources(const Value& resources, const std::string& path, FieldErrors& errors) {
  const Value& limits = resources.At("limits");
  const Value& requests = resources.At("requests");
  const std::string limits_path = Child(path, "limits");
  const std::string requests_path = Child(path, "requests");
  if (limits.is_object()) {
    for (const Member& m : limits.as_object()) {
      const std::string here = Key(limits_path, m.key);
      ValidateResourceName(m.key, here, errors);
      ValidateQuantity(m.key, m.value, here, errors);
    }
  }
  if (!requests.is_object()) return;
  for (const Member& m : requests.as_object()) {
    const std::string here = Key(requests_path, m.key);
    ValidateResourceName(m.key, here, errors);
    ValidateQuantity(m.key, m.value, here, errors);
    const bool fixed = !IsNative(m.key) || IsHugePages(m.key);
    const Value* limit = limits.Find(m.key);
    if (limit == nullptr) {
      if (fixed) {
        errors.Required(limits_path, "Limit must be set for non overcommitable resources");
      }
      continue;
    }
    if (!m.value.is_string() || !limit->is_string()) continue;
    const auto wanted = Quantity::Parse(m.value.as_string());
    const auto most = Quantity::Parse(limit->as_string());
    if (!wanted.ok() || !most.ok()) continue;
    if (fixed && *wanted != *most) {
      errors.Invalid(requests_path, m.value,
                     absl::StrCat("must be equal to ", m.key, " limit of ", limit->as_string()));
    } else if (!fixed && *most < *wanted) {
      errors.Invalid(
          requests_path, m.value,
          absl::StrCat("must be less than or equal to ", m.key, " limit of ", limit->as_string()));
    }
  }
}

namespace {

void ValidatePorts(const Value& ports, const std::string& path, FieldErrors& errors) {
  if (!ports.is_array()) return;
  std::set<std::string> names;
  const std::vector<std::string> protocols = {"SCTP", "TCP", "UDP"};
  for (size_t i = 0; i < ports.size(); ++i) {
    const Value& port = ports.as_array()[i];
    const std::string here = Index(path, i);
    const std::string name(port.GetString("name"));
    if (!name.empty()) {
      const std::vector<std::string> problems = PortNameProblems(name);
      InvalidEach(Child(here, "name"), Value(name), problems, errors);
      if (problems.empty() && !names.insert(name).second) {
        errors.Duplicate(Child(here, "name"), Value(name));
      }
    }
    for (const char* field : {"containerPort", "hostPort"}) {
      const int64_t number = port.GetInt(field);
      const bool required = field == absl::string_view("containerPort");
      if (number == 0 && required) {
        errors.Required(Child(here, field));
      } else if (number < 0 || number > 65535) {
        errors.Invalid(Child(here, field), port.At(field), kPortRange);
      }
    }
    const absl::string_view protocol = port.GetString("protocol");
    if (protocol.empty()) {
      errors.Required(Child(here, "protocol"));
    } else if (std::find(protocols.begin(), protocols.end(), protocol) == protocols.end()) {
      errors.NotSupported(Child(here, "protocol"), Value(protocol), protocols);
    }
  }
}

void CheckPropagation(const Value& mount, bool privileged, const std::string& path,
                      FieldErrors& errors) {
  CheckSupportedIfGiven(mount, "mountPropagation", path,
                        {"Bidirectional", "HostToContainer", "None"}, errors);
  if (mount.GetString("mountPropagation") == "Bidirectional" && !privileged) {
    errors.Forbidden(Child(path, "mountPropagation"),
                     "Bidirectional mount propagation is available only to privileged containers");
  }
}

void ValidateMounts(const Value& mounts, const std::set<std::string>& volumes, bool privileged,
                    const std::string& path, FieldErrors& errors) {
  if (!mounts.is_array()) return;
  std::set<std::string> points;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const Value& mount = mounts.as_array()[i];
    const std::string here = Index(path, i);
    const std::string name(mount.GetString("name"));
    if (name.empty()) errors.Required(Child(here, "name"));
    if (!volumes.contains(name)) errors.NotFound(Child(here, "name"), Value(name));
    const std::string point(mount.GetString("mountPath"));
    if (point.empty()) errors.Required(Child(here, "mountPath"));
    if (!points.insert(point).second) {
      errors.Invalid(Child(here, "mountPath"), Value(point), "must be unique");
    }
    const Value& sub_path = mount.At("subPath");
    if (sub_path.is_string()) CheckDescendingPath(sub_path, Child(path, "subPath"), errors);
    if (const absl::string_view expression = mount.GetString("subPathExpr"); !expression.empty()) {
      if (sub_path.is_string()) {
        errors.Invalid(Child(here, "subPathExpr"), Value(expression),
                       "subPathExpr and subPath are mutually exclusive");
      }
      CheckDescendingPath(Value(expression), Child(here, "subPathExpr"), errors);
    }
    CheckPropagation(mount, privileged, path, errors);
  }
}

// What is known about the pod while its containers are looked at.
struct PodFacts {
  std::set<std::string> volumes;
  std::set<std::string> claims;
  int64_t grace_seconds = 0;
};

void ValidateClaimsOf(const Value& resources, const PodFacts& pod, const std::string& path,
                      FieldErrors& errors) {
  const Value& claims = resources.At("claims");
  for (size_t i = 0; claims.is_array() && i < claims.size(); ++i) {
    const Value& name = claims.as_array()[i].At("name");
    const std::string here = Index(Child(path, "claims"), i);
    if (!name.is_string() || name.as_string().empty()) {
      errors.Required(Child(here, "name"));
    } else if (!pod.claims.contains(name.as_string())) {
      errors.Add({"FieldValueNotFound", here,
                  absl::StrCat("Not found: ", apis::json::Dump(name),
                               ": must be one of the names in pod.spec.resourceClaims which is ",
                               pod.claims.empty() ? "empty" : absl::StrJoin(pod.claims, ", "))});
    }
  }
}

void ValidateContainer(const Value& container, const PodFacts& pod, const std::string& path,
                       FieldErrors& errors) {
  const std::string name(container.GetString("name"));
  if (name.empty()) {
    errors.Required(Child(path, "name"));
  } else {
    InvalidEach(Child(path, "name"), Value(name), validation::DnsLabelProblems(name), errors);
  }
  const absl::string_view image = container.GetString("image");
  if (image.empty()) {
    errors.Required(Child(path, "image"));
  } else if (image.front() == ' ' || image.back() == ' ') {
    errors.Invalid(Child(path, "image"), Value(image),
                   "must not have leading or trailing whitespace");
  }
  CheckSupportedIfGiven(container, "terminationMessagePolicy", path,
                        {"File", "FallbackToLogsOnError"}, errors);
  ValidatePorts(container.At("ports"), Child(path, "ports"), errors);
  ValidateEnv(container, path, errors);
  const bool privileged = container.At("securityContext").GetBool("privileged");
  ValidateMounts(container.At("volumeMounts"), pod.volumes, privileged, Child(path, "volumeMounts"),
                 errors);
  CheckSupported(container, "imagePullPolicy", path, {"Always", "IfNotPresent", "Never"}, errors);
  ValidateResources(container.At("resources"), Child(path, "resources"), errors);
  ValidateClaimsOf(container.At("resources"), pod, Child(path, "resources"), errors);
  ValidateContainerSecurity(container.At("securityContext"), Child(path, "securityContext"),
                            errors);
}

// What runs to its end before the others start has no probes.
void ValidateInitContainer(const Value& container, const PodFacts& pod, const std::string& path,
                           FieldErrors& errors) {
  if (container.GetString("restartPolicy") == "Always") {
    ValidateHooks(container, path, pod.grace_seconds, errors);
    return;
  }
  for (const char* hook : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    if (container.Has(hook)) {
      errors.Forbidden(Child(path, hook),
                       "may not be set for init containers without restartPolicy=Always");
    }
  }
}

}  // namespace

std::set<std::string> ValidatePodClaims(const Value& claims, const std::string& path,
                                        FieldErrors& errors) {
  std::set<std::string> names;
  for (size_t i = 0; claims.is_array() && i < claims.size(); ++i) {
    const Value& claim = claims.as_array()[i];
    const std::string here = Index(path, i);
    const std::string name(claim.GetString("name"));
    if (name.empty()) {
      errors.Required(Child(here, "name"));
    } else if (!names.insert(name).second) {
      errors.Duplicate(Child(here, "name"), Value(name));
    } else {
      InvalidEach(Child(here, "name"), Value(name), validation::DnsLabelProblems(name), errors);
    }
    const bool by_name = claim.Has("resourceClaimName");
    const bool by_template = claim.Has("resourceClaimTemplateName");
    if (by_name && by_template) {
      errors.Invalid(here, claim,
                     "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                     "specified");
    } else if (!by_name && !by_template) {
      errors.Invalid(here, claim,
                     "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    for (const char* field : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (const Value* given = claim.Find(field)) {
        InvalidEach(Child(here, field), *given,
                    validation::DnsSubdomainProblems(claim.GetString(field)), errors);
      }
    }
  }
  return names;
}

void ValidateContainers(const Value& spec, const std::string& path, FieldErrors& errors) {
  PodFacts pod;
  pod.volumes = ValidateVolumes(spec.At("volumes"), Child(path, "volumes"), errors);
  pod.claims = ValidatePodClaims(spec.At("resourceClaims"), Child(path, "resourceClaims"), errors);
  pod.grace_seconds = spec.GetInt("terminationGracePeriodSeconds");
  std::set<std::string> names;
  const Value& containers = spec.At("containers");
  if (containers.size() == 0) errors.Required(Child(path, "containers"));
  for (const char* list : {"containers", "initContainers"}) {
    const Value& items = spec.At(list);
    for (size_t i = 0; items.is_array() && i < items.size(); ++i) {
      const Value& container = items.as_array()[i];
      const std::string here = Index(Child(path, list), i);
      ValidateContainer(container, pod, here, errors);
      const std::string name(container.GetString("name"));
      if (!names.insert(name).second && !name.empty()) {
        errors.Duplicate(Child(here, "name"), Value(name));
      }
      if (list == absl::string_view("initContainers")) {
        ValidateInitContainer(container, pod, here, errors);
      } else {
        ValidateHooks(container, here, pod.grace_seconds, errors);
      }
    }
  }
}

}  // namespace hekla::apiserver::kinds

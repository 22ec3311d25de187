#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apiserver/kinds/pod_spec.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;
using apis::meta::Quantity;

void InvalidEach(const std::string& path, const Value& value,
                 const std::vector<std::string>& problems, FieldErrors& errors) {
  for (const std::string& p : problems) errors.Invalid(path, value, p);
}

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
    errors.Invalid(path, Value(name), "must be a standard resource type or fully qualified");
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

void ValidatePorts(const Value& ports, const std::string& path, FieldErrors& errors) {
  if (!ports.is_array()) return;
  std::set<std::string> names;
  const std::vector<std::string> protocols = {"SCTP", "TCP", "UDP"};
  for (size_t i = 0; i < ports.size(); ++i) {
    const Value& port = ports.as_array()[i];
    const std::string here = Index(path, i);
    const std::string name(port.GetString("name"));
    if (!name.empty()) {
      if (name.size() > 15) {
        errors.Invalid(Child(here, "name"), Value(name), "must be no more than 15 characters");
      }
      if (!names.insert(name).second) errors.Duplicate(Child(here, "name"), Value(name));
    }
    for (const char* field : {"containerPort", "hostPort"}) {
      const int64_t number = port.GetInt(field);
      const bool required = field == absl::string_view("containerPort");
      if (number == 0 && required) {
        errors.Required(Child(here, field));
      } else if (number < 0 || number > 65535) {
        errors.Invalid(Child(here, field), port.At(field),
                       "must be between 1 and 65535, inclusive");
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

void ValidateEnv(const Value& env, const std::string& path, FieldErrors& errors) {
  if (!env.is_array()) return;
  for (size_t i = 0; i < env.size(); ++i) {
    const absl::string_view name = env.as_array()[i].GetString("name");
    const std::string here = Child(Index(path, i), "name");
    if (name.empty()) {
      errors.Required(here);
    } else if (absl::StrContains(name, "=") ||
               !std::all_of(name.begin(), name.end(), [](char c) { return c > 31 && c < 127; })) {
      errors.Invalid(here, Value(name),
                     "a valid environment variable name must consist only of printable ASCII "
                     "characters other than '='");
    }
  }
}

void ValidateMounts(const Value& mounts, const std::set<std::string>& volumes,
                    const std::string& path, FieldErrors& errors) {
  if (!mounts.is_array()) return;
  std::set<std::string> points;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const Value& mount = mounts.as_array()[i];
    const std::string here = Index(path, i);
    const std::string name(mount.GetString("name"));
    if (name.empty()) {
      errors.Required(Child(here, "name"));
    } else if (!volumes.contains(name)) {
      errors.NotFound(Child(here, "name"), Value(name));
    }
    const std::string point(mount.GetString("mountPath"));
    if (point.empty()) {
      errors.Required(Child(here, "mountPath"));
    } else if (!points.insert(point).second) {
      errors.Invalid(Child(here, "mountPath"), Value(point), "must be unique");
    }
  }
}

void ValidateContainer(const Value& container, const std::set<std::string>& volumes,
                       std::set<std::string>& names, const std::string& path, FieldErrors& errors) {
  const std::string name(container.GetString("name"));
  if (name.empty()) {
    errors.Required(Child(path, "name"));
  } else {
    InvalidEach(Child(path, "name"), Value(name), validation::DnsLabelProblems(name), errors);
    if (!names.insert(name).second) errors.Duplicate(Child(path, "name"), Value(name));
  }
  const absl::string_view image = container.GetString("image");
  if (image.empty()) {
    errors.Required(Child(path, "image"));
  } else if (image.front() == ' ' || image.back() == ' ') {
    errors.Invalid(Child(path, "image"), Value(image),
                   "must not have leading or trailing whitespace");
  }
  ValidatePorts(container.At("ports"), Child(path, "ports"), errors);
  ValidateEnv(container.At("env"), Child(path, "env"), errors);
  ValidateMounts(container.At("volumeMounts"), volumes, Child(path, "volumeMounts"), errors);
  const std::vector<std::string> policies = {"Always", "IfNotPresent", "Never"};
  const absl::string_view policy = container.GetString("imagePullPolicy");
  if (std::find(policies.begin(), policies.end(), policy) == policies.end()) {
    errors.NotSupported(Child(path, "imagePullPolicy"), Value(policy), policies);
  }
  ValidateResources(container.At("resources"), Child(path, "resources"), errors);
}

std::set<std::string> ValidateVolumes(const Value& volumes, const std::string& path,
                                      FieldErrors& errors) {
  std::set<std::string> names;
  if (!volumes.is_array()) return names;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const Value& volume = volumes.as_array()[i];
    const std::string here = Index(path, i);
    const std::string name(volume.GetString("name"));
    if (name.empty()) {
      errors.Required(Child(here, "name"));
    } else {
      InvalidEach(Child(here, "name"), Value(name), validation::DnsLabelProblems(name), errors);
      if (!names.insert(name).second) errors.Duplicate(Child(here, "name"), Value(name));
    }
    if (volume.size() > 2) {
      errors.Forbidden(here, "may not specify more than 1 volume type");
    }
  }
  return names;
}

}  // namespace

void ValidateContainers(const Value& spec, const std::string& path, FieldErrors& errors) {
  const std::set<std::string> volumes =
      ValidateVolumes(spec.At("volumes"), Child(path, "volumes"), errors);
  std::set<std::string> names;
  const Value& containers = spec.At("containers");
  if (containers.size() == 0) errors.Required(Child(path, "containers"));
  for (const char* list : {"containers", "initContainers"}) {
    const Value& items = spec.At(list);
    for (size_t i = 0; items.is_array() && i < items.size(); ++i) {
      ValidateContainer(items.as_array()[i], volumes, names, Index(Child(path, list), i), errors);
    }
  }
}

}  // namespace hekla::apiserver::kinds

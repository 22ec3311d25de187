#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_parts.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

const std::vector<std::string> kVariableFields = {"metadata.name",
                                                  "metadata.namespace",
                                                  "metadata.uid",
                                                  "spec.nodeName",
                                                  "spec.serviceAccountName",
                                                  "status.hostIP",
                                                  "status.hostIPs",
                                                  "status.podIP",
                                                  "status.podIPs"};
const std::vector<std::string> kVolumeFields = {"metadata.annotations", "metadata.labels",
                                                "metadata.name", "metadata.namespace",
                                                "metadata.uid"};
// All that can be named at all; the two above say what fits where.
const std::vector<std::string> kKnownFields = {
    "metadata.annotations", "metadata.labels",  "metadata.name",      "metadata.namespace",
    "metadata.uid",         "spec.nodeName",    "spec.restartPolicy", "spec.serviceAccountName",
    "spec.schedulerName",   "spec.hostNetwork", "status.phase",       "status.hostIP",
    "status.hostIPs",       "status.podIP",     "status.podIPs"};
const std::vector<std::string> kResources = {
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

void CheckKeyRef(const Value& ref, const std::string& path, FieldErrors& errors) {
  CheckRequired(ref, "name", path, errors);
  const absl::string_view key = ref.GetString("key");
  if (key.empty()) {
    errors.Required(Child(path, "key"));
  } else {
    InvalidEach(Child(path, "key"), ref.At("key"), ConfigKeyProblems(key), errors);
  }
}

void CheckValueFrom(const Value& variable, const std::string& path, FieldErrors& errors) {
  const Value* from = variable.Find("valueFrom");
  if (from == nullptr) return;
  int sources = 0;
  if (const Value* ref = from->Find("fieldRef")) {
    ++sources;
    CheckFieldRef(*ref, Child(path, "fieldRef"), FieldUse::kVariable, errors);
  }
  if (const Value* ref = from->Find("resourceFieldRef")) {
    ++sources;
    CheckResourceFieldRef(*ref, Child(path, "resourceFieldRef"), FieldUse::kVariable, errors);
  }
  for (const char* name : {"configMapKeyRef", "secretKeyRef"}) {
    if (const Value* ref = from->Find(name)) {
      ++sources;
      CheckKeyRef(*ref, Child(path, name), errors);
    }
  }
  if (sources == 0) {
    errors.Invalid(path, Value(""),
                   "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                   "`secretKeyRef` or `fileKeyRef`");
  }
  if (!variable.GetString("value").empty()) {
    if (sources != 0) {
      errors.Invalid(path, Value(""), "may not be specified when `value` is not empty");
    }
  } else if (sources > 1) {
    errors.Invalid(path, Value(""), "may not have more than one field specified at a time");
  }
}

std::vector<std::string> VariableNameProblems(absl::string_view name) {
  const bool good = !name.empty() && !absl::StrContains(name, "=") &&
                    std::all_of(name.begin(), name.end(), [](char c) { return c > 31 && c < 127; });
  if (good) return {};
  return {
      "a valid environment variable name must consist only of printable ASCII characters other "
      "than '='"};
}

void CheckEnvFrom(const Value& list, const std::string& path, FieldErrors& errors) {
  for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
    const Value& item = list.as_array()[i];
    const std::string here = Index(path, i);
    if (const absl::string_view prefix = item.GetString("prefix"); !prefix.empty()) {
      InvalidEach(Child(here, "prefix"), Value(prefix), VariableNameProblems(prefix), errors);
    }
    int sources = 0;
    for (const char* name : {"configMapRef", "secretRef"}) {
      if (const Value* ref = item.Find(name)) {
        ++sources;
        CheckRequired(*ref, "name", Child(here, name), errors);
      }
    }
    if (sources == 0) {
      errors.Invalid(path, Value(""), "must specify one of: `configMapRef` or `secretRef`");
    } else if (sources > 1) {
      errors.Invalid(path, Value(""), "may not have more than one field specified at a time");
    }
  }
}

}  // namespace

void CheckFieldRef(const Value& ref, const std::string& path, FieldUse use, FieldErrors& errors) {
  const std::string field(ref.GetString("fieldPath"));
  if (ref.GetString("apiVersion").empty()) {
    errors.Required(Child(path, "apiVersion"));
    return;
  }
  if (field.empty()) {
    errors.Required(Child(path, "fieldPath"));
    return;
  }
  for (absl::string_view map : {"metadata.annotations", "metadata.labels"}) {
    absl::string_view rest = field;
    if (absl::ConsumePrefix(&rest, map) && absl::ConsumePrefix(&rest, "['") &&
        absl::ConsumeSuffix(&rest, "']")) {
      InvalidEach(path, Value(rest), validation::QualifiedNameProblems(rest), errors);
      return;
    }
  }
  if (!OneOf(field, kKnownFields)) {
    errors.Invalid(Child(path, "fieldPath"), Value(field),
                   absl::StrCat("error converting fieldPath: field label not supported: ", field));
    return;
  }
  const std::vector<std::string>& fitting =
      use == FieldUse::kVolume ? kVolumeFields : kVariableFields;
  if (!OneOf(field, fitting)) {
    errors.NotSupported(Child(path, "fieldPath"), Value(field), fitting);
  }
}

void CheckResourceFieldRef(const Value& ref, const std::string& path, FieldUse use,
                           FieldErrors& errors) {
  const std::string resource(ref.GetString("resource"));
  if (use == FieldUse::kVolume && ref.GetString("containerName").empty()) {
    errors.Required(Child(path, "containerName"));
  } else if (resource.empty()) {
    errors.Required(Child(path, "resource"));
  } else if (!OneOf(resource, kResources) && !absl::StartsWith(resource, "limits.hugepages-") &&
             !absl::StartsWith(resource, "requests.hugepages-")) {
    errors.NotSupported(Child(path, "resource"), Value(resource), kResources);
  }
}

void ValidateEnv(const Value& container, const std::string& path, FieldErrors& errors) {
  const Value& env = container.At("env");
  for (size_t i = 0; env.is_array() && i < env.size(); ++i) {
    const Value& variable = env.as_array()[i];
    const std::string here = Index(Child(path, "env"), i);
    const absl::string_view name = variable.GetString("name");
    if (name.empty()) {
      errors.Required(Child(here, "name"));
    } else {
      InvalidEach(Child(here, "name"), Value(name), VariableNameProblems(name), errors);
    }
    CheckValueFrom(variable, Child(here, "valueFrom"), errors);
  }
  CheckEnvFrom(container.At("envFrom"), Child(path, "envFrom"), errors);
}

}  // namespace hekla::apiserver::kinds

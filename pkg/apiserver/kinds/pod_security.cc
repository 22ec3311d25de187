#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_parts.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

constexpr char kIdRange[] = "must be between 0 and 2147483647, inclusive";

void CheckId(const Value& id, const std::string& path, FieldErrors& errors) {
  if (id.is_int() && (id.as_int() < 0 || id.as_int() > std::numeric_limits<int32_t>::max())) {
    errors.Invalid(path, id, kIdRange);
  }
}

void CheckSeccomp(const Value& context, const std::string& path, FieldErrors& errors) {
  const Value* profile = context.Find("seccompProfile");
  if (profile == nullptr) return;
  const std::string here = Child(path, "seccompProfile");
  const std::vector<std::string> types = {"Localhost", "RuntimeDefault", "Unconfined"};
  const absl::string_view type = profile->GetString("type");
  if (type.empty()) {
    errors.Required(Child(here, "type"), "type is required when seccompProfile is set");
  } else if (!OneOf(type, types)) {
    errors.NotSupported(Child(here, "type"), Value(type), types);
  } else if (type == "Localhost" && !profile->Has("localhostProfile")) {
    errors.Required(Child(here, "localhostProfile"), "must be set when seccomp type is Localhost");
  } else if (type != "Localhost" && profile->Has("localhostProfile")) {
    errors.Invalid(Child(here, "localhostProfile"), profile->At("localhostProfile"),
                   "can only be set when seccomp type is Localhost");
  } else if (type == "Localhost") {
    CheckDescendingPath(profile->At("localhostProfile"), Child(here, "localhostProfile"), errors);
  }
}

}  // namespace

void ValidateContainerSecurity(const Value& context, const std::string& path, FieldErrors& errors) {
  if (!context.is_object()) return;
  CheckId(context.At("runAsUser"), Child(path, "runAsUser"), errors);
  CheckId(context.At("runAsGroup"), Child(path, "runAsGroup"), errors);
  CheckSeccomp(context, path, errors);
  const bool escalates = context.GetBool("allowPrivilegeEscalation", true);
  if (!escalates && context.GetBool("privileged")) {
    errors.Invalid(path, context,
                   "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
}

void ValidatePodSecurity(const Value& spec, const std::string& path, FieldErrors& errors) {
  if (spec.GetBool("shareProcessNamespace") && spec.GetBool("hostPID")) {
    errors.Invalid(Child(path, "securityContext.shareProcessNamespace"), Value(true),
                   "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  const Value& context = spec.At("securityContext");
  if (!context.is_object()) return;
  const std::string here = Child(path, "securityContext");
  CheckId(context.At("fsGroup"), Child(here, "fsGroup"), errors);
  CheckId(context.At("runAsUser"), Child(here, "runAsUser"), errors);
  CheckId(context.At("runAsGroup"), Child(here, "runAsGroup"), errors);
  const Value& groups = context.At("supplementalGroups");
  for (size_t i = 0; groups.is_array() && i < groups.size(); ++i) {
    CheckId(groups.as_array()[i], Index(Child(here, "supplementalGroups"), i), errors);
  }
  CheckSeccomp(context, here, errors);
}

}  // namespace hekla::apiserver::kinds

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_parts.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

void CheckHttp(const Value& http, const std::string& path, FieldErrors& errors) {
  CheckRequired(http, "path", path, errors);
  CheckPort(http.At("port"), Child(path, "port"), errors);
  CheckSupportedIfGiven(http, "scheme", path, {"HTTP", "HTTPS"}, errors);
}

void CheckHandler(const Value& handler, const std::string& path, int64_t grace_seconds,
                  FieldErrors& errors) {
  int count = 0;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Value* part = handler.Find(name);
    if (part == nullptr) continue;
    const absl::string_view kind(name);
    const std::string here = Child(path, name);
    if (++count > 1) {
      errors.Forbidden(here, "may not specify more than 1 handler type");
    } else if (kind == "exec") {
      if (part->At("command").size() == 0) errors.Required(Child(here, "command"));
    } else if (kind == "httpGet") {
      CheckHttp(*part, here, errors);
    } else if (kind == "sleep") {
      const int64_t seconds = part->GetInt("seconds");
      if (seconds < 0 || seconds > grace_seconds) {
        errors.Invalid(here, part->At("seconds"),
                       absl::StrCat("must be non-negative and less than "
                                    "terminationGracePeriodSeconds (",
                                    grace_seconds, ")"));
      }
    } else {
      CheckPort(part->At("port"), Child(here, "port"), errors);
    }
  }
  if (count == 0) errors.Required(path, "must specify a handler type");
}

void CheckProbe(const Value& probe, const std::string& path, FieldErrors& errors) {
  CheckHandler(probe, path, 0, errors);
  for (const char* name : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                           "successThreshold", "failureThreshold"}) {
    CheckNotNegative(probe, name, path, errors);
  }
  const Value& grace = probe.At("terminationGracePeriodSeconds");
  if (grace.is_int() && grace.as_int() <= 0) {
    errors.Invalid(Child(path, "terminationGracePeriodSeconds"), grace, "must be greater than 0");
  }
}

}  // namespace

void ValidateHooks(const Value& container, const std::string& path, int64_t grace_seconds,
                   FieldErrors& errors) {
  if (const Value* lifecycle = container.Find("lifecycle")) {
    for (const char* name : {"postStart", "preStop"}) {
      if (const Value* hook = lifecycle->Find(name)) {
        CheckHandler(*hook, Child(Child(path, "lifecycle"), name), grace_seconds, errors);
      }
    }
  }
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Value* probe = container.Find(name);
    if (probe == nullptr) continue;
    const std::string here = Child(path, name);
    CheckProbe(*probe, here, errors);
    if (name == absl::string_view("readinessProbe")) {
      if (const Value* grace = probe->Find("terminationGracePeriodSeconds")) {
        errors.Invalid(Child(here, "terminationGracePeriodSeconds"), *grace,
                       "must not be set for readinessProbes");
      }
    } else if (probe->GetInt("successThreshold") != 1) {
      errors.Invalid(Child(here, "successThreshold"), probe->At("successThreshold"), "must be 1");
    }
  }
}

}  // namespace hekla::apiserver::kinds

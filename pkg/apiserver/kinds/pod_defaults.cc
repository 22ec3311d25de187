#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apiserver/kinds/default.h"
#include "pkg/apiserver/kinds/pod_spec.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;
using apis::meta::Quantity;

// "Always" where the tag is "latest" or missing.
absl::string_view PullPolicy(absl::string_view image) {
  const size_t digest = image.find('@');
  if (digest != absl::string_view::npos) return "IfNotPresent";
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  const bool tagged =
      colon != absl::string_view::npos && (slash == absl::string_view::npos || colon > slash);
  return !tagged || image.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void DefaultHandler(Value& handler) {
  if (Value* http = handler.Find("httpGet"); http != nullptr && http->is_object()) {
    Default(*http, "path", "/");
    Default(*http, "scheme", "HTTP");
  }
  if (Value* grpc = handler.Find("grpc"); grpc != nullptr && grpc->is_object()) {
    if (!grpc->At("service").is_string()) grpc->Set("service", "");
  }
}

// Amounts below thousandths are rounded up.
void RoundAmounts(Value& container) {
  Value* resources = container.Find("resources");
  if (resources == nullptr) return;
  for (const char* list : {"limits", "requests"}) {
    Value* amounts = resources->Find(list);
    if (amounts == nullptr || !amounts->is_object()) continue;
    for (Member& m : amounts->as_object()) {
      if (!m.value.is_string()) continue;
      const std::string& text = m.value.as_string();
      if (!absl::EndsWith(text, "n") && !absl::EndsWith(text, "u")) continue;
      const auto quantity = Quantity::Parse(text);
      if (!quantity.ok()) continue;
      const int64_t milli = quantity->MilliValue();
      m.value = milli % 1000 == 0 ? absl::StrCat(milli / 1000) : absl::StrCat(milli, "m");
    }
  }
}

void DefaultContainer(Value& container, bool host_network) {
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    Value* probe = container.Find(name);
    if (probe == nullptr || !probe->is_object()) continue;
    DefaultHandler(*probe);
    Default(*probe, "timeoutSeconds", 1);
    Default(*probe, "periodSeconds", 10);
    Default(*probe, "successThreshold", 1);
    Default(*probe, "failureThreshold", 3);
  }
  if (Value* lifecycle = container.Find("lifecycle"); lifecycle != nullptr) {
    for (const char* name : {"postStart", "preStop"}) {
      if (Value* hook = lifecycle->Find(name)) DefaultHandler(*hook);
    }
  }
  if (Value* env = container.Find("env"); env != nullptr && env->is_array()) {
    for (Value& item : env->as_array()) {
      Value* field = item.FindPath({"valueFrom", "fieldRef"});
      if (field != nullptr) Default(*field, "apiVersion", "v1");
    }
  }
  if (Value* ports = container.Find("ports"); ports != nullptr && ports->is_array()) {
    for (Value& port : ports->as_array()) {
      Default(port, "protocol", "TCP");
      if (host_network && port.Has("containerPort")) {
        Default(port, "hostPort", port.At("containerPort"));
      }
    }
  }
  if (!container.Has("resources")) container.Set("resources", Value::MakeObject());
  RoundAmounts(container);
  Default(container, "terminationMessagePath", "/dev/termination-log");
  Default(container, "terminationMessagePolicy", "File");
  Default(container, "imagePullPolicy", PullPolicy(container.GetString("image")));
}

void DefaultDownward(Value& items) {
  if (!items.is_array()) return;
  for (Value& item : items.as_array()) {
    if (Value* field = item.Find("fieldRef")) Default(*field, "apiVersion", "v1");
  }
}

void DefaultVolume(Value& volume) {
  if (volume.size() <= 1) {
    volume.Set("emptyDir", Value::MakeObject());
    return;
  }
  for (const char* name : {"secret", "configMap", "downwardAPI", "projected"}) {
    if (Value* source = volume.Find(name); source != nullptr && source->is_object()) {
      Default(*source, "defaultMode", 420);
    }
  }
  if (Value* items = volume.FindPath({"downwardAPI", "items"})) DefaultDownward(*items);
  if (Value* claim = volume.FindPath({"ephemeral", "volumeClaimTemplate", "spec"})) {
    Default(*claim, "volumeMode", "Filesystem");
  }
  if (Value* image = volume.Find("image"); image != nullptr && image->is_object()) {
    Default(*image, "pullPolicy", PullPolicy(image->GetString("reference")));
  }
  if (Value* path = volume.Find("hostPath"); path != nullptr && path->is_object()) {
    Default(*path, "type", "");
  }
  Value* sources = volume.FindPath({"projected", "sources"});
  if (sources == nullptr || !sources->is_array()) return;
  for (Value& source : sources->as_array()) {
    if (Value* token = source.Find("serviceAccountToken")) {
      Default(*token, "expirationSeconds", 3600);
    }
    if (Value* items = source.FindPath({"downwardAPI", "items"})) DefaultDownward(*items);
  }
}

bool IsZero(const Value& quantity) {
  if (!quantity.is_string()) return true;
  const auto parsed = Quantity::Parse(quantity.as_string());
  return !parsed.ok() || parsed->is_zero();
}

}  // namespace

void SetPodSpecDefaults(Value& spec) {
  const bool host_network = spec.GetBool("hostNetwork");
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    Value* containers = spec.Find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Value& container : containers->as_array()) DefaultContainer(container, host_network);
  }
  if (Value* volumes = spec.Find("volumes"); volumes != nullptr && volumes->is_array()) {
    for (Value& volume : volumes->as_array()) DefaultVolume(volume);
  }
  Default(spec, "restartPolicy", "Always");
  Default(spec, "terminationGracePeriodSeconds", 30);
  Default(spec, "dnsPolicy", "ClusterFirst");
  Default(spec, "securityContext", Value::MakeObject());
  Default(spec, "schedulerName", "default-scheduler");
  // Two names of one field.
  if (spec.Has("serviceAccountName")) {
    spec.Set("serviceAccount", spec.At("serviceAccountName"));
  } else if (spec.Has("serviceAccount")) {
    spec.Set("serviceAccountName", spec.At("serviceAccount"));
  }
}

void SetPodOnlyDefaults(Value& spec) {
  for (const char* list : {"initContainers", "containers"}) {
    Value* containers = spec.Find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (Value& container : containers->as_array()) {
      Value* resources = container.Find("resources");
      if (resources == nullptr || !resources->At("limits").is_object()) continue;
      const Value limits = resources->At("limits");
      Value& requests = (*resources)["requests"];
      if (requests.is_null()) requests = Value::MakeObject();
      for (const Member& m : limits.as_object()) {
        if (!requests.Has(m.key)) requests.Set(m.key, m.value);
      }
      if (requests.size() == 0) resources->Remove("requests");
    }
  }
  Default(spec, "enableServiceLinks", true);
}

absl::string_view QosClassOf(const Value& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const char* list : {"initContainers", "containers"}) {
    const Value& containers = spec.At(list);
    if (!containers.is_array()) continue;
    for (const Value& container : containers.as_array()) {
      const Value& requests = container.At("resources").At("requests");
      const Value& limits = container.At("resources").At("limits");
      for (const char* name : {"cpu", "memory"}) {
        const bool has_request = !IsZero(requests.At(name));
        const bool has_limit = !IsZero(limits.At(name));
        any |= has_request || has_limit;
        if (!has_limit || (has_request && requests.At(name) != limits.At(name))) {
          guaranteed = false;
        }
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

}  // namespace hekla::apiserver::kinds

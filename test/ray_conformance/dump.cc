#include "test/ray_conformance/dump.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hekla::ray_conformance {
namespace {

using apis::json::Member;
using apis::json::Value;

int64_t VersionOf(const Value& object) {
  int64_t version = 0;
  (void)absl::SimpleAtoi(object.At("metadata").GetString("resourceVersion"), &version);
  return version;
}

void TrimMetadata(Value& object) {
  Value& metadata = object["metadata"];
  for (const char* key :
       {"managedFields", "resourceVersion", "creationTimestamp", "generation", "uid"}) {
    metadata.Remove(key);
  }
}

void TrimPodStatus(Value& pod) {
  Value trimmed = Value::MakeObject();
  for (const char* key : {"phase", "podIP", "conditions", "containerStatuses"}) {
    if (const Value* value = pod.At("status").Find(key)) trimmed.Set(key, *value);
  }
  if (Value* containers = trimmed.Find("containerStatuses"); containers != nullptr) {
    for (Value& container : containers->as_array()) container.Remove("imageID");
  }
  pod.Set("status", std::move(trimmed));
}

// Secrets are random: their keys and the lengths of the values are compared.
void TrimSecret(Value& secret) {
  Value keys = Value::MakeObject();
  if (secret.At("data").is_object()) {
    for (const Member& m : secret.At("data").as_object()) {
      std::string bytes;
      absl::Base64Unescape(m.value.is_string() ? m.value.as_string() : "", &bytes);
      keys.Set(m.key, absl::StrCat(bytes.size(), " bytes"));
    }
  }
  secret.Remove("data");
  secret.Set("dataKeys", std::move(keys));
}

// Custom kinds keep apiVersion and kind in recordings, built-in ones do not.
bool IsBuiltIn(const Kind& kind) {
  return kind.plural == kind.key && kind.key != "podgroups" && kind.key != "issuers" &&
         kind.key != "certificates";
}

}  // namespace

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"pods", "v1", "Pod", "pods"},
      {"services", "v1", "Service", "services"},
      {"secrets", "v1", "Secret", "secrets"},
      {"serviceaccounts", "v1", "ServiceAccount", "serviceaccounts"},
      {"persistentvolumeclaims", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"},
      {"roles", "rbac.authorization.k8s.io/v1", "Role", "roles"},
      {"rolebindings", "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"},
      {"ingresses", "networking.k8s.io/v1", "Ingress", "ingresses"},
      {"networkpolicies", "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"},
      {"jobs", "batch/v1", "Job", "jobs"},
      {"issuers", "cert-manager.io/v1", "Issuer", "issuers"},
      {"certificates", "cert-manager.io/v1", "Certificate", "certificates"},
      {"podgroups", "scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups"},
      {"podgroups.x-k8s.io", "scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups"},
  };
  return kinds;
}

const Kind* FindKind(absl::string_view key) {
  // Actions touch it, dumps leave it out.
  static const Kind quota = {"resourcequotas", "v1", "ResourceQuota", "resourcequotas"};
  if (key == quota.key || key == quota.kind) return &quota;
  for (const Kind& kind : Kinds()) {
    if (kind.key == key || kind.kind == key) return &kind;
  }
  return nullptr;
}

std::string CollectionPath(const Kind& kind, absl::string_view ns) {
  const absl::string_view prefix = kind.api_version == "v1" ? "/api/" : "/apis/";
  return absl::StrCat(prefix, kind.api_version, "/namespaces/", ns, "/", kind.plural);
}

Dump Dumper::Take() {
  Dump out;
  out.objects = Value::MakeObject();
  std::map<std::string, int64_t> present;
  // What the names say is learned from all objects first.
  for (const Kind& kind : Kinds()) {
    const auto list = server_.List(kind.api_version, kind.kind, ns_);
    if (!list.ok()) continue;
    for (const Value& object : *list) names_.SawObject(kind.key, object);
  }
  std::map<std::string, std::string> before = std::move(uids_);
  uids_.clear();
  for (const Kind& kind : Kinds()) DumpKind(kind, out, present);
  std::vector<std::pair<int64_t, std::string>> created;
  for (const auto& [name, version] : present) {
    const auto it = before.find(name);
    if (it == before.end() || it->second != uids_[name]) created.emplace_back(version, name);
  }
  std::sort(created.begin(), created.end());
  for (const auto& [version, name] : created) out.created.push_back(name);
  for (const auto& [name, uid] : before) {
    const auto it = uids_.find(name);
    if (it == uids_.end() || it->second != uid) out.deleted.push_back(name);
  }
  DumpCluster(out);
  DumpEvents(out);
  return out;
}

void Dumper::DumpKind(const Kind& kind, Dump& out, std::map<std::string, int64_t>& present) {
  const auto list = server_.List(kind.api_version, kind.kind, ns_);
  if (!list.ok()) return;
  for (Value object : *list) {
    const std::string name = names_.Name(object.At("metadata").GetString("name"));
    const std::string path = absl::StrCat(kind.key, "/", name);
    present[path] = VersionOf(object);
    uids_[path] = std::string(object.At("metadata").GetString("uid"));
    TrimMetadata(object);
    if (kind.key == "pods") TrimPodStatus(object);
    if (kind.key == "secrets") TrimSecret(object);
    if (IsBuiltIn(kind)) {
      object.Remove("apiVersion");
      object.Remove("kind");
    }
    names_.Apply(object);
    out.objects.Ensure({kind.key}).Set(name, std::move(object));
  }
}

void Dumper::DumpCluster(Dump& out) {
  const auto found = server_.Get("ray.io/v1", "RayCluster", ns_, cluster_);
  if (!found.ok()) return;
  Value cluster = Value::MakeObject();
  const Value& metadata = found->At("metadata");
  for (const char* key :
       {"generation", "labels", "annotations", "finalizers", "deletionTimestamp"}) {
    if (const Value* value = metadata.Find(key)) cluster.Set(key, *value);
  }
  cluster.Set("spec", found->At("spec"));
  names_.Apply(cluster);
  out.raycluster = std::move(cluster);
  if (const Value* status = found->Find("status")) {
    out.status = *status;
    names_.Apply(out.status);
  }
}

void Dumper::DumpEvents(Dump& out) {
  out.events = Value::MakeArray();
  const auto list = server_.List("events.k8s.io/v1", "Event", ns_);
  if (!list.ok()) return;
  std::vector<std::pair<std::string, Value>> fresh;
  for (const Value& event : *list) {
    const std::string name(event.At("metadata").GetString("name"));
    const int64_t count = event.At("series").GetInt("count", 1);
    const auto it = event_count_.find(name);
    const bool is_new = it == event_count_.end();
    const bool changed = !is_new && it->second != count;
    event_count_[name] = count;
    if (!is_new && !changed) continue;
    const Value& regarding = event.At("regarding");
    Value entry = Value::MakeObject(
        {{"type", event.At("type")},
         {"reason", event.At("reason")},
         {"action", event.At("action")},
         {"message", event.At("note")},
         {"regarding",
          absl::StrCat(regarding.GetString("apiVersion"), " ", regarding.GetString("kind"), " ",
                       regarding.GetString("namespace"), "/", regarding.GetString("name"))},
         {"reportingController", event.At("reportingController")}});
    if (!is_new) entry.Set("update", true);
    const absl::string_view note = event.GetString("note");
    entry.Set("message", names_.Text(note));
    fresh.emplace_back(event.GetString("eventTime"), std::move(entry));
  }
  std::stable_sort(fresh.begin(), fresh.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [time, entry] : fresh) out.events.Append(std::move(entry));
}

}  // namespace hekla::ray_conformance

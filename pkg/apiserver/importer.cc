#include "pkg/apiserver/importer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apiserver/admission.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

Value Named(absl::string_view api_version, absl::string_view kind, absl::string_view name) {
  return Value::MakeObject({{"kind", kind},
                            {"apiVersion", api_version},
                            {"metadata", Value::MakeObject({{"name", name}})}});
}

}  // namespace

std::string NamespaceOf(const Resource& resource, const Value& object) {
  if (!resource.namespaced) return "";
  return std::string(object.At("metadata").GetString("namespace", "default"));
}

void Importer::CreateDefaults() {
  std::vector<Value> objects;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    objects.push_back(Named("v1", "Namespace", name));
  }
  Value cluster = Named("scheduling.k8s.io/v1", "PriorityClass", "system-cluster-critical");
  cluster.Set("value", 2000000000);
  cluster.Set("description",
              "Used for system critical pods that must run in the cluster, but can be moved to "
              "another node if necessary.");
  objects.push_back(std::move(cluster));
  Value node = Named("scheduling.k8s.io/v1", "PriorityClass", "system-node-critical");
  node.Set("value", 2000001000);
  node.Set("description",
           "Used for system critical pods that must not be moved from their current node.");
  objects.push_back(std::move(node));
  Value service = Named("v1", "Service", "kubernetes");
  service["metadata"].Set(
      "labels", Value::MakeObject({{"component", "apiserver"}, {"provider", "kubernetes"}}));
  Value port = Value::MakeObject({{"name", "https"}, {"port", 443}, {"targetPort", 6443}});
  service.Set("spec", Value::MakeObject({{"clusterIP", "10.96.0.1"},
                                         {"ports", Value::MakeArray({std::move(port)})}}));
  objects.push_back(std::move(service));
  WriteParams params;
  params.internal = true;
  for (const Value& object : objects) {
    const ResourcePtr resource =
        core_.registry.FindKind(object.GetString("apiVersion"), object.GetString("kind"));
    CHECK(resource != nullptr) << object.GetString("kind");
    const auto decoded =
        DecodeObject(*resource, RawBody{object, {}}, FieldValidation::kIgnore, nullptr);
    CHECK(decoded.ok()) << decoded.status();
    const std::string ns = NamespaceOf(*resource, *decoded);
    const std::string name(decoded->At("metadata").GetString("name"));
    if (core_.store.Get(*resource->table, KeyOf(*resource, ns, name)) != nullptr) continue;
    const auto written = writer_.Create(*resource, ns, *decoded, params);
    LOG_IF(ERROR, !written.ok()) << "object of every cluster not created kind=" << resource->kind
                                 << " name=" << name << " error=" << written.status();
  }
}

absl::Status Importer::EnsureNamespace(const std::string& ns) {
  const ResourcePtr namespaces = core_.registry.Find("", "v1", "namespaces");
  if (ns.empty() || core_.store.Get(*namespaces->table, ns) != nullptr) return absl::OkStatus();
  WriteParams params;
  params.internal = true;
  return writer_.Create(*namespaces, "", Named("v1", "Namespace", ns), params).status();
}

absl::StatusOr<Value> Importer::Import(const Value& object) {
  const ResourcePtr resource =
      core_.registry.FindKind(object.GetString("apiVersion"), object.GetString("kind"));
  if (resource == nullptr) {
    return absl::NotFoundError(absl::StrCat("no kind \"", object.GetString("kind"),
                                            "\" in version \"", object.GetString("apiVersion"),
                                            "\" is served"));
  }
  HEKLA_ASSIGN_OR_RETURN(Value stored, DecodeObject(*resource, RawBody{object, {}},
                                                    FieldValidation::kIgnore, nullptr));
  const std::string ns = NamespaceOf(*resource, stored);
  HEKLA_RETURN_IF_ERROR(EnsureNamespace(ns));
  const absl::Time now = core_.Now();
  Value& metadata = stored["metadata"];
  if (resource->namespaced) metadata.Set("namespace", ns);
  metadata.Remove("resourceVersion");
  if (metadata.GetString("uid").empty()) metadata.Set("uid", core_.NewUid());
  if (metadata.GetString("creationTimestamp").empty()) {
    metadata.Set("creationTimestamp", TimeText(now));
  }
  if (resource->has_generation && metadata.GetInt("generation") == 0) metadata.Set("generation", 1);
  if (resource->plural == "pods" && resource->group.empty()) FillImportedPod(core_, stored);
  if (resource->strategy->prepare_create != nullptr && stored.At("status").size() == 0) {
    resource->strategy->prepare_create(stored, kinds::WriteContext{now});
  }
  stored = Canonical(*resource, std::move(stored));
  const std::string key = KeyOf(*resource, ns, stored.At("metadata").GetString("name"));
  const storage::ObjectPtr present = core_.store.Get(*resource->table, key);
  storage::EncodedObject encoded = storage::Encode(stored, resource->table->fields());
  const auto written = present == nullptr
                           ? core_.store.Create(*resource->table, std::move(encoded), now)
                           : core_.store.Update(*resource->table, std::move(encoded),
                                                present->resource_version(), now);
  if (!written.ok()) return written.status();
  return ToView(*resource, (*written)->Parse());
}

}  // namespace hekla::apiserver

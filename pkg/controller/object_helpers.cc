#include "pkg/controller/object_helpers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/time.h"

namespace hekla::controller {

using apis::json::Value;

namespace {

absl::string_view Metadata(const Value& object, absl::string_view key) {
  return object.At("metadata").GetString(key);
}

Value MakeReference(const Value& owner, const kube::Resource& type) {
  Value reference = Value::MakeObject();
  reference.Set("apiVersion", type.api_version());
  reference.Set("kind", type.kind);
  reference.Set("name", NameOf(owner));
  reference.Set("uid", UidOf(owner));
  return reference;
}

absl::Status CheckNamespaces(const Value& owner, const Value& object) {
  const absl::string_view owner_ns = NamespaceOf(owner);
  if (owner_ns.empty()) return absl::OkStatus();
  const absl::string_view ns = NamespaceOf(object);
  if (ns.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster-scoped resource must not have a namespace-scoped owner, owner's "
                     "namespace ",
                     owner_ns));
  }
  if (ns == owner_ns) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cross-namespace owner references are disallowed, owner's namespace ", owner_ns,
                   ", obj's namespace ", ns));
}

// Same group, kind and name: the same owner, perhaps in another life.
bool SameOwner(const Value& a, const Value& b) {
  return a.GetString("kind") == b.GetString("kind") && a.GetString("name") == b.GetString("name") &&
         GroupOf(a.GetString("apiVersion")) == GroupOf(b.GetString("apiVersion"));
}

void PutReference(Value reference, Value& object) {
  Value& owners = object.Ensure({"metadata"})["ownerReferences"];
  if (owners.is_array()) {
    for (Value& owner : owners.as_array()) {
      if (!SameOwner(owner, reference)) continue;
      owner = std::move(reference);
      return;
    }
  } else {
    owners = Value::MakeArray();
  }
  owners.Append(std::move(reference));
}

}  // namespace

absl::string_view NameOf(const Value& object) { return Metadata(object, "name"); }
absl::string_view NamespaceOf(const Value& object) { return Metadata(object, "namespace"); }
absl::string_view UidOf(const Value& object) { return Metadata(object, "uid"); }
absl::string_view ResourceVersion(const Value& object) {
  return Metadata(object, "resourceVersion");
}
int64_t GenerationOf(const Value& object) { return object.At("metadata").GetInt("generation"); }
absl::Time CreationTimeOf(const Value& object) {
  return apis::meta::ParseTime(Metadata(object, "creationTimestamp"))
      .value_or(apis::meta::NoTime());
}
bool IsTerminating(const Value& object) { return !Metadata(object, "deletionTimestamp").empty(); }
Request RequestOf(const Value& object) {
  return Request{.ns = std::string(NamespaceOf(object)), .name = std::string(NameOf(object))};
}
absl::string_view LabelOf(const Value& object, absl::string_view key) {
  return object.At("metadata").At("labels").GetString(key);
}
absl::string_view AnnotationOf(const Value& object, absl::string_view key) {
  return object.At("metadata").At("annotations").GetString(key);
}

bool HasFinalizer(const Value& object, absl::string_view finalizer) {
  const Value& list = object.At("metadata").At("finalizers");
  if (!list.is_array()) return false;
  return std::any_of(list.as_array().begin(), list.as_array().end(), [&](const Value& item) {
    return item.is_string() && item.as_string() == finalizer;
  });
}

bool AddFinalizer(Value& object, absl::string_view finalizer) {
  if (HasFinalizer(object, finalizer)) return false;
  Value& list = object.Ensure({"metadata"})["finalizers"];
  if (!list.is_array()) list = Value::MakeArray();
  list.Append(finalizer);
  return true;
}

bool RemoveFinalizer(Value& object, absl::string_view finalizer) {
  if (!HasFinalizer(object, finalizer)) return false;
  Value& metadata = *object.Find("metadata");
  Value::Array& list = metadata["finalizers"].as_array();
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const Value& item) {
                              return item.is_string() && item.as_string() == finalizer;
                            }),
             list.end());
  if (list.empty()) metadata.Remove("finalizers");
  return true;
}

const Value* ControllerOf(const Value& object) {
  const Value& owners = object.At("metadata").At("ownerReferences");
  if (!owners.is_array()) return nullptr;
  for (const Value& owner : owners.as_array()) {
    if (owner.GetBool("controller")) return &owner;
  }
  return nullptr;
}

bool IsControlledBy(const Value& object, const Value& owner) {
  const Value* const controller = ControllerOf(object);
  return controller != nullptr && controller->GetString("uid") == UidOf(owner);
}

absl::Status SetControllerReference(const Value& owner, const kube::Resource& type, Value& object) {
  if (absl::Status status = CheckNamespaces(owner, object); !status.ok()) return status;
  Value reference = MakeReference(owner, type);
  reference.Set("controller", true);
  reference.Set("blockOwnerDeletion", true);
  const Value* const other = ControllerOf(object);
  if (other != nullptr && !SameOwner(*other, reference)) {
    return absl::AlreadyExistsError(
        absl::StrCat("Object ", RequestOf(object).Key(), " is already owned by another ",
                     other->GetString("kind"), " controller ", other->GetString("name")));
  }
  PutReference(std::move(reference), object);
  return absl::OkStatus();
}

absl::Status SetOwnerReference(const Value& owner, const kube::Resource& type, Value& object) {
  if (absl::Status status = CheckNamespaces(owner, object); !status.ok()) return status;
  PutReference(MakeReference(owner, type), object);
  return absl::OkStatus();
}

absl::string_view GroupOf(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == absl::string_view::npos ? absl::string_view() : api_version.substr(0, slash);
}

}  // namespace hekla::controller

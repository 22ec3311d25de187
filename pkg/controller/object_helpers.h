#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/controller/reconciler.h"
#include "pkg/kube/resource.h"

// What controllers do to objects in their JSON form.
// Source: spec kube-machinery 2.8.
namespace hekla::controller {

absl::string_view NameOf(const apis::json::Value& object);
absl::string_view NamespaceOf(const apis::json::Value& object);
absl::string_view UidOf(const apis::json::Value& object);
absl::string_view ResourceVersion(const apis::json::Value& object);
int64_t GenerationOf(const apis::json::Value& object);
// InfinitePast where there is none or it cannot be read.
absl::Time CreationTimeOf(const apis::json::Value& object);
bool IsTerminating(const apis::json::Value& object);
Request RequestOf(const apis::json::Value& object);
// "" where there is none.
absl::string_view LabelOf(const apis::json::Value& object, absl::string_view key);
absl::string_view AnnotationOf(const apis::json::Value& object, absl::string_view key);

bool HasFinalizer(const apis::json::Value& object, absl::string_view finalizer);
// Return whether the list changed.
bool AddFinalizer(apis::json::Value& object, absl::string_view finalizer);
bool RemoveFinalizer(apis::json::Value& object, absl::string_view finalizer);

// The reference marked as controller; nullptr where there is none.
const apis::json::Value* ControllerOf(const apis::json::Value& object);
// By uid.
bool IsControlledBy(const apis::json::Value& object, const apis::json::Value& owner);

// Makes `owner`, an object of kind `type`, the controller of `object`, in place of an older
// reference to it. Errors: kAlreadyExists `Object NS/NAME is already owned by another KIND
// controller OWNER`;
//         kInvalidArgument: a namespaced owner of a cluster-wide object or of one in another
//         namespace.
absl::Status SetControllerReference(const apis::json::Value& owner, const kube::Resource& type,
                                    apis::json::Value& object);
// The same without the claim to be the controller; replaces the reference of equal group, kind and
// name.
absl::Status SetOwnerReference(const apis::json::Value& owner, const kube::Resource& type,
                               apis::json::Value& object);

// "ray.io" of "ray.io/v1"; "" of "v1".
absl::string_view GroupOf(absl::string_view api_version);

}  // namespace hekla::controller

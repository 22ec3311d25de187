#include "pkg/ray/builders/owner.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::ray::RayCluster;

Value ControllerReference(const RayCluster& cluster) {
  return Value::MakeObject({{"apiVersion", apis::ray::kApiVersion},
                            {"kind", apis::ray::kRayClusterKind},
                            {"name", cluster.name()},
                            {"uid", cluster.metadata.uid},
                            {"controller", true},
                            {"blockOwnerDeletion", true}});
}

void SetController(const RayCluster& cluster, Value& object) {
  object.Ensure({"metadata"})
      .Set("ownerReferences", Value::MakeArray({ControllerReference(cluster)}));
}

bool ControlledBy(const RayCluster& cluster, const Value& object) {
  const Value& owners = object.At("metadata").At("ownerReferences");
  if (!owners.is_array()) return false;
  for (const Value& owner : owners.as_array()) {
    if (owner.GetBool("controller")) return owner.GetString("uid") == cluster.metadata.uid;
  }
  return false;
}

}  // namespace hekla::ray::builders

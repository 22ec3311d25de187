#include "pkg/apis/core/volume.h"

namespace hekla::apis::core {
namespace {

using meta::Reader;

constexpr absl::string_view kBetaClassAnnotation = "volume.beta.kubernetes.io/storage-class";

// Members of a volume's spec that hold an object but are no source.
bool IsSource(absl::string_view key) {
  return key != "capacity" && key != "claimRef" && key != "nodeAffinity" && key != "csi";
}

}  // namespace

absl::StatusOr<PersistentVolume> DecodePersistentVolume(const json::Value& value) {
  PersistentVolume pv;
  const Reader root(value);
  meta::ReadObjectMeta(root, pv.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.Object("capacity", [&](Reader& capacity) { capacity.Amount("storage", pv.capacity); });
    spec.Strings("accessModes", pv.access_modes);
    spec.String("storageClassName", pv.storage_class_name);
    spec.String("volumeMode", pv.volume_mode);
    spec.String("volumeAttributesClassName", pv.volume_attributes_class_name);
    spec.Object("claimRef", [&](Reader& ref) {
      ref.String("namespace", pv.claim_ref.ns);
      ref.String("name", pv.claim_ref.name);
      ref.String("uid", pv.claim_ref.uid);
    });
    spec.Object("nodeAffinity", [&](Reader& affinity) {
      ReadNodeSelector(affinity, "required", pv.node_affinity);
    });
    spec.Object("csi", [&](Reader& csi) {
      csi.String("driver", pv.csi_driver);
      csi.String("volumeHandle", pv.csi_volume_handle);
    });
    for (const json::Member& m : spec.value().as_object()) {
      if (m.value.is_object() && IsSource(m.key)) pv.source_kind = m.key;
    }
  });
  root.Object("status", [&](Reader& status) { status.String("phase", pv.phase); });
  const std::string* beta = pv.metadata.annotations.Find(kBetaClassAnnotation);
  if (beta != nullptr) pv.storage_class_name = *beta;
  if (!root.status().ok()) return root.status();
  return pv;
}

std::string PersistentVolumeClaim::ClassName() const {
  const std::string* beta = metadata.annotations.Find(kBetaClassAnnotation);
  if (beta != nullptr) return *beta;
  return storage_class_name.value_or("");
}

absl::StatusOr<PersistentVolumeClaim> DecodePersistentVolumeClaim(const json::Value& value) {
  PersistentVolumeClaim pvc;
  const Reader root(value);
  meta::ReadObjectMeta(root, pvc.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.Strings("accessModes", pvc.access_modes);
    spec.Object("resources", [&](Reader& resources) {
      resources.Object("requests", [&](Reader& r) { r.Amount("storage", pvc.request); });
    });
    spec.String("volumeName", pvc.volume_name);
    if (spec.Has("storageClassName")) {
      spec.String("storageClassName", pvc.storage_class_name.emplace());
    }
    spec.String("volumeMode", pvc.volume_mode);
    spec.String("volumeAttributesClassName", pvc.volume_attributes_class_name);
    meta::ReadLabelSelector(spec, "selector", pvc.selector);
  });
  root.Object("status", [&](Reader& status) { status.String("phase", pvc.phase); });
  if (!root.status().ok()) return root.status();
  return pvc;
}

}  // namespace hekla::apis::core

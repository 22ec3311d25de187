#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/default.h"
#include "pkg/apiserver/kinds/pod_parts.h"
#include "pkg/apiserver/kinds/pod_spec.h"
#include "pkg/apiserver/validation/names.h"

// Claims, volumes, storage classes, drivers.
namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;

void CheckModes(const Value& modes, const std::string& path, FieldErrors& errors) {
  bool alone = false;
  bool shared = false;
  for (size_t i = 0; modes.is_array() && i < modes.size(); ++i) {
    const Value& mode = modes.as_array()[i];
    const std::vector<std::string> known = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                            "ReadWriteOncePod"};
    if (!mode.is_string() || !OneOf(mode.as_string(), known)) {
      errors.NotSupported(path, mode, known);
    }
    (mode == Value("ReadWriteOncePod") ? alone : shared) = true;
  }
  if (alone && shared) {
    errors.Forbidden(path, "may not use ReadWriteOncePod with other access modes");
  }
}

void CheckPositive(const Value& amount, const std::string& path, FieldErrors& errors) {
  if (!amount.is_string()) return;
  const auto quantity = apis::meta::Quantity::Parse(amount.as_string());
  if (quantity.ok() && quantity->nano() <= 0) {
    errors.Invalid(path, amount, "must be greater than zero");
  }
}

void CheckClassName(const Value& spec, const std::string& path, FieldErrors& errors) {
  const absl::string_view name = spec.GetString("storageClassName");
  if (name.empty()) return;
  InvalidEach(Child(path, "storageClassName"), Value(name), validation::DnsSubdomainProblems(name),
              errors);
}

void ClaimDefaults(Value& claim) {
  Value& spec = claim["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "volumeMode", "Filesystem");
}

void ClaimPrepare(Value& claim, const WriteContext&) {
  claim.Set("status", Value::MakeObject({{"phase", "Pending"}}));
}

void ClaimValidate(const Value& claim, FieldErrors& errors) {
  ValidateClaimSpec(claim.At("spec"), "spec", errors);
}

void VolumeDefaults(Value& volume) {
  Value& spec = volume["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "persistentVolumeReclaimPolicy", "Retain");
  Default(spec, "volumeMode", "Filesystem");
  if (Value* path = spec.Find("hostPath"); path != nullptr && path->is_object()) {
    Default(*path, "type", "");
  }
}

void VolumePrepare(Value& volume, const WriteContext& context) {
  volume.Set("status", Value::MakeObject({{"phase", "Pending"},
                                          {"lastPhaseTransitionTime", TimeText(context.now)}}));
}

void VolumeValidate(const Value& volume, FieldErrors& errors) {
  const Value& spec = volume.At("spec");
  if (spec.At("accessModes").size() == 0) errors.Required("spec.accessModes");
  CheckModes(spec.At("accessModes"), "spec.accessModes", errors);
  const Value& capacity = spec.At("capacity");
  if (capacity.size() == 0) errors.Required("spec.capacity");
  if (!capacity.Has("storage") || capacity.size() > 1) {
    errors.NotSupported("spec.capacity", capacity, {"storage"});
  }
  if (capacity.is_object()) {
    for (const Member& m : capacity.as_object()) {
      CheckPositive(m.value, Key("spec.capacity", m.key), errors);
    }
  }
  CheckSupportedIfGiven(spec, "persistentVolumeReclaimPolicy", "spec",
                        {"Delete", "Recycle", "Retain"}, errors);
  int sources = 0;
  for (const char* name : {"hostPath",
                           "gcePersistentDisk",
                           "awsElasticBlockStore",
                           "nfs",
                           "iscsi",
                           "glusterfs",
                           "rbd",
                           "cinder",
                           "cephfs",
                           "flocker",
                           "fc",
                           "flexVolume",
                           "azureFile",
                           "vsphereVolume",
                           "quobyte",
                           "azureDisk",
                           "photonPersistentDisk",
                           "portworxVolume",
                           "scaleIO",
                           "storageos",
                           "local",
                           "csi"}) {
    if (!spec.Has(name)) continue;
    if (++sources > 1) {
      errors.Forbidden(Child("spec", name), "may not specify more than 1 volume type");
    } else if (name == absl::string_view("csi")) {
      CheckRequired(spec.At(name), "driver", "spec.csi", errors);
      CheckRequired(spec.At(name), "volumeHandle", "spec.csi", errors);
    } else if (name == absl::string_view("local")) {
      CheckRequired(spec.At(name), "path", "spec.local", errors);
      if (!spec.Has("nodeAffinity")) {
        errors.Required("spec.nodeAffinity", "Local volume requires node affinity");
      }
    } else if (name == absl::string_view("hostPath")) {
      CheckRequired(spec.At(name), "path", "spec.hostPath", errors);
    }
  }
  if (sources == 0) errors.Required("spec", "must specify a volume type");
  if (spec.At("hostPath").GetString("path") == "/" &&
      spec.GetString("persistentVolumeReclaimPolicy") == "Recycle") {
    errors.Forbidden("spec.persistentVolumeReclaimPolicy",
                     "may not be 'recycle' for a hostPath mount of '/'");
  }
  CheckClassName(spec, "spec", errors);
  CheckSupportedIfGiven(spec, "volumeMode", "spec", {"Block", "Filesystem"}, errors);
}

void StorageClassDefaults(Value& object) {
  Default(object, "reclaimPolicy", "Delete");
  Default(object, "volumeBindingMode", "Immediate");
}

void StorageClassValidate(const Value& object, FieldErrors& errors) {
  const absl::string_view provisioner = object.GetString("provisioner");
  if (provisioner.empty()) {
    errors.Required("provisioner");
  } else {
    InvalidEach("provisioner", object.At("provisioner"),
                validation::QualifiedNameProblems(absl::AsciiStrToLower(provisioner)), errors);
  }
  CheckSupportedIfGiven(object, "reclaimPolicy", "", {"Delete", "Retain"}, errors);
  CheckSupportedIfGiven(object, "volumeBindingMode", "", {"Immediate", "WaitForFirstConsumer"},
                        errors);
}

void CsiDriverDefaults(Value& driver) {
  Value& spec = driver["spec"];
  if (!spec.is_object()) spec = Value::MakeObject();
  Default(spec, "attachRequired", true);
  Default(spec, "podInfoOnMount", false);
  Default(spec, "volumeLifecycleModes", Value::MakeArray({Value("Persistent")}));
  Default(spec, "storageCapacity", false);
  Default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  Default(spec, "requiresRepublish", false);
  Default(spec, "seLinuxMount", false);
}

}  // namespace

void ValidateClaimSpec(const Value& spec, const std::string& path, FieldErrors& errors) {
  if (spec.At("accessModes").size() == 0) {
    errors.Required(Child(path, "accessModes"), "at least 1 access mode is required");
  }
  if (spec.Has("selector")) {
    ValidateSelector(spec.At("selector"), Child(path, "selector"), errors);
  }
  CheckModes(spec.At("accessModes"), Child(path, "accessModes"), errors);
  const Value* storage = spec.At("resources").At("requests").Find("storage");
  const std::string amount = Key(Child(path, "resources"), "storage");
  if (storage == nullptr) {
    errors.Required(amount);
  } else {
    CheckPositive(*storage, amount, errors);
  }
  CheckClassName(spec, path, errors);
  CheckSupportedIfGiven(spec, "volumeMode", path, {"Block", "Filesystem"}, errors);
}

Strategy ClaimStrategy() {
  Strategy s;
  s.set_defaults = ClaimDefaults;
  s.prepare_create = ClaimPrepare;
  s.validate = ClaimValidate;
  return s;
}

Strategy VolumeStrategy() {
  Strategy s;
  s.set_defaults = VolumeDefaults;
  s.prepare_create = VolumePrepare;
  s.validate = VolumeValidate;
  return s;
}

Strategy StorageClassStrategy() {
  Strategy s;
  s.set_defaults = StorageClassDefaults;
  s.validate = StorageClassValidate;
  return s;
}

Strategy CsiDriverStrategy() {
  Strategy s;
  s.set_defaults = CsiDriverDefaults;
  return s;
}

}  // namespace hekla::apiserver::kinds

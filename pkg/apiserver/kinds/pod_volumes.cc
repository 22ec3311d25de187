#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apiserver/kinds/checks.h"
#include "pkg/apiserver/kinds/pod_parts.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

// In the order in which a second source of a volume is reported.
constexpr const char* kSources[] = {"emptyDir",
                                    "hostPath",
                                    "gitRepo",
                                    "gcePersistentDisk",
                                    "awsElasticBlockStore",
                                    "secret",
                                    "nfs",
                                    "iscsi",
                                    "glusterfs",
                                    "persistentVolumeClaim",
                                    "rbd",
                                    "cinder",
                                    "cephfs",
                                    "flocker",
                                    "downwardAPI",
                                    "fc",
                                    "flexVolume",
                                    "azureFile",
                                    "configMap",
                                    "vsphereVolume",
                                    "quobyte",
                                    "azureDisk",
                                    "storageos",
                                    "photonPersistentDisk",
                                    "portworxVolume",
                                    "projected",
                                    "scaleIO",
                                    "csi",
                                    "ephemeral",
                                    "image"};

void CheckMode(const Value& object, absl::string_view name, const std::string& path,
               FieldErrors& errors) {
  const Value& mode = object.At(name);
  if (mode.is_int() && (mode.as_int() < 0 || mode.as_int() > 0777)) {
    errors.Invalid(Child(path, name), mode,
                   "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

// A path that must not hide what the kubelet keeps in names that start with "..".
void CheckLocalPath(const Value& value, const std::string& path, FieldErrors& errors) {
  CheckDescendingPath(value, path, errors);
  if (value.is_string() && absl::StartsWith(value.as_string(), "..") &&
      !absl::StartsWith(value.as_string(), "../")) {
    errors.Invalid(path, value, "must not start with '..'");
  }
}

void CheckItems(const Value& source, const std::string& path, FieldErrors& errors) {
  const Value& items = source.At("items");
  for (size_t i = 0; items.is_array() && i < items.size(); ++i) {
    const Value& item = items.as_array()[i];
    const std::string here = Index(Child(path, "items"), i);
    CheckRequired(item, "key", here, errors);
    if (item.GetString("path").empty()) {
      errors.Required(Child(here, "path"));
    } else {
      CheckLocalPath(item.At("path"), Child(here, "path"), errors);
    }
    CheckMode(item, "mode", here, errors);
  }
}

void CheckDownward(const Value& source, const std::string& path, FieldErrors& errors) {
  const Value& items = source.At("items");
  for (size_t i = 0; items.is_array() && i < items.size(); ++i) {
    const Value& item = items.as_array()[i];
    const std::string here = Index(Child(path, "items"), i);
    if (item.GetString("path").empty()) {
      errors.Required(Child(here, "path"));
    } else {
      CheckLocalPath(item.At("path"), Child(here, "path"), errors);
    }
    const Value* field = item.Find("fieldRef");
    const Value* resource = item.Find("resourceFieldRef");
    if (field != nullptr) {
      CheckFieldRef(*field, Child(path, "fieldRef"), FieldUse::kVolume, errors);
      if (resource != nullptr) {
        errors.Invalid(here, Value("resource"),
                       "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (resource != nullptr) {
      CheckResourceFieldRef(*resource, Child(here, "resourceFieldRef"), FieldUse::kVolume, errors);
    } else {
      errors.Required(here, "one of fieldRef and resourceFieldRef is required");
    }
    CheckMode(item, "mode", here, errors);
  }
}

void CheckToken(const Value& token, const std::string& path, FieldErrors& errors) {
  CheckTokenLife(token.At("expirationSeconds"), Child(path, "expirationSeconds"), errors);
  CheckRequired(token, "path", path, errors);
}

void CheckProjected(const Value& projected, const std::string& path, FieldErrors& errors) {
  CheckMode(projected, "defaultMode", path, errors);
  const Value& sources = projected.At("sources");
  for (size_t i = 0; sources.is_array() && i < sources.size(); ++i) {
    const Value& source = sources.as_array()[i];
    const std::string here = Index(Child(path, "sources"), i);
    int count = 0;
    for (const char* name : {"secret", "configMap", "downwardAPI", "serviceAccountToken",
                             "clusterTrustBundle", "podCertificate"}) {
      const Value* part = source.Find(name);
      if (part == nullptr) continue;
      const std::string at = Child(here, name);
      if (++count > 1) {
        errors.Forbidden(at, "may not specify more than 1 volume type per source");
        continue;
      }
      const absl::string_view kind(name);
      if (kind == "secret" || kind == "configMap") {
        CheckRequired(*part, "name", at, errors);
        CheckItems(*part, at, errors);
      } else if (kind == "downwardAPI") {
        CheckDownward(*part, at, errors);
      } else if (kind == "serviceAccountToken") {
        CheckToken(*part, at, errors);
      }
    }
  }
}

void CheckHostPath(const Value& source, const std::string& path, FieldErrors& errors) {
  if (source.GetString("path").empty()) {
    errors.Required(Child(path, "path"));
    return;
  }
  CheckNoBacksteps(source.At("path"), Child(path, "path"), errors);
  CheckSupportedIfGiven(source, "type", path,
                        {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                         "FileOrCreate", "Socket"},
                        errors);
}

void CheckSource(absl::string_view kind, const Value& source, const std::string& path,
                 FieldErrors& errors) {
  if (kind == "emptyDir") {
    const Value& size = source.At("sizeLimit");
    if (size.is_string() && absl::StartsWith(size.as_string(), "-")) {
      errors.Forbidden(Child(path, "sizeLimit"),
                       "SizeLimit field must be a valid resource quantity");
    }
  } else if (kind == "hostPath") {
    CheckHostPath(source, path, errors);
  } else if (kind == "secret" || kind == "configMap") {
    CheckRequired(source, kind == "secret" ? "secretName" : "name", path, errors);
    CheckMode(source, "defaultMode", path, errors);
    CheckItems(source, path, errors);
  } else if (kind == "persistentVolumeClaim") {
    CheckRequired(source, "claimName", path, errors);
  } else if (kind == "downwardAPI") {
    CheckMode(source, "defaultMode", path, errors);
    CheckDownward(source, path, errors);
  } else if (kind == "projected") {
    CheckProjected(source, path, errors);
  } else if (kind == "nfs") {
    CheckRequired(source, "server", path, errors);
    CheckRequired(source, "path", path, errors);
    const absl::string_view where = source.GetString("path");
    if (!absl::StartsWith(where, "/")) {
      errors.Invalid(Child(path, "path"), Value(where), "must be an absolute path");
    }
  } else if (kind == "csi") {
    CheckRequired(source, "driver", path, errors);
  } else if (kind == "ephemeral") {
    if (source.Has("volumeClaimTemplate")) {
      ValidateClaimSpec(source.At("volumeClaimTemplate").At("spec"),
                        Child(path, "volumeClaimTemplate.spec"), errors);
    } else {
      errors.Required(Child(path, "volumeClaimTemplate"));
    }
  }
}

}  // namespace

std::set<std::string> ValidateVolumes(const Value& volumes, const std::string& path,
                                      FieldErrors& errors) {
  std::set<std::string> names;
  if (!volumes.is_array()) return names;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const Value& volume = volumes.as_array()[i];
    const std::string here = Index(path, i);
    FieldErrors found;
    bool first = true;
    for (const char* kind : kSources) {
      const Value* source = volume.Find(kind);
      if (source == nullptr) continue;
      if (first) {
        CheckSource(kind, *source, Child(here, kind), found);
      } else {
        found.Forbidden(Child(here, kind), "may not specify more than 1 volume type");
      }
      first = false;
    }
    const std::string name(volume.GetString("name"));
    if (name.empty()) {
      found.Required(Child(here, "name"));
    } else {
      InvalidEach(Child(here, "name"), Value(name), validation::DnsLabelProblems(name), found);
    }
    if (names.contains(name)) found.Duplicate(Child(here, "name"), Value(name));
    if (found.empty()) names.insert(name);
    errors.Append(found);
  }
  return names;
}

}  // namespace hekla::apiserver::kinds

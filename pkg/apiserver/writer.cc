#include "pkg/apiserver/writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/admission.h"
#include "pkg/apiserver/apply/apply.h"
#include "pkg/apiserver/collector.h"
#include "pkg/apiserver/kinds/pod_resize.h"
#include "pkg/apiserver/quota.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/validation/metadata.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr int kNameTries = 8;
constexpr size_t kMaxNamePrefix = 58;
constexpr int kMaxRaces = 100;

// Members that the server decides; an update keeps the stored ones where the request has none.
constexpr absl::string_view kKept[] = {"uid", "deletionTimestamp", "deletionGracePeriodSeconds"};
constexpr absl::string_view kFixed[] = {"creationTimestamp", "generation", "selfLink"};

// How often a real server looks at the metadata in an update; each time adds the same findings.
constexpr int kLooksAtMetadata = 4;
constexpr int kLooksAtChange = 2;

// Whether anything but metadata, type and (if given) status differs.
bool SpecChanged(const Value& a, const Value& b, bool ignore_status) {
  const auto counts = [&](const std::string& key) {
    return key != "metadata" && key != "apiVersion" && key != "kind" &&
           !(ignore_status && key == "status");
  };
  for (const Member& m : a.as_object()) {
    if (counts(m.key) && b.At(m.key) != m.value) return true;
  }
  for (const Member& m : b.as_object()) {
    if (counts(m.key) && !a.Has(m.key)) return true;
  }
  return false;
}

bool Equal(const Value& a, const Value& b) {
  // The version is set equal by the caller before.
  return a == b;
}

// Equal UIDs are listed once.
void DeduplicateOwners(Value& metadata) {
  Value* owners = metadata.Find("ownerReferences");
  if (owners == nullptr || !owners->is_array()) return;
  Value::Array kept;
  for (Value& owner : owners->as_array()) {
    const bool seen = std::any_of(kept.begin(), kept.end(), [&](const Value& k) {
      return k.At("uid") == owner.At("uid") && k.At("name") == owner.At("name");
    });
    if (!seen) kept.push_back(std::move(owner));
  }
  owners->as_array() = std::move(kept);
}

validation::MetadataRules RulesOf(const Resource& resource) {
  return {resource.namespaced, resource.name_rule,
          !resource.is_custom() && resource.group != "apiextensions.k8s.io"};
}

void CheckMetadataUpdate(const Resource& resource, const Value& metadata, const Value& old,
                         FieldErrors& errors) {
  FieldErrors alone, against_old;
  validation::ValidateMetadata(metadata, RulesOf(resource), alone);
  validation::ValidateMetadataUpdate(metadata, old, against_old);
  const int looks = resource.is_custom() ? 1 : kLooksAtMetadata;
  for (int look = 0; look < looks; ++look) errors.Append(alone);
  for (int look = 0; look < kLooksAtChange; ++look) errors.Append(against_old);
}

// Custom resources may come with another kind than that of their path. Of these real servers say
// nothing else, under the kind that the object claims.
absl::Status CheckClaimedKind(const Resource& resource, const Value& object) {
  const absl::string_view claimed = object.GetString("kind");
  if (!resource.is_custom() || claimed == resource.kind) return absl::OkStatus();
  FieldErrors errors;
  errors.Invalid("kind", object.At("kind"), absl::StrCat("must be ", resource.kind));
  return Invalid(GroupKind{resource.group, std::string(claimed)},
                 object.At("metadata").GetString("name"), errors);
}

// The findings about a changed object.
FieldErrors ValidateChanged(const Resource& resource, const Value& object, const Value& old,
                            absl::string_view subresource) {
  const kinds::Strategy& strategy = *resource.strategy;
  FieldErrors errors;
  CheckMetadataUpdate(resource, object.At("metadata"), old.At("metadata"), errors);
  if (resource.is_custom()) {
    resource.custom->schema().Validate(object, &old, errors);
  } else if (subresource == "status") {
    if (strategy.validate_status != nullptr) strategy.validate_status(object, old, errors);
  } else if (subresource == "resize") {
    strategy.validate(object, errors);
    kinds::ValidateResize(object, old, errors);
  } else {
    if (strategy.validate != nullptr) strategy.validate(object, errors);
    if (strategy.validate_update != nullptr) strategy.validate_update(object, old, errors);
  }
  return errors;
}

apply::TypeRef TypeOf(const Resource& resource) {
  return resource.is_custom() ? apply::TypeRef::OfCustomResource(resource.custom->openapi())
                              : apply::TypeRef::OfKind(*resource.message);
}

}  // namespace

void WipeSystemMetadata(Value& metadata) {
  for (const char* name : {"uid", "creationTimestamp", "deletionTimestamp", "selfLink",
                           "deletionGracePeriodSeconds", "generation"}) {
    metadata.Remove(name);
  }
}

absl::Status PreconditionFailed(const Resource& resource, absl::string_view ns,
                                absl::string_view name, absl::string_view what) {
  const std::string key = absl::StrCat("/registry/",
                                       resource.group.empty() || !resource.is_custom()
                                           ? resource.plural
                                           : absl::StrCat(resource.group, "/", resource.plural),
                                       "/", KeyOf(resource, ns, name));
  return Conflict(
      resource.group_resource(), name,
      absl::StrCat("StorageError: invalid object, Code: 4, Key: ", key,
                   ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ", what));
}

absl::Status UidMismatch(const Resource& resource, absl::string_view ns, absl::string_view name,
                         absl::string_view wanted, absl::string_view have) {
  return PreconditionFailed(
      resource, ns, name,
      absl::StrCat("UID in precondition: ", wanted, ", UID in object meta: ", have));
}

void Writer::Track(const Resource& resource, const Value* old, Value& object,
                   const WriteParams& params) {
  Value& metadata = object["metadata"];
  const bool recorded = core_.options.track_managed_fields || params.names_manager ||
                        (old != nullptr && old->At("metadata").At("managedFields").size() > 0);
  if (params.managed) return;
  if (!recorded || params.internal) {
    if (old == nullptr) metadata.Remove("managedFields");
    return;
  }
  const std::string& subresource =
      params.managed_subresource.empty() ? params.subresource : params.managed_subresource;
  apply::TrackUpdate(
      TypeOf(resource), old, object,
      {params.field_manager, object.At("apiVersion").as_string(), subresource, core_.Now()});
}

absl::Status Writer::PrepareNew(const Resource& resource, absl::string_view ns, Value& object) {
  const absl::Time now = core_.Now();
  Value& metadata = object["metadata"];
  if (!metadata.GetString("resourceVersion").empty()) {
    return UntypedError("resourceVersion should not be set on objects to be created");
  }
  metadata.Remove("resourceVersion");
  WipeSystemMetadata(metadata);
  if (resource.namespaced) {
    const absl::string_view given = metadata.GetString("namespace");
    if (!given.empty() && given != ns) {
      return BadRequest(
          "the namespace of the provided object does not match the namespace sent on the request");
    }
    metadata.Set("namespace", ns);
  } else {
    metadata.Remove("namespace");
  }
  HEKLA_RETURN_IF_ERROR(AdmitCreate(core_, resource, ns, object));
  Value& meta = object["metadata"];
  meta.Set("uid", core_.NewUid());
  meta.Set("creationTimestamp", TimeText(now));
  if (resource.has_generation) meta.Set("generation", 1);
  DeduplicateOwners(meta);
  if (resource.has_status && !(resource.group.empty() && resource.plural == "nodes")) {
    object.Remove("status");
  }
  if (resource.strategy->prepare_create != nullptr) {
    resource.strategy->prepare_create(object, kinds::WriteContext{now});
  }
  return absl::OkStatus();
}

absl::StatusOr<Written> Writer::Create(const Resource& resource, absl::string_view ns, Value object,
                                       const WriteParams& params) {
  HEKLA_RETURN_IF_ERROR(PrepareNew(resource, ns, object));
  const bool generated = object.At("metadata").GetString("name").empty() &&
                         !object.At("metadata").GetString("generateName").empty();
  for (int attempt = 0;; ++attempt) {
    Value& metadata = object["metadata"];
    if (generated) {
      const absl::string_view prefix = metadata.GetString("generateName").substr(0, kMaxNamePrefix);
      metadata.Set("name", absl::StrCat(prefix, core_.NameSuffix()));
    }
    if (attempt == 0) {
      HEKLA_RETURN_IF_ERROR(CheckClaimedKind(resource, object));
      FieldErrors errors;
      validation::ValidateMetadata(metadata, RulesOf(resource), errors);
      if (resource.is_custom()) {
        resource.custom->schema().Validate(object, nullptr, errors);
      }
      if (resource.strategy->validate != nullptr) resource.strategy->validate(object, errors);
      if (!errors.empty()) {
        GroupKind kind = resource.group_kind();
        if (resource.view == View::kEventsV1) kind.group.clear();
        return Invalid(kind, metadata.GetString("name"), errors);
      }
      if (!params.dry_run) {
        HEKLA_RETURN_IF_ERROR(ChargeQuotas(core_, *this, resource, ns, object));
      }
      if (!resource.graceful) object = Canonical(resource, std::move(object));
      Track(resource, nullptr, object, params);
    }
    const std::string name(object.At("metadata").GetString("name"));
    absl::Status taken;
    if (params.dry_run) {
      if (core_.store.Get(*resource.table, KeyOf(resource, ns, name)) == nullptr) {
        return Written{std::move(object), true};
      }
      taken = absl::AlreadyExistsError(name);
    } else {
      auto stored = core_.store.Create(
          *resource.table, storage::Encode(object, resource.table->fields()), core_.Now());
      if (stored.ok()) {
        object["metadata"].Set("resourceVersion", absl::StrCat((*stored)->resource_version()));
        collector_.Created(resource, object);
        return Written{std::move(object), true};
      }
      if (absl::IsDataLoss(stored.status())) return stored.status();
      taken = stored.status();
    }
    if (generated && attempt + 1 < kNameTries) continue;
    const storage::ObjectPtr other = core_.store.Get(*resource.table, KeyOf(resource, ns, name));
    if (other != nullptr && other->Parse().At("metadata").Has("deletionTimestamp")) {
      Value status = StatusObject(AlreadyExists(resource.group_resource(), name));
      status.Set("message", absl::StrCat("object is being deleted: ", status.GetString("message")));
      return ApiError(std::move(status));
    }
    if (generated) {
      Value status = StatusObject(AlreadyExists(resource.group_resource(), name));
      status.Set("message", absl::StrCat(status.GetString("message"),
                                         ", the server was not able to generate a unique name for "
                                         "the object"));
      return ApiError(std::move(status));
    }
    return AlreadyExists(resource.group_resource(), name);
  }
}

absl::Status Writer::CheckVersion(const Resource& resource, absl::string_view name,
                                  const Value& old, Value& object, const UpdateOptions& options,
                                  bool& unconditional) {
  Value& metadata = object["metadata"];
  const Value& current = old.At("metadata").At("resourceVersion");
  const absl::string_view given = metadata.GetString("resourceVersion");
  if (given.find_first_not_of("0123456789") != absl::string_view::npos) {
    return UntypedError(
        absl::StrCat("strconv.ParseUint: parsing ", apis::json::Quote(given), ": invalid syntax"));
  }
  unconditional = given.empty() || given == "0";
  if (unconditional) {
    if (options.needs_version && (resource.is_custom() || !resource.unconditional_update)) {
      FieldErrors errors;
      errors.Invalid("metadata.resourceVersion", Value(0), "must be specified for an update");
      return Invalid(GroupKind{resource.group, resource.plural}, name, errors);
    }
  } else if (Value(given) != current) {
    return StaleWrite(resource.group_resource(), name);
  }
  metadata.Set("resourceVersion", current);
  return absl::OkStatus();
}

absl::Status Writer::PrepareChanged(const Resource& resource, const Value& old, Value& object,
                                    const WriteParams& params) {
  Value& metadata = object["metadata"];
  const Value& old_metadata = old.At("metadata");
  const bool status = params.subresource == "status";
  if (status && resource.is_custom()) {
    Value fields = metadata.At("managedFields");
    metadata = old_metadata;
    if (fields.is_array()) metadata.Set("managedFields", std::move(fields));
  }
  for (absl::string_view name : kKept) {
    const Value& given = metadata.At(name);
    if (!given.is_null() && given != Value("")) continue;
    if (const Value* value = old_metadata.Find(name)) {
      metadata.Set(name, *value);
    } else {
      metadata.Remove(name);
    }
  }
  for (absl::string_view name : kFixed) {
    if (const Value* value = old_metadata.Find(name)) {
      metadata.Set(name, *value);
    } else {
      metadata.Remove(name);
    }
  }
  DeduplicateOwners(metadata);
  if (status) {
    for (const Member& m : old.as_object()) {
      if (m.key != "metadata" && m.key != "status") object.Set(m.key, m.value);
    }
    for (size_t i = 0; i < object.as_object().size();) {
      const std::string& key = object.as_object()[i].key;
      if (key != "status" && !old.Has(key)) {
        object.Remove(key);
      } else {
        ++i;
      }
    }
    if (!resource.is_custom() && old_metadata.Has("ownerReferences")) {
      metadata.Set("ownerReferences", old_metadata.At("ownerReferences"));
    } else if (!resource.is_custom()) {
      metadata.Remove("ownerReferences");
    }
  } else if (resource.has_status) {
    if (const Value* value = old.Find("status")) {
      object.Set("status", *value);
    } else {
      object.Remove("status");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Written> Writer::Update(const Resource& resource, absl::string_view ns,
                                       absl::string_view name, const Change& change,
                                       const UpdateOptions& options, const WriteParams& params) {
  const std::string key = KeyOf(resource, ns, name);
  for (int race = 0; race < kMaxRaces; ++race) {
    const storage::ObjectPtr current = core_.store.Get(*resource.table, key);
    if (current == nullptr) {
      if (!options.create_missing) return NotFound(resource.group_resource(), name);
      HEKLA_ASSIGN_OR_RETURN(Value object, change(nullptr));
      object["metadata"].Set("name", name);
      object["metadata"].Remove("resourceVersion");
      return Create(resource, ns, std::move(object), params);
    }
    const Value old = current->Parse();
    HEKLA_ASSIGN_OR_RETURN(Value object, change(&old));
    const std::string uid(object.At("metadata").GetString("uid"));
    if (!uid.empty() && uid != current->uid() && options.needs_version) {
      return UidMismatch(resource, ns, name, uid, current->uid());
    }
    bool unconditional = false;
    HEKLA_RETURN_IF_ERROR(CheckVersion(resource, name, old, object, options, unconditional));
    HEKLA_RETURN_IF_ERROR(PrepareChanged(resource, old, object, params));
    if (params.subresource.empty()) {
      HEKLA_RETURN_IF_ERROR(AdmitUpdate(core_, resource, old, object));
    }
    const kinds::Strategy& strategy = *resource.strategy;
    const bool status = params.subresource == "status";
    if (status && strategy.prepare_status != nullptr) {
      strategy.prepare_status(object, old, kinds::WriteContext{core_.Now()});
    }
    if (params.subresource == "resize") {
      kinds::PrepareResize(object, old);
    } else if (!status && strategy.prepare_update != nullptr) {
      strategy.prepare_update(object, old);
    }
    if (!status || !resource.is_custom()) object = Canonical(resource, std::move(object));
    if (resource.has_generation && SpecChanged(object, old, resource.has_status)) {
      object["metadata"].Set("generation", old.At("metadata").GetInt("generation") + 1);
    }
    HEKLA_RETURN_IF_ERROR(CheckClaimedKind(resource, object));
    const FieldErrors errors = ValidateChanged(resource, object, old, params.subresource);
    if (!errors.empty()) return Invalid(resource.group_kind(), name, errors);
    Track(resource, &old, object, params);
    if (Equal(object, old) || params.dry_run) return Written{std::move(object), false};

    const Value& metadata = object.At("metadata");
    const bool leaves =
        metadata.Has("deletionTimestamp") && metadata.At("finalizers").size() == 0 &&
        metadata.GetInt("deletionGracePeriodSeconds", 0) == 0 &&
        !(resource.plural == "namespaces" && object.At("spec").At("finalizers").size() > 0);
    if (leaves) {
      const auto gone = core_.store.Delete(*resource.table, key, current->resource_version());
      if (gone.ok()) {
        collector_.Removed(resource, old);
        return Written{std::move(object), false};
      }
      if (absl::IsDataLoss(gone.status())) return gone.status();
      continue;
    }
    const auto stored =
        core_.store.Update(*resource.table, storage::Encode(object, resource.table->fields()),
                           current->resource_version(), core_.Now());
    if (stored.ok()) {
      object["metadata"].Set("resourceVersion", absl::StrCat((*stored)->resource_version()));
      collector_.Changed(resource, old, object);
      return Written{std::move(object), false};
    }
    if (absl::IsDataLoss(stored.status())) return stored.status();
    if (!unconditional && !options.retry) return StaleWrite(resource.group_resource(), name);
  }
  return StaleWrite(resource.group_resource(), name);
}

absl::StatusOr<Value> Writer::Amend(
    const Resource& resource, absl::string_view key,
    const std::function<absl::StatusOr<Value>(const Value&)>& change) {
  for (int race = 0; race < kMaxRaces; ++race) {
    const storage::ObjectPtr current = core_.store.Get(*resource.table, key);
    if (current == nullptr) {
      const size_t slash = key.find('/');
      return NotFound(resource.group_resource(),
                      slash == absl::string_view::npos ? key : key.substr(slash + 1));
    }
    const Value old = current->Parse();
    HEKLA_ASSIGN_OR_RETURN(Value object, change(old));
    if (object.is_null() || object == old) return old;
    const auto stored =
        core_.store.Update(*resource.table, storage::Encode(object, resource.table->fields()),
                           current->resource_version(), core_.Now());
    if (stored.ok()) {
      object["metadata"].Set("resourceVersion", absl::StrCat((*stored)->resource_version()));
      return object;
    }
    if (absl::IsDataLoss(stored.status())) return stored.status();
  }
  return StaleWrite(resource.group_resource(), key);
}

}  // namespace hekla::apiserver

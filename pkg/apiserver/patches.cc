#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/apply/apply.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/resources.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

// The error of a patch function as the server answers it.
absl::Status PatchError(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kFailedPrecondition:
      return ApiError(FailureStatus(422, "Invalid", error.message(), Value::MakeObject()));
    case absl::StatusCode::kInternal:
      return UntypedError(error.message());
    case absl::StatusCode::kResourceExhausted:
      return TooLargeBody(error.message());
    default:
      return BadRequest(error.message());
  }
}

// The error of a body that is no patch: broken JSON, or a value of another kind. Strategic merge
// reports it without the words in front.
absl::Status BodyError(absl::string_view body, const Value* parsed, absl::string_view media) {
  std::string text = parsed == nullptr
                         ? patch::GoSyntaxError(body)
                         : absl::StrCat("json: cannot unmarshal ",
                                        parsed->is_array()    ? "array"
                                        : parsed->is_string() ? "string"
                                        : parsed->is_bool()   ? "bool"
                                                              : "number",
                                        " into Go value of type map[string]interface {}");
  if (media == kStrategicPatch) return BadRequest(text);
  return BadRequest(absl::StrCat("error decoding patch: ", text));
}

// A patched object keeps the name and the namespace that the request names.
absl::Status CheckName(const Value& object, absl::string_view ns, absl::string_view name) {
  const Value& metadata = object.At("metadata");
  const absl::string_view given_ns = metadata.GetString("namespace");
  if (!ns.empty() && !given_ns.empty() && given_ns != ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  const absl::string_view given = metadata.GetString("name");
  if (given == name) return absl::OkStatus();
  if (given.empty()) {
    return BadRequest(absl::StrCat("the name of the object (", name,
                                   " based on URL) was undeterminable: name must be provided"));
  }
  return BadRequest(absl::StrCat("the name of the object (", given,
                                 ") does not match the name on the URL (", name, ")"));
}

bool IsPatchType(absl::string_view media) {
  return media == kJsonPatch || media == kMergePatch || media == kStrategicPatch ||
         media == kApplyPatch;
}

}  // namespace

absl::StatusOr<Value> Resources::ApplyPatch(const Call& call, const Value& present,
                                            const Value& patch, absl::string_view media) {
  const Resource& resource = *call.resource;
  if (media == kJsonPatch) {
    absl::StatusOr<Value> out = patch::ApplyJsonPatch(present, patch);
    if (!out.ok()) return PatchError(out.status());
    return out;
  }
  if (media == kMergePatch) return patch::ApplyMergePatch(present, patch);
  absl::StatusOr<Value> out = patch::ApplyStrategicMergePatch(*resource.message, present, patch);
  if (!out.ok()) return PatchError(out.status());
  return out;
}

absl::StatusOr<Answer> Resources::Patch(Call& call) {
  const Resource& resource = *call.resource;
  const std::string media = ParseMediaType(call.request->headers.Get("Content-Type")).type;
  if (!IsPatchType(media) && !resource.is_custom()) {
    return ApiError(FailureStatus(415, "UnsupportedMediaType", "415: Unsupported Media Type",
                                  Value::MakeObject()));
  }
  if (resource.is_custom() && (!IsPatchType(media) || media == kStrategicPatch)) {
    return UnsupportedMediaType(absl::StrCat(kJsonPatch, ", ", kMergePatch, ", ", kApplyPatch));
  }
  if (call.request->body.size() > kMaxBodyBytes) {
    return TooLargeBody(absl::StrCat("Request entity too large: limit is ", kMaxBodyBytes));
  }
  if (media == kApplyPatch) return ServerSideApply(call);
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "PatchOptions"));
  if (query.has_force) {
    FieldErrors errors;
    errors.Forbidden("force", "may not be specified for non-apply patch");
    return Invalid(GroupKind{"meta.k8s.io", "PatchOptions"}, "", errors);
  }
  std::vector<std::string> duplicates;
  const absl::StatusOr<Value> patch =
      apis::json::ParseReportingDuplicates(call.request->body, duplicates);
  // A patch of what is not there is not found, whatever is in it.
  if (core_.store.Get(*resource.table, KeyOf(resource, call.ns, call.name)) == nullptr) {
    return NotFound(resource.group_resource(), call.name);
  }
  if (!patch.ok()) return BodyError(call.request->body, nullptr, media);
  if (media != kJsonPatch && !patch->is_object()) {
    return BodyError(call.request->body, &*patch, media);
  }
  Writer::UpdateOptions options;
  options.needs_version = false;
  options.retry = patch->is_array() || patch->At("metadata").GetString("resourceVersion").empty();
  bool warned = false;
  HEKLA_ASSIGN_OR_RETURN(
      Written written,
      writer_.Update(
          resource, call.ns, call.name,
          [&](const Value* present) -> absl::StatusOr<Value> {
            RawBody body;
            HEKLA_ASSIGN_OR_RETURN(body.value,
                                   ApplyPatch(call, ToView(resource, *present), *patch, media));
            body.duplicates = duplicates;
            if (!body.value.is_object()) {
              return BadRequest("the patch does not leave an object");
            }
            HEKLA_ASSIGN_OR_RETURN(Value object, DecodeObject(resource, body, query.validation,
                                                              warned ? nullptr : &call.warnings));
            warned = true;
            HEKLA_RETURN_IF_ERROR(CheckName(object, call.ns, call.name));
            return object;
          },
          options, query.params));
  return Written2Answer(call, written);
}

absl::StatusOr<Answer> Resources::ServerSideApply(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "PatchOptions"));
  if (!query.has_manager) {
    FieldErrors errors;
    errors.Required("fieldManager", "is required for apply patch");
    return Invalid(GroupKind{"meta.k8s.io", "PatchOptions"}, "", errors);
  }
  absl::StatusOr<yaml::Document> document = yaml::ParseOne(call.request->body);
  if (!document.ok() || !document->value.is_object()) {
    return BadRequest(absl::StrCat("error decoding YAML: ", document.status().message()));
  }
  RawBody body;
  body.value = std::move(document->value);
  if (body.value.At("metadata").At("managedFields").size() > 0) {
    return BadRequest("metadata.managedFields must be nil");
  }
  if (body.value.GetString("kind") != resource.kind) {
    HEKLA_RETURN_IF_ERROR(DecodeObject(resource, body, FieldValidation::kIgnore, nullptr).status());
  }
  const Value patch = body.value;
  const apply::TypeRef type = resource.is_custom()
                                  ? apply::TypeRef::OfCustomResource(resource.custom->openapi())
                                  : apply::TypeRef::OfKind(*resource.message);
  const apply::Manager manager{query.params.field_manager, resource.api_version(), call.subresource,
                               core_.Now()};
  query.params.managed = true;
  Writer::UpdateOptions options;
  options.needs_version = false;
  options.create_missing = call.subresource.empty();
  options.retry = patch.At("metadata").GetString("resourceVersion").empty();
  HEKLA_ASSIGN_OR_RETURN(
      Written written,
      writer_.Update(
          resource, call.ns, call.name,
          [&](const Value* present) -> absl::StatusOr<Value> {
            std::optional<Value> live;
            if (present != nullptr) live = ToView(resource, *present);
            absl::StatusOr<apply::ApplyOutcome> outcome = apply::Apply(
                type, live.has_value() ? &*live : nullptr, patch, manager, query.force);
            if (!outcome.ok()) return PatchError(outcome.status());
            if (!outcome->conflicts.empty()) {
              Value details =
                  Value::MakeObject({{"causes", apply::ConflictCauses(outcome->conflicts)}});
              return ApiError(FailureStatus(
                  409, "Conflict", apply::ConflictMessage(outcome->conflicts), std::move(details)));
            }
            RawBody merged;
            merged.value = *std::move(outcome->object);
            HEKLA_RETURN_IF_ERROR(CheckName(merged.value, call.ns, call.name));
            return DecodeObject(resource, merged, FieldValidation::kIgnore, nullptr);
          },
          options, query.params));
  return Written2Answer(call, written);
}

}  // namespace hekla::apiserver

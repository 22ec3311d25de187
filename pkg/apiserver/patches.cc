#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apiserver/apply/apply.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/resources.h"
#include "pkg/apiserver/schema/decode.h"
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

// A Go map as `%v` prints it.
std::string GoText(const Value& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.as_string();
  std::vector<std::string> parts;
  if (value.is_array()) {
    for (const Value& item : value.as_array()) parts.push_back(GoText(item));
    return absl::StrCat("[", absl::StrJoin(parts, " "), "]");
  }
  if (!value.is_object()) return apis::json::Dump(value);
  for (const apis::json::Member& m : value.as_object()) {
    parts.push_back(absl::StrCat(m.key, ":", GoText(m.value)));
  }
  std::sort(parts.begin(), parts.end());
  return absl::StrCat("map[", absl::StrJoin(parts, " "), "]");
}

// How the real server words that a strategic patch does not fit: it compares values, not JSON.
std::string Misfit(absl::string_view why) {
  if (!absl::StartsWith(why, "json: cannot unmarshal ")) return std::string(why);
  const size_t type = why.rfind(" of type ");
  const absl::string_view wanted = type == absl::string_view::npos ? "" : why.substr(type + 9);
  const bool map = absl::StrContains(why, "unmarshal object");
  const bool list = absl::StrContains(why, "unmarshal array");
  if (list && absl::StartsWith(wanted, "map[")) return "cannot restore map from slice";
  if (list) return absl::StrCat("unrecognized type: ", wanted);
  if (map && absl::StartsWith(wanted, "[]")) return "cannot restore slice from map";
  return std::string(why);
}

// The patched object does not decode: the answer quotes what was to be decoded.
absl::Status UndecodableResult(const absl::Status& error, const Value& patched, const Value& patch,
                               absl::string_view media) {
  absl::string_view why = error.message();
  if (const size_t at = why.find(" cannot be handled as a "); at != absl::string_view::npos) {
    why = why.substr(why.find(": ", at) + 2);
  }
  const bool strategic = media == kStrategicPatch;
  FieldErrors errors;
  errors.Invalid("patch", Value(strategic ? GoText(patch) : apis::json::Dump(patched)),
                 strategic ? Misfit(why) : std::string(why));
  return Invalid(GroupKind{}, "", errors);
}

// A patch of a custom resource leaves it what it is.
absl::Status CheckCustomType(const Resource& resource, const Value& object,
                             absl::string_view name) {
  if (!object.At("kind").is_string() || object.GetString("kind").empty()) {
    FieldErrors errors;
    const std::string text = apis::json::Dump(object);
    errors.Invalid("patch", Value(text), absl::StrCat("Object 'Kind' is missing in '", text, "'"));
    return Invalid(GroupKind{}, "", errors);
  }
  FieldErrors errors;
  if (object.GetString("kind") != resource.kind) {
    errors.Invalid("kind", object.At("kind"), absl::StrCat("must be ", resource.kind));
  }
  if (object.GetString("apiVersion") != resource.api_version()) {
    errors.Invalid("apiVersion", object.At("apiVersion"),
                   absl::StrCat("must be ", resource.api_version()));
  }
  if (errors.empty()) return absl::OkStatus();
  return Invalid(GroupKind{resource.group, std::string(object.GetString("kind"))}, name, errors);
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
  absl::StatusOr<Value> patch =
      apis::json::ParseReportingDuplicates(call.request->body, duplicates);
  // A patch of what is not there is not found, whatever is in it.
  if (core_.store.Get(*resource.table, KeyOf(resource, call.ns, call.name)) == nullptr) {
    return NotFound(resource.group_resource(), call.name);
  }
  if (!patch.ok()) return BodyError(call.request->body, nullptr, media);
  if (media == kMergePatch && patch->is_null()) return BadRequest("Invalid JSON Patch");
  if (media == kStrategicPatch && patch->is_null()) *patch = Value::MakeObject();
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
            if (resource.is_custom()) {
              HEKLA_RETURN_IF_ERROR(CheckCustomType(resource, body.value, call.name));
            }
            absl::StatusOr<Value> object =
                DecodeObject(resource, body, query.validation, warned ? nullptr : &call.warnings);
            if (!object.ok()) return UndecodableResult(object.status(), body.value, *patch, media);
            warned = true;
            HEKLA_RETURN_IF_ERROR(CheckName(*object, call.ns, call.name));
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
  const std::string& text = call.request->body;
  absl::StatusOr<yaml::Document> document = text.empty() ? yaml::Document{} : yaml::ParseOne(text);
  if (!document.ok()) {
    return BadRequest(absl::StrCat("error decoding YAML: ", document.status().message()));
  }
  RawBody body;
  body.value = std::move(document->value);
  if (body.value.is_null()) body.value = Value::MakeObject();
  if (!body.value.is_object()) {
    return BadRequest(
        absl::StrCat("error decoding YAML: error unmarshaling JSON: while decoding JSON: json: "
                     "cannot unmarshal ",
                     schema::GoKind(body.value), " into Go value of type map[string]interface {}"));
  }
  const absl::string_view given_kind = body.value.GetString("kind");
  const absl::string_view given_version = body.value.GetString("apiVersion");
  if (given_kind != resource.kind || given_version != resource.api_version()) {
    return BadRequest(
        absl::StrCat("invalid object type: ", absl::StrContains(given_version, '/') ? "" : "/",
                     given_version, ", Kind=", given_kind));
  }
  if (body.value.At("metadata").At("managedFields").size() > 0) {
    return BadRequest("metadata.managedFields must be nil");
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

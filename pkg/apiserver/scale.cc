#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/apiserver/resources.h"
#include "pkg/apiserver/schema/schema.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Member;
using apis::json::Value;

const Value* Walk(const Value& object, const std::vector<std::string>& path) {
  const Value* at = &object;
  for (const std::string& step : path) {
    at = at->Find(step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

crd::ScalePaths PathsOf(const Resource& resource) {
  if (resource.is_custom() && resource.custom->scale().has_value())
    return *resource.custom->scale();
  return {{"spec", "replicas"}, {"status", "replicas"}, {}};
}

// A label selector object as text, sorted as it stands.
std::string SelectorText(const Value& selector) {
  const Value& labels = selector.Has("matchLabels") ? selector.At("matchLabels") : selector;
  std::string out;
  if (!labels.is_object()) return out;
  for (const Member& m : labels.as_object()) {
    if (!m.value.is_string()) continue;
    absl::StrAppend(&out, out.empty() ? "" : ",", m.key, "=", m.value.as_string());
  }
  return out;
}

}  // namespace

absl::StatusOr<Value> Resources::ScaleOf(const Resource& resource, const Value& object) const {
  const crd::ScalePaths paths = PathsOf(resource);
  const Value& from = object.At("metadata");
  Value metadata = Value::MakeObject();
  for (const char* name : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Value* value = from.Find(name)) metadata.Set(name, *value);
  }
  Value scale = Value::MakeObject(
      {{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}, {"metadata", std::move(metadata)}});
  const Value* wanted = Walk(object, paths.spec_replicas);
  if (wanted == nullptr && resource.is_custom()) {
    return InternalError(absl::StrCat("the spec replicas field \".",
                                      paths.spec_replicas.empty() ? "" : "spec.replicas",
                                      "\" does not exist"));
  }
  Value spec = Value::MakeObject();
  if (wanted != nullptr && wanted->is_int() && wanted->as_int() != 0) {
    spec.Set("replicas", *wanted);
  }
  scale.Set("spec", std::move(spec));
  const Value* have = Walk(object, paths.status_replicas);
  Value status =
      Value::MakeObject({{"replicas", have != nullptr && have->is_int() ? *have : Value(0)}});
  if (!paths.label_selector.empty()) {
    const Value* selector = Walk(object, paths.label_selector);
    if (selector != nullptr && selector->is_string()) status.Set("selector", *selector);
  } else if (!resource.is_custom()) {
    const std::string selector = SelectorText(object.At("spec").At("selector"));
    if (!selector.empty()) status.Set("selector", selector);
  }
  scale.Set("status", std::move(status));
  return scale;
}

absl::StatusOr<Answer> Resources::GetScale(Call& call) {
  const Resource& resource = *call.resource;
  const storage::ObjectPtr object =
      core_.store.Get(*resource.table, KeyOf(resource, call.ns, call.name));
  if (object == nullptr) return NotFound(resource.group_resource(), call.name);
  HEKLA_ASSIGN_OR_RETURN(Value scale, ScaleOf(resource, object->Parse()));
  return ValueAnswer(200, scale, call);
}

absl::StatusOr<Answer> Resources::WriteScale(Call& call, const Writer::Change& scale_change,
                                             bool retry) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "UpdateOptions"));
  Writer::UpdateOptions options;
  options.needs_version = false;
  options.retry = retry;
  query.params.subresource.clear();
  query.params.managed_subresource = "scale";
  HEKLA_ASSIGN_OR_RETURN(
      Written written,
      writer_.Update(
          resource, call.ns, call.name,
          [&](const Value* present) -> absl::StatusOr<Value> {
            HEKLA_ASSIGN_OR_RETURN(Value before, ScaleOf(resource, *present));
            HEKLA_ASSIGN_OR_RETURN(Value scale, scale_change(&before));
            const absl::string_view version = scale.At("metadata").GetString("resourceVersion");
            if (!version.empty() && Value(version) != before.At("metadata").At("resourceVersion")) {
              return StaleWrite(resource.group_resource(), call.name);
            }
            const int64_t replicas = scale.At("spec").GetInt("replicas");
            if (replicas < 0) {
              FieldErrors errors;
              errors.Invalid("spec.replicas", scale.At("spec").At("replicas"),
                             "must be greater than or equal to 0");
              return Invalid(GroupKind{"autoscaling", "Scale"}, call.name, errors);
            }
            Value changed = *present;
            Value* at = &changed;
            const crd::ScalePaths paths = PathsOf(resource);
            for (const std::string& step : paths.spec_replicas) {
              if (!at->is_object()) *at = Value::MakeObject();
              at = &(*at)[step];
            }
            *at = Value(static_cast<long long>(replicas));
            return changed;
          },
          options, query.params));
  HEKLA_ASSIGN_OR_RETURN(Value scale, ScaleOf(resource, written.object));
  return ValueAnswer(200, scale, call);
}

absl::StatusOr<Answer> Resources::PutScale(Call& call) {
  HEKLA_ASSIGN_OR_RETURN(Value scale, DecodeKind("autoscaling/v1", "Scale", *call.request));
  const absl::string_view name = scale.At("metadata").GetString("name");
  if (!name.empty() && name != call.name) {
    return BadRequest(absl::StrCat("the name of the object (", name,
                                   ") does not match the name on the URL (", call.name, ")"));
  }
  return WriteScale(
      call, [&](const Value*) -> absl::StatusOr<Value> { return scale; }, false);
}

absl::StatusOr<Answer> Resources::PatchScale(Call& call) {
  const std::string media = ParseMediaType(call.request->headers.Get("Content-Type")).type;
  const absl::StatusOr<Value> patch = apis::json::Parse(call.request->body);
  if (!patch.ok()) return BadRequest(patch::DecodingError(call.request->body));
  if (media != kJsonPatch && media != kMergePatch && media != kStrategicPatch) {
    return ApiError(FailureStatus(415, "UnsupportedMediaType", "415: Unsupported Media Type",
                                  Value::MakeObject()));
  }
  return WriteScale(
      call,
      [&](const Value* before) -> absl::StatusOr<Value> {
        if (media != kJsonPatch) return patch::ApplyMergePatch(*before, *patch);
        absl::StatusOr<Value> out = patch::ApplyJsonPatch(*before, *patch);
        if (out.ok()) return out;
        return ApiError(FailureStatus(422, "Invalid", out.status().message(), Value::MakeObject()));
      },
      true);
}

absl::StatusOr<Answer> Resources::FinalizeNamespace(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(RawBody body,
                         ReadBody(*call.request, resource.api_version(), resource.kind));
  HEKLA_ASSIGN_OR_RETURN(Value given,
                         DecodeObject(resource, body, FieldValidation::kIgnore, nullptr));
  const Value finalizers = given.At("spec").At("finalizers");
  HEKLA_ASSIGN_OR_RETURN(
      Value object,
      writer_.Amend(resource, call.name, [&](const Value& present) -> absl::StatusOr<Value> {
        Value changed = present;
        Value& spec = changed.Ensure({"spec"});
        if (finalizers.size() > 0) {
          spec.Set("finalizers", finalizers);
        } else {
          spec.Remove("finalizers");
        }
        return changed;
      }));
  if (object.At("metadata").Has("deletionTimestamp") &&
      object.At("spec").At("finalizers").size() == 0 &&
      object.At("metadata").At("finalizers").size() == 0) {
    HEKLA_RETURN_IF_ERROR(deleter_.Delete(resource, "", call.name, DeleteParams()).status());
  }
  return ObjectAnswer(core_, 200, apis::json::Dump(object), call);
}

}  // namespace hekla::apiserver

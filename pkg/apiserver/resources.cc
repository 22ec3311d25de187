#include "pkg/apiserver/resources.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

std::string TextOf(const Value& object) { return apis::json::Dump(object); }

absl::Status CheckNames(const Call& call, Value& object) {
  Value& metadata = object["metadata"];
  const absl::string_view name = metadata.GetString("name");
  if (name != call.name) {
    if (name.empty()) {
      return BadRequest(absl::StrCat("the name of the object (", call.name,
                                     " based on URL) was undeterminable: name must be provided"));
    }
    return BadRequest(absl::StrCat("the name of the object (", name,
                                   ") does not match the name on the URL (", call.name, ")"));
  }
  if (!call.resource->namespaced) {
    metadata.Remove("namespace");
    return absl::OkStatus();
  }
  const absl::string_view ns = metadata.GetString("namespace");
  if (!ns.empty() && ns != call.ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata.Set("namespace", call.ns);
  return absl::OkStatus();
}

void Deprecation(Call& call) {
  const Resource& r = *call.resource;
  if (!r.is_custom() || r.custom->deprecation_warning().empty()) return;
  const std::string& text = r.custom->deprecation_warning();
  call.warnings.push_back(
      text == "deprecated" ? absl::StrCat(r.api_version(), " ", r.kind, " is deprecated") : text);
}

}  // namespace

absl::StatusOr<Answer> Resources::Written2Answer(Call& call, const Written& written) {
  return ObjectAnswer(core_, written.created ? 201 : 200, TextOf(written.object), call);
}

absl::StatusOr<Answer> Resources::Get(Call& call) {
  const Resource& resource = *call.resource;
  const storage::ObjectPtr object =
      core_.store.Get(*resource.table, KeyOf(resource, call.ns, call.name));
  const absl::string_view version = call.Query("resourceVersion");
  if (version.find_first_not_of("0123456789") != absl::string_view::npos) {
    return UntypedError(absl::StrCat("resourceVersion: Invalid value: ", apis::json::Quote(version),
                                     ": strconv.ParseUint: parsing ", apis::json::Quote(version),
                                     ": invalid syntax"));
  }
  if (object == nullptr) return NotFound(resource.group_resource(), call.name);
  Deprecation(call);
  return ObjectAnswer(core_, 200, object->json(), call);
}

absl::StatusOr<Answer> Resources::Create(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "CreateOptions"));
  HEKLA_ASSIGN_OR_RETURN(RawBody body, ReadBody(*call.request, resource.api_version(),
                                                resource.kind, resource.is_custom()));
  HEKLA_ASSIGN_OR_RETURN(Value object,
                         DecodeObject(resource, body, query.validation, &call.warnings));
  Deprecation(call);
  HEKLA_ASSIGN_OR_RETURN(Written written,
                         writer_.Create(resource, call.ns, std::move(object), query.params));
  return Written2Answer(call, written);
}

absl::StatusOr<Answer> Resources::Put(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(WriteQuery query, ReadWriteQuery(call, "UpdateOptions"));
  HEKLA_ASSIGN_OR_RETURN(RawBody body, ReadBody(*call.request, resource.api_version(),
                                                resource.kind, resource.is_custom()));
  HEKLA_ASSIGN_OR_RETURN(Value object,
                         DecodeObject(resource, body, query.validation, &call.warnings));
  HEKLA_RETURN_IF_ERROR(CheckNames(call, object));
  Deprecation(call);
  Writer::UpdateOptions options;
  options.create_missing = resource.create_on_update && call.subresource.empty();
  HEKLA_ASSIGN_OR_RETURN(Written written,
                         writer_.Update(
                             resource, call.ns, call.name,
                             [&object](const Value*) -> absl::StatusOr<Value> { return object; },
                             options, query.params));
  return Written2Answer(call, written);
}

absl::StatusOr<Answer> Resources::Delete(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(DeleteParams params, ReadDeleteParams(call));
  HEKLA_ASSIGN_OR_RETURN(Deleted deleted, deleter_.Delete(resource, call.ns, call.name, params));
  if (!deleted.gone || resource.returns_deleted) {
    return ObjectAnswer(core_, 200, TextOf(deleted.object), call);
  }
  Value details = Value::MakeObject({{"name", call.name}});
  if (!resource.group.empty()) details.Set("group", resource.group);
  details.Set("kind", resource.plural);
  details.Set("uid", deleted.object.At("metadata").At("uid"));
  return ValueAnswer(200, SuccessStatus(std::move(details)), call);
}

absl::StatusOr<Answer> Resources::DeleteCollection(Call& call) {
  const Resource& resource = *call.resource;
  HEKLA_ASSIGN_OR_RETURN(DeleteParams params, ReadDeleteParams(call));
  HEKLA_ASSIGN_OR_RETURN(ListParams list_params, ReadListParams(call));
  storage::ListQuery query;
  query.filter = list_params.filter;
  HEKLA_ASSIGN_OR_RETURN(storage::ListResult list, core_.store.List(*resource.table, query));
  for (const storage::ObjectPtr& object : list.objects) {
    const auto deleted = deleter_.Delete(resource, object->ns(), object->name(), params);
    if (!deleted.ok() && !absl::IsNotFound(deleted.status())) return deleted.status();
  }
  return ListAnswer(core_, list, "", false, call);
}

}  // namespace hekla::apiserver

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/printing/table.h"
#include "pkg/apiserver/request.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

Answer Render(int status, const Value& value, const Accept& accept) {
  Answer out;
  out.status = status;
  if (accept.yaml) {
    out.content_type = std::string(kYaml);
    out.body = yaml::Dump(value);
  } else {
    out.body = accept.pretty ? apis::json::DumpPretty(value) : apis::json::Dump(value);
    out.body += '\n';
  }
  return out;
}

Value ParseText(absl::string_view json) {
  absl::StatusOr<Value> value = apis::json::Parse(json);
  return value.ok() ? *std::move(value) : Value();
}

Value MakePartial(const Value& object, const Accept& accept) {
  return printing::PartialObjectMetadata(object, absl::StrCat("meta.k8s.io/", accept.version));
}

printing::TableOptions OptionsFor(const Core& core, const Call& call) {
  printing::TableOptions options;
  options.now = core.Now();
  printing::ParseIncludeObject(call.Query("includeObject"), options.include_object);
  options.api_version = absl::StrCat("meta.k8s.io/", call.accept.version);
  return options;
}

Value ListMeta(const storage::ListResult& list, absl::string_view continue_token,
               bool count_remaining) {
  Value metadata = Value::MakeObject({{"resourceVersion", absl::StrCat(list.resource_version)}});
  if (!continue_token.empty()) metadata.Set("continue", continue_token);
  if (!continue_token.empty() && count_remaining) {
    metadata.Set("remainingItemCount", static_cast<long long>(list.remaining));
  }
  return metadata;
}

}  // namespace

const printing::Printer& PrinterOf(const Resource& resource) {
  return resource.is_custom() ? resource.custom->printer()
                              : printing::BuiltInPrinter(resource.group, resource.kind);
}

Answer ValueAnswer(int status, const Value& value, const Call& call) {
  return Render(status, value, call.accept);
}

Answer StatusAnswer(const Value& status, const Call& call) {
  Answer out = Render(static_cast<int>(status.GetInt("code", 200)), status, call.accept);
  const int64_t retry = status.At("details").GetInt("retryAfterSeconds");
  if (retry > 0) out.headers.emplace_back("Retry-After", absl::StrCat(retry));
  return out;
}

Answer ErrorAnswer(const absl::Status& error, const Call& call) {
  return StatusAnswer(StatusObject(error), call);
}

Answer ObjectAnswer(const Core& core, int status, absl::string_view stored_json, const Call& call) {
  const Resource& resource = *call.resource;
  if (call.accept.as == Accept::As::kTable) {
    const Value object = ToView(resource, ParseText(stored_json));
    const Value* const objects[] = {&object};
    Value metadata =
        Value::MakeObject({{"resourceVersion", object.At("metadata").At("resourceVersion")}});
    return Render(status,
                  printing::MakeTable(PrinterOf(resource), objects, std::move(metadata),
                                      OptionsFor(core, call)),
                  call.accept);
  }
  if (call.accept.as == Accept::As::kPartial) {
    return Render(status, MakePartial(ToView(resource, ParseText(stored_json)), call.accept),
                  call.accept);
  }
  if (call.accept.yaml || call.accept.pretty) {
    return Render(status, ToView(resource, ParseText(stored_json)), call.accept);
  }
  Answer out;
  out.status = status;
  out.body = ToViewText(resource, stored_json);
  out.body += '\n';
  return out;
}

Answer ListAnswer(const Core& core, const storage::ListResult& list,
                  absl::string_view continue_token, bool count_remaining, const Call& call) {
  const Resource& resource = *call.resource;
  Value metadata = ListMeta(list, continue_token, count_remaining);
  if (call.accept.as == Accept::As::kTable) {
    std::vector<Value> objects;
    std::vector<const Value*> pointers;
    objects.reserve(list.objects.size());
    for (const storage::ObjectPtr& object : list.objects) {
      objects.push_back(ToView(resource, object->Parse()));
      pointers.push_back(&objects.back());
    }
    return Render(200,
                  printing::MakeTable(PrinterOf(resource), pointers, std::move(metadata),
                                      OptionsFor(core, call)),
                  call.accept);
  }
  const bool partial = call.accept.as == Accept::As::kPartial;
  Answer out;
  if (partial) {
    absl::StrAppend(&out.body, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":",
                    apis::json::Quote(absl::StrCat("meta.k8s.io/", call.accept.version)));
  } else {
    absl::StrAppend(&out.body, "{\"kind\":", apis::json::Quote(resource.list_kind),
                    ",\"apiVersion\":", apis::json::Quote(resource.api_version()));
  }
  absl::StrAppend(&out.body, ",\"metadata\":", apis::json::Dump(metadata), ",\"items\":[");
  size_t bytes = out.body.size() + 8;
  for (const storage::ObjectPtr& object : list.objects) bytes += object->json().size() + 1;
  out.body.reserve(bytes);
  bool first = true;
  for (const storage::ObjectPtr& object : list.objects) {
    if (!first) out.body += ',';
    first = false;
    if (partial) {
      out.body += apis::json::Dump(MakePartial(ToView(resource, object->Parse()), call.accept));
    } else if (resource.is_custom()) {
      out.body += ToViewText(resource, object->json());
    } else if (resource.view == View::kStored) {
      // Items of built-in lists carry no kind of their own.
      absl::StrAppend(&out.body, "{", object->json_without_kind());
    } else {
      Value item = ToView(resource, object->Parse());
      item.Remove("kind");
      item.Remove("apiVersion");
      out.body += apis::json::Dump(item);
    }
  }
  out.body += "]}\n";
  if (call.accept.yaml || call.accept.pretty) return Render(200, ParseText(out.body), call.accept);
  return out;
}

storage::Transform WatchTransform(const Core& core, const Call& call) {
  const ResourcePtr resource = call.resource;
  if (call.accept.as == Accept::As::kTable) {
    printing::TableOptions options = OptionsFor(core, call);
    // Columns are described once, in the first event.
    return [resource, options, &core](absl::string_view json) mutable {
      const Value object = ToView(*resource, ParseText(json));
      const Value* const objects[] = {&object};
      options.now = core.Now();
      Value metadata =
          Value::MakeObject({{"resourceVersion", object.At("metadata").At("resourceVersion")}});
      std::string out = apis::json::Dump(
          printing::MakeTable(PrinterOf(*resource), objects, std::move(metadata), options));
      options.column_definitions = false;
      return out;
    };
  }
  if (call.accept.as == Accept::As::kPartial) {
    return [resource, accept = call.accept](absl::string_view json) {
      return apis::json::Dump(MakePartial(ToView(*resource, ParseText(json)), accept));
    };
  }
  if (resource->view == View::kStored) return nullptr;
  return [resource](absl::string_view json) { return ToViewText(*resource, json); };
}

}  // namespace hekla::apiserver

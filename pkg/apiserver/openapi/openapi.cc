#include "pkg/apiserver/openapi/openapi.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/openapi/schemas.h"
#include "pkg/apiserver/openapi/v2_wire.h"
#include "pkg/util/random.h"

namespace hekla::apiserver::openapi {
namespace {

using apis::json::Value;

constexpr char kTitle[] = "Kubernetes";
constexpr char kGvk[] = "x-kubernetes-group-version-kind";

std::string Base(const Resource& resource) {
  return resource.group.empty() ? absl::StrCat("/api/", resource.version)
                                : absl::StrCat("/apis/", resource.group, "/", resource.version);
}

Value Parameter(absl::string_view name, absl::string_view in, absl::string_view type) {
  Value out = Value::MakeObject({{"name", name}, {"in", in}});
  if (in == "path") out.Set("required", true);
  out.Set("schema", Value::MakeObject({{"type", type}}));
  return out;
}

Value WriteParameters(bool patch) {
  Value out = Value::MakeArray({Parameter("dryRun", "query", "string"),
                                Parameter("fieldManager", "query", "string"),
                                Parameter("fieldValidation", "query", "string")});
  if (patch) out.Append(Parameter("force", "query", "boolean"));
  return out;
}

Value Body(std::initializer_list<const char*> types, const Value& schema) {
  Value content = Value::MakeObject();
  for (const char* type : types) {
    content.Set(type, Value::MakeObject({{"schema", schema}}));
  }
  return Value::MakeObject({{"content", std::move(content)}});
}

// The operations of one resource, in paths.
class PathWriter {
 public:
  PathWriter(const Resource& resource, const SchemaSet& schemas, std::string name, Value& paths)
      : resource_(resource),
        item_(schemas.Ref(name)),
        list_(schemas.Ref(absl::StrCat(name, "List"))),
        paths_(paths) {}

  void Write() {
    std::string collection = Base(resource_);
    Value parameters = Value::MakeArray();
    if (resource_.namespaced) {
      absl::StrAppend(&collection, "/namespaces/{namespace}");
      parameters.Append(Parameter("namespace", "path", "string"));
      Value everywhere = Value::MakeObject();
      if (Has("list")) everywhere.Set("get", Operation("list", list_, Value()));
      const std::string path = absl::StrCat(Base(resource_), "/", resource_.plural);
      if (everywhere.size() > 0) paths_.Set(path, std::move(everywhere));
    }
    absl::StrAppend(&collection, "/", resource_.plural);
    Value all = Value::MakeObject();
    if (Has("list")) all.Set("get", Operation("list", list_, Value()));
    if (Has("create")) all.Set("post", Operation("post", item_, Body({"*/*"}, item_)));
    if (Has("deletecollection")) {
      all.Set("delete", Operation("deletecollection", Value::MakeObject(), Value()));
    }
    if (parameters.size() > 0) all.Set("parameters", parameters);
    paths_.Set(collection, std::move(all));
    parameters.Append(Parameter("name", "path", "string"));
    Value one = Item();
    if (Has("delete")) one.Set("delete", Operation("delete", Value::MakeObject(), Value()));
    one.Set("parameters", parameters);
    const std::string item = absl::StrCat(collection, "/{name}");
    paths_.Set(item, std::move(one));
    if (!resource_.has_status) return;
    Value status = Item();
    status.Set("parameters", std::move(parameters));
    paths_.Set(absl::StrCat(item, "/status"), std::move(status));
  }

 private:
  bool Has(absl::string_view verb) const {
    return std::find(resource_.verbs.begin(), resource_.verbs.end(), verb) != resource_.verbs.end();
  }

  Value Item() const {
    Value one = Value::MakeObject();
    if (Has("get")) one.Set("get", Operation("get", item_, Value()));
    if (Has("update")) one.Set("put", Operation("put", item_, Body({"*/*"}, item_)));
    if (Has("patch")) {
      const Value any = Value::MakeObject({{"type", "object"}});
      one.Set("patch",
              Operation("patch", item_,
                        Body({"application/apply-patch+yaml", "application/json-patch+json",
                              "application/merge-patch+json"},
                             any)));
    }
    return one;
  }

  Value Operation(absl::string_view action, const Value& answer, Value body) const {
    Value out = Value::MakeObject({{"x-kubernetes-action", action}});
    out.Set(kGvk, Value::MakeObject({{"group", resource_.group},
                                     {"kind", resource_.kind},
                                     {"version", resource_.version}}));
    if (!body.is_null()) {
      out.Set("parameters", WriteParameters(action == "patch"));
      out.Set("requestBody", std::move(body));
    }
    Value ok = Value::MakeObject({{"description", "OK"}});
    if (answer.size() > 0) ok.Set("content", Body({"application/json"}, answer).At("content"));
    out.Set("responses", Value::MakeObject({{"200", std::move(ok)}}));
    return out;
  }

  const Resource& resource_;
  const Value item_, list_;
  Value& paths_;
};

Value Info() { return Value::MakeObject({{"title", kTitle}, {"version", "unversioned"}}); }

SchemaSet AllSchemas(std::span<const Resource> resources, Dialect dialect,
                     std::vector<std::string>& names) {
  SchemaSet set(dialect);
  for (const Resource& resource : resources) names.push_back(set.Add(resource));
  return set;
}

}  // namespace

Value V3Index(std::span<const IndexEntry> entries) {
  Value paths = Value::MakeObject();
  for (const IndexEntry& entry : entries) {
    paths.Set(entry.path,
              Value::MakeObject({{"serverRelativeURL", absl::StrCat("/openapi/v3/", entry.path,
                                                                    "?hash=", entry.hash)}}));
  }
  return Value::MakeObject({{"paths", std::move(paths)}});
}

Value V3Document(std::span<const Resource> resources) {
  std::vector<std::string> names;
  const SchemaSet set = AllSchemas(resources, Dialect::kV3, names);
  Value paths = Value::MakeObject();
  for (size_t i = 0; i < resources.size(); ++i) {
    if (!names[i].empty()) PathWriter(resources[i], set, names[i], paths).Write();
  }
  Value schemas = Value::MakeObject();
  for (const auto& [name, schema] : set.schemas()) schemas.as_object().push_back({name, schema});
  return Value::MakeObject({{"openapi", "3.0.0"},
                            {"info", Info()},
                            {"paths", std::move(paths)},
                            {"components", Value::MakeObject({{"schemas", std::move(schemas)}})}});
}

Value V2Document(std::span<const Resource> resources) {
  std::vector<std::string> names;
  const SchemaSet set = AllSchemas(resources, Dialect::kV2, names);
  Value definitions = Value::MakeObject();
  for (const auto& [name, schema] : set.schemas()) {
    definitions.as_object().push_back({name, schema});
  }
  return Value::MakeObject({{"swagger", "2.0"},
                            {"info", Info()},
                            {"paths", Value::MakeObject()},
                            {"definitions", std::move(definitions)}});
}

std::string V2Protobuf(std::span<const Resource> resources) {
  return EncodeV2(V2Document(resources));
}

std::string Fingerprint(absl::string_view text) {
  return absl::AsciiStrToUpper(
      absl::StrCat(absl::Hex(util::StableHash(text), absl::kZeroPad16),
                   absl::Hex(util::StableHash(text, 1), absl::kZeroPad16)));
}

}  // namespace hekla::apiserver::openapi

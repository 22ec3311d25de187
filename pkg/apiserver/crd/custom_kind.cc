#include "pkg/apiserver/crd/custom_kind.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver::crd {
namespace {

using apis::json::Member;
using apis::json::Value;

// ".spec.replicas" as member names.
std::vector<std::string> Steps(absl::string_view path) {
  return absl::StrSplit(path, '.', absl::SkipEmpty());
}

// A name of the kind: plural and singular are DNS labels, the kinds are but for their capitals.
void CheckName(const Value& names, absl::string_view name, FieldErrors& errors) {
  const std::string path = Child("spec.names", name);
  const absl::string_view value = names.GetString(name);
  if (value.empty()) {
    errors.Required(path);
    return;
  }
  const bool kind = absl::EndsWithIgnoreCase(name, "kind");
  const std::string text = kind ? absl::AsciiStrToLower(value) : std::string(value);
  for (const std::string& p : validation::Dns1035LabelProblems(text)) {
    errors.Invalid(path, Value(value),
                   kind ? absl::StrCat("may have mixed case, but should otherwise match: ", p) : p);
  }
}

// A version in which objects may still be stored stays.
void CheckStored(const Value& versions, const Value& stored, FieldErrors& errors) {
  for (size_t i = 0; stored.is_array() && i < stored.size(); ++i) {
    const Value& name = stored.as_array()[i];
    const bool kept =
        versions.is_array() && std::any_of(versions.as_array().begin(), versions.as_array().end(),
                                           [&](const Value& v) { return v.At("name") == name; });
    if (kept || !name.is_string()) continue;
    errors.Invalid(Index("status.storedVersions", i), name,
                   absl::StrCat("missing from spec.versions; ", name.as_string(),
                                " was previously a storage version, and must remain in "
                                "spec.versions until a storage migration ensures no data remains "
                                "persisted in ",
                                name.as_string(), " and removes ", name.as_string(),
                                " from status.storedVersions"));
  }
}

void CheckSchemaTypes(const Value& schema, const std::string& path, bool root,
                      FieldErrors& errors) {
  if (!schema.is_object()) return;
  const bool typed = !schema.GetString("type").empty();
  if (!typed && root) {
    errors.Required(Child(path, "type"), "must not be empty at the root");
  } else if (!typed && !schema.GetBool("x-kubernetes-int-or-string") &&
             !schema.GetBool("x-kubernetes-preserve-unknown-fields")) {
    errors.Required(Child(path, "type"), absl::EndsWith(path, "items")
                                             ? "must not be empty for specified array items"
                                             : "must not be empty for specified object fields");
  }
  const std::vector<std::string> types = {"array",  "boolean", "integer",
                                          "number", "object",  "string"};
  if (typed && std::find(types.begin(), types.end(), schema.GetString("type")) == types.end()) {
    errors.NotSupported(Child(path, "type"), schema.At("type"), types);
  }
  if (schema.GetString("type") == "array" && !schema.Has("items")) {
    errors.Required(Child(path, "items"), "must be specified");
  }
  if (schema.GetString("x-kubernetes-list-type") == "map" &&
      schema.At("x-kubernetes-list-map-keys").size() == 0) {
    errors.Required(Child(path, "x-kubernetes-list-map-keys"),
                    "must not be empty if x-kubernetes-list-type is map");
  }
  if (const Value& rules = schema.At("x-kubernetes-validations"); rules.is_array()) {
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!rules.as_array()[i].GetString("rule").empty()) continue;
      errors.Required(Child(Index(Child(path, "x-kubernetes-validations"), i), "rule"),
                      "rule is not specified");
    }
  }
  if (root && typed && schema.GetString("type") != "object") {
    errors.Invalid(Child(path, "type"), schema.At("type"), "must be object at the root");
  }
  if (const Value& properties = schema.At("properties"); properties.is_object()) {
    for (const Member& m : properties.as_object()) {
      CheckSchemaTypes(m.value, Key(Child(path, "properties"), m.key), false, errors);
    }
  }
  CheckSchemaTypes(schema.At("items"), Child(path, "items"), false, errors);
  CheckSchemaTypes(schema.At("additionalProperties"), Child(path, "additionalProperties"), false,
                   errors);
}

void CheckVersions(const Value& spec, FieldErrors& errors) {
  const Value& versions = spec.At("versions");
  if (!versions.is_array() || versions.size() == 0) {
    errors.Invalid("spec.versions", versions,
                   "must have exactly one version marked as storage version");
    return;
  }
  int stored = 0;
  for (size_t i = 0; i < versions.size(); ++i) {
    const Value& version = versions.as_array()[i];
    const std::string path = Index("spec.versions", i);
    for (const std::string& p : validation::Dns1035LabelProblems(version.GetString("name"))) {
      errors.Invalid(Child(path, "name"), version.At("name"), p);
    }
    if (version.GetBool("storage")) ++stored;
    const Value* schema = version.FindPath({"schema", "openAPIV3Schema"});
    if (schema == nullptr) {
      errors.Required(Child(path, "schema.openAPIV3Schema"));
      continue;
    }
    CheckSchemaTypes(*schema,
                     versions.size() == 1 ? "spec.validation.openAPIV3Schema"
                                          : Child(path, "schema.openAPIV3Schema"),
                     true, errors);
  }
  if (stored != 1) {
    errors.Invalid("spec.versions", versions,
                   "must have exactly one version marked as storage version");
  }
}

}  // namespace

std::shared_ptr<const CustomKind> CustomKind::Compile(const Value& version) {
  auto kind = std::make_shared<CustomKind>();
  if (const Value* schema = version.FindPath({"schema", "openAPIV3Schema"})) {
    kind->openapi_ = *schema;
  }
  kind->schema_ = Structural::Compile(kind->openapi_);
  kind->printer_ = printing::MakeCustomPrinter(version.At("additionalPrinterColumns"));
  kind->has_status_ = version.FindPath({"subresources", "status"}) != nullptr;
  if (const Value* scale = version.FindPath({"subresources", "scale"})) {
    kind->scale_ = ScalePaths{Steps(scale->GetString("specReplicasPath")),
                              Steps(scale->GetString("statusReplicasPath")),
                              Steps(scale->GetString("labelSelectorPath"))};
  }
  if (const Value& list = version.At("selectableFields"); list.is_array()) {
    for (const Value& item : list.as_array()) {
      const absl::string_view path = absl::StripPrefix(item.GetString("jsonPath"), ".");
      kind->selectable_.push_back({std::string(path), Steps(path), ""});
    }
  }
  if (version.GetBool("deprecated")) {
    kind->deprecation_ = std::string(version.GetString("deprecationWarning", "deprecated"));
  }
  return kind;
}

void SetDefinitionDefaults(Value& crd) {
  Value& spec = crd["spec"];
  if (!spec.is_object()) return;
  Value& names = spec["names"];
  if (names.is_null()) names = Value::MakeObject();
  const std::string kind(names.GetString("kind"));
  if (names.GetString("singular").empty()) names.Set("singular", absl::AsciiStrToLower(kind));
  if (names.GetString("listKind").empty() && !kind.empty()) {
    names.Set("listKind", absl::StrCat(kind, "List"));
  }
  if (!spec.Has("conversion")) {
    spec.Set("conversion", Value::MakeObject({{"strategy", "None"}}));
  }
}

void ValidateDefinition(const Value& crd, FieldErrors& errors) {
  const Value& spec = crd.At("spec");
  const Value& names = spec.At("names");
  const std::string wanted = absl::StrCat(names.GetString("plural"), ".", spec.GetString("group"));
  // Asked when the definition is new; later its parts cannot change.
  const bool fresh = !crd.At("status").At("conditions").is_array();
  if (fresh && crd.At("metadata").GetString("name") != wanted) {
    errors.Invalid("metadata.name", crd.At("metadata").At("name"),
                   "must be spec.names.plural+\".\"+spec.group");
  }
  if (spec.GetString("group").empty()) {
    errors.Required("spec.group");
  } else if (const auto problems = validation::DnsSubdomainProblems(spec.GetString("group"));
             !problems.empty()) {
    for (const std::string& p : problems) errors.Invalid("spec.group", spec.At("group"), p);
  } else if (!absl::StrContains(spec.GetString("group"), '.')) {
    errors.Invalid("spec.group", spec.At("group"), "should be a domain with at least one dot");
  }
  const absl::string_view scope = spec.GetString("scope");
  if (scope.empty()) {
    errors.Required("spec.scope");
  } else if (scope != "Cluster" && scope != "Namespaced") {
    errors.NotSupported("spec.scope", spec.At("scope"), {"Cluster", "Namespaced"});
  }
  CheckVersions(spec, errors);
  CheckName(names, "plural", errors);
  CheckName(names, "singular", errors);
  CheckName(names, "kind", errors);
  CheckName(names, "listKind", errors);
  if (!names.GetString("kind").empty() && names.At("kind") == names.At("listKind")) {
    errors.Invalid("spec.names.listKind", names.At("listKind"),
                   "kind and listKind may not be the same");
  }
  if (spec.GetBool("preserveUnknownFields")) {
    errors.Invalid("spec.preserveUnknownFields", Value(true),
                   "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                   "spec.versions[*].schema instead");
  }
  const absl::string_view strategy = spec.At("conversion").GetString("strategy");
  if (strategy != "None" && strategy != "Webhook" && !strategy.empty()) {
    errors.NotSupported("spec.conversion.strategy", Value(strategy), {"None", "Webhook"});
  }
  const Value& stored = crd.At("status").At("storedVersions");
  if (stored.size() == 0) {
    errors.Invalid("status.storedVersions", Value(), "must have at least one stored version");
  }
  CheckStored(spec.At("versions"), stored, errors);
}

}  // namespace hekla::apiserver::crd

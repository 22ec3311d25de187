#include "pkg/apiserver/openapi/openapi.h"

#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/protobuf/wire.h"
#include "pkg/apiserver/schema/schema.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver::openapi {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

Resource Of(const std::string& group, const std::string& version, const std::string& kind,
            const std::string& plural, bool namespaced) {
  Resource out;
  out.group = group;
  out.version = version;
  out.kind = kind;
  out.plural = plural;
  out.namespaced = namespaced;
  out.has_status = true;
  out.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  return out;
}

// All references of a document lead somewhere.
void CheckRefs(const Value& value, const Value& schemas, absl::string_view prefix, int& count) {
  if (value.is_array()) {
    for (const Value& item : value.as_array()) CheckRefs(item, schemas, prefix, count);
  }
  if (!value.is_object()) return;
  if (const Value* ref = value.Find("$ref"); ref != nullptr && ref->is_string()) {
    const absl::string_view name = absl::StripPrefix(ref->as_string(), prefix);
    EXPECT_TRUE(schemas.Has(name)) << ref->as_string();
    ++count;
  }
  for (const auto& member : value.as_object()) CheckRefs(member.value, schemas, prefix, count);
}

TEST(OpenApiTest, IndexNamesTheDocuments) {
  const IndexEntry entries[] = {{"api/v1", "A1"}, {"apis/batch/v1", "B2"}};
  EXPECT_EQ(V3Index(entries), *Parse(R"({"paths":{
      "api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=A1"},
      "apis/batch/v1":{"serverRelativeURL":"/openapi/v3/apis/batch/v1?hash=B2"}}})"));
}

// What kubectl looks for before it lets the server validate (spec kube-machinery 3.3).
TEST(OpenApiTest, PatchTellsThatTheServerValidatesFields) {
  const Resource resources[] = {Of("", "v1", "Pod", "pods", true),
                                Of("", "v1", "Node", "nodes", false)};
  const Value document = V3Document(resources);
  for (const char* path : {"/api/v1/namespaces/{namespace}/pods/{name}", "/api/v1/nodes/{name}",
                           "/api/v1/nodes/{name}/status"}) {
    const Value& patch = document.At("paths").At(path).At("patch");
    ASSERT_TRUE(patch.is_object()) << path;
    EXPECT_EQ(patch.At("x-kubernetes-group-version-kind").GetString("version"), "v1");
    bool found = false;
    for (const Value& parameter : patch.At("parameters").as_array()) {
      found = found || (parameter.GetString("name") == "fieldValidation" &&
                        parameter.GetString("in") == "query");
    }
    EXPECT_TRUE(found) << path;
    EXPECT_FALSE(
        patch.At("requestBody").At("content").Has("application/strategic-merge-patch+json"));
  }
  EXPECT_TRUE(document.At("paths").Has("/api/v1/pods"));
  EXPECT_TRUE(document.At("paths").At("/api/v1/namespaces/{namespace}/pods").Has("post"));
}

TEST(OpenApiTest, SchemasCarryKindsListsAndKeys) {
  const Resource resources[] = {Of("", "v1", "Pod", "pods", true)};
  const Value document = V3Document(resources);
  const Value& schemas = document.At("components").At("schemas");
  const Value& pod = schemas.At("io.k8s.api.core.v1.Pod");
  EXPECT_EQ(pod.At("x-kubernetes-group-version-kind"),
            *Parse(R"([{"group":"","kind":"Pod","version":"v1"}])"));
  EXPECT_TRUE(schemas.Has("io.k8s.api.core.v1.PodList"));
  EXPECT_TRUE(schemas.Has("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  EXPECT_EQ(schemas.At("io.k8s.api.core.v1.PodSpec").At("properties").At("containers"),
            *Parse(R"({"type":"array","items":{
      "$ref":"#/components/schemas/io.k8s.api.core.v1.Container"},
      "x-kubernetes-list-map-keys":["name"],"x-kubernetes-list-type":"map",
      "x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"})"));
  EXPECT_EQ(schemas.At("io.k8s.api.core.v1.Container").At("required"), *Parse(R"(["name"])"));
  EXPECT_EQ(schemas.At("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
            *Parse(R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})"));
  int references = 0;
  CheckRefs(document, schemas, "#/components/schemas/", references);
  EXPECT_GT(references, 200);
}

TEST(OpenApiTest, EveryBuiltInKindHasADocument) {
  for (const schema::KindEntry& entry : schema::AllKinds()) {
    const Resource resources[] = {Of(entry.group, entry.version, entry.kind, "things", true)};
    for (const bool v3 : {true, false}) {
      const Value document = v3 ? V3Document(resources) : V2Document(resources);
      const Value& schemas =
          v3 ? document.At("components").At("schemas") : document.At("definitions");
      EXPECT_GT(schemas.size(), 2u) << entry.kind;
      int references = 0;
      CheckRefs(document, schemas, v3 ? "#/components/schemas/" : "#/definitions/", references);
      // kubectl explain cannot print a property without any schema.
      for (const auto& schema : schemas.as_object()) {
        const Value& properties = schema.value.At("properties");
        if (!properties.is_object()) continue;
        for (const auto& property : properties.as_object()) {
          EXPECT_GT(property.value.size(), 0u) << schema.key << "." << property.key;
        }
      }
    }
  }
}

TEST(OpenApiTest, CustomResourcesBringTheirSchema) {
  std::ifstream file("config/crd/scheduling.volcano.sh_podgroups.yaml");
  ASSERT_TRUE(file);
  const auto crd = yaml::ParseOne(
      std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
  ASSERT_TRUE(crd.ok());
  const Value& version = crd->value.At("spec").At("versions").as_array()[0];
  Resource resource = Of("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", true);
  resource.has_status = false;
  resource.crd_schema = &version.At("schema").At("openAPIV3Schema");
  const Resource resources[] = {resource};
  const Value document = V3Document(resources);
  const Value& schema =
      document.At("components").At("schemas").At("sh.volcano.scheduling.v1beta1.PodGroup");
  EXPECT_EQ(schema.At("properties").At("spec").At("properties").At("minMember").GetString("type"),
            "integer");
  EXPECT_TRUE(schema.At("properties").At("metadata").Has("$ref"));
  EXPECT_FALSE(schema.GetString("description").empty());
  const Value& paths = document.At("paths");
  const std::string item =
      "/apis/scheduling.volcano.sh/v1beta1/namespaces/{namespace}/podgroups/{name}";
  EXPECT_TRUE(paths.Has(item));
  EXPECT_FALSE(paths.Has(item + "/status"));
}

TEST(OpenApiTest, V2InProtobuf) {
  const Resource resources[] = {Of("", "v1", "ConfigMap", "configmaps", true)};
  const Value document = V2Document(resources);
  const std::string bytes = V2Protobuf(resources);
  protobuf::WireReader reader(bytes);
  std::set<std::string> names;
  while (reader.Next()) {
    if (reader.number() == 1) {
      EXPECT_EQ(reader.bytes(), "2.0");
    }
    if (reader.number() != 9) continue;
    protobuf::WireReader definitions(reader.bytes());
    while (definitions.Next()) {
      protobuf::WireReader named(definitions.bytes());
      ASSERT_TRUE(named.Next());
      names.insert(std::string(named.bytes()));
    }
    EXPECT_TRUE(definitions.ok());
  }
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(names.size(), document.At("definitions").size());
  EXPECT_TRUE(names.count("io.k8s.api.core.v1.ConfigMap"));
}

TEST(OpenApiTest, FingerprintsAreStableAndTellTextsApart) {
  EXPECT_EQ(Fingerprint("a").size(), 32u);
  EXPECT_EQ(Fingerprint("a"), Fingerprint("a"));
  EXPECT_NE(Fingerprint("a"), Fingerprint("b"));
  for (const char c : Fingerprint("x"))
    EXPECT_TRUE((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
}

}  // namespace
}  // namespace hekla::apiserver::openapi

#include "pkg/apiserver/definitions.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using ::testing::HasSubstr;
using testing::J;
using testing::TestServer;

constexpr char kCrds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr char kThings[] = "/apis/example.com/v1/namespaces/default/things";

std::string Crd(const std::string& plural, const std::string& kind, const std::string& version_more,
                const std::string& schema) {
  return absl::StrCat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)",
      R"("metadata":{"name":")", plural, R"(.example.com"},"spec":{"group":"example.com",)",
      R"("scope":"Namespaced","names":{"plural":")", plural, R"(","kind":")", kind,
      R"("},"versions":[{"name":"v1","served":true,"storage":true)", version_more,
      R"(,"schema":{"openAPIV3Schema":)", schema, "}}]}}");
}

constexpr char kOpenSchema[] =
    R"({"type":"object","properties":{"spec":{"type":"object",)"
    R"("x-kubernetes-preserve-unknown-fields":true},"status":{"type":"object",)"
    R"("x-kubernetes-preserve-unknown-fields":true}}})";
constexpr char kStatus[] = R"(,"subresources":{"status":{}})";

std::string Thing(const std::string& name, const std::string& rest) {
  return absl::StrCat(R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":")", name,
                      "\"}", rest.empty() ? "" : ",", rest, "}");
}

TEST(DefinitionTest, IsServedAtOnceAndSaysSo) {
  TestServer s;
  ASSERT_EQ(s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema)).status, 201);
  const Value crd = s.Get(absl::StrCat(kCrds, "/things.example.com")).body;
  const Value& status = crd.At("status");
  EXPECT_EQ(status.At("storedVersions"), J(R"(["v1"])"));
  EXPECT_EQ(status.At("acceptedNames").GetString("singular"), "thing");
  EXPECT_EQ(status.At("acceptedNames").GetString("listKind"), "ThingList");
  for (const Value& c : status.At("conditions").as_array()) {
    EXPECT_EQ(c.GetString("status"), "True") << c.GetString("type");
  }
  EXPECT_EQ(s.Post(kThings, Thing("a", "")).status, 201);
  EXPECT_EQ(s.Get("/apis/example.com/v1/things").body.GetString("kind"), "ThingList");
  EXPECT_EQ(s.Get("/apis/example.com").status, 200);
}

TEST(DefinitionTest, NamesInUseAreNotAccepted) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  s.Post(kCrds, Crd("others", "Thing", "", kOpenSchema));
  const Value crd = s.Get(absl::StrCat(kCrds, "/others.example.com")).body;
  const Value& names = crd.At("status").At("conditions").as_array()[0];
  EXPECT_EQ(names.GetString("type"), "NamesAccepted");
  EXPECT_EQ(names.GetString("status"), "False");
  EXPECT_THAT(std::string(names.GetString("message")), HasSubstr("is already in use"));
  EXPECT_EQ(s.Get("/apis/example.com/v1/namespaces/default/others").status, 404);
}

TEST(DefinitionTest, GoesWithItsObjectsAndEndsTheirWatches) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  s.Post(kThings, Thing("a", ""));
  const auto stream = s.Watch("/apis/example.com/v1/things?watch=1");
  EXPECT_EQ(s.Delete(absl::StrCat(kCrds, "/things.example.com")).status, 200);
  EXPECT_EQ(s.Get(absl::StrCat(kCrds, "/things.example.com")).status, 404);
  EXPECT_EQ(s.Get("/apis/example.com/v1/things").status, 404);
  EXPECT_EQ(stream->TakeEvents().size(), 2u);
  EXPECT_TRUE(stream->closed());
}

TEST(DefinitionTest, ObjectsWithFinalizersHoldIt) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  s.Post(kThings, R"({"apiVersion":"example.com/v1","kind":"Thing",)"
                  R"("metadata":{"name":"a","finalizers":["x.y/z"]}})");
  s.Delete(absl::StrCat(kCrds, "/things.example.com"));
  EXPECT_EQ(s.Get(absl::StrCat(kCrds, "/things.example.com")).status, 200);
  s.Patch(absl::StrCat(kThings, "/a"), "merge", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(s.Get(absl::StrCat(kCrds, "/things.example.com")).status, 404);
}

TEST(DefinitionTest, ChangesOfTheSchemaTakeEffect) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  const absl::Status loaded =
      s.server->LoadCrd(J(Crd("things", "Thing", "",
                              R"({"type":"object","required":["spec"],)"
                              R"("properties":{"spec":{"type":"object"}}})")));
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(s.Post(kThings, Thing("a", "")).status, 422);
}

TEST(DefinitionTest, BadDefinitionsAreRefused) {
  TestServer s;
  const auto reply = s.Post(
      kCrds, R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
             R"("metadata":{"name":"x"},"spec":{"group":"example.com","scope":"Both",)"
             R"("names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1",)"
             R"("served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  EXPECT_EQ(reply.status, 422);
  const std::string message(reply.body.GetString("message"));
  EXPECT_THAT(message, HasSubstr("must be spec.names.plural+\".\"+spec.group"));
  EXPECT_THAT(message, HasSubstr("spec.scope: Unsupported value: \"Both\""));
  EXPECT_THAT(message, HasSubstr("must have exactly one version marked as storage version"));
}

TEST(CustomResourceTest, AnotherKindThanThePathsIsRefusedInEveryWrite) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  const auto object = [](const std::string& kind, const std::string& name) {
    return absl::StrCat(R"({"apiVersion":"example.com/v1","kind":")", kind,
                        R"(","metadata":{"name":")", name, R"("}})");
  };
  ASSERT_EQ(s.Post(kThings, object("Thing", "a")).status, 201);
  const std::string version(
      s.Get(absl::StrCat(kThings, "/a")).body.At("metadata").GetString("resourceVersion"));
  Value changed = J(object("Other", "a"));
  changed["metadata"].Set("resourceVersion", version);
  for (const TestServer::Reply& reply :
       {s.Post(kThings, object("Other", "a")),
        s.Put(absl::StrCat(kThings, "/a"), apis::json::Dump(changed)),
        s.Patch(absl::StrCat(kThings, "/a"), "merge", R"({"kind":"Other"})")}) {
    EXPECT_EQ(reply.status, 422);
    EXPECT_EQ(reply.body.GetString("message"),
              "Other.example.com \"a\" is invalid: kind: Invalid value: \"Other\": must be Thing");
    EXPECT_EQ(reply.body.At("details").GetString("kind"), "Other");
  }
  EXPECT_EQ(s.Get(absl::StrCat(kThings, "/a")).body.GetString("kind"), "Thing");
}

TEST(CustomResourceTest, GenerationLeavesStatusOutWithTheSubresource) {
  // Worked example 16.
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", kStatus, kOpenSchema));
  const std::string path = absl::StrCat(kThings, "/a");
  const auto generation = [](const TestServer::Reply& r) {
    return r.body.At("metadata").GetInt("generation");
  };
  EXPECT_EQ(generation(s.Post(kThings, Thing("a", R"("spec":{"x":1},"status":{"y":1})"))), 1);
  EXPECT_FALSE(s.Get(path).body.Has("status"));
  EXPECT_EQ(generation(s.Patch(path + "/status", "merge", R"({"status":{"y":2}})")), 1);
  EXPECT_EQ(generation(s.Patch(path, "merge", R"({"spec":{"x":2},"status":{"y":3}})")), 2);
  EXPECT_EQ(s.Get(path).body.At("status").GetInt("y"), 2);
  EXPECT_EQ(generation(s.Patch(path, "merge",
                               R"({"metadata":{"labels":{"l":"1"},"finalizers":["x.y/z"]}})")),
            2);
  EXPECT_EQ(generation(s.Delete(path)), 3);
  s.Patch(path, "merge", R"({"metadata":{"finalizers":[]}})");
  EXPECT_EQ(s.Get(path).status, 404);
}

TEST(CustomResourceTest, QuirkWithoutTheSubresourceStatusCountsAsSpec) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  const std::string path = absl::StrCat(kThings, "/a");
  s.Post(kThings, Thing("a", R"("status":{"phase":"Pending"})"));
  EXPECT_EQ(s.Get(path).body.At("status").GetString("phase"), "Pending");
  const auto reply = s.Patch(path, "merge", R"({"status":{"phase":"Running"}})");
  EXPECT_EQ(reply.body.At("metadata").GetInt("generation"), 2);
}

TEST(CustomResourceTest, AStatusWriteTakesNothingElse) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", kStatus, kOpenSchema));
  s.Post(kThings, Thing("a", R"("spec":{"x":1})"));
  const auto reply = s.Patch(absl::StrCat(kThings, "/a/status"), "merge",
                             R"({"metadata":{"labels":{"l":"1"}},"spec":{"x":9},)"
                             R"("status":{"y":1}})");
  EXPECT_FALSE(reply.body.At("metadata").Has("labels"));
  EXPECT_EQ(reply.body.At("spec").GetInt("x"), 1);
  EXPECT_EQ(reply.body.At("status").GetInt("y"), 1);
}

TEST(CustomResourceTest, UpdatesNameTheVersionTheyRead) {
  // Worked example 21.
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", "", kOpenSchema));
  const Value made = s.Post(kThings, Thing("a", R"("spec":{"x":1})")).body;
  const std::string path = absl::StrCat(kThings, "/a");
  EXPECT_EQ(s.Put(path, Thing("a", R"("spec":{"x":2})")).status, 422);
  EXPECT_EQ(s.Put(path, apis::json::Dump(made)).body, made);
  s.Patch(path, "merge", R"({"spec":{"x":3}})");
  EXPECT_EQ(s.Put(path, apis::json::Dump(made)).status, 409);
}

TEST(CustomResourceTest, DefaultsApplyWhereTheParentExists) {
  // Worked example 23.
  TestServer s;
  s.Post(kCrds,
         Crd("things", "Thing", "",
             R"({"type":"object","properties":{"spec":{"type":"object","properties":{"pool":)"
             R"({"type":"object","properties":{"size":{"type":"integer","default":2},)"
             R"("mode":{"type":"string","default":"auto"}}}}}}})"));
  const auto spec = [&](const char* name, const char* text) {
    return s.Post(kThings, Thing(name, text)).body.At("spec");
  };
  EXPECT_EQ(spec("a", R"("spec":{})"), J("{}"));
  EXPECT_EQ(spec("b", R"("spec":{"pool":{}})"), J(R"({"pool":{"size":2,"mode":"auto"}})"));
  EXPECT_EQ(spec("c", R"("spec":{"pool":{"size":null}})"),
            J(R"({"pool":{"size":2,"mode":"auto"}})"));
  const auto warned = s.Post(kThings, Thing("d", R"("spec":{"colour":1})"));
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.headers.Get("Warning"), "299 - \"unknown field \\\"spec.colour\\\"\"");
  EXPECT_EQ(warned.body.At("spec"), J("{}"));
  EXPECT_EQ(
      s.Post(absl::StrCat(kThings, "?fieldValidation=Strict"), Thing("e", R"("spec":{"colour":1})"))
          .status,
      400);
}

TEST(CustomResourceTest, SeveralVersionsShareOneStore) {
  TestServer s;
  const std::string both = absl::StrCat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)",
      R"("metadata":{"name":"things.example.com"},"spec":{"group":"example.com",)",
      R"("scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[)",
      R"({"name":"v1alpha1","served":true,"storage":false,"deprecated":true,)",
      R"("schema":{"openAPIV3Schema":)", kOpenSchema,
      R"(}},{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)", kOpenSchema,
      "}}]}}");
  ASSERT_EQ(s.Post(kCrds, both).status, 201);
  const Value group = s.Get("/apis/example.com").body;
  EXPECT_EQ(group.At("preferredVersion").GetString("version"), "v1");
  const auto made =
      s.Post("/apis/example.com/v1alpha1/namespaces/default/things",
             R"({"apiVersion":"example.com/v1alpha1","kind":"Thing","metadata":{"name":"a"}})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.body.GetString("apiVersion"), "example.com/v1alpha1");
  EXPECT_EQ(made.headers.Get("Warning"), "299 - \"example.com/v1alpha1 Thing is deprecated\"");
  EXPECT_EQ(s.Get(absl::StrCat(kThings, "/a")).body.GetString("apiVersion"), "example.com/v1");
  const auto stream = s.Watch("/apis/example.com/v1alpha1/things?watch=1");
  const std::vector<Value> events = stream->TakeEvents();
  EXPECT_EQ(events[0].At("object").GetString("apiVersion"), "example.com/v1alpha1");
}

// A server reads with the defaults of the stored version, whatever version wrote.
TEST(CustomResourceTest, OldVersionsGetTheDefaultsOfTheStoredOne) {
  TestServer s;
  const auto version = [](const char* name, bool stored, const char* properties) {
    return absl::StrCat(R"({"name":")", name, R"(","served":true,"storage":)",
                        stored ? "true" : "false",
                        R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)",
                        R"({"type":"object","properties":)", properties, "}}}}}");
  };
  const std::string both = absl::StrCat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)",
      R"("metadata":{"name":"things.example.com"},"spec":{"group":"example.com",)",
      R"("scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[)",
      version("v1", true, R"({"size":{"type":"integer"},"hosts":{"type":"integer","default":1}})"),
      ",", version("v1alpha1", false, R"({"size":{"type":"integer","default":2}})"), "]}}");
  ASSERT_EQ(s.Post(kCrds, both).status, 201);
  const auto made = s.Post("/apis/example.com/v1alpha1/namespaces/default/things",
                           R"({"apiVersion":"example.com/v1alpha1","kind":"Thing",)"
                           R"("metadata":{"name":"a"},"spec":{}})");
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(s.Get(absl::StrCat(kThings, "/a")).body.At("spec"), J(R"({"size":2,"hosts":1})"));
}

TEST(CustomResourceTest, ScaleReadsAndWritesItsPaths) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing",
                    R"(,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.n",)"
                    R"("statusReplicasPath":".status.n","labelSelectorPath":".status.sel"}})",
                    kOpenSchema));
  s.Post(kThings, Thing("a", R"("spec":{"n":2})"));
  s.Patch(absl::StrCat(kThings, "/a/status"), "merge", R"({"status":{"n":1,"sel":"a=b"}})");
  const Value scale = s.Get(absl::StrCat(kThings, "/a/scale")).body;
  EXPECT_EQ(scale.At("spec").GetInt("replicas"), 2);
  EXPECT_EQ(scale.At("status"), J(R"({"replicas":1,"selector":"a=b"})"));
  EXPECT_EQ(s.Patch(absl::StrCat(kThings, "/a/scale"), "merge", R"({"spec":{"replicas":7}})")
                .body.At("spec")
                .GetInt("replicas"),
            7);
  EXPECT_EQ(s.Get(absl::StrCat(kThings, "/a")).body.At("spec").GetInt("n"), 7);
  EXPECT_EQ(
      s.Patch(absl::StrCat(kThings, "/a/scale"), "merge", R"({"spec":{"replicas":-1}})").status,
      422);
}

TEST(CustomResourceTest, SelectableFieldsSelect) {
  TestServer s;
  s.Post(kCrds, Crd("things", "Thing", R"(,"selectableFields":[{"jsonPath":".spec.colour"}])",
                    kOpenSchema));
  s.Post(kThings, Thing("a", R"("spec":{"colour":"red"})"));
  s.Post(kThings, Thing("b", R"("spec":{"colour":"blue"})"));
  const Value list = s.Get(absl::StrCat(kThings, "?fieldSelector=spec.colour%3Dred")).body;
  EXPECT_EQ(list.At("items").size(), 1u);
  EXPECT_EQ(s.Get(absl::StrCat(kThings, "?fieldSelector=spec.size%3D1")).status, 400);
}

}  // namespace
}  // namespace hekla::apiserver

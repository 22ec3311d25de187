#include "pkg/apiserver/apply/apply.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/apply/field_set.h"
#include "pkg/apiserver/apply/walk.h"
#include "pkg/apiserver/schema/decode.h"
#include "pkg/util/random.h"

namespace hekla::apiserver::apply {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

Value J(absl::string_view text) {
  auto value = Parse(text);
  EXPECT_TRUE(value.ok()) << text << value.status();
  return value.ok() ? *value : Value();
}

const schema::Message& Form(absl::string_view kind) {
  return kind == "Deployment" ? *schema::FindKind("apps", "v1", kind)
                              : *schema::FindKind("", "v1", kind);
}

Manager By(const std::string& name, const std::string& version = "v1", int second = 0) {
  Manager manager;
  manager.name = name;
  manager.api_version = version;
  manager.time = absl::FromUnixSeconds(1767225600 + second);
  return manager;
}

// Managed fields without times, in an order of their own.
Value Record(const Value& object) {
  Value list = object.At("metadata").At("managedFields");
  if (!list.is_array()) return Value::MakeArray();
  for (Value& entry : list.as_array()) entry.Remove("time");
  std::sort(list.as_array().begin(), list.as_array().end(), [](const Value& a, const Value& b) {
    return std::string(a.GetString("manager")) + std::string(a.GetString("operation")) <
           std::string(b.GetString("manager")) + std::string(b.GetString("operation"));
  });
  return list;
}

Value Comparable(Value object) {
  Value record = Record(object);
  object.Ensure({"metadata"}).Set("managedFields", std::move(record));
  return object;
}

// One step of a recorded sequence.
void CheckStep(const TypeRef& type, const schema::Message* form, const Value& step,
               const std::string& line) {
  Manager manager = By(std::string(step.GetString("manager")),
                       std::string(step.At("in").GetString("apiVersion")));
  manager.separate_status = false;
  // Custom resources are not decoded any further.
  const auto typed = [form](const Value& object) {
    return form == nullptr ? object : *schema::Decode(*form, object);
  };
  if (step.GetString("op") == "update") {
    Value after = typed(step.At("in"));
    TrackUpdate(type, step.Find("live"), after, manager);
    EXPECT_EQ(Comparable(after), Comparable(step.At("out"))) << line;
    return;
  }
  const auto outcome =
      Apply(type, step.Find("live"), step.At("in"), manager, step.GetBool("force"));
  ASSERT_TRUE(outcome.ok()) << outcome.status() << line;
  if (step.Has("error")) {
    EXPECT_EQ(ConflictMessage(outcome->conflicts), step.GetString("error")) << line;
    return;
  }
  ASSERT_TRUE(outcome->object.has_value()) << ConflictMessage(outcome->conflicts) << line;
  EXPECT_EQ(Comparable(typed(*outcome->object)), Comparable(step.At("out"))) << line;
}

std::string TestData(const std::string& name) {
  std::ifstream file("pkg/apiserver/apply/testdata/" + name);
  EXPECT_TRUE(file) << "run from the top of the source tree";
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

std::vector<std::string> Lines(const std::string& name) {
  return absl::StrSplit(TestData(name), '\n', absl::SkipEmpty());
}

// Steps with the outcome that the reference library of server-side apply has: creates, updates and
// applies of random objects.
TEST(OwnershipTest, BuiltInKindsEqualTheReferenceLibrary) {
  int steps = 0;
  for (const std::string& line : Lines("ownership.jsonl")) {
    const Value step = J(line);
    const schema::Message& form = Form(step.GetString("kind"));
    CheckStep(TypeRef::OfKind(form), &form, step, line);
    ++steps;
  }
  EXPECT_GT(steps, 100);
}

TEST(OwnershipTest, CustomResourcesEqualTheReferenceLibrary) {
  const Value schema = J(TestData("thing_schema.json"));
  int steps = 0;
  for (const std::string& line : Lines("custom.jsonl")) {
    CheckStep(TypeRef::OfCustomResource(schema), nullptr, J(line), line);
    ++steps;
  }
  EXPECT_GT(steps, 40);
}

// The sequence of the recorded server: two appliers, a conflict, force, a field let go.
TEST(ApplyTest, TwoAppliersOfOneConfigMap) {
  const TypeRef type = TypeRef::OfKind(Form("ConfigMap"));
  const auto config = [](const char* data) {
    return J(absl::StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":)", data, "}"));
  };
  auto outcome = Apply(type, nullptr, config(R"({"a":"1","b":"1"})"), By("one"), false);
  ASSERT_TRUE(outcome.ok());
  Value live = *outcome->object;
  EXPECT_EQ(Record(live), J(R"([{"manager":"one","operation":"Apply","apiVersion":"v1",
      "fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{},"f:b":{}}}}])"));

  outcome = Apply(type, &live, config(R"({"a":"2"})"), By("two"), false);
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->object.has_value());
  EXPECT_EQ(ConflictMessage(outcome->conflicts),
            "Apply failed with 1 conflict: conflict with \"one\": .data.a");
  EXPECT_EQ(ConflictCauses(outcome->conflicts),
            J(R"([{"reason":"FieldManagerConflict","message":"conflict with \"one\"",
                   "field":".data.a"}])"));

  outcome = Apply(type, &live, config(R"({"a":"2"})"), By("two"), true);
  live = *outcome->object;
  EXPECT_EQ(live.At("data"), J(R"({"a":"2","b":"1"})"));

  outcome = Apply(type, &live, config("{}"), By("one"), false);
  live = *outcome->object;
  EXPECT_EQ(live.At("data"), J(R"({"a":"2"})"));
  outcome = Apply(type, &live, config(R"({"a":"2"})"), By("two", "v1", 50), false);
  EXPECT_TRUE(outcome->unchanged);
  EXPECT_EQ(outcome->object->At("metadata").At("managedFields"),
            live.At("metadata").At("managedFields"));
}

TEST(ApplyTest, ConflictsWithUpdatersNameTheirVersion) {
  const TypeRef type = TypeRef::OfKind(Form("ConfigMap"));
  Value live = J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},
                     "data":{"a":"1","b":"1"}})");
  TrackUpdate(type, nullptr, live, By("kubectl-create"));
  Manager status = By("ctl");
  status.subresource = "status";
  Value labelled = live;
  labelled.Ensure({"metadata", "labels"}).Set("l", "1");
  TrackUpdate(type, &live, labelled, status);
  const auto outcome = Apply(type, &labelled, J(R"({"apiVersion":"v1","kind":"ConfigMap",
      "metadata":{"name":"c","labels":{"l":"2"}},"data":{"a":"2","b":"2"}})"),
                             By("me"), false);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(ConflictMessage(outcome->conflicts),
            "Apply failed with 3 conflicts: conflicts with \"ctl\" with subresource \"status\" "
            "using v1:\n- .metadata.labels.l\nconflicts with \"kubectl-create\" using v1:\n- "
            ".data.a\n- .data.b");
}

TEST(ApplyTest, ObjectsWithoutRecordBelongToWhoWasThereBefore) {
  const TypeRef type = TypeRef::OfKind(Form("ConfigMap"));
  Value live = J(R"({"metadata":{"name":"c","uid":"u"},"data":{"a":"1"}})");
  Value after = live;
  after.Ensure({"data"}).Set("b", "2");
  TrackUpdate(type, &live, after, By("u"));
  EXPECT_FALSE(after.At("metadata").Has("managedFields"));
  const Value patch = J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},
                            "data":{"a":"9"}})");
  auto outcome = Apply(type, &live, patch, By("one"), false);
  EXPECT_EQ(ConflictMessage(outcome->conflicts),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
  outcome = Apply(type, &live, patch, By("one"), true);
  EXPECT_EQ(Record(*outcome->object),
            J(R"([{"manager":"before-first-apply","operation":"Update","apiVersion":"v1",
      "fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}},
      {"manager":"one","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",
      "fieldsV1":{"f:data":{"f:a":{}}}}])"));
}

TEST(ApplyTest, RefusesWhatDoesNotFitTheForm) {
  const TypeRef pod = TypeRef::OfKind(Form("Pod"));
  const struct {
    const char* patch;
    absl::StatusCode code;
    const char* text;
  } cases[] = {
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d"},"x":1})",
       absl::StatusCode::kInternal,
       "failed to create typed patch object (d/p; /v1, Kind=Pod): .x: field not declared in "
       "schema"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[
          {"name":"a"},{"name":"a"}]}})",
       absl::StatusCode::kInternal,
       "failed to create typed patch object (/p; /v1, Kind=Pod): .spec.containers: duplicate "
       "entries for key [name=\"a\"]"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[
          {"image":"a"}]}})",
       absl::StatusCode::kInternal,
       "failed to create typed patch object (/p; /v1, Kind=Pod): .spec.containers: element 0: "
       "associative list with keys has an element that omits key field \"name\" (and doesn't have "
       "default value)"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":1}}})",
       absl::StatusCode::kInternal,
       "failed to create typed patch object (/p; /v1, Kind=Pod): .metadata.labels.a: expected "
       "string, got &value.valueUnstructured{Value:1}"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"priority":"1",
          "containers":{},"hostNetwork":"x","affinity":"y"}})",
       absl::StatusCode::kInternal,
       "failed to create typed patch object (/p; /v1, Kind=Pod): errors:\n"
       "  .spec.priority: expected numeric (int or float), got string\n"
       "  .spec.containers: expected list, got &{{}}\n"
       "  .spec.hostNetwork: expected boolean, got &{x}\n"
       "  .spec.affinity: expected map, got &{y}"},
      {R"({"apiVersion":"v2","kind":"Pod","metadata":{"name":"p"}})",
       absl::StatusCode::kInvalidArgument,
       "Incorrect version specified in apply patch. Specified patch version: v2, expected: v1"},
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","managedFields":[]}})",
       absl::StatusCode::kInvalidArgument, "metadata.managedFields must be nil"},
  };
  for (const auto& c : cases) {
    const auto outcome = Apply(pod, nullptr, J(c.patch), By("one"), false);
    ASSERT_FALSE(outcome.ok()) << c.patch;
    EXPECT_EQ(outcome.status().code(), c.code) << c.patch;
    EXPECT_EQ(outcome.status().message(), c.text);
  }
}

TEST(ApplyTest, StatusBelongsToItsSubresource) {
  const TypeRef type = TypeRef::OfKind(Form("Pod"));
  const Value empty = J(R"({"metadata":{"name":"p","uid":"u"},"spec":{"containers":[]},
                            "status":{}})");
  Value pod = empty;
  pod.Ensure({"spec"}).Set("nodeName", "n");
  pod.Ensure({"status"}).Set("phase", "Running");
  TrackUpdate(type, nullptr, pod, By("m"));
  EXPECT_EQ(Dump(Record(pod)).find("f:status"), std::string::npos);
  Value after = pod;
  after.Ensure({"status"}).Set("phase", "Failed");
  after.Ensure({"spec"}).Set("nodeName", "other");
  Manager kubelet = By("kubelet");
  kubelet.subresource = "status";
  TrackUpdate(type, &pod, after, kubelet);
  EXPECT_EQ(Record(after).as_array()[0],
            J(R"({"manager":"kubelet","operation":"Update","apiVersion":"v1",
      "fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:phase":{}}},"subresource":"status"})"));
}

TEST(ApplyTest, KubectlTakesOverWhatItAppliedOnTheClientSide) {
  const TypeRef type = TypeRef::OfKind(Form("ConfigMap"));
  Value live = J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{
      "kubectl.kubernetes.io/last-applied-configuration":
      "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\",\"b\":\"1\"},\"kind\":\"ConfigMap\"}"}},
      "data":{"a":"1","b":"7"}})");
  TrackUpdate(type, nullptr, live, By("kubectl-client-side-apply"));
  const auto patch = [](const char* data) {
    return J(absl::StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":)", data, "}"));
  };
  auto outcome = Apply(type, &live, patch(R"({"a":"2"})"), By("kubectl"), false);
  ASSERT_TRUE(outcome->object.has_value()) << ConflictMessage(outcome->conflicts);
  EXPECT_EQ(outcome->object->At("metadata")
                .At("annotations")
                .GetString("kubectl.kubernetes.io/last-applied-configuration"),
            Dump(patch(R"({"a":"2"})")) + "\n");
  // What was changed since then is no longer kubectl's; other names get no such favour.
  outcome = Apply(type, &live, patch(R"({"b":"2"})"), By("kubectl"), false);
  EXPECT_EQ(outcome->conflicts.size(), 1u);
  outcome = Apply(type, &live, patch(R"({"a":"2"})"), By("other"), false);
  EXPECT_EQ(outcome->conflicts.size(), 1u);
}

constexpr char kThing[] = R"({"type":"object","properties":{"spec":{"type":"object","properties":{
    "queue":{"type":"string"},
    "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
    "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["p","t"],
      "items":{"type":"object","properties":{"p":{"type":"integer"},
        "t":{"type":"string","default":"TCP"},"n":{"type":"string"}}}},
    "ref":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},
      "b":{"type":"string"}}},
    "plain":{"type":"array","items":{"type":"string"}},
    "labels":{"type":"object","additionalProperties":{"type":"string"}},
    "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}})";

TEST(ApplyTest, CustomResourcesGoByTheirStructuralSchema) {
  const Value schema = J(kThing);
  const TypeRef type = TypeRef::OfCustomResource(schema);
  const auto thing = [](const char* spec) {
    return J(absl::StrCat(
        R"({"apiVersion":"x/v1","kind":"Thing","metadata":{"name":"t","finalizers":["f"]},"spec":)",
        spec, "}"));
  };
  auto outcome = Apply(type, nullptr, thing(R"({"queue":"q","tags":["a","b"],"ports":[{"p":1},
      {"p":1,"t":"UDP","n":"u"}],"ref":{"a":"1","b":"2"},"plain":["x"],"labels":{"k":"v"},
      "any":{"x":{"y":[1]}}})"),
                       By("one", "x/v1"), false);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  Value live = *outcome->object;
  EXPECT_EQ(
      live.At("metadata").At("managedFields").as_array()[0].At("fieldsV1"),
      J(R"js({"f:metadata":{"f:finalizers":{"v:\"f\"":{}}},"f:spec":{"f:any":{"f:x":{".":{},"f:y":{}}},
      "f:labels":{"f:k":{}},"f:plain":{},"f:ports":{
      "k:{\"p\":1,\"t\":\"TCP\"}":{".":{},"f:p":{}},
      "k:{\"p\":1,\"t\":\"UDP\"}":{".":{},"f:n":{},"f:p":{},"f:t":{}}},
      "f:queue":{},"f:ref":{},"f:tags":{"v:\"a\"":{},"v:\"b\"":{}}}})js"));

  outcome = Apply(type, &live, thing(R"({"queue":"r","tags":["c"],"ports":[{"p":2}],
      "ref":{"a":"9"}})"),
                  By("two", "x/v1"), false);
  EXPECT_EQ(ConflictMessage(outcome->conflicts),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.queue\n- .spec.ref");
  outcome =
      Apply(type, &live, thing(R"({"tags":["c"],"ports":[{"p":2}]})"), By("two", "x/v1"), false);
  live = *outcome->object;
  EXPECT_EQ(live.At("spec").At("tags"), J(R"(["a","b","c"])"));
  EXPECT_EQ(live.At("spec").At("ports").size(), 3u);
  outcome = Apply(type, &live, thing(R"({"tags":["b"],"queue":"q"})"), By("one", "x/v1"), false);
  live = *outcome->object;
  EXPECT_EQ(live.At("spec"), J(R"({"queue":"q","tags":["b","c"],"ports":[{"p":2}]})"));

  const auto unknown = Apply(type, &live, thing(R"({"nope":1})"), By("one", "x/v1"), false);
  EXPECT_EQ(unknown.status().message(),
            "failed to create typed patch object (/t; x/v1, Kind=Thing): .spec.nope: field not "
            "declared in schema");
}

TEST(ApplyTest, CreatedCustomResourcesOwnTheirSpecAsAWhole) {
  const Value schema = J(kThing);
  Value thing = J(R"({"apiVersion":"x/v1","kind":"Thing","metadata":{"name":"t"},
                      "spec":{"queue":"q"}})");
  TrackUpdate(TypeRef::OfCustomResource(schema), nullptr, thing, By("m", "x/v1"));
  EXPECT_EQ(Record(thing).as_array()[0].At("fieldsV1"), J(R"({"f:spec":{".":{},"f:queue":{}}})"));
}

TEST(TrackUpdateTest, ResetsAndCapsTheRecord) {
  const TypeRef type = TypeRef::OfKind(Form("ConfigMap"));
  Value live = J(R"({"metadata":{"name":"c"},"data":{}})");
  TrackUpdate(type, nullptr, live, By("m0"));
  for (int i = 0; i < 14; ++i) {
    Value next = live;
    next.Ensure({"data"}).Set(absl::StrCat("k", i), "1");
    TrackUpdate(type, &live, next, By(absl::StrCat("m", i), "v1", i));
    live = next;
  }
  const Value& record = live.At("metadata").At("managedFields");
  EXPECT_EQ(record.size(), 10u);
  int old = 0;
  for (const Value& entry : record.as_array()) {
    if (entry.GetString("manager") == "ancient-changes") {
      ++old;
      EXPECT_TRUE(entry.At("fieldsV1").At("f:data").Has("f:k0"));
    }
  }
  EXPECT_EQ(old, 1);
  Value reset = live;
  reset.Ensure({"metadata"}).Set("managedFields", J("[{}]"));
  TrackUpdate(type, &live, reset, By("x"));
  EXPECT_FALSE(reset.At("metadata").Has("managedFields"));
}

TEST(TrackUpdateTest, AWriteThatChangesNothingKeepsTheRecord) {
  const TypeRef type = TypeRef::OfKind(Form("ConfigMap"));
  Value live = J(R"({"metadata":{"name":"c"},"data":{"a":"1"}})");
  TrackUpdate(type, nullptr, live, By("m"));
  Value same = live;
  same.Find("metadata")->Remove("managedFields");
  TrackUpdate(type, &live, same, By("other", "v1", 99));
  EXPECT_EQ(same, live);
}

TEST(FieldSetTest, JsonComesBackAndSetsBehave) {
  const Value json = J(R"js({"f:a":{".":{},"f:b":{}},"f:c":{"k:{\"n\":1}":{".":{},"f:x":{}}},
                             "f:d":{"v:\"s\"":{}}})js");
  const FieldSet set = FieldSet::FromJson(json);
  EXPECT_EQ(set.ToJson(), json);
  EXPECT_TRUE(set.Has({"f:a"}));
  EXPECT_FALSE(set.Has({"f:c"}));
  EXPECT_TRUE(set.Has({"f:c", "k:{\"n\":1}"}));
  EXPECT_TRUE(set.Minus(set).empty());
  EXPECT_EQ(set.Intersect(set).ToJson(), json);
  FieldSet both = set.Minus(FieldSet::FromJson(J(R"({"f:a":{}})")));
  EXPECT_FALSE(both.Has({"f:a"}));
  EXPECT_TRUE(both.Has({"f:a", "f:b"}));
  both.UnionWith(set);
  EXPECT_EQ(both.ToJson(), json);
  EXPECT_EQ(PathText({"f:spec", "f:c", "k:{\"name\":\"c\",\"p\":1}", "f:x", "v:\"s\"", "i:3"}),
            ".spec.c[name=\"c\",p=1].x[=\"s\"][3]");
}

// What a manager applies it owns; applying it again changes nothing; letting go of everything that
// nobody else owns removes it.
TEST(ApplyPropertyTest, ApplyingTwiceIsApplyingOnce) {
  const TypeRef type = TypeRef::OfKind(Form("Pod"));
  util::Random random(11);
  for (int i = 0; i < 500; ++i) {
    Value patch = J(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
    for (const char* name : {"a", "b", "c"}) {
      if (random.Below(2) == 0) continue;
      Value& container =
          patch.Ensure({"spec"})["containers"].Append(Value::MakeObject({{"name", name}}));
      if (random.Below(2) == 0) container.Set("image", "i");
      if (random.Below(2) == 0) container.Set("env", J(R"([{"name":"X","value":"1"}])"));
    }
    if (random.Below(2) == 0) patch.Ensure({"metadata", "labels"}).Set("l", "1");
    auto outcome = Apply(type, nullptr, patch, By("one"), false);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    const Value once = *schema::Decode(Form("Pod"), *outcome->object);
    outcome = Apply(type, &once, patch, By("one", "v1", 5), false);
    ASSERT_TRUE(outcome.ok() && outcome->object.has_value());
    EXPECT_EQ(*schema::Decode(Form("Pod"), *outcome->object), once);
    const Value nothing = J(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
    outcome = Apply(type, &once, nothing, By("one"), false);
    const Value bare = *schema::Decode(Form("Pod"), *outcome->object);
    EXPECT_EQ(bare.At("spec").At("containers").size(), 0u) << Dump(bare);
    EXPECT_FALSE(bare.At("metadata").Has("managedFields"));
  }
}

}  // namespace
}  // namespace hekla::apiserver::apply

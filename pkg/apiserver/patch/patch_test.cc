#include "pkg/apiserver/patch/patch.h"

#include <fstream>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "pkg/apiserver/schema/decode.h"

namespace hekla::apiserver::patch {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

Value J(absl::string_view text) {
  auto value = Parse(text);
  EXPECT_TRUE(value.ok()) << text << value.status();
  return value.ok() ? *value : Value();
}

TEST(JsonPatchTest, OperationsOfTheRfc) {
  const struct {
    const char* name;
    const char* document;
    const char* patch;
    const char* result;  // nullptr: refused
  } cases[] = {
      {"add member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {"add replaces", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
      {"add item", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
       R"({"a":[1,2,3]})"},
      {"append", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {"add at end", R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
      {"add too far", R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":2}])", nullptr},
      {"add below nothing", R"({})", R"([{"op":"add","path":"/a/b","value":2}])", nullptr},
      {"remove member", R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {"remove item", R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":[2]})"},
      {"remove nothing", R"({"a":1})", R"([{"op":"remove","path":"/x"}])", nullptr},
      {"replace", R"({"a":1})", R"([{"op":"replace","path":"/a","value":{"x":1}}])",
       R"({"a":{"x":1}})"},
      {"quirk: replace nothing", R"({})", R"([{"op":"replace","path":"/a","value":1}])",
       R"({"a":1})"},
      {"replace below nothing", R"({})", R"([{"op":"replace","path":"/a/b","value":1}])", nullptr},
      {"replace no item", R"({"a":[]})", R"([{"op":"replace","path":"/a/0","value":1}])", nullptr},
      {"escapes", R"({"a/b":1,"m~n":2})",
       R"([{"op":"replace","path":"/a~1b","value":3},{"op":"remove","path":"/m~0n"}])",
       R"({"a/b":3})"},
      {"move", R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
       R"({"a":{},"c":{"d":1}})"},
      {"move into itself", R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
       nullptr},
      {"copy", R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/b"}])",
       R"({"a":[1],"b":[1]})"},
      {"test equal", R"({"a":{"x":1,"y":2}})",
       R"([{"op":"test","path":"/a","value":{"y":2,"x":1}}])", R"({"a":{"x":1,"y":2}})"},
      {"test different", R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])", nullptr},
      {"test absent is null", R"({})", R"([{"op":"test","path":"/a","value":null}])", R"({})"},
      {"all or nothing", R"({"a":1})",
       R"([{"op":"add","path":"/b","value":2},{"op":"test","path":"/a","value":9}])", nullptr},
      {"unknown operation", R"({})", R"([{"op":"bless","path":"/a"}])", nullptr},
      {"no path", R"({})", R"([{"op":"add","value":1}])", nullptr},
      {"empty list", R"({"a":1})", R"([])", R"({"a":1})"},
  };
  for (const auto& c : cases) {
    const auto out = ApplyJsonPatch(J(c.document), J(c.patch));
    if (c.result == nullptr) {
      ASSERT_FALSE(out.ok()) << c.name << Dump(*out);
      EXPECT_EQ(out.status().code(), absl::StatusCode::kFailedPrecondition) << c.name;
      EXPECT_EQ(out.status().message(),
                "the server rejected our request due to an error in our request");
      continue;
    }
    ASSERT_TRUE(out.ok()) << c.name << out.status();
    EXPECT_EQ(*out, J(c.result)) << c.name << Dump(*out);
  }
}

TEST(JsonPatchTest, MalformedPatchesAreBadRequests) {
  const auto object = ApplyJsonPatch(J("{}"), J("{}"));
  EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(object.status().message(),
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp");
  EXPECT_EQ(ApplyJsonPatch(J("{}"), J("[1]")).status().code(), absl::StatusCode::kInvalidArgument);
  Value many = Value::MakeArray();
  for (int i = 0; i <= kMaxJsonPatchOperations; ++i) {
    many.Append(J(R"({"op":"add","path":"/a","value":1})"));
  }
  const auto over = ApplyJsonPatch(J("{}"), many);
  EXPECT_EQ(over.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(over.status().message(),
            "The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(MergePatchTest, ExamplesOfTheRfc) {
  const struct {
    const char* document;
    const char* patch;
    const char* result;
  } cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{}]})"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(ApplyMergePatch(J(c.document), J(c.patch)), J(c.result)) << c.patch;
  }
}

const schema::Message& Pod() { return *schema::FindKind("", "v1", "Pod"); }

Value Strategic(absl::string_view document, absl::string_view patch) {
  const auto out = ApplyStrategicMergePatch(Pod(), J(document), J(patch));
  EXPECT_TRUE(out.ok()) << out.status() << patch;
  return out.ok() ? *out : Value();
}

// Spec kube-machinery, worked example 20.
TEST(StrategicMergeTest, QuirkNewItemsLandInFront) {
  const char* stored = R"({"status":{"conditions":[{"type":"Ready","status":"False"},
      {"type":"PodScheduled","status":"False","reason":"R"}]}})";
  EXPECT_EQ(Strategic(stored, R"({"status":{"conditions":[
      {"type":"PodScheduled","status":"True","reason":null},{"type":"Held","status":"True"}]}})"),
            J(R"({"status":{"conditions":[{"type":"Ready","status":"False"},
      {"type":"PodScheduled","status":"True"},{"type":"Held","status":"True"}]}})"));
  EXPECT_EQ(Strategic(stored, R"({"status":{"conditions":[{"type":"Held","status":"True"}]}})"),
            J(R"({"status":{"conditions":[{"type":"Held","status":"True"},
      {"type":"Ready","status":"False"},{"type":"PodScheduled","status":"False","reason":"R"}]}})"));
  EXPECT_EQ(Strategic(R"({"metadata":{"finalizers":["f1","f2"]}})",
                      R"({"metadata":{"finalizers":["f3"]}})"),
            J(R"({"metadata":{"finalizers":["f3","f1","f2"]}})"));
  EXPECT_EQ(ApplyMergePatch(J(R"({"metadata":{"finalizers":["f1","f2"]}})"),
                            J(R"({"metadata":{"finalizers":["f3"]}})")),
            J(R"({"metadata":{"finalizers":["f3"]}})"));
}

TEST(StrategicMergeTest, ListsByTheirStrategy) {
  const struct {
    const char* name;
    const char* document;
    const char* patch;
    const char* result;
  } cases[] = {
      {"keyed list", R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}]}})"},
      {"nested keyed list",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"},
          {"name":"X","value":"1"}]}]}})"},
      {"atomic list", R"({"spec":{"tolerations":[{"key":"a"}]}})",
       R"({"spec":{"tolerations":[{"key":"b"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})"},
      {"map", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"a":null,"c":"3"}}})",
       R"({"metadata":{"labels":{"b":"2","c":"3"}}})"},
      {"delete an item", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
       R"({"spec":{"containers":[{"name":"b"}]}})"},
      {"replace a list", R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
       R"({"spec":{"containers":[{"name":"c"}]}})"},
      {"replace a map", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"$patch":"replace","b":"2"}}})",
       R"({"metadata":{"labels":{"b":"2"}}})"},
      {"delete a map", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"$patch":"delete"}}})", R"({"metadata":{"labels":{}}})"},
      {"delete a map that is not there", R"({"metadata":{}})",
       R"({"metadata":{"labels":{"$patch":"delete"}}})", R"({"metadata":{}})"},
      {"delete from primitives", R"({"metadata":{"finalizers":["a","b","c"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})",
       R"({"metadata":{"finalizers":["a","c"]}})"},
      {"delete from primitives that are not there", R"({"metadata":{}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})", R"({"metadata":{}})"},
      {"set element order", R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"s"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],
           "containers":[{"name":"a","image":"2"}]}})",
       R"({"spec":{"containers":[{"name":"b"},{"name":"a","image":"2"},{"name":"s"}]}})"},
      {"order alone", R"({"metadata":{"finalizers":["a","b"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["b","a"]}})",
       R"({"metadata":{"finalizers":["b","a"]}})"},
      {"retain keys", R"({"spec":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],
           "hostPath":{"path":"/x"}}]}})",
       R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}})"},
      {"nulls of something new are dropped", R"({"spec":{}})",
       R"({"spec":{"affinity":{"nodeAffinity":null,"podAffinity":{}}}})",
       R"({"spec":{"affinity":{"podAffinity":{}}}})"},
      {"null deletes", R"({"spec":{"nodeName":"n"}})", R"({"spec":{"nodeName":null}})",
       R"({"spec":{}})"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Strategic(c.document, c.patch), J(c.result))
        << c.name << " " << Dump(Strategic(c.document, c.patch));
  }
}

TEST(StrategicMergeTest, Errors) {
  const struct {
    const char* document;
    const char* patch;
    absl::StatusCode code;
    const char* text;
  } cases[] = {
      {R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[{"image":"x"}]}})",
       absl::StatusCode::kInternal, "map: map[image:x] does not contain declared merge key: name"},
      {R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","$patch":"burn"}]}})", absl::StatusCode::kInternal,
       "unknown patch type: burn in map: map[$patch:burn name:a]"},
      {R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[[1]]}})",
       absl::StatusCode::kFailedPrecondition,
       "the server rejected our request due to an error in our request"},
      {R"({"spec":{"volumes":[{"name":"v"}]}})",
       R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"hostPath":{}}]}})",
       absl::StatusCode::kInvalidArgument, "invalid patch format of retainKeys"},
      {R"({})", R"([])", absl::StatusCode::kInvalidArgument,
       "json: cannot unmarshal array into Go value of type map[string]interface {}"},
  };
  for (const auto& c : cases) {
    const auto out = ApplyStrategicMergePatch(Pod(), J(c.document), J(c.patch));
    ASSERT_FALSE(out.ok()) << c.patch;
    EXPECT_EQ(out.status().code(), c.code) << out.status();
    EXPECT_EQ(out.status().message(), c.text);
  }
}

TEST(GoSyntaxTest, MessagesOfTheScanner) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"{bad", "invalid character 'b' looking for beginning of object key string"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 x", "invalid character 'x' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"{} x", "invalid character 'x' after top-level value"},
      {"{", "unexpected end of JSON input"},
      {"", "unexpected end of JSON input"},
      {"nope", "invalid character 'o' in literal null (expecting 'u')"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {"1.", "invalid character ' ' after decimal point in numeric literal"},
      {"tru", "invalid character ' ' in literal true (expecting 'e')"},
      {"\"ab", "unexpected end of JSON input"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"\"\\q\"", "invalid character 'q' in string escape code"},
      {"\"\n\"", "invalid character '\\n' in string literal"},
      {"{\"a\":[1,{\"b\":null}]}", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(GoSyntaxError(c.text), c.error) << c.text;
  EXPECT_EQ(DecodingError("{bad"),
            "error decoding patch: invalid character 'b' looking for beginning of object key "
            "string");
}

// Random documents and patches with what the reference libraries make of them.
TEST(ReferenceTest, OutcomesAreEqual) {
  std::ifstream file("pkg/apiserver/patch/testdata/reference.jsonl");
  ASSERT_TRUE(file) << "run from the top of the source tree";
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    const Value c = J(line);
    const Value& want = c.At("want");
    const absl::string_view op = c.GetString("op");
    ++cases;
    if (op == "syntax") {
      EXPECT_EQ(GoSyntaxError(c.GetString("text")), want.GetString("error")) << line;
      continue;
    }
    if (op == "mp") {
      EXPECT_EQ(ApplyMergePatch(c.At("doc"), c.At("patch")), want.At("out")) << line;
      continue;
    }
    const auto out = op == "jp" ? ApplyJsonPatch(c.At("doc"), c.At("patch"))
                                : ApplyStrategicMergePatch(Pod(), c.At("doc"), c.At("patch"));
    if (want.Has("out")) {
      ASSERT_TRUE(out.ok()) << out.status() << line;
      EXPECT_EQ(*out, want.At("out")) << line;
    } else {
      ASSERT_FALSE(out.ok()) << line;
      const std::string text(out.status().message());
      EXPECT_TRUE(op == "jp" || text == want.GetString("error")) << text << line;
    }
  }
  EXPECT_GT(cases, 150);
}

// Random values over few names, so that patches meet what is there.
class Generator {
 public:
  explicit Generator(uint32_t seed) : engine_(seed) {}
  int Below(int n) { return static_cast<int>(engine_() % static_cast<uint32_t>(n)); }

  Value Any(int depth, bool nulls) {
    switch (Below(depth > 0 ? 7 : 4)) {
      case 0:
        return nulls ? Value() : Value("n");
      case 1:
        return Value(Below(3));
      case 2:
        return Value(Below(2) == 0);
      case 3:
        return Value(std::string(1, static_cast<char>('x' + Below(3))));
      case 4: {
        Value list = Value::MakeArray();
        for (int i = Below(4); i > 0; --i) list.Append(Any(depth - 1, nulls));
        return list;
      }
      default:
        return Map(depth - 1, nulls);
    }
  }
  Value Map(int depth, bool nulls) {
    Value map = Value::MakeObject();
    for (int i = Below(5); i > 0; --i) {
      map.Set(std::string(1, static_cast<char>('a' + Below(5))), Any(depth, nulls));
    }
    return map;
  }
  // A patch for the pod form, with directives and mistakes.
  Value PodPatch() {
    static const char* const kItems[] = {
        R"({"name":"a","image":"1"})",
        R"({"name":"b","$patch":"delete"})",
        R"({"$patch":"replace"})",
        R"({"image":"x"})",
        R"({"name":"c","env":[{"name":"E","value":null}]})",
        R"(["x"])",
        R"("s")",
        R"({"name":"b","ports":[{"containerPort":1},{"containerPort":2,"$patch":"delete"}]})"};
    Value patch = Value::MakeObject();
    for (const char* list : {"containers", "volumes", "initContainers"}) {
      Value items = Value::MakeArray();
      for (int i = Below(3); i > 0; --i) items.Append(J(kItems[Below(8)]));
      if (Below(2) == 0) patch["spec"].Set(list, items);
      if (Below(4) == 0) {
        patch["spec"].Set(std::string("$setElementOrder/") + list,
                          J(R"([{"name":"b"},{"name":"a"}])"));
      }
    }
    if (Below(3) == 0) patch["metadata"].Set("finalizers", Any(2, true));
    if (Below(3) == 0) patch["metadata"].Set("$deleteFromPrimitiveList/finalizers", Any(2, true));
    if (Below(3) == 0) patch["metadata"].Set("labels", Any(2, true));
    if (Below(5) == 0) patch["spec"].Set("$retainKeys", Any(2, true));
    if (Below(9) == 0) patch["spec"].Set("$patch", Any(1, true));
    return patch;
  }

 private:
  std::mt19937 engine_;
};

Value Difference(const Value& from, const Value& to) {
  Value patch = Value::MakeObject();
  for (const auto& member : from.as_object()) {
    if (!to.Has(member.key)) patch.Set(member.key, Value());
  }
  for (const auto& member : to.as_object()) {
    const Value* had = from.Find(member.key);
    if (had == nullptr || !(*had == member.value)) {
      const bool maps = had != nullptr && had->is_object() && member.value.is_object();
      patch.Set(member.key, maps ? Difference(*had, member.value) : member.value);
    }
  }
  return patch;
}

TEST(PatchPropertyTest, AMergePatchOfTheDifferenceLeadsFromOneToTheOther) {
  Generator random(7);
  for (int i = 0; i < 3000; ++i) {
    const Value from = random.Map(3, false);
    const Value to = random.Map(3, false);
    const Value patch = Difference(from, to);
    EXPECT_EQ(ApplyMergePatch(from, patch), to) << Dump(from) << Dump(patch);
    // Without lists in the form, the strategic merge is the same.
    const auto strategic =
        ApplyStrategicMergePatch(*schema::FindMessage("ObjectReference"), from, patch);
    ASSERT_TRUE(strategic.ok()) << strategic.status();
    EXPECT_EQ(*strategic, to);
  }
}

TEST(PatchPropertyTest, MergePatchesAreIdempotent) {
  Generator random(8);
  for (int i = 0; i < 3000; ++i) {
    const Value document = random.Map(3, true);
    Value patch = random.Map(3, false);
    patch.Set("b", Value());
    const Value once = ApplyMergePatch(document, patch);
    EXPECT_EQ(ApplyMergePatch(once, patch), once) << Dump(document) << Dump(patch);
  }
}

TEST(PatchPropertyTest, AnAddedAndRemovedMemberLeavesTheDocument) {
  Generator random(9);
  for (int i = 0; i < 2000; ++i) {
    const Value document = random.Map(3, true);
    Value patch = Value::MakeArray();
    patch.Append(J(R"({"op":"add","path":"/zz"})")).Set("value", random.Any(2, true));
    patch.Append(J(R"({"op":"copy","from":"/zz","path":"/yy"})"));
    patch.Append(J(R"({"op":"move","from":"/yy","path":"/xx"})"));
    patch.Append(J(R"({"op":"remove","path":"/zz"})"));
    patch.Append(J(R"({"op":"remove","path":"/xx"})"));
    const auto out = ApplyJsonPatch(document, patch);
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(*out, document);
  }
}

TEST(PatchPropertyTest, AnyStrategicPatchIsAppliedOrRefused) {
  Generator random(10);
  Value pod = J(R"({"metadata":{"name":"p","labels":{"a":"1"},"finalizers":["x","y"]},
      "spec":{"containers":[{"name":"a","env":[{"name":"E","value":"1"}]},{"name":"b"}],
              "volumes":[{"name":"a","emptyDir":{}}]}})");
  int applied = 0;
  for (int i = 0; i < 20000; ++i) {
    const Value patch = random.PodPatch();
    const auto out = ApplyStrategicMergePatch(Pod(), pod, patch);
    if (!out.ok()) {
      EXPECT_FALSE(out.status().message().empty());
      continue;
    }
    ++applied;
    // No directive may survive where the patch changed something that exists.
    const auto decoded = schema::Decode(Pod(), *out);
    if (decoded.ok()) {
      EXPECT_EQ(Dump(*decoded).find("$patch"), std::string::npos);
    }
  }
  EXPECT_GT(applied, 3000);
}

}  // namespace
}  // namespace hekla::apiserver::patch

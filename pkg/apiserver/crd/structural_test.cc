#include "pkg/apiserver/crd/structural.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/crd/cel.h"

namespace hekla::apiserver::crd {
namespace {

using apis::json::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value J(const std::string& text) {
  auto value = apis::json::Parse(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

Structural Schema(const std::string& spec) {
  return Structural::Compile(
      J(R"({"type":"object","properties":{"spec":{"type":"object","properties":)" + spec + "}}}"));
}

std::string Problems(const Structural& schema, const std::string& object,
                     const std::string& old = "") {
  FieldErrors errors;
  const Value value = J(object);
  if (old.empty()) {
    schema.Validate(value, nullptr, errors);
  } else {
    const Value before = J(old);
    schema.Validate(value, &before, errors);
  }
  return errors.empty() ? "" : errors.Text();
}

TEST(StructuralTest, PrunesAndReportsUnknownFields) {
  const Structural schema = Schema(
      R"({"a":{"type":"string"},"m":{"type":"object","additionalProperties":{"type":"object",)"
      R"("properties":{"x":{"type":"integer"}}}},"free":{"type":"object",)"
      R"("x-kubernetes-preserve-unknown-fields":true,"properties":{"p":{"type":"object"}}},)"
      R"("l":{"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}}}},)"
      R"("e":{"type":"object","x-kubernetes-embedded-resource":true}})");
  Value object =
      J(R"({"kind":"K","metadata":{"z":1},"top":1,"spec":{"a":"s","b":1,"m":{"k":{"x":1,"y":2}},)"
        R"("free":{"q":1,"p":{"r":1}},"l":[{"k":"a","v":1}],"e":{"kind":"X","other":1}}})");
  std::vector<std::string> dropped;
  schema.Prune(object, &dropped);
  EXPECT_THAT(dropped,
              ::testing::UnorderedElementsAre("top", "spec.b", "spec.m.k.y", "spec.free.p.r",
                                              "spec.l[0].v", "spec.e.other"));
  EXPECT_EQ(object, J(R"({"kind":"K","metadata":{"z":1},"spec":{"a":"s","m":{"k":{"x":1}},)"
                      R"("free":{"q":1,"p":{}},"l":[{"k":"a"}],"e":{"kind":"X"}}})"));
}

TEST(StructuralTest, NullsGiveWayToDefaultsUnlessTheyAreAllowed) {
  const Structural schema =
      Schema(R"({"a":{"type":"string","default":"d"},"b":{"type":"string","nullable":true,)"
             R"("default":"d"},"c":{"type":"string"}})");
  Value object = J(R"({"spec":{"a":null,"b":null,"c":null}})");
  schema.Default(object);
  EXPECT_EQ(object, J(R"({"spec":{"a":"d","b":null}})"));
}

TEST(StructuralTest, ViolationsAreWordedAsInARealServer) {
  const Structural schema = Schema(
      R"({"n":{"type":"integer","minimum":1,"maximum":9},"s":{"type":"string","pattern":"^a",)"
      R"("maxLength":5,"minLength":2},"m":{"type":"string","enum":["a","b"]},)"
      R"("l":{"type":"array","maxItems":2,"minItems":1,"x-kubernetes-list-type":"set",)"
      R"("items":{"type":"string"}},"x":{"x-kubernetes-int-or-string":true},)"
      R"("k":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],)"
      R"("items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}},)"
      R"("f":{"type":"number","multipleOf":0.5,"exclusiveMinimum":true,"minimum":1}})");
  struct Case {
    const char* spec;
    const char* problem;
  };
  const Case cases[] = {
      {R"({"n":3,"s":"ab","m":"a","l":["x"],"x":"50%","k":[{"id":"1"}],"f":1.5})", ""},
      {R"({"x":7})", ""},
      {R"({"n":"x"})",
       R"(spec.n: Invalid value: "string": spec.n in body must be of type integer: "string")"},
      {R"({"m":"x"})", R"(spec.m: Unsupported value: "x": supported values: "a", "b")"},
      {R"({"n":0})",
       "spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1"},
      {R"({"n":10})",
       "spec.n: Invalid value: 10: spec.n in body should be less than or equal to 9"},
      {R"({"s":"xa"})", R"(spec.s: Invalid value: "xa": spec.s in body should match '^a')"},
      {R"({"s":"abcdef"})", "spec.s: Too long: may not be more than 5 bytes"},
      {R"({"s":"a"})",
       R"(spec.s: Invalid value: "a": spec.s in body should be at least 2 chars long)"},
      {R"({"l":["a","b","c"]})", "spec.l: Too many: 3: must have at most 2 items"},
      {R"({"l":["a","a"]})", R"(spec.l[1]: Duplicate value: "a")"},
      {R"({"k":[{"id":"1"},{"id":"1"}]})", R"(spec.k[1]: Duplicate value: {"id":"1"})"},
      {R"({"k":[{}]})", "spec.k[0].id: Required value"},
      {R"({"x":true})",
       R"(spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: )"
       R"("boolean")"},
      {R"({"f":1.2})", "spec.f: Invalid value: 1.2: spec.f in body should be a multiple of 0.5"},
      {R"({"f":1})", "spec.f: Invalid value: 1: spec.f in body should be greater than 1"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Problems(schema, R"({"spec":)" + std::string(c.spec) + "}"), c.problem) << c.spec;
  }
}

TEST(StructuralTest, OldProblemsAreForgivenWhereNothingChanged) {
  const Structural schema = Schema(
      R"({"n":{"type":"integer","maximum":9},"s":{"type":"string"},)"
      R"("k":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],)"
      R"("items":{"type":"object","properties":{"id":{"type":"string"},"v":{"type":"integer",)"
      R"("maximum":9}}}}})");
  EXPECT_EQ(Problems(schema, R"({"spec":{"n":99,"s":"b"}})", R"({"spec":{"n":99,"s":"a"}})"), "");
  EXPECT_NE(Problems(schema, R"({"spec":{"n":98}})", R"({"spec":{"n":99}})"), "");
  // Items of list maps are compared by key.
  EXPECT_EQ(Problems(schema, R"({"spec":{"k":[{"id":"b"},{"id":"a","v":99}]}})",
                     R"({"spec":{"k":[{"id":"a","v":99}]}})"),
            "");
}

TEST(StructuralTest, RulesAreCheckedWhenTheFormIsRight) {
  const Structural schema = Structural::Compile(
      J(R"({"type":"object","properties":{"spec":{"type":"object","properties":)"
        R"({"a":{"type":"integer"},"b":{"type":"string","x-kubernetes-validations":)"
        R"([{"rule":"self == oldSelf","message":"b is immutable"}]}},)"
        R"("x-kubernetes-validations":[{"rule":"!has(self.a) || self.a != 7",)"
        R"("message":"seven is taken"},{"rule":"!has(self.a) || self.a < 100"}]}}})"));
  EXPECT_EQ(Problems(schema, R"({"spec":{"a":7}})"), "spec: Invalid value: seven is taken");
  EXPECT_EQ(Problems(schema, R"({"spec":{"a":100}})"),
            "spec: Invalid value: failed rule: !has(self.a) || self.a < 100");
  EXPECT_EQ(Problems(schema, R"({"spec":{"b":"x"}})"), "");
  EXPECT_EQ(Problems(schema, R"({"spec":{"b":"y"}})", R"({"spec":{"b":"x"}})"),
            R"(spec.b: Invalid value: "y": b is immutable)");
  EXPECT_THAT(Problems(schema, R"({"spec":{"a":"x"}})"),
              HasSubstr("<nil>: Invalid value: null: some validation rules were not checked"));
}

TEST(CelTest, EvaluatesWhatSchemasUse) {
  const Value self =
      J(R"({"a":1,"s":"hello","l":[1,2,3],"m":{"k":"v"},"policies":[{"e":"x"},{"e":"y"}]})");
  struct Case {
    const char* rule;
    bool result;
  };
  const Case cases[] = {
      {"has(self.a) && !has(self.b)", true},
      {"self.a == 1 ? self.s == 'hello' : false", true},
      {"self.s in ['hello', \"bye\"]", true},
      {"'k' in self.m", true},
      {"size(self.l) == 3 && self.l.size() == 3 && size(self.s) == 5", true},
      {"self.l[0] + self.l[1] * 2 == 5", true},
      {"(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1", true},
      {"self.s.startsWith('he') && self.s.endsWith('lo') && self.s.contains('ll')", true},
      {"self.s.matches('^[a-z]+$')", true},
      {"self.l.all(x, x > 0) && self.l.exists(x, x == 2) && self.l.exists_one(x, x == 3)", true},
      {"self.policies.filter(p, p.e == 'x').size() == 1", true},
      {"self.policies.map(p, p.e) == ['x', 'y']", true},
      {"self.m.all(k, k == 'k')", true},
      {"has(self.b) || self.a == 1", true},
      {"self.b == 1 || self.a == 1", true},
      {"-self.a == -1 && 7 % 4 == 3 && 1.5 < 2.0", true},
      {"self.m['k'] == 'v' && self.s != self.m.k", true},
      {"string(self.a) == '1' && int('12') == 12", true},
  };
  for (const Case& c : cases) {
    const auto rule = CelRule::Compile(c.rule);
    ASSERT_TRUE(rule.ok()) << c.rule << ": " << rule.status();
    const auto result = rule->Evaluate(self, nullptr);
    ASSERT_TRUE(result.ok()) << c.rule << ": " << result.status();
    EXPECT_EQ(*result, Value(c.result)) << c.rule;
  }
}

TEST(CelTest, MistakesAreErrorsAndNeverMore) {
  for (const char* text : {"", "(", "self.", "1 +", "[1,", "'a", "has(1)", "self ? 1", "a b"}) {
    EXPECT_FALSE(CelRule::Compile(text).ok()) << text;
  }
  const Value self = J(R"({"a":1,"l":[]})");
  for (const char* text : {"self.b", "self.l[0]", "1 / 0", "self.a + 'x'", "unknown",
                           "9223372036854775807 + 1", "!self.a"}) {
    const auto rule = CelRule::Compile(text);
    ASSERT_TRUE(rule.ok()) << text;
    EXPECT_FALSE(rule->Evaluate(self, nullptr).ok()) << text;
  }
  EXPECT_TRUE(
      absl::IsUnimplemented(CelRule::Compile("duration('1s')")->Evaluate(self, nullptr).status()));
  EXPECT_FALSE(CelRule::Compile(std::string(1000, '(')).ok());
}

}  // namespace
}  // namespace hekla::apiserver::crd

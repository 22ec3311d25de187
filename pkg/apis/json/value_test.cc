#include "pkg/apis/json/value.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::json {
namespace {

using util::testing::StatusIs;

TEST(JsonValueTest, ParsesAndDumpsEveryKindInOrder) {
  const char* text = R"({"b":true,"a":[1,-2,2.5,"x\n",null,{}],"z":{"k":"v"}})";
  auto v = Parse(text);
  HEKLA_ASSERT_OK(v);
  EXPECT_EQ(Dump(*v), text);
  EXPECT_TRUE(v->At("a").as_array()[0].is_int());
  EXPECT_EQ(v->At("a").as_array()[2].as_double(), 2.5);
}

TEST(JsonValueTest, EqualityIgnoresMemberOrderAndNumberKind) {
  EXPECT_EQ(*Parse(R"({"a":1,"b":[2]})"), *Parse(R"({"b":[2.0],"a":1})"));
  EXPECT_NE(*Parse(R"({"a":1})"), *Parse(R"({"a":2})"));
  EXPECT_NE(*Parse(R"([1,2])"), *Parse(R"([2,1])"));
}

TEST(JsonValueTest, LastDuplicateWinsAndIsReported) {
  std::vector<std::string> duplicates;
  auto v = ParseReportingDuplicates(R"({"a":{"b":1,"b":2},"l":[{"c":1,"c":3}]})", duplicates);
  HEKLA_ASSERT_OK(v);
  EXPECT_EQ(v->At("a").GetInt("b"), 2);
  EXPECT_EQ(duplicates, (std::vector<std::string>{"a.b", "l[0].c"}));
}

TEST(JsonValueTest, ErrorsNameTheByte) {
  EXPECT_THAT(Parse(R"({"a":)"), StatusIs(absl::StatusCode::kInvalidArgument, "at byte 5"));
  EXPECT_THAT(Parse("{} x"), StatusIs(absl::StatusCode::kInvalidArgument, "byte 3"));
}

// Two readers: one for texts of ASCII alone.
TEST(JsonValueTest, TextsOfAsciiAloneAreReadLikeOthers) {
  const char* const kTexts[] = {
      R"({"a":[1,-2.5,1e3,true,null,"x\ty"],"b":{"c":"\u00e9\ud834\udd1e"}})",
      R"(["\udd1e"])",
      "{",
      "[1 2]",
      "[1] 2",
      "\"a\nb\"",
      "nul",
      "",
      "  [ ] "};
  for (const std::string text : kTexts) {
    // The same inside an array whose other item is not ASCII.
    const auto plain = Parse(text);
    const auto mixed = Parse("[" + text + ",\"\xC3\xA9\"]");
    ASSERT_EQ(plain.ok(), mixed.ok()) << text;
    if (!plain.ok()) continue;
    EXPECT_EQ(*plain, mixed->as_array()[0]) << text;
  }
}

TEST(JsonValueTest, NumbersAtTheEdges) {
  const auto number = [](absl::string_view text) { return *Parse(text); };
  EXPECT_EQ(number("9223372036854775807").as_int(), INT64_MAX);
  EXPECT_EQ(number("-9223372036854775808").as_int(), INT64_MIN);
  EXPECT_EQ(number("-0").as_int(), 0);
  EXPECT_EQ(number("9223372036854775808").as_double(), 9223372036854775808.0);
  EXPECT_EQ(number("1e3").as_double(), 1000.0);
  EXPECT_EQ(number("0.1000000000000000055511151231257827").as_double(), 0.1);
  EXPECT_EQ(number("0.000000000000000000000000000000000").as_double(), 0.0);
  EXPECT_EQ(number("4.9e-324").as_double(), 4.9e-324);
  EXPECT_EQ(number("1e-400").as_double(), 0.0);
  EXPECT_THAT(Parse("[1e400]"), StatusIs(absl::StatusCode::kInvalidArgument, "too big"));
  EXPECT_THAT(Parse("[01]"), StatusIs(absl::StatusCode::kInvalidArgument, "byte 2"));
}

TEST(JsonValueTest, DeepNestingIsAnErrorNotACrash) {
  EXPECT_THAT(Parse(std::string(100000, '[')),
              StatusIs(absl::StatusCode::kInvalidArgument, "deep"));
}

TEST(JsonValueTest, ManyMembersKeepTheLastDuplicate) {
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  text += "\"k7\":70,\"k99\":990}";
  auto v = Parse(text);
  HEKLA_ASSERT_OK(v);
  EXPECT_EQ(v->size(), 100u);
  EXPECT_EQ(v->GetInt("k7"), 70);
  EXPECT_EQ(v->GetInt("k99"), 990);
}

TEST(JsonValueTest, NestedDuplicatesAreReportedInTheOrderOfTheText) {
  std::vector<std::string> duplicates;
  const auto v = ParseReportingDuplicates(
      R"({"b":[{"c":1,"c":[0,{"d":1,"d":2}]},[[1],[2,{"x":1,"x":3}]]]})", duplicates);
  HEKLA_ASSERT_OK(v);
  EXPECT_EQ(Dump(*v), R"({"b":[{"c":[0,{"d":2}]},[[1],[2,{"x":3}]]]})");
  EXPECT_EQ(duplicates, (std::vector<std::string>{"b[0].c", "b[0].c[1].d", "b[1][1][1].x"}));
}

TEST(JsonValueTest, AZeroByteIsNoEnd) {
  const absl::string_view two("{}\0x", 4);
  EXPECT_THAT(Parse(two), StatusIs(absl::StatusCode::kInvalidArgument, "byte 2"));
  EXPECT_FALSE(Parse(absl::string_view("\"a\0b\"", 5)).ok());
  EXPECT_FALSE(Parse(absl::string_view("\0", 1)).ok());
}

// Nothing is read behind the end (the address sanitizer looks on).
TEST(JsonValueTest, ACharacterThatTheEndCutsOffIsAnError) {
  for (size_t before = 0; before < 40; ++before) {
    for (const char* cut : {"\xC3", "\xE2", "\xE2\x82", "\xF0", "\xF0\x9D", "\xF0\x9D\x84"}) {
      const auto value = Parse(absl::StrCat("\"", std::string(before, 'a'), cut));
      EXPECT_THAT(value, StatusIs(absl::StatusCode::kInvalidArgument, "at byte")) << before;
    }
  }
}

// In short strings and in long ones, which a parser may read many bytes at a time.
TEST(JsonValueTest, ControlCharactersAreWrittenAndReadAsEscapesOnly) {
  for (char c = 0; c < 0x20; ++c) {
    for (const size_t before : {size_t{0}, size_t{3}, size_t{15}, size_t{40}}) {
      const std::string text =
          absl::StrCat(std::string(before, 'a'), std::string(1, c), std::string(20, 'b'));
      SCOPED_TRACE(absl::StrCat(before, " before ", static_cast<int>(c)));
      const std::string dumped = Dump(Value::MakeObject({{text, text}}));
      for (const char d : dumped) EXPECT_GE(d, 0x20);
      const auto read = Parse(dumped);
      HEKLA_ASSERT_OK(read);
      EXPECT_EQ(read->GetString(text), text);
      for (const char* after : {"", "\xC3\xA9"}) {
        EXPECT_THAT(Parse(absl::StrCat("{\"k\":\"", text, after, "\"}")),
                    StatusIs(absl::StatusCode::kInvalidArgument, "invalid JSON at byte"));
      }
    }
  }
}

TEST(JsonValueTest, WhatIsOmittedIsAsIfItWereNotThere) {
  const Omission omission("items", {"metadata.managedFields", "spec.containers.env", "spec.big"});
  const std::string text = R"({"kind":"L","metadata":{"managedFields":1},"items":[
      {"metadata":{"name":"a","managedFields":[{"f:x":{".":{}}},[[],{}],"s"]},
       "spec":{"big":-1.5e99,"containers":[{"name":"c","env":[{"name":"N"}],"x":{"env":1}},
                                         {"env":{},"name":"d"}]}},
      {"spec":{"big":null,"containers":{"env":true,"k":[{"env":0}]}}},
      {"spec":7,"metadata":[]}, "spec"]})";
  const auto v = ParseWithout(omission, text);
  HEKLA_ASSERT_OK(v);
  EXPECT_EQ(Dump(*v),
            R"({"kind":"L","metadata":{"managedFields":1},"items":[{"metadata":{"name":"a"},)"
            R"("spec":{"containers":[{"name":"c","x":{"env":1}},{"name":"d"}]}},)"
            R"({"spec":{"containers":{"k":[{"env":0}]}}},{"spec":7,"metadata":[]},"spec"]})");
  // It must be JSON all the same, and no deeper than the rest.
  EXPECT_FALSE(ParseWithout(omission, R"({"items":[{"spec":{"big":[}}]})").ok());
  const std::string deep = R"({"items":[{"spec":{"big":)" + std::string(600, '[');
  EXPECT_THAT(ParseWithout(omission, deep), StatusIs(absl::StatusCode::kInvalidArgument, "deep"));
  EXPECT_EQ(ParseWithout({}, text).ok(), Parse(text).ok());
}

TEST(JsonValueTest, EqualValuesHaveEqualHashes) {
  const auto hash = [](absl::string_view text) { return HashOf(*Parse(text)); };
  EXPECT_EQ(hash(R"({"a":1,"b":[2,null]})"), hash(R"({"b":[2.0,null],"a":1})"));
  const char* const kDifferent[] = {"null",   "true",       "false",      "1",
                                    R"("1")", "[]",         "{}",         "[1,2]",
                                    "[2,1]",  R"({"a":1})", R"({"a":2})", R"({"b":1})"};
  std::set<uint64_t> hashes;
  for (const char* text : kDifferent) hashes.insert(hash(text));
  EXPECT_EQ(hashes.size(), std::size(kDifferent));
}

TEST(JsonValueTest, EnsureAndRemoveWorkOnPaths) {
  Value v;
  v.Ensure({"metadata", "labels"}).Set("a", "b");
  EXPECT_EQ(Dump(v), R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(v["metadata"].Remove("labels"));
  EXPECT_FALSE(v["metadata"].Remove("labels"));
}

}  // namespace
}  // namespace hekla::apis::json

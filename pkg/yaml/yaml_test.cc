#include "pkg/yaml/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"
#include "pkg/yaml/scalar.h"

namespace hekla::yaml {
namespace {

using apis::json::Value;
using util::testing::StatusIs;

// The first document as JSON text, or the error.
std::string ToJson(absl::string_view text) {
  absl::StatusOr<std::vector<Document>> documents = ParseAll(text);
  if (!documents.ok()) return std::string(documents.status().message());
  if (documents->empty()) return "(none)";
  return apis::json::Dump((*documents)[0].value);
}

TEST(YamlParseTest, UnquotedScalarsFollowYaml11) {
  struct Case {
    const char* text;
    const char* json;
  };
  const Case cases[] = {
      {"yes", "true"},
      {"No", "false"},
      {"on", "true"},
      {"OFF", "false"},
      {"y", "true"},
      {"N", "false"},
      {"yEs", "\"yEs\""},
      {"~", "null"},
      {"null", "null"},
      {"12", "12"},
      {"+12", "12"},
      {"-3", "-3"},
      {"0x1F", "31"},
      {"010", "8"},
      {"0o17", "15"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"08", "8.0"},
      {"1.5", "1.5"},
      {"1e3", "1000.0"},
      {".5", "0.5"},
      {"1.", "1.0"},
      {"1.2.3", "\"1.2.3\""},
      {"500m", "\"500m\""},
      {"2026-01-02", "\"2026-01-02\""},
      {"-", "[null]"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"\"yes\"", "\"yes\""},
      {"'12'", "\"12\""},
      {"!!str 12", "\"12\""},
      {"!!int \"12\"", "12"},
      {"!!float 3", "3.0"},
      {"\"\"", "\"\""},
  };
  for (const Case& c : cases) EXPECT_EQ(ToJson(c.text), c.json) << c.text;
}

TEST(YamlParseTest, KeysBecomeStrings) {
  EXPECT_EQ(ToJson("1: a\ntrue: b\n\"2\": c\n"), R"({"1":"a","true":"b","2":"c"})");
}

TEST(YamlParseTest, AnchorsAliasesAndMergeKeysAreResolved) {
  EXPECT_EQ(ToJson("base: &b {x: 1, y2: 2}\nuse: *b\nmerged:\n  <<: *b\n  x: 9\n"),
            R"({"base":{"x":1,"y2":2},"use":{"x":1,"y2":2},"merged":{"x":9,"y2":2}})");
  EXPECT_EQ(ToJson("a: &a {k: 1}\nb: &b {k: 2, l: 3}\nc: {<<: [*a, *b]}\n"),
            R"({"a":{"k":1},"b":{"k":2,"l":3},"c":{"k":1,"l":3}})");
}

TEST(YamlParseTest, DocumentsAreKeptInOrderWithTheEmptyOnes) {
  absl::StatusOr<std::vector<Document>> documents = ParseAll("a: 1\n---\n---\nb: 2\n...\n");
  HEKLA_ASSERT_OK(documents);
  ASSERT_EQ(documents->size(), 3u);
  EXPECT_TRUE((*documents)[1].value.is_null());
  EXPECT_EQ((*documents)[2].value.GetInt("b"), 2);
  EXPECT_EQ((*documents)[2].Find(Path().Key("b")).line, 4);
  EXPECT_EQ(ToJson(""), "(none)");
}

TEST(YamlParseTest, JsonIsYaml) {
  EXPECT_EQ(ToJson("{\"a\":[1,{\"b\":null}],\"c\":\"yes\"}"), R"({"a":[1,{"b":null}],"c":"yes"})");
}

TEST(YamlParseTest, ErrorsNameLineAndColumn) {
  EXPECT_EQ(ToJson("a: 1\nb: 2\na: 3\n"), "line 3, column 1: key \"a\" is given twice");
  EXPECT_THAT(ToJson("a: [1, 2\nb: 3\n"), ::testing::StartsWith("line "));
  EXPECT_THAT(ToJson("a: *nowhere\n"), ::testing::HasSubstr("line 1, column 4"));
  EXPECT_THAT(ToJson("x: .inf\n"), ::testing::HasSubstr("line 1, column 4: number .inf"));
  EXPECT_THAT(ToJson("? [1]\n: b\n"), ::testing::HasSubstr("a map key must be"));
  EXPECT_THAT(ToJson("a: {<<: 3}\n"), ::testing::HasSubstr("a merge key needs"));
}

TEST(YamlParseTest, HostileInputIsRefused) {
  EXPECT_THAT(ToJson(std::string(300, '[') + std::string(300, ']')),
              ::testing::HasSubstr("nested too deeply"));
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? "," : "") + before;
    bomb += "]\n";
  }
  EXPECT_THAT(ToJson(bomb), ::testing::HasSubstr("too many values"));
}

TEST(YamlParseTest, OnlyUtf8IsRead) {
  struct Case {
    absl::string_view text, error;
  };
  for (const Case& c : {Case{"a: 1\nb: \"x\xFF\"\n", "line 2, column 6: not UTF-8 text"},
                        // Dumped as the first document it would read as UTF-16.
                        Case{"{a: 1}\n\xFE\xFF\xFF\xF7", "line 2, column 1: not UTF-8 text"},
                        Case{"\xFF\xFE", "line 1, column 1: not UTF-8 text"},
                        Case{{"a\0\0\0", 4}, "line 1, column 2: not UTF-8 text"}}) {
    EXPECT_THAT(ParseAll(c.text), StatusIs(absl::StatusCode::kInvalidArgument, c.error));
  }
  EXPECT_EQ(ToJson(R"(["\N\_"])"), "[\"\xC2\x85\xC2\xA0\"]");
  EXPECT_EQ(ToJson("\xEF\xBB\xBF"
                   "a: \xC3\xA9\n"),
            "{\"a\":\"\xC3\xA9\"}");
}

TEST(YamlPositionTest, KeysAndItemsAreFound) {
  absl::StatusOr<Document> document = ParseOne(
      "actions: \"enqueue\"\n"
      "tiers:\n"
      "- plugins:\n"
      "  - name: gang\n"
      "    arguments:\n"
      "      binpack.weight: 3\n");
  HEKLA_ASSERT_OK(document);
  const Path plugin = Path().Key("tiers").Index(0).Key("plugins").Index(0);
  const Path weight = plugin.Key("arguments").Key("binpack.weight");
  EXPECT_EQ(weight.ToString(), "tiers[0].plugins[0].arguments.binpack.weight");
  EXPECT_EQ(document->Find(weight).line, 6);
  EXPECT_EQ(document->Find(weight).column, 7);
  EXPECT_EQ(document->Find(plugin.Key("name")).column, 5);
  // What does not exist is reported at the deepest value that does.
  EXPECT_EQ(document->Find(plugin.Key("absent").Key("x")).line, 4);
}

TEST(YamlParseOneTest, SeveralDocumentsAreAnError) {
  HEKLA_EXPECT_OK(ParseOne("---\na: 1\n---\n"));
  EXPECT_THAT(ParseOne("a: 1\n---\nb: 1\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, "line 3, column 1: more than one"));
}

TEST(YamlDumpTest, BlockStyleWithSortedKeys) {
  const Value value = *apis::json::Parse(
      R"({"kind":"Pod","a":[{"y":1,"b":"x"},[1,2],"s",{}],"empty":[],"text":"l1\nl2\n","on":"on",
          "n":null,"q":"a: b","f":1.5,"t":"true","time":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(yaml::Dump(value),
            "a:\n- b: x\n  \"y\": 1\n- - 1\n  - 2\n- s\n- {}\nempty: []\nf: 1.5\nkind: Pod\n"
            "\"n\": null\n\"on\": \"on\"\nq: \"a: b\"\nt: \"true\"\ntext: |\n  l1\n  l2\n"
            "time: \"2026-01-01T00:00:00Z\"\n");
}

TEST(YamlDumpTest, LongKeysStandAlone) {
  const std::string key(129, 'k');
  Value value = Value::MakeObject({{"a", Value::MakeObject()}});
  value["a"].Set(key, Value::MakeObject({{"b", 1}}));
  value["a"].Set(std::string(2000, '\x15'), Value("text"));
  const std::string text = yaml::Dump(value);
  EXPECT_THAT(text, ::testing::HasSubstr("  ? " + key + "\n  :\n    b: 1\n"));
  const auto back = ParseOne(text);
  HEKLA_ASSERT_OK(back);
  EXPECT_EQ(back->value, value);
}

// Random values survive Dump and ParseAll.
Value RandomValue(util::Random& random, int depth) {
  static const char* const kTexts[] = {
      "",      "yes",  "a b", "- x", "x: y", "12",    " lead", "#c",     "tail ", "l1\nl2",
      "l1\n",  "\tt",  "~",   "{",   "a #b", "a\n\n", "\"q\"", "back\\", "é",     "1e3",
      "<<",    "key:", "'",   "|",   "%",    "---",   "0x1",   "a,b",    "null",  "\nlead",
      "a \nb", "?",    "? x", "-x",  ":x",   "--- x", "...",   "...x"};
  switch (random.Below(depth > 0 ? 7 : 5)) {
    case 0:
      return Value(kTexts[random.Below(std::size(kTexts))]);
    case 1:
      return Value(static_cast<long long>(random.Next()));
    case 2:
      return Value(random.Unit() * 1000 + 0.25);
    case 3:
      return Value(random.Below(2) == 0);
    case 4:
      return Value();
    case 5: {
      Value array = Value::MakeArray();
      for (uint64_t n = random.Below(4); n > 0; --n) array.Append(RandomValue(random, depth - 1));
      return array;
    }
    default: {
      Value object = Value::MakeObject();
      for (uint64_t n = random.Below(4); n > 0; --n) {
        object.Set(kTexts[random.Below(std::size(kTexts))], RandomValue(random, depth - 1));
      }
      return object;
    }
  }
}

TEST(YamlDumpTest, PropertyDumpThenParseGivesTheSameValue) {
  util::Random random(20261129);
  for (int round = 0; round < 3000; ++round) {
    const Value value = RandomValue(random, 4);
    const std::string text = yaml::Dump(value);
    absl::StatusOr<std::vector<Document>> back = ParseAll(text);
    ASSERT_TRUE(back.ok()) << back.status() << "\n" << text;
    ASSERT_EQ(back->size(), 1u) << text;
    ASSERT_EQ((*back)[0].value, value) << text << "\n" << apis::json::Dump(value);
  }
}

}  // namespace
}  // namespace hekla::yaml

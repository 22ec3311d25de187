#include "pkg/apiserver/selector/selector.h"

#include "gtest/gtest.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

Value Labels() { return Value::MakeObject({{"x", "1"}, {"tier", "web"}, {"n", "7"}}); }

TEST(LabelSelectorTest, MatchesAsKubernetesDoes) {
  struct Case {
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"", true},
      {"x=1", true},
      {"x==1", true},
      {"x=2", false},
      {"x!=2", true},
      {"x!=1", false},
      {"absent!=1", true},
      {"x in (1,2)", true},
      {"x in (2, 3)", false},
      {"absent in (1)", false},
      {"x notin (2)", true},
      {"absent notin (2)", true},
      {"x", true},
      {"absent", false},
      {"!absent", true},
      {"!x", false},
      {"x=1,tier=web", true},
      {"x=1,tier=db", false},
      {"n>6", true},
      {"n<7", false},
      {"x in ()", false},
      {"in", false},
      {" x = 1 , tier in ( web ) ", true},
      {"x=", false},
  };
  for (const Case& c : cases) {
    const auto selector = LabelSelector::Parse(c.text);
    ASSERT_TRUE(selector.ok()) << c.text << ": " << selector.status();
    EXPECT_EQ(selector->Matches(Labels()), c.matches) << c.text;
  }
}

TEST(LabelSelectorTest, ErrorsAreWordedAsInARealServer) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {"==", "found '==', expected: !, identifier, or 'end of string'"},
      {"x=1,", "found '', expected: identifier after ','"},
      {"x=1 y", "found 'y', expected: ',' or 'end of string'"},
      {"x in 1", "unable to parse requirement: found '1' expected: '('"},
      {"x>a",
       "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, "
       "the value must be an integer"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
  };
  for (const Case& c : cases) {
    const auto selector = LabelSelector::Parse(c.text);
    ASSERT_FALSE(selector.ok()) << c.text;
    EXPECT_EQ(selector.status().message(), c.error) << c.text;
  }
  EXPECT_FALSE(LabelSelector::Parse("a b/c=1").ok());
  EXPECT_FALSE(LabelSelector::Parse("x=not valid").ok());
}

TEST(LabelSelectorTest, ObjectsSelectNothingWhenNullAndEverythingWhenEmpty) {
  EXPECT_FALSE(LabelSelector::FromObject(Value())->Matches(Labels()));
  EXPECT_TRUE(LabelSelector::FromObject(Value::MakeObject())->Matches(Labels()));
  const Value expression = Value::MakeObject(
      {{"key", "tier"}, {"operator", "NotIn"}, {"values", Value::MakeArray({Value("db")})}});
  const Value selector = Value::MakeObject({{"matchLabels", Value::MakeObject({{"x", "1"}})},
                                            {"matchExpressions", Value::MakeArray({expression})}});
  EXPECT_TRUE(LabelSelector::FromObject(selector)->Matches(Labels()));
  const Value bad = Value::MakeObject(
      {{"matchExpressions",
        Value::MakeArray({Value::MakeObject({{"key", "a"}, {"operator", "Near"}})})}});
  EXPECT_FALSE(LabelSelector::FromObject(bad).ok());
}

TEST(FieldSelectorTest, SplitsAtFreeCommasAndUnescapes) {
  const auto selector = FieldSelector::Parse("a=1,b!=2,c==3,d=x\\,y\\=z\\\\,e=");
  ASSERT_TRUE(selector.ok()) << selector.status();
  const auto& r = selector->requirements();
  ASSERT_EQ(r.size(), 5u);
  EXPECT_EQ(r[0].field, "a");
  EXPECT_TRUE(r[0].equal);
  EXPECT_FALSE(r[1].equal);
  EXPECT_EQ(r[2].value, "3");
  EXPECT_EQ(r[3].value, "x,y=z\\");
  EXPECT_EQ(r[4].value, "");
  EXPECT_TRUE(FieldSelector::Parse("")->empty());
  EXPECT_EQ(FieldSelector::Parse("abc").status().message(),
            "invalid selector: 'abc'; can't understand 'abc'");
}

}  // namespace
}  // namespace hekla::apiserver

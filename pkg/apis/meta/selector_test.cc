#include "pkg/apis/meta/selector.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::meta {
namespace {

using util::testing::StatusIs;

bool MatchesText(absl::string_view selector, const StringMap& labels) {
  absl::StatusOr<std::vector<Requirement>> parsed = ParseLabelSelector(selector);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() && MatchesAll(*parsed, labels);
}

TEST(LabelSelectorTextTest, EveryOperator) {
  const StringMap labels{{"app", "web"}, {"tier", "2"}, {"x.io/y", ""}};
  struct Case {
    const char* selector;
    bool matches;
  };
  const Case cases[] = {
      {"", true},
      {"app=web", true},
      {"app==web", true},
      {"app = web , tier = 2", true},
      {"app!=web", false},
      {"app!=api", true},
      {"none!=x", true},
      {"app in (api, web)", true},
      {"app in (api)", false},
      {"app notin (api)", true},
      {"none notin (api)", true},
      {"app", true},
      {"none", false},
      {"!none", true},
      {"!app", false},
      {"tier>1", true},
      {"tier<2", false},
      {"app>1", false},
      {"x.io/y=", true},
      {"x.io/y in ()", true},
      {"app=web,tier in (1,2),!none", true},
  };
  for (const Case& c : cases) EXPECT_EQ(MatchesText(c.selector, labels), c.matches) << c.selector;
}

TEST(LabelSelectorTextTest, MalformedTextIsRefused) {
  for (const char* text :
       {"=a", "a in", "a in b", "a in (b", "a~b", "a,,b", "a,", "a>x", "a=b c"}) {
    EXPECT_THAT(ParseLabelSelector(text),
                StatusIs(absl::StatusCode::kInvalidArgument, "invalid label selector"))
        << text;
  }
}

TEST(LabelSelectorTest, ObjectFormAndBack) {
  const json::Value object = *json::Parse(
      R"({"s":{"matchLabels":{"a":"1"},"matchExpressions":[
          {"key":"b","operator":"In","values":["x","y"]},{"key":"c","operator":"DoesNotExist"}]}})");
  const Reader root(object);
  std::optional<LabelSelector> selector;
  ReadLabelSelector(root, "s", selector);
  HEKLA_ASSERT_OK(root.status());
  ASSERT_TRUE(selector.has_value());
  EXPECT_TRUE(selector->Matches({{"a", "1"}, {"b", "y"}}));
  EXPECT_FALSE(selector->Matches({{"a", "1"}, {"b", "y"}, {"c", ""}}));
  EXPECT_FALSE(selector->Matches({{"b", "y"}}));
  EXPECT_EQ(EncodeLabelSelector(*selector), object.At("s"));
  EXPECT_TRUE(LabelSelector().Matches({{"any", "thing"}}));
}

TEST(LabelSelectorTest, UnknownOperatorIsAnError) {
  const json::Value object =
      *json::Parse(R"({"s":{"matchExpressions":[{"key":"b","operator":"Like"}]}})");
  const Reader root(object);
  std::optional<LabelSelector> selector;
  ReadLabelSelector(root, "s", selector);
  EXPECT_EQ(root.status().message(), "s.matchExpressions[0].operator: unknown operator \"Like\"");
}

TEST(FieldSelectorTest, EqualityAndEscapes) {
  const auto lookup = [](absl::string_view field) -> std::string {
    if (field == "metadata.name") return "a,b=c\\";
    if (field == "spec.nodeName") return "n1";
    return "";
  };
  const auto matches = [&](absl::string_view text) {
    return MatchesFields(*ParseFieldSelector(text), lookup);
  };
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("spec.nodeName=n1"));
  EXPECT_TRUE(matches("spec.nodeName==n1"));
  EXPECT_FALSE(matches("spec.nodeName!=n1"));
  EXPECT_TRUE(matches("spec.nodeName!=,metadata.name=a\\,b\\=c\\\\"));
  EXPECT_TRUE(matches("status.phase="));
  EXPECT_THAT(ParseFieldSelector("metadata.name"),
              StatusIs(absl::StatusCode::kInvalidArgument, "has no operator"));
}

// The text form and the object form agree on random selectors and labels.
TEST(LabelSelectorTest, PropertyTextAndObjectFormAgree) {
  util::Random random(5);
  const auto key = [&] { return absl::StrCat("k", random.Below(3)); };
  const auto value = [&] { return absl::StrCat("v", random.Below(3)); };
  for (int round = 0; round < 5000; ++round) {
    LabelSelector selector;
    std::string text;
    for (uint64_t n = random.Below(4); n > 0; --n) {
      Requirement r{key(), static_cast<SelectorOperator>(random.Below(4)), {}};
      if (!text.empty()) text += ",";
      if (r.op == SelectorOperator::kIn || r.op == SelectorOperator::kNotIn) {
        r.values = {value(), value()};
        absl::StrAppend(&text, r.key, r.op == SelectorOperator::kIn ? " in (" : " notin (",
                        r.values[0], ",", r.values[1], ")");
      } else {
        absl::StrAppend(&text, r.op == SelectorOperator::kExists ? "" : "!", r.key);
      }
      selector.match_expressions.push_back(r);
    }
    StringMap labels;
    for (uint64_t n = random.Below(4); n > 0; --n) labels.Set(key(), value());
    ASSERT_EQ(MatchesText(text, labels), selector.Matches(labels)) << text;
  }
}

}  // namespace
}  // namespace hekla::apis::meta

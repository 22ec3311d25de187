#include "pkg/apiserver/crd/regex.h"

#include <string>

#include "gtest/gtest.h"

namespace hekla::apiserver::crd {
namespace {

struct Case {
  const char* pattern;
  const char* text;
  bool matches;
};

TEST(RegexTest, FollowsTheSyntaxOfSchemas) {
  const Case cases[] = {
      {"^[a-z]+$", "abc", true},
      {"^[a-z]+$", "aBc", false},
      {"b", "abc", true},
      {"^a|c$", "xxc", true},
      {"^a|c$", "xcx", false},
      {"^(a|bc)*d$", "abcbcad", true},
      {"^(a|bc)*d$", "abcbad", false},
      {"^x{2,3}$", "xx", true},
      {"^x{2,3}$", "xxxx", false},
      {"^x{2,}$", "xxxxx", true},
      {"^(ab){2}$", "abab", true},
      {"^(?:ab)?c$", "c", true},
      {"^\\d+\\.\\w*$", "12.ab_", true},
      {"^[^\\s/]+$", "a b", false},
      {"^[]a-]+$", "]-a", true},
      {"\\bfoo\\b", "a foo b", true},
      {"\\bfoo\\b", "afoo", false},
      {"^$", "", true},
      {"", "anything", true},
      {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a-b.c0", true},
      {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a-b..c0", false},
      {"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$", "-1.5Gi", true},
      {"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$", "1.5Gx", false},
      {"^(a*)*$", "aaaaaaaaab", false},
      {"[[:digit:]]", "x1", true},
  };
  for (const Case& c : cases) {
    const Regex regex(c.pattern);
    ASSERT_TRUE(regex.valid()) << c.pattern;
    EXPECT_EQ(regex.Matches(c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(RegexTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* pattern :
       {"(", "a)", "[", "*a", "(?=a)", "\\1", "a{1001}", "((((a{100}){100}){100}){100})"}) {
    EXPECT_FALSE(Regex(pattern).valid()) << pattern;
  }
}

TEST(RegexTest, StaysLinearWhereBacktrackingExplodes) {
  const Regex regex("^(a?){30}a{30}$");
  ASSERT_TRUE(regex.valid());
  EXPECT_TRUE(regex.Matches(std::string(30, 'a')));
  EXPECT_FALSE(regex.Matches(std::string(3000, 'b')));
}

}  // namespace
}  // namespace hekla::apiserver::crd

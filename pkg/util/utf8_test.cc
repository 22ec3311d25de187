#include "pkg/util/utf8.h"

#include "gtest/gtest.h"

namespace hekla::util {
namespace {

TEST(Utf8Test, StopsAtTheFirstByteThatIsNone) {
  struct Case {
    absl::string_view text;
    size_t valid;
  };
  for (const Case& c : {Case{"", 0}, Case{"abc", 3}, Case{"h\xC3\xA9llo", 6},
                        Case{"\xE2\x82\xAC", 3}, Case{"\xF0\x9F\x98\x80", 4}, Case{"a\xFF", 1},
                        Case{"a\xFE\xFF", 1}, Case{"\x80", 0}, Case{"ab\xC3", 2},  // cut off
                        Case{"\xC0\xAF", 0},                                       // overlong
                        Case{"\xE0\x80\x80", 0},                                   // overlong
                        Case{"\xED\xA0\x80", 0},                                   // surrogate
                        Case{"\xED\x9F\xBF", 3},      // the last before them
                        Case{"\xF4\x90\x80\x80", 0},  // above U+10FFFF
                        Case{"\xF4\x8F\xBF\xBF", 4}}) {
    EXPECT_EQ(ValidUtf8Prefix(c.text), c.valid) << c.text;
  }
}

}  // namespace
}  // namespace hekla::util

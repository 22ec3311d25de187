#include "pkg/util/lru_map.h"

#include <gtest/gtest.h>

namespace hekla::util {
namespace {

TEST(LruMapTest, ForgetsTheKeyThatWasNotUsedForLongest) {
  LruMap<int> map(2);
  map["a"] = 1;
  map["b"] = 2;
  EXPECT_EQ(*map.Find("a"), 1);
  map["c"] = 3;
  EXPECT_EQ(map.Find("b"), nullptr);
  EXPECT_EQ(*map.Find("a"), 1);
  EXPECT_EQ(*map.Find("c"), 3);
  EXPECT_EQ(map.size(), 2u);
  map["a"] += 5;
  EXPECT_EQ(*map.Find("a"), 6);
}

}  // namespace
}  // namespace hekla::util

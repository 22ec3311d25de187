#include "pkg/http/message.h"

#include <gtest/gtest.h>

namespace hekla::http {
namespace {

TEST(HeadersTest, NamesCompareWithoutCaseAndSetReplacesAll) {
  Headers headers;
  headers.Add("Impersonate-Group", "a");
  headers.Add("impersonate-group", "b");
  headers.Add("Accept", "application/json");
  EXPECT_EQ(headers.Get("IMPERSONATE-GROUP"), "a");
  EXPECT_FALSE(headers.Has("Authorization"));
  EXPECT_EQ(headers.Get("Authorization"), "");
  headers.Set("Impersonate-Group", "c");
  EXPECT_EQ(headers.Get("impersonate-group"), "c");
  EXPECT_EQ(headers.all().size(), 2u);
  headers.Set("X-New", "1");
  EXPECT_EQ(headers.all().size(), 3u);
}

TEST(TargetTest, PathAndQueryAreDecoded) {
  const Target target =
      ParseTarget("/api/v1/pods?labelSelector=app%3Dweb%2Ctier+in+%28a%29&watch=1&flag&&limit=");
  EXPECT_EQ(target.path, "/api/v1/pods");
  EXPECT_EQ(target.Get("labelSelector"), "app=web,tier in (a)");
  EXPECT_EQ(target.Get("watch"), "1");
  EXPECT_TRUE(target.Has("flag"));
  EXPECT_EQ(target.Get("limit"), "");
  EXPECT_FALSE(target.Has("continue"));
  EXPECT_EQ(target.query.size(), 4u);
}

TEST(TargetTest, PlusStaysInPathsAndBrokenEscapesStayAsTheyAre) {
  EXPECT_EQ(ParseTarget("/a+b/c%20d").path, "/a+b/c d");
  EXPECT_EQ(PercentDecode("100%", false), "100%");
  EXPECT_EQ(PercentDecode("%zz%4", false), "%zz%4");
  EXPECT_EQ(PercentDecode("%41", false), "A");
}

TEST(PercentEncodeTest, RoundTripsEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(PercentDecode(PercentEncode(all), true), all);
  EXPECT_EQ(PercentEncode("a=b&c d/~"), "a%3Db%26c%20d%2F~");
}

}  // namespace
}  // namespace hekla::http

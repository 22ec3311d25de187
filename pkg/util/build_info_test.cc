#include "pkg/util/build_info.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace hekla::util {
namespace {

TEST(BuildInfoTest, VersionTextHasUpstreamsSixLines) {
  const std::vector<std::string> lines = absl::StrSplit(VersionText(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "API Version: v1alpha1");
  const char* names[] = {
      "API Version:", "Version: ", "Git SHA: ", "Built At: ", "Go Version: ", "Go OS/Arch: linux/"};
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(absl::StartsWith(lines[i], names[i])) << lines[i];
}

}  // namespace
}  // namespace hekla::util

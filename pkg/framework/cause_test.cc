#include "pkg/framework/cause.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace hekla::framework {
namespace {

TEST(CauseTest, NamesAreDifferent) {
  std::set<std::string> names;
  for (int c = 0; c <= static_cast<int>(Cause::kNotTriedYet); ++c) {
    names.insert(std::string(CauseName(static_cast<Cause>(c))));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Cause::kNotTriedYet) + 1);
}

}  // namespace
}  // namespace hekla::framework

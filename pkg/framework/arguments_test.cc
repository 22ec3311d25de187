#include "pkg/framework/arguments.h"

#include <gtest/gtest.h>

#include "pkg/yaml/yaml.h"

namespace hekla::framework {
namespace {

Arguments FromYaml(absl::string_view text) { return Arguments(yaml::ParseOne(text)->value); }

// Spec scheduler-core E22.
TEST(ArgumentsTest, WorkedExample) {
  int64_t i = 7;
  double d = 7.5;
  bool b = false;
  EXPECT_TRUE(FromYaml("weight: 2").GetInt("weight", i));
  EXPECT_EQ(i, 2);
  EXPECT_TRUE(FromYaml("weight: 2").GetDouble("weight", d));
  EXPECT_EQ(d, 2.0);
  EXPECT_FALSE(FromYaml("weight: \"2\"").GetInt("weight", i = 7));
  EXPECT_EQ(i, 7);
  EXPECT_FALSE(FromYaml("weight: \"2\"").GetDouble("weight", d = 7.5));
  EXPECT_EQ(d, 7.5);
  EXPECT_TRUE(FromYaml("flag: yes").GetBool("flag", b));
  EXPECT_TRUE(b);
  EXPECT_FALSE(FromYaml("flag: \"yes\"").GetBool("flag", b = false));
  EXPECT_FALSE(b);
  EXPECT_TRUE(FromYaml("flag: \"T\"").GetBool("flag", b = false));
  EXPECT_TRUE(b);
}

TEST(ArgumentsTest, TypesAreNotConverted) {
  int64_t i = 7;
  double d = 7.5;
  bool b = true;
  std::string s = "default";
  const Arguments arguments = FromYaml("f: 3.0\nn: 3\ns: text\nb: off\nz: \"False\"\nl: [1]\n");
  EXPECT_FALSE(arguments.GetInt("f", i));
  EXPECT_TRUE(arguments.GetDouble("f", d));
  EXPECT_EQ(d, 3.0);
  EXPECT_FALSE(arguments.GetString("n", s));
  EXPECT_FALSE(arguments.GetBool("n", b));
  EXPECT_TRUE(arguments.GetString("s", s));
  EXPECT_EQ(s, "text");
  EXPECT_TRUE(arguments.GetBool("b", b));
  EXPECT_FALSE(b);
  EXPECT_TRUE(arguments.GetBool("z", b = true));
  EXPECT_FALSE(b);
  EXPECT_FALSE(arguments.GetInt("absent", i));
  EXPECT_EQ(i, 7);
  ASSERT_NE(arguments.Find("l"), nullptr);
  EXPECT_EQ(arguments.Find("l")->size(), 1u);
  EXPECT_FALSE(Arguments().GetInt("x", i));
}

}  // namespace
}  // namespace hekla::framework

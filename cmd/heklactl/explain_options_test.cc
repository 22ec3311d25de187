#include "cmd/heklactl/explain_options.h"

#include "cmd/heklactl/kubeconfig.h"
#include "gtest/gtest.h"

namespace hekla::cmd::heklactl {
namespace {

using Kind = ExplainOptions::Kind;

struct NameCase {
  const char* given;
  Kind kind;
  const char* name;
};

TEST(ExplainOptionsTest, NamesInAllForms) {
  const NameCase kCases[] = {
      {"train", Kind::kAny, "team/train"},
      {"pod/train-0", Kind::kPod, "team/train-0"},
      {"pg/train", Kind::kPodGroup, "team/train"},
      {"podgroup/other/train", Kind::kPodGroup, "other/train"},
      {"other/train", Kind::kAny, "other/train"},
  };
  for (const NameCase& c : kCases) {
    const auto options = ParseExplainOptions({"-n", "team", c.given});
    ASSERT_TRUE(options.ok()) << c.given;
    EXPECT_EQ(options->kind, c.kind) << c.given;
    EXPECT_EQ(options->name, c.name) << c.given;
  }
  EXPECT_EQ(ParseExplainOptions({"train"})->name, "default/train");
}

TEST(ExplainOptionsTest, BadInputIsNamed) {
  EXPECT_EQ(ParseExplainOptions({}).status().message(), "name a pod or a PodGroup");
  EXPECT_EQ(ParseExplainOptions({"p", "--scheduler-conf=c"}).status().message(),
            "--scheduler-conf needs manifests");
  EXPECT_EQ(ParseExplainOptions({"p", "m.yaml", "--address=x:1"}).status().message(),
            "manifests are decided here; --address and --kubeconfig ask a running scheduler");
  EXPECT_FALSE(ParseExplainOptions({"p", "-o", "table"}).ok());
}

TEST(ExplainOptionsTest, AddressWithoutSchemeIsHttp) {
  EXPECT_EQ(ParseExplainOptions({"p", "--address", "127.0.0.1:9"})->address, "http://127.0.0.1:9");
}

TEST(ExplainOptionsTest, KubeconfigOfAPlaygroundNamesItsScheduler) {
  const auto url = DebugUrlOf(KubeconfigText("http://127.0.0.1:1", "t", "http://127.0.0.1:2"));
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(*url, "http://127.0.0.1:2");
  EXPECT_EQ(*DebugUrlOf(KubeconfigText("http://127.0.0.1:1", "")), "");
  EXPECT_EQ(*DebugUrlOf("kind: Config"), "");
}

}  // namespace
}  // namespace hekla::cmd::heklactl

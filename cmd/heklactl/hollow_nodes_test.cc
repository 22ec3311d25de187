#include "cmd/heklactl/hollow_nodes_options.h"
#include "gtest/gtest.h"

namespace hekla::cmd::heklactl {
namespace {

TEST(HollowNodesOptionsTest, DefaultsAndFlags) {
  const absl::StatusOr<HollowNodesOptions> plain = ParseHollowNodesOptions({"--kubeconfig=k"});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->nodes, 0);
  EXPECT_EQ(plain->prefix, "hollow-");
  EXPECT_EQ(plain->node.cpu, "32");
  const absl::StatusOr<HollowNodesOptions> given =
      ParseHollowNodesOptions({"--kubeconfig=k", "--context=c", "--nodes=5", "--node-cpu", "4",
                               "--node-pods=9", "--gpu=2", "--start-delay=3s", "--complete-jobs"});
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->context, "c");
  EXPECT_EQ(given->nodes, 5);
  EXPECT_EQ(given->node.cpu, "4");
  EXPECT_EQ(given->node.pods, "9");
  EXPECT_EQ(given->node.gpus, 2);
  EXPECT_EQ(given->kubelet.start_delay, absl::Seconds(3));
  EXPECT_TRUE(given->kubelet.complete_job_pods);
}

TEST(HollowNodesOptionsTest, BadInputNamesTheFlag) {
  EXPECT_EQ(ParseHollowNodesOptions({}).status().message(), "--kubeconfig must name the cluster");
  EXPECT_EQ(ParseHollowNodesOptions({"--kubeconfig=k", "--nodes=-1"}).status().message(),
            "--nodes must be from 0 to 100000");
  EXPECT_EQ(ParseHollowNodesOptions({"--kubeconfig=k", "--node-pods=many"}).status().message(),
            "--node-pods must be from 1 to 100000");
  EXPECT_EQ(ParseHollowNodesOptions({"--kubeconfig=k", "now"}).status().message(),
            "unexpected argument: now");
  EXPECT_TRUE(ParseHollowNodesOptions({"--help"})->help);
}

}  // namespace
}  // namespace hekla::cmd::heklactl

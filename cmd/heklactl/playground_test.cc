#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "cmd/heklactl/kubeconfig.h"
#include "cmd/heklactl/playground_options.h"
#include "cmd/heklactl/status_line.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::cmd::heklactl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PlaygroundOptionsTest, DefaultsAndFlags) {
  const absl::StatusOr<PlaygroundOptions> plain = ParsePlaygroundOptions({});
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->nodes, 20);
  EXPECT_EQ(plain->node_cpu, "32");
  EXPECT_EQ(plain->node_memory, "128Gi");
  EXPECT_EQ(plain->gpus, 8);
  EXPECT_EQ(plain->port, 0);
  const absl::StatusOr<PlaygroundOptions> given =
      ParsePlaygroundOptions({"--nodes", "0", "--token=tok", "--port=8001", "--gpu=0"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->nodes, 0);
  EXPECT_EQ(given->token, "tok");
  EXPECT_EQ(given->port, 8001);
}

TEST(PlaygroundOptionsTest, BadInputNamesTheFlag) {
  EXPECT_EQ(ParsePlaygroundOptions({"--nodes=-1"}).status().message(),
            "--nodes must be from 0 to 100000");
  EXPECT_EQ(ParsePlaygroundOptions({"--port=65536"}).status().message(),
            "--port must be from 0 to 65535");
  EXPECT_EQ(ParsePlaygroundOptions({"--batch-scheduler=volcano"}).status().message(),
            "--batch-scheduler needs --ray");
  EXPECT_EQ(ParsePlaygroundOptions({"--ray", "--reconcile-concurrency=0"}).status().message(),
            "--reconcile-concurrency must be from 1 to 1000");
  EXPECT_EQ(ParsePlaygroundOptions({"--data-sync=0s"}).status().message(),
            "--data-sync needs --data-dir");
  EXPECT_FALSE(ParsePlaygroundOptions({"--data-dir=d", "--data-sync=-1s"}).ok());
  EXPECT_EQ(ParsePlaygroundOptions({"now"}).status().message(), "unexpected argument: now");
}

TEST(KubeconfigTest, NamesServerAndToken) {
  EXPECT_THAT(KubeconfigText("http://127.0.0.1:8001", "tok"),
              HasSubstr("server: http://127.0.0.1:8001\n"));
  EXPECT_THAT(KubeconfigText("http://127.0.0.1:8001", "tok"), HasSubstr("token: \"tok\"\n"));
  EXPECT_THAT(KubeconfigText("http://127.0.0.1:8001", ""), Not(HasSubstr("token")));
}

TEST(KubeconfigTest, FileIsPrivateAndReplaced) {
  const std::string path = ::testing::TempDir() + "/kubeconfig-test";
  ASSERT_TRUE(WritePrivateFile(path, "old and longer").ok());
  ASSERT_TRUE(WritePrivateFile(path, "new").ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "new");
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ::unlink(path.c_str());
  EXPECT_FALSE(WritePrivateFile("/nonexistent/folder/file", "x").ok());
}

TEST(StatusLineTest, TextHasTheNumbers) {
  PlaygroundStatus status{.nodes = 20, .pending = 4, .running = 12};
  EXPECT_EQ(StatusText(status), "nodes 20  pending 4  running 12  cycles 0");
  status.cycles = 7;
  status.last_cycle = absl::Microseconds(314);
  status.other = 1;
  EXPECT_EQ(StatusText(status),
            "nodes 20  pending 4  running 12  other 1  cycles 7  last cycle 0.31 ms");
  status.ray_clusters = 100;
  status.ray_ready = 40;
  EXPECT_EQ(StatusText(status),
            "nodes 20  pending 4  running 12  other 1  cycles 7  last cycle 0.31 ms  "
            "rayclusters ready 40 of 100");
}

TEST(StatusLineTest, NothingIsWrittenWhereThereIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    StatusLine line(ends[1]);
    line.Show({.nodes = 1});
  }
  ::close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace hekla::cmd::heklactl

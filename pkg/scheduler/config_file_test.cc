#include "pkg/scheduler/config_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/util/testing/status_matchers.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const conf::Known kKnown = {.actions = {"enqueue", "allocate", "backfill"},
                            .plugins = {"priority", "gang", "conformance", "overcommit", "drf",
                                        "predicates", "proportion", "nodeorder"}};

class ConfigFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  const util::testing::TempFolder temp_;
  const std::string& folder_ = temp_.path();
  const std::string path_ = folder_ + "/scheduler.conf";
};

TEST_F(ConfigFileTest, WithoutAPathTheBuiltInConfigurationIsUsed) {
  ConfigFile file({}, kKnown);
  const absl::StatusOr<conf::Config> config = file.Load();
  ASSERT_TRUE(config.ok());
  EXPECT_THAT(config->actions, ElementsAre("enqueue", "allocate", "backfill"));
  EXPECT_FALSE(file.Poll()->has_value());
  EXPECT_EQ(ConfigFile({.path = "", .require = true}, kKnown).Load().status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ConfigFileTest, AFileThatCannotBeReadLeavesTheBuiltInOne) {
  ConfigFile file({.path = path_}, kKnown);
  EXPECT_EQ(file.Load()->actions.size(), 3u);
  // It appears later and is taken.
  Write(path_, "actions: allocate\n");
  const auto config = file.Poll();
  ASSERT_TRUE(config.ok() && config->has_value());
  EXPECT_THAT((*config)->actions, ElementsAre("allocate"));
  EXPECT_EQ(ConfigFile({.path = folder_ + "/none", .require = true}, kKnown).Load().status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ConfigFileTest, ABadFileAtStartIsAnErrorWithItsPlace) {
  Write(path_, "actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n");
  const absl::Status status = ConfigFile({.path = path_}, kKnown).Load().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + ":4: tiers[0].plugins[0].name"));
}

TEST_F(ConfigFileTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_EQ(ConfigFile({.path = folder_ + "/no/file"}, kKnown).Load().status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(ConfigFileTest, AChangeIsTakenOnce) {
  Write(path_, "actions: allocate\n");
  ConfigFile file({.path = path_}, kKnown);
  ASSERT_TRUE(file.Load().ok());
  EXPECT_FALSE(file.Poll()->has_value());
  Write(path_, "actions: allocate, backfill\n");
  EXPECT_EQ((*file.Poll())->actions.size(), 2u);
  EXPECT_FALSE(file.Poll()->has_value());
  EXPECT_EQ(file.reloads(), 1u);
}

TEST_F(ConfigFileTest, ABadChangeKeepsThePreviousOneAndIsCounted) {
  Write(path_, "actions: allocate\n");
  ConfigFile file({.path = path_}, kKnown);
  ASSERT_TRUE(file.Load().ok());
  Write(path_, "actions: [\n");
  EXPECT_FALSE(file.Poll()->has_value());
  EXPECT_EQ(file.failed_reloads(), 1u);
  std::filesystem::remove(path_);
  EXPECT_FALSE(file.Poll()->has_value());
  EXPECT_EQ(file.failed_reloads(), 1u);  // a removal is no change

  ConfigFile strict({.path = path_, .require = true}, kKnown);
  Write(path_, "actions: allocate\n");
  ASSERT_TRUE(strict.Load().ok());
  Write(path_, "actions: nonsense\n");
  EXPECT_EQ(strict.Poll().status().code(), absl::StatusCode::kInvalidArgument);
}

// Kubernetes replaces a ConfigMap's files: ..data points to a new folder, the file is a link
// through it.
TEST_F(ConfigFileTest, TheSwapOfAConfigMapIsSeen) {
  std::filesystem::create_directory(folder_ + "/..1");
  std::filesystem::create_directory(folder_ + "/..2");
  Write(folder_ + "/..1/scheduler.conf", "actions: allocate\n");
  Write(folder_ + "/..2/scheduler.conf", "actions: backfill\n");
  std::filesystem::create_symlink("..1", folder_ + "/..data");
  std::filesystem::create_symlink("..data/scheduler.conf", path_);
  ConfigFile file({.path = path_}, kKnown);
  EXPECT_THAT(file.Load()->actions, ElementsAre("allocate"));
  std::filesystem::create_symlink("..2", folder_ + "/..data_tmp");
  std::filesystem::rename(folder_ + "/..data_tmp", folder_ + "/..data");
  EXPECT_THAT((*file.Poll())->actions, ElementsAre("backfill"));
}

}  // namespace
}  // namespace hekla::scheduler

#include "cmd/ray-operator/log_writer.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace hekla::cmd::ray_operator {
namespace {

const absl::Time kNow = absl::FromUnixMillis(1767323045678);

TEST(LogLineTest, Forms) {
  EXPECT_EQ(LogLine(Encoder::kJson, 0, kNow, "setup", "starting \"it\"\n"),
            R"({"level":"info","ts":"2026-01-02T03:04:05.678Z","logger":"setup",)"
            R"("msg":"starting \"it\""})");
  EXPECT_EQ(LogLine(Encoder::kConsole, 2, kNow, "apply", "no"),
            "2026-01-02T03:04:05.678Z\tERROR\tapply\tno");
}

TEST(LogLineTest, LinesOfTheLibraryAreTakenApart) {
  const ParsedLine line =
      ParseLibraryLine("W1130 00:17:23.770412 26275 apply.cc:147] list [a] of things\n");
  EXPECT_EQ(line.severity, 1);
  EXPECT_EQ(line.logger, "apply");
  EXPECT_EQ(line.message, "list [a] of things\n");
  EXPECT_EQ(ParseLibraryLine("I1130 00:17:23.770412 26275 wiring.cc:1] x").logger, "setup");
  EXPECT_EQ(ParseLibraryLine("no prefix").message, "no prefix");
  EXPECT_EQ(ParseLibraryLine("").message, "");
}

size_t FilesIn(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(RotatingFileTest, PutsFullFilesAsideAndKeepsTheNewest) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "operator-log-test";
  std::filesystem::remove_all(folder);
  {
    auto file = RotatingFile::Open(
        {.path = (folder / "op.log").string(), .max_bytes = 10, .max_backups = 2});
    ASSERT_TRUE(file.ok()) << file.status();
    (*file)->Write("1234567\n", kNow);
    EXPECT_EQ(FilesIn(folder), 1u);
    for (int i = 1; i <= 5; ++i) (*file)->Write("abcdefg\n", kNow + absl::Seconds(i));
  }
  EXPECT_EQ(FilesIn(folder), 3u);
  EXPECT_EQ(std::filesystem::file_size(folder / "op.log"), 8u);
  EXPECT_TRUE(std::filesystem::exists(folder / "op-2026-01-02T03-04-10.678000.log"));
  std::filesystem::remove_all(folder);
}

TEST(RotatingFileTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(RotatingFile::Open({.path = "/dev/null/x.log"}).ok());
}

}  // namespace
}  // namespace hekla::cmd::ray_operator

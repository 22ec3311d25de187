#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "glog/logging.h"
#include "gtest/gtest.h"
#include "pkg/yaml/yaml.h"
#include "test/scenario/scenario.h"

// One test per *.yaml file of test/scenario (or of the folders given as arguments).
namespace {

class ScenarioTest : public ::testing::Test {
 public:
  explicit ScenarioTest(std::string path) : path_(std::move(path)) {}

  void TestBody() override {
    std::ifstream in(path_);
    std::stringstream text;
    text << in.rdbuf();
    const auto document = hekla::yaml::ParseOne(text.str());
    ASSERT_TRUE(document.ok()) << path_ << ": " << document.status();
    std::vector<hekla::scenario::Finding> findings;
    const absl::Status status = hekla::scenario::RunScenario(document->value, findings);
    ASSERT_TRUE(status.ok()) << path_ << ": " << status;
    for (const auto& finding : findings) {
      ADD_FAILURE_AT(path_.c_str(), 1)
          << document->value.GetString("name") << "\n  " << finding.field << ": " << finding.text;
    }
  }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  std::vector<std::string> files;
  std::vector<std::string> folders(argv + 1, argv + argc);
  if (folders.empty()) folders.emplace_back("test/scenario");
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    ::testing::RegisterTest("Scenario", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [file]() -> ScenarioTest* { return new ScenarioTest(file); });
  }
  return RUN_ALL_TESTS();
}

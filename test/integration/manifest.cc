#include "test/integration/manifest.h"

#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "pkg/yaml/yaml.h"

namespace hekla::test {

using apis::json::Value;

std::vector<Value> ObjectsIn(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto documents = yaml::ParseAll(text.str());
  EXPECT_TRUE(documents.ok()) << path << ": " << documents.status();
  std::vector<Value> out;
  if (!documents.ok()) return out;
  for (const yaml::Document& document : *documents) {
    if (!document.value.is_null()) out.push_back(document.value);
  }
  return out;
}

}  // namespace hekla::test

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "pkg/conf/config.h"
#include "pkg/util/testing/shared_folder.h"
#include "pkg/yaml/yaml.h"

// The files that are shipped in config/.
namespace hekla::test {
namespace {

using apis::json::Value;

std::string ReadFile(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<Value> Objects(const std::filesystem::path& path) {
  const absl::StatusOr<std::vector<yaml::Document>> documents = yaml::ParseAll(ReadFile(path));
  EXPECT_TRUE(documents.ok()) << path << ": " << documents.status();
  std::vector<Value> objects;
  if (!documents.ok()) return objects;
  for (const yaml::Document& document : *documents) {
    if (!document.value.is_null()) objects.push_back(document.value);
  }
  return objects;
}

// One right: group, resource, verb.
using Right = std::tuple<std::string, std::string, std::string>;

std::set<Right> RightsOf(const Value& role) {
  std::set<Right> rights;
  for (const Value& rule : role.At("rules").as_array()) {
    for (const Value& group : rule.At("apiGroups").as_array()) {
      for (const Value& resource : rule.At("resources").as_array()) {
        for (const Value& verb : rule.At("verbs").as_array()) {
          rights.emplace(group.as_string(), resource.as_string(), verb.as_string());
        }
      }
    }
  }
  return rights;
}

TEST(ConfigFilesTest, EveryFileHoldsKubernetesObjects) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("config")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const std::vector<Value> objects = Objects(entry.path());
    EXPECT_FALSE(objects.empty()) << entry.path();
    for (const Value& object : objects) {
      EXPECT_NE(object.GetString("apiVersion"), "") << entry.path();
      EXPECT_NE(object.GetString("kind"), "") << entry.path();
      if (object.GetString("kind") == "Kustomization") continue;  // has no name
      EXPECT_NE(object.At("metadata").GetString("name"), "") << entry.path();
    }
  }
  EXPECT_GE(files, 5);
}

TEST(ConfigFilesTest, DeployedConfigurationIsTheBuiltInOne) {
  for (const Value& object : Objects("config/deploy/scheduler.yaml")) {
    if (object.GetString("kind") != "ConfigMap") continue;
    EXPECT_EQ(object.At("data").GetString("volcano-scheduler.conf"), conf::BuiltInConfigText());
    return;
  }
  ADD_FAILURE() << "no ConfigMap";
}

// The roles with which existing installations run the programs are published beside the repository;
// ours ask for no right that is not in them.
void ExpectWithinExistingRole(const std::string& ours, const std::string& role_name,
                              const std::string& published_file,
                              const std::string& published_role) {
  const std::filesystem::path published = util::testing::SharedFolder() / published_file;
  if (!std::filesystem::exists(published)) {
    std::cout << published << " is absent, nothing compared\n";
    return;
  }
  std::set<Right> allowed;
  for (const Value& document : Objects(published)) {
    const std::vector<Value> roles =
        document.is_array() ? document.as_array() : std::vector<Value>{document};
    for (const Value& role : roles) {
      if (role.GetString("name") == published_role) allowed = RightsOf(role);
    }
  }
  ASSERT_FALSE(allowed.empty());
  int rules = 0;
  for (const Value& object : Objects(ours)) {
    if (object.GetString("kind") != "ClusterRole") continue;
    if (object.At("metadata").GetString("name") != role_name) continue;
    for (const Right& right : RightsOf(object)) {
      ++rules;
      EXPECT_TRUE(allowed.count(right) > 0)
          << std::get<0>(right) << " " << std::get<1>(right) << " " << std::get<2>(right);
    }
  }
  EXPECT_GT(rules, 10);
}

TEST(ConfigFilesTest, SchedulersRightsAreWithinTheExistingRole) {
  ExpectWithinExistingRole("config/rbac/scheduler.yaml", "hekla-scheduler", "rbac/volcano.yaml",
                           "volcano-scheduler");
}

// Rights on PodGroups are a role of their own: the published one is upstream's without a batch
// scheduler.
TEST(ConfigFilesTest, RayOperatorsRightsAreWithinTheExistingRole) {
  ExpectWithinExistingRole("config/rbac/ray-operator.yaml", "hekla-ray-operator",
                           "rbac/kuberay.yaml", "kuberay-operator");
}

}  // namespace
}  // namespace hekla::test

#include "pkg/apiserver/shipped/shipped_crds.h"

#include <gtest/gtest.h>

#include <set>

#include "pkg/util/testing/status_matchers.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver::shipped {
namespace {

TEST(ShippedCrdsTest, EveryFileIsADefinitionOfItsName) {
  std::set<std::string> kinds;
  for (const CrdFile& file : CrdFiles()) {
    auto document = yaml::ParseOne(file.text);
    HEKLA_ASSERT_OK(document);
    EXPECT_EQ(document->value.GetString("kind"), "CustomResourceDefinition") << file.name;
    kinds.insert(std::string(document->value.At("spec").At("names").GetString("kind")));
  }
  for (const char* kind :
       {"PodGroup", "Queue", "HyperNode", "RayCluster", "RayJob", "RayService"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
}

}  // namespace
}  // namespace hekla::apiserver::shipped

#include "pkg/plugins/overcommit/overcommit_plugin.h"

#include "gtest/gtest.h"

namespace hekla::plugins {
namespace {

double FactorOf(apis::json::Value value) {
  apis::json::Value arguments = apis::json::Value::MakeObject();
  arguments.Set("overcommit-factor", std::move(value));
  return OvercommitPlugin(framework::Arguments(std::move(arguments))).factor();
}

// Spec scheduler-actions 3.5, 5.5; the sums are in test/scenario/overcommit_*.yaml.
TEST(OvercommitPluginTest, FactorIsANumberOfAtLeastOne) {
  EXPECT_EQ(OvercommitPlugin(framework::Arguments()).factor(), 1.2);
  EXPECT_EQ(FactorOf(1.5), 1.5);
  EXPECT_EQ(FactorOf(2), 2.0);
  EXPECT_EQ(FactorOf(1), 1.0);
  EXPECT_EQ(FactorOf(0.8), 1.2);
  EXPECT_EQ(FactorOf("1.5"), 1.2);
}

}  // namespace
}  // namespace hekla::plugins

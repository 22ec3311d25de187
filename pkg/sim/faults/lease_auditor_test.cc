#include "pkg/sim/faults/lease_auditor.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

class LeaseAuditorTest : public ::testing::Test {
 protected:
  void Write(absl::string_view holder, int renewal) {
    const std::string text =
        absl::StrCat(R"({"spec":{"holderIdentity":")", holder,
                     R"(","leaseDurationSeconds":15,"renewTime":")", renewal, R"("}})");
    auditor_.Observe("MODIFIED", *apis::json::Parse(text), now_);
  }

  LeaseAuditor auditor_;
  absl::Time now_ = absl::FromUnixSeconds(1000000);
};

TEST_F(LeaseAuditorTest, WhoWaitsForTheWholeDurationMayTakeIt) {
  Write("a", 1);
  now_ += absl::Seconds(10);
  Write("a", 2);
  now_ += absl::Seconds(15);
  Write("b", 3);
  EXPECT_TRUE(auditor_.violations().empty());
  EXPECT_EQ(auditor_.holder(), "b");
  EXPECT_EQ(auditor_.changes(), 2);
}

TEST_F(LeaseAuditorTest, TheDurationCountsFromTheLastRenewal) {
  Write("a", 1);
  now_ += absl::Seconds(10);
  Write("a", 2);
  now_ += absl::Seconds(14);
  Write("b", 3);
  ASSERT_EQ(auditor_.violations().size(), 1u);
  EXPECT_EQ(auditor_.violations()[0].rule, "lease-taken-early");
  EXPECT_EQ(auditor_.violations()[0].text, "b takes the lease of a 1s too early");
}

TEST_F(LeaseAuditorTest, WhatChangesNothingIsNoRenewal) {
  Write("a", 1);
  now_ += absl::Seconds(14);
  Write("a", 1);
  now_ += absl::Seconds(1);
  Write("b", 2);
  EXPECT_TRUE(auditor_.violations().empty());
}

TEST_F(LeaseAuditorTest, ALeaseThatWasGivenBackOrRemovedIsAnybodys) {
  Write("a", 1);
  Write("", 1);
  Write("b", 2);
  auditor_.Observe("DELETED", Value::MakeObject(), now_);
  Write("c", 3);
  EXPECT_TRUE(auditor_.violations().empty());
}

}  // namespace
}  // namespace hekla::sim

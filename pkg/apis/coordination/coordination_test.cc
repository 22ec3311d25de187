#include <gtest/gtest.h>

#include "pkg/apis/coordination/lease.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::coordination {
namespace {

TEST(LeaseCodecTest, DecodeThenEncodeKeepsUnknownMembers) {
  const json::Value object = *json::Parse(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
          "metadata":{"name":"volcano","namespace":"s","resourceVersion":"3"},
          "spec":{"holderIdentity":"a_b","leaseDurationSeconds":15,"leaseTransitions":2,
            "acquireTime":"2026-01-02T15:04:05.123456Z","renewTime":"2026-01-02T15:04:06.000000Z",
            "strategy":"x"}})");
  absl::StatusOr<Lease> lease = DecodeLease(object);
  HEKLA_ASSERT_OK(lease);
  EXPECT_EQ(lease->holder_identity, "a_b");
  EXPECT_EQ(lease->lease_transitions, 2);
  EXPECT_EQ(EncodeLease(*lease, object), object);
}

}  // namespace
}  // namespace hekla::apis::coordination

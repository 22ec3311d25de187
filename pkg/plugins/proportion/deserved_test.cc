#include "pkg/plugins/proportion/deserved.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::plugins {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

constexpr double kFree = 1e18;

// Dimensions cpu, memory, pods (unused: 0), gpu.
QueueDemand Demand(int32_t weight, Amounts request, Amounts guarantee = {}, Amounts limit = {}) {
  guarantee.resize(4, 0.0);
  request.resize(4, 0.0);
  limit.resize(4, kFree);
  return {weight, std::move(request), std::move(guarantee), std::move(limit)};
}

std::vector<Amounts> Divide(std::vector<QueueDemand> queues, Amounts total) {
  total.resize(4, 0.0);
  std::vector<Amounts> deserved;
  DivideByWeight(queues, total, deserved);
  return deserved;
}

MATCHER_P(IsNear, expected, "") {
  return ::testing::ExplainMatchResult(
      Pointwise(::testing::DoubleNear(1e-3), std::vector<double>(expected)), arg, result_listener);
}

// P1: rounds (2000, 4000), (2166.67, 4000), (2250, 4000) for a; remaining (1000, 0), (333.33, 0).
TEST(DivideByWeightTest, LeftoversGoToWhoStillWants) {
  const auto d =
      Divide({Demand(1, {6000, 6000}), Demand(2, {3000, 12000}), Demand(3, {20000, 20000})},
             {12000, 24000});
  EXPECT_THAT(d[0], IsNear(Amounts{2250, 4000, 0, 0}));
  EXPECT_THAT(d[1], IsNear(Amounts{3000, 8000, 0, 0}));
  EXPECT_THAT(d[2], IsNear(Amounts{6750, 12000, 0, 0}));
}

// P2: silver's guarantee lifts 1250 to 3000 and then grows by what gold's capability leaves.
TEST(DivideByWeightTest, GuaranteeLiftsAndCapabilityCuts) {
  const auto d = Divide({Demand(5, {9000, 18000}, {}, {4000, 18000}),
                         Demand(1, {8000, 8000}, {3000, 2000}, {10000, 20000}),
                         Demand(2, {1000, 16000}, {}, {7000, 18000})},
                        {10000, 20000});
  EXPECT_THAT(d[0], IsNear(Amounts{4000, 12500, 0, 0}));
  EXPECT_THAT(d[1], IsNear(Amounts{5000, 2500, 0, 0}));
  EXPECT_THAT(d[2], IsNear(Amounts{1000, 5000, 0, 0}));
}

// P3: three dimensions; the gpu remainder shrinks to a fifth per round.
TEST(DivideByWeightTest, ContestedDimensionsConverge) {
  const auto d = Divide({Demand(3, {8000, 16000, 0, 8000}), Demand(1, {40000, 20000}),
                         Demand(1, {2000, 4000, 0, 3000})},
                        {32000, 64000, 0, 8000});
  EXPECT_THAT(d[0], IsNear(Amounts{8000, 16000, 0, 6000}));
  EXPECT_THAT(d[1], IsNear(Amounts{22000, 20000, 0, 0}));
  EXPECT_THAT(d[2], IsNear(Amounts{2000, 4000, 0, 2000}));
}

// P4: the guarantee of a queue without jobs lowers the limit; round 2 changes nothing and ends.
TEST(DivideByWeightTest, StopsWhenARoundChangesNothing) {
  const auto d = Divide({Demand(1, {9000, 9000}, {}, {6000, 8000})}, {10000, 10000});
  EXPECT_THAT(d[0], IsNear(Amounts{6000, 8000, 0, 0}));
}

// P5: both are met in round 1.
TEST(DivideByWeightTest, MetQueuesGetWhatTheyAskFor) {
  const auto d = Divide({Demand(1, {1000, 1000}), Demand(1, {2000, 500})}, {10000, 10000});
  EXPECT_THAT(d[0], IsNear(Amounts{1000, 1000, 0, 0}));
  EXPECT_THAT(d[1], IsNear(Amounts{2000, 500, 0, 0}));
}

TEST(DivideByWeightTest, GuaranteeWinsOverRequestAndCapability) {
  const auto d = Divide({Demand(1, {100}, {500}, {300})}, {1000});
  EXPECT_EQ(d[0][0], 500);
}

TEST(DivideByWeightTest, NoWeightAtAllDividesNothing) {
  const auto d = Divide({Demand(0, {100})}, {1000});
  EXPECT_EQ(d[0][0], 0);
}

TEST(DivideByWeightTest, ATinyWeightBesideAHugeOneEnds) {
  const auto d = Divide({Demand(1, {1e6, 1e6}), Demand(1000000, {10, 1e9})}, {1e6, 1e6});
  EXPECT_LE(d[0][0] + d[1][0], 1e6 + 1);
  EXPECT_EQ(d[1][0], 10);
}

}  // namespace
}  // namespace hekla::plugins

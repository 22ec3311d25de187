#include "pkg/plugins/common/amounts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::plugins {
namespace {

using model::kCpu;
using model::kMemory;
using model::ResourceDim;
using ::testing::ElementsAre;

TEST(UnitScaleTest, BytesOtherThanMemoryCountInThousandths) {
  model::ResourceLayout layout;
  const ResourceDim gpu = layout.Intern("nvidia.com/gpu");
  const ResourceDim disk = layout.Intern("ephemeral-storage");
  UnitScale scale;
  scale.Update(layout);
  EXPECT_EQ(scale[kMemory], 1);
  EXPECT_EQ(scale[gpu], 1);
  EXPECT_EQ(scale[disk], 1000);
}

TEST(AmountsTest, LoadScalesAndReplaces) {
  model::ResourceLayout layout;
  const ResourceDim disk = layout.Intern("ephemeral-storage");
  UnitScale scale;
  scale.Update(layout);
  model::Resource r;
  r.Set(kCpu, 1500);
  r.Set(disk, 7);
  Amounts out(layout.size(), 42.0);
  Load(r, scale, out);
  EXPECT_THAT(out, ElementsAre(1500, 0, 0, 7000));
  Accumulate(r, scale, out);
  EXPECT_THAT(out, ElementsAre(3000, 0, 0, 14000));
}

// Spec scheduler-core E3; dimensions cpu, memory, pods, gpu.
TEST(AmountsTest, LessEqualToleratesADifferenceBelowATenth) {
  const Amounts a = {1000, 0, 0, 1000}, b = {1000.05};
  EXPECT_FALSE(LessEqual(a, b));  // gpu 1000 against 0
  EXPECT_TRUE(LessEqual(b, a));   // 0.05 < 0.1
  EXPECT_TRUE(LessEqual(Amounts{1000.15}, Amounts{1000.1}));
  EXPECT_FALSE(LessEqual(Amounts{1000.25}, Amounts{1000.1}));
}

TEST(AmountsTest, LessEqualSeesNegativeAmountsThatOnlyTheRightSideHas) {
  EXPECT_FALSE(LessEqual(Amounts{1}, Amounts{1, -5}));
  EXPECT_TRUE(LessEqual(Amounts{1}, Amounts{1, 0}));
}

TEST(AmountsTest, EmptyIgnoresPods) {
  EXPECT_TRUE(IsEmpty(Amounts{0.09, 0, 12}));
  EXPECT_FALSE(IsEmpty(Amounts{0, 0, 0, 0.1}));
}

TEST(AmountsTest, ShareOfNothing) {
  EXPECT_EQ(Share(0, 0), 0);
  EXPECT_EQ(Share(3, 0), 1);
  EXPECT_EQ(Share(1, 4), 0.25);
}

TEST(AmountsTest, DominantShareLooksOnlyAtDimensionsOfTheWhole) {
  EXPECT_EQ(DominantShare(Amounts{500, 100, 3, 7}, Amounts{1000, 400, 0, 0.05}), 0.5);
  EXPECT_EQ(DominantShare(Amounts{}, Amounts{1000}), 0);
}

TEST(AmountsTest, FitsPartlyNeedsOneDimensionThatIsAskedFor) {
  const Amounts held = {9000, 200, 5}, deserved = {8000, 1000, 0};
  EXPECT_TRUE(FitsPartly(held, deserved, Amounts{3000, 100, 1}));         // memory 200 <= 1000
  EXPECT_FALSE(FitsPartly(held, deserved, Amounts{3000, 0, 1}));          // cpu above, pods skipped
  EXPECT_FALSE(FitsPartly(Amounts{0, 0}, Amounts{0, 0}, Amounts{0, 1}));  // both are nothing
  EXPECT_FALSE(FitsPartly(held, deserved, Amounts{}));
}

TEST(AmountsTest, ExceedingIsStrictSkipsPodsAndOrdersScalarsByName) {
  model::ResourceLayout layout;
  layout.Intern("z.io/dev");
  layout.Intern("a.io/dev");
  // cpu equal; memory above; pods above but skipped; both scalars above; nothing else asked for.
  const Amounts left = {10, 11, 5, 2, 2}, right = {10, 10, 0, 1, 1}, request = {1, 1, 1, 1, 1};
  EXPECT_THAT(Exceeding(left, right, request, layout), ElementsAre(kMemory, 4, 3));
  EXPECT_FALSE(FitsOnRequest(left, right, request));
  EXPECT_TRUE(FitsOnRequest(left, right, Amounts{1}));
  EXPECT_FALSE(FitsOnRequest(Amounts{10.01}, Amounts{10}, Amounts{1}));  // no tolerance
  EXPECT_EQ(JoinNames("overused", Exceeding(left, right, request, layout), layout),
            "overused memory, overused a.io/dev, overused z.io/dev");
}

}  // namespace
}  // namespace hekla::plugins

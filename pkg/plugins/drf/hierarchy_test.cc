#include "pkg/plugins/drf/hierarchy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::plugins {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using Index = Hierarchy::Index;

// Spec scheduler-actions 5.4: total (10000, 10000), sci beside eng with dev and prod.
struct Example {
  explicit Example(const char* sci_weights = "1/50", double js_request = 10000)
      : tree({10000, 10000}) {
    qs = tree.AddPath("root/sci", sci_weights);
    js = tree.AddLeaf(qs, {js_request, 0});
    qd = tree.AddPath("root/eng/dev", "1/50/50");
    jd = tree.AddLeaf(qd, {4000, 0});
    qp = tree.AddPath("root/eng/prod", "1/50/50");
    jp = tree.AddLeaf(qp, {0, 8000});
    tree.SetAllocated(js, Amounts{1000, 0});
    tree.SetAllocated(jd, Amounts{2000, 0});
    tree.SetAllocated(jp, Amounts{0, 3000});
    tree.Update();
  }
  double Compare(const char* l, const char* r) const {
    return tree.Compare(tree.PathOf(l), tree.PathOf(r));
  }
  Hierarchy tree;
  Index qs, js, qd, jd, qp, jp;
};

TEST(HierarchyTest, InnerNodesScaleChildrenToTheSmallestDominantShare) {
  Example e;
  const Index eng = e.tree.PathOf("root/eng/dev")[1];
  EXPECT_THAT(e.tree.allocated(eng), ElementsAre(DoubleEq(2000), DoubleEq(2000)));
  EXPECT_DOUBLE_EQ(e.tree.share(eng), 0.2);
  EXPECT_DOUBLE_EQ(e.tree.share(e.qs), 0.1);
}

TEST(HierarchyTest, QueuesCompareLevelByLevel) {
  Example e;
  EXPECT_LT(e.Compare("root/sci", "root/eng/dev"), 0);       // 0.1/50 < 0.2/50
  EXPECT_LT(e.Compare("root/sci", "root/eng/prod"), 0);      // 0.1/50 < 0.2/50
  EXPECT_LT(e.Compare("root/eng/dev", "root/eng/prod"), 0);  // 0.2/50 < 0.3/50
  EXPECT_GT(e.Compare("root/eng/prod", "root/eng/dev"), 0);  // the mirror image
  EXPECT_EQ(e.Compare("root/eng/dev", "root/eng"), 0);       // as far as the shorter goes
  EXPECT_EQ(e.Compare("", "root/eng"), 0);                   // a queue without a path is the root
}

TEST(HierarchyTest, ALighterNodeIsSoonerOverItsShare) {
  Example e("1/10");
  EXPECT_GT(e.Compare("root/sci", "root/eng/dev"), 0);  // 0.1/10 > 0.2/50
}

TEST(HierarchyTest, ASaturatedLeafMakesItsNodeComeLast) {
  Example e("1/50", 1000);
  EXPECT_TRUE(e.tree.saturated(e.js));
  EXPECT_TRUE(e.tree.saturated(e.qs));
  EXPECT_GT(e.Compare("root/sci", "root/eng/prod"), 0);
  EXPECT_THAT(e.tree.allocated(Hierarchy::root()), ElementsAre(DoubleEq(3000), DoubleEq(2000)));
  EXPECT_DOUBLE_EQ(e.tree.share(Hierarchy::root()), 0.3);
}

TEST(HierarchyTest, AFullDimensionSaturatesWhoeverAsksForIt) {
  Hierarchy tree({1000, 1000});
  const Index a = tree.AddLeaf(tree.AddPath("root/a", "1/1"), {900, 0});
  const Index b = tree.AddLeaf(tree.AddPath("root/b", "1/1"), {0, 900});
  tree.SetAllocated(a, Amounts{400, 0});
  tree.SetAllocated(b, Amounts{0, 100});
  tree.Update();
  EXPECT_FALSE(tree.saturated(a));
  const Index c = tree.AddLeaf(tree.AddPath("root/c", "1/1"), {9000, 0});
  tree.SetAllocated(c, Amounts{600, 0});
  tree.Update();
  EXPECT_TRUE(tree.saturated(a));   // cpu is used up
  EXPECT_FALSE(tree.saturated(b));  // memory is not
  tree.SetAllocated(c, Amounts{500, 0});
  tree.Update();
  EXPECT_FALSE(tree.saturated(a));
}

TEST(HierarchyTest, WeightsBelowOneUnreadableOrMissingAreOne) {
  Hierarchy tree({1000});
  EXPECT_EQ(tree.weight(tree.AddPath("root/a", "1/0.5")), 1);
  EXPECT_EQ(tree.weight(tree.AddPath("root/b", "1/x")), 1);
  EXPECT_EQ(tree.weight(tree.AddPath("root/c/d/e", "1/3")), 1);  // fewer weights than elements
  EXPECT_EQ(tree.weight(tree.PathOf("root/c/d/e")[1]), 3);
  EXPECT_EQ(tree.weight(tree.AddPath("root/a", "1/7")), 1);  // the first one stays
}

TEST(HierarchyTest, UpdatingOneLeafEqualsBuildingAnew) {
  Example moved, fresh;
  moved.tree.SetAllocated(moved.jp, Amounts{0, 100});
  moved.tree.Update();
  moved.tree.SetAllocated(moved.jp, Amounts{0, 3000});
  moved.tree.Update();
  for (Index i = 0; i <= moved.jp; ++i) {
    EXPECT_EQ(moved.tree.share(i), fresh.tree.share(i)) << i;
    EXPECT_EQ(moved.tree.saturated(i), fresh.tree.saturated(i)) << i;
    EXPECT_EQ(moved.tree.allocated(i), fresh.tree.allocated(i)) << i;
  }
}

}  // namespace
}  // namespace hekla::plugins

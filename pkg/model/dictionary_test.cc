#include "pkg/model/dictionary.h"

#include "gtest/gtest.h"
#include "pkg/model/resource.h"
#include "pkg/model/selector.h"

namespace hekla::model {
namespace {

TEST(SymbolTableTest, EqualTextsShareASymbolAndTextsStay) {
  SymbolTable symbols;
  const Symbol a = symbols.Intern("a");
  for (int i = 0; i < 10000; ++i) symbols.Intern("key-" + std::to_string(i));
  EXPECT_EQ(symbols.Intern("a"), a);
  EXPECT_EQ(symbols.Text(a), "a");
  EXPECT_FALSE(symbols.Find("never").valid());
  EXPECT_EQ(symbols.Text(symbols.Find("key-9999")), "key-9999");
}

TEST(ResourceLayoutTest, NamesAndUnits) {
  ResourceLayout layout;
  EXPECT_EQ(layout.Find("cpu"), kCpu);
  EXPECT_EQ(layout.Find("pods"), kPods);
  EXPECT_EQ(layout.Find("nvidia.com/gpu"), -1);
  EXPECT_EQ(layout.Intern("nvidia.com/gpu"), kFirstScalar);
  EXPECT_EQ(ResourceLayout::UnitOf("hugepages-2Mi"), ResourceUnit::kBytes);
  EXPECT_EQ(ResourceLayout::UnitOf("nvidia.com/gpu"), ResourceUnit::kMilli);
  // Spec scheduler-core, E2: what is dropped.
  for (const char* name : {"storage", "count/pods", "requests.nvidia.com/gpu"}) {
    EXPECT_FALSE(ResourceLayout::IsCountable(name)) << name;
  }
  for (const char* name : {"cpu", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu",
                           "attachable-volumes-csi-x", "example.kubernetes.io/x"}) {
    EXPECT_TRUE(ResourceLayout::IsCountable(name)) << name;
  }
}

TEST(ResourceTest, MissingDimensionsAreZero) {
  Resource a, b;
  a.Set(kCpu, 1000);
  b.Set(5, 7);
  a += b;
  EXPECT_EQ(a[5], 7);
  a -= b;
  Resource c;
  c.Set(kCpu, 1000);
  EXPECT_EQ(a, c);
  const int64_t room[] = {1000, 0, 0};
  EXPECT_TRUE(Fits(c, room, 3));
  EXPECT_EQ(FirstShortfall(b, room, 3), 5);
  c.Set(kPods, 1);
  EXPECT_EQ(FirstShortfall(c, room, 3), kPods);
}

TEST(ResourceMatrixTest, WideningKeepsAmounts) {
  ResourceMatrix m;
  m.Resize(3);
  Resource r;
  r.Set(kCpu, 5);
  m.SetRow(2, r);
  m.Widen(9);
  EXPECT_EQ(m.at(2, kCpu), 5);
  EXPECT_EQ(m.at(2, 8), 0);
  r.Set(8, 1);
  m.AddRow(2, r, -1);
  EXPECT_EQ(m.at(2, kCpu), 0);
  EXPECT_EQ(m.at(2, 8), -1);
}

TEST(SelectorTest, Operators) {
  SymbolTable symbols;
  const auto s = [&](const char* text) { return symbols.Intern(text); };
  const Labels labels = {{s("app"), s("web")}, {s("gen"), s("7")}};
  const auto check = [&](const char* key, SelectorOp op, std::vector<Symbol> values,
                         int64_t number = 0) {
    return Matches(Requirement{s(key), op, std::move(values), number}, labels, symbols);
  };
  EXPECT_TRUE(check("app", SelectorOp::kIn, {s("web")}));
  EXPECT_FALSE(check("app", SelectorOp::kNotIn, {s("web")}));
  EXPECT_TRUE(check("none", SelectorOp::kNotIn, {s("web")}));
  EXPECT_TRUE(check("app", SelectorOp::kExists, {}));
  EXPECT_FALSE(check("app", SelectorOp::kDoesNotExist, {}));
  EXPECT_TRUE(check("gen", SelectorOp::kGt, {}, 6));
  EXPECT_FALSE(check("gen", SelectorOp::kLt, {}, 7));
  EXPECT_FALSE(check("app", SelectorOp::kGt, {}, 0));
  EXPECT_FALSE(Matches(Selector{{}, true}, labels, symbols));
  EXPECT_TRUE(Matches(Selector{}, labels, symbols));
}

TEST(TolerationTest, KeyEffectAndValueMustAgreeWhereGiven) {
  SymbolTable symbols;
  const Taint taint{symbols.Intern("k"), symbols.Intern("v"), Taint::Effect::kNoSchedule};
  Toleration equal{taint.key, taint.value, false, false, std::nullopt};
  EXPECT_TRUE(Tolerates(equal, taint));
  equal.value = symbols.Intern("w");
  EXPECT_FALSE(Tolerates(equal, taint));
  Toleration everything{Symbol(), Symbol(), true, false, std::nullopt};
  EXPECT_TRUE(Tolerates(everything, taint));
  everything.effect = Taint::Effect::kNoExecute;
  EXPECT_FALSE(Tolerates(everything, taint));
  everything.effect.reset();
  everything.invalid = true;
  EXPECT_FALSE(Tolerates(everything, taint));
}

}  // namespace
}  // namespace hekla::model

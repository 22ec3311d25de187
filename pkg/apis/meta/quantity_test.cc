#include "pkg/apis/meta/quantity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::meta {
namespace {

using Format = Quantity::Format;
using util::testing::StatusIs;

std::string Canonical(absl::string_view text) {
  absl::StatusOr<Quantity> q = Quantity::Parse(text);
  return q.ok() ? q->ToString() : std::string(q.status().message());
}

TEST(QuantityTest, LongDecimalAmountsKeepEveryDigit) {
  const absl::StatusOr<Quantity> quantity = Quantity::Parse("-110045198658926001152m");
  ASSERT_TRUE(quantity.ok());
  EXPECT_EQ(quantity->ToString(), "-110045198658926001152m");
}

TEST(QuantityTest, CanonicalForm) {
  struct Case {
    const char* text;
    const char* canonical;
  };
  const Case cases[] = {
      {"0", "0"},
      {"0.0Ki", "0"},
      {"1", "1"},
      {"+1", "1"},
      {"-1", "-1"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"1.5", "1500m"},
      {".5", "500m"},
      {"5.", "5"},
      {"1000", "1k"},
      {"1024", "1024"},
      {"100000", "100k"},
      {"1234567", "1234567"},
      {"2Gi", "2Gi"},
      {"2048Mi", "2Gi"},
      {"1.5Gi", "1536Mi"},
      {"0.5Ki", "512"},
      {"0.1Ki", "102400m"},
      {"1023Ki", "1023Ki"},
      {"1025", "1025"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"1.5e3", "1500"},
      {"12e-3", "12e-3"},
      {"1E", "1E"},
      {"1Ei", "1Ei"},
      {"8Ei", "9223372036854775807"},
      {"-8Ei", "-9223372036854775807"},
      {"9223372036854775807", "9223372036854775807"},
      {"99999999999999999999", "9223372036854775807"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1000u", "1m"},
      {"1000000000000000000000000000000n", "9223372036854775807"},
      {"0.000000000000000000000000000001Gi", "1n"},
      {"1.0000000000000000000000000001", "1000000001n"},
      {"3.14159265358979", "3141592654n"},
      {"100e-1", "10"},
  };
  for (const Case& c : cases) EXPECT_EQ(Canonical(c.text), c.canonical) << c.text;
}

TEST(QuantityTest, MalformedTextIsRefused) {
  for (const char* text :
       {"",   "-",   "+",     ".",   "1.2.3", "1kk", "1ki", "1K", "Gi",  "1 ",   " 1",
        "1e", "1e+", "1e1.5", "1gi", "0x10",  "1,5", "--1", "1i", "1mi", "1ee3", "e3"}) {
    EXPECT_THAT(Quantity::Parse(text),
                StatusIs(absl::StatusCode::kInvalidArgument, "invalid quantity"))
        << text;
  }
  EXPECT_EQ(Canonical("x"), "invalid quantity \"x\"");
}

TEST(QuantityTest, ValuesRoundAwayFromZero) {
  EXPECT_EQ(Quantity::Parse("1500m")->Value(), 2);
  EXPECT_EQ(Quantity::Parse("-1500m")->Value(), -2);
  EXPECT_EQ(Quantity::Parse("1001m")->Value(), 2);
  EXPECT_EQ(Quantity::Parse("1")->MilliValue(), 1000);
  EXPECT_EQ(Quantity::Parse("1u")->MilliValue(), 1);
  EXPECT_EQ(Quantity::Parse("0.1")->MilliValue(), 100);
  EXPECT_EQ(Quantity::Parse("2Gi")->Value(), 2147483648);
  EXPECT_EQ(Quantity::Parse("8Ei")->MilliValue(), INT64_MAX);
}

// Spec scheduler-core E2.
TEST(QuantityTest, WorkedExampleOfUnits) {
  EXPECT_EQ(Quantity::Parse("1500m")->MilliValue(), 1500);
  EXPECT_EQ(Quantity::Parse("2Gi")->Value(), 2147483648);
  EXPECT_EQ(Quantity::Parse("2")->MilliValue(), 2000);
  EXPECT_EQ(Quantity::Parse("1Gi")->MilliValue(), 1073741824000);
  EXPECT_EQ(Quantity::Parse("4Mi")->MilliValue(), 4194304000);
}

TEST(QuantityTest, SumTakesTheFamilyOfTheFirstNumber) {
  EXPECT_EQ((Quantity() + *Quantity::Parse("1Gi") + *Quantity::Parse("1Gi")).ToString(), "2Gi");
  EXPECT_EQ((*Quantity::Parse("1") + *Quantity::Parse("500m")).ToString(), "1500m");
  EXPECT_EQ((*Quantity::Parse("1") - *Quantity::Parse("1500m")).ToString(), "-500m");
}

TEST(QuantityTest, ComparesByNumber) {
  EXPECT_EQ(*Quantity::Parse("1000m"), *Quantity::Parse("1"));
  EXPECT_EQ(*Quantity::Parse("1Ki"), *Quantity::Parse("1024"));
  EXPECT_LT(*Quantity::Parse("-1"), *Quantity::Parse("1n"));
  EXPECT_LT(*Quantity::Parse("1G"), *Quantity::Parse("1Gi"));
}

TEST(QuantityTest, PropertyCanonicalTextKeepsTheNumberAndIsStable) {
  static constexpr const char* kSuffixes[] = {"n",  "u",  "m",  "",   "k",  "M",  "G",   "T",
                                              "Ki", "Mi", "Gi", "Ti", "Pi", "e3", "e-2", "E1"};
  util::Random random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = random.Below(4) == 0 ? "-" : "";
    absl::StrAppend(&text, random.Next() >> (20 + random.Below(44)));
    if (random.Below(2) == 0) absl::StrAppend(&text, ".", random.Below(100000));
    absl::StrAppend(&text, kSuffixes[random.Below(std::size(kSuffixes))]);
    absl::StatusOr<Quantity> q = Quantity::Parse(text);
    ASSERT_TRUE(q.ok()) << text;
    const std::string canonical = q->ToString();
    absl::StatusOr<Quantity> again = Quantity::Parse(canonical);
    ASSERT_TRUE(again.ok()) << text << " -> " << canonical;
    // Above 1024 a fraction of a binary quantity is rounded away from zero in its text.
    const bool rounded = q->format() == Format::kBinarySi && *again != *q;
    if (rounded) {
      ASSERT_EQ(again->Value(), q->Value()) << text << " -> " << canonical;
    } else {
      ASSERT_EQ(*again, *q) << text << " -> " << canonical;
    }
    // Without a suffix the text no longer tells that the number was a binary one.
    if (again->format() == q->format()) {
      ASSERT_EQ(again->ToString(), canonical) << text;
    }
  }
}

TEST(QuantityTest, PropertyParsedNumberEqualsTheExactOne) {
  util::Random random(11);
  for (int round = 0; round < 5000; ++round) {
    const auto whole = static_cast<int64_t>(random.Below(1000000));
    const auto milli = static_cast<int64_t>(random.Below(1000));
    const std::string text = absl::StrCat(whole, ".", milli / 100, milli / 10 % 10, milli % 10);
    ASSERT_EQ(Quantity::Parse(text)->MilliValue(), whole * 1000 + milli);
    ASSERT_EQ(Quantity::Parse(absl::StrCat(text, "k"))->Value(), whole * 1000 + milli);
    ASSERT_EQ(Quantity::Parse(absl::StrCat(whole, "Mi"))->Value(), whole << 20);
  }
}

TEST(ResourceListTest, SortedUniqueNames) {
  ResourceList list;
  list.Set("memory", Quantity::FromInt(2));
  list.Set("cpu", Quantity::FromMilli(500));
  list.Set("memory", Quantity::FromInt(3));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.begin()->first, "cpu");
  EXPECT_EQ(list.Get("memory").Value(), 3);
  EXPECT_TRUE(list.Get("gpu").is_zero());
  ResourceList other;
  other.Set("cpu", Quantity::FromInt(1));
  other.Set("gpu", Quantity::FromInt(1));
  ResourceList sum = list;
  sum.Add(other);
  EXPECT_EQ(sum.Get("cpu").MilliValue(), 1500);
  EXPECT_EQ(sum.size(), 3u);
  list.Max(other);
  EXPECT_EQ(list.Get("cpu").MilliValue(), 1000);
  EXPECT_EQ(list.Get("memory").Value(), 3);
  list.Erase("cpu");
  EXPECT_EQ(list.Find("cpu"), nullptr);
}

}  // namespace
}  // namespace hekla::apis::meta

#include <gtest/gtest.h>

#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/reader.h"
#include "pkg/apis/meta/time.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::meta {
namespace {

using json::Value;
using util::testing::StatusIs;

TEST(TimeTest, ReadsWhatServersWrite) {
  EXPECT_EQ(TimeToString(*ParseTime("2026-01-02T15:04:05Z")), "2026-01-02T15:04:05Z");
  EXPECT_EQ(TimeToString(*ParseTime("2026-01-02T15:04:05+02:00")), "2026-01-02T13:04:05Z");
  EXPECT_EQ(MicroTimeToString(*ParseTime("2026-01-02T15:04:05.123456789Z")),
            "2026-01-02T15:04:05.123456Z");
  EXPECT_EQ(MicroTimeToString(*ParseTime("2026-01-02T15:04:05Z")), "2026-01-02T15:04:05.000000Z");
  EXPECT_FALSE(IsSet(*ParseTime("")));
  EXPECT_EQ(TimeToString(NoTime()), "");
}

TEST(LookupTest, ItemsByNameAndConditionsByType) {
  const json::Value pod = *json::Parse(
      R"({"list":[{"name":"a","n":1},{"name":"b"},{"name":"a","n":2}],"status":{"conditions":)"
      R"([{"type":"Ready","status":"True"},{"type":"Done","status":"False"}]}})");
  ASSERT_NE(FindNamed(pod.At("list"), "a"), nullptr);
  EXPECT_EQ(FindNamed(pod.At("list"), "a")->GetInt("n"), 1);
  EXPECT_EQ(FindNamed(pod.At("list"), "c"), nullptr);
  EXPECT_EQ(FindNamed(pod.At("status"), "a"), nullptr) << "no list";
  EXPECT_TRUE(ConditionIsTrue(pod, "Ready"));
  EXPECT_FALSE(ConditionIsTrue(pod, "Done"));
  EXPECT_EQ(ConditionOf(pod, "Done").GetString("status"), "False");
  EXPECT_TRUE(ConditionOf(pod, "Other").is_null());
  EXPECT_TRUE(ConditionOf(json::Value(), "Ready").is_null());
}

TEST(TimeTest, DurationsAsGoPrintsThem) {
  EXPECT_EQ(GoDuration(absl::ZeroDuration()), "0s");
  EXPECT_EQ(GoDuration(absl::Seconds(5)), "5s");
  EXPECT_EQ(GoDuration(absl::Minutes(5)), "5m0s");
  EXPECT_EQ(GoDuration(absl::Hours(1) + absl::Milliseconds(1500)), "1h0m1.5s");
  EXPECT_EQ(GoDuration(absl::Seconds(300) + absl::Nanoseconds(123456789)), "5m0.123456789s");
  EXPECT_EQ(GoDuration(absl::Milliseconds(20)), "20ms");
  EXPECT_EQ(GoDuration(absl::Nanoseconds(1500)), "1.5µs");
  EXPECT_EQ(GoDuration(-absl::Seconds(61)), "-1m1s");
}

TEST(TimeTest, RefusesEverythingElse) {
  for (const char* text : {"2026-02-30T00:00:00Z", "2026-01-02", "2026-01-02T25:00:00Z", "now",
                           "2026-01-02T15:04:05", "infinite-future", "2026-13-02T15:04:05Z"}) {
    EXPECT_THAT(ParseTime(text), StatusIs(absl::StatusCode::kInvalidArgument, "invalid time"))
        << text;
  }
}

TEST(TimeTest, PropertyRoundTrip) {
  util::Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const absl::Time t = absl::FromUnixMicros(static_cast<int64_t>(random.Below(1ULL << 51)));
    ASSERT_EQ(*ParseTime(MicroTimeToString(t)), t);
    const absl::Time s = absl::FromUnixSeconds(absl::ToUnixSeconds(t));
    ASSERT_EQ(*ParseTime(TimeToString(s)), s);
  }
}

// The status of reading one object in which every accessor is used.
absl::Status ReadAll(absl::string_view text) {
  const Value value = *json::Parse(text);
  const Reader root(value);
  std::string name;
  bool flag = false;
  int32_t small = 0;
  absl::Time time;
  ResourceList resources;
  StringMap labels;
  std::vector<std::string> list;
  root.String("name", name);
  root.Bool("flag", flag);
  root.Int("small", small);
  root.Time("time", time);
  root.Map("labels", labels);
  root.Strings("list", list);
  root.Object("spec", [&](Reader& spec) {
    spec.List("containers", [&](Reader& c) {
      c.String("name", name);
      c.Object("resources", [&](Reader& r) { r.Resources("requests", resources); });
    });
    spec.Objects("byName", [&](const std::string&, Reader& r) { r.Strings("values", list); });
  });
  return root.status();
}

TEST(ReaderTest, ErrorsNameTheFieldAndTheKind) {
  struct Case {
    const char* text;
    const char* error;
  };
  const Case cases[] = {
      {R"({"name":1})", "name: expected string, got integer"},
      {R"({"flag":"true"})", "flag: expected boolean, got string"},
      {R"({"small":1.5})", "small: expected integer, got number"},
      {R"({"small":4294967296})", "small: number 4294967296 is out of range"},
      {R"({"time":"soon"})", "time: invalid time \"soon\""},
      {R"({"labels":{"a":"b","c":1}})", "labels.c: expected string, got integer"},
      {R"({"list":["a",{}]})", "list[1]: expected string, got object"},
      {R"({"spec":[]})", "spec: expected object, got list"},
      {R"({"spec":{"containers":[{},3]}})", "spec.containers[1]: expected object, got integer"},
      {R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"x"}}}]}})",
       "spec.containers[0].resources.requests.cpu: invalid quantity \"x\""},
      {R"({"spec":{"byName":{"n":{"values":[1]}}}})",
       "spec.byName.n.values[0]: expected string, got integer"},
      {R"([])", "expected object, got list"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ReadAll(c.text), absl::InvalidArgumentError(c.error)) << c.text;
  }
}

TEST(ReaderTest, FirstErrorIsKeptAndNullIsAbsent) {
  EXPECT_EQ(ReadAll(R"({"name":1,"flag":2})").message(), "name: expected string, got integer");
  HEKLA_EXPECT_OK(ReadAll(R"({"name":null,"flag":null,"small":null,"spec":null,"list":null})"));
}

TEST(ReaderTest, QuantitiesMayBeNumbers) {
  const Value value = *json::Parse(R"({"r":{"cpu":2,"memory":1.5,"pods":"110"}})");
  const Reader root(value);
  ResourceList list;
  root.Resources("r", list);
  HEKLA_ASSERT_OK(root.status());
  EXPECT_EQ(list.Get("cpu").MilliValue(), 2000);
  EXPECT_EQ(list.Get("memory").MilliValue(), 1500);
  EXPECT_EQ(list.Get("pods").Value(), 110);
}

TEST(ObjectMetaTest, DecodeThenEncodeKeepsUnknownMembers) {
  const Value object = *json::Parse(R"({"kind":"X","metadata":{
      "name":"a","namespace":"n","uid":"u","resourceVersion":"12","generation":3,
      "creationTimestamp":"2026-01-02T15:04:05Z","labels":{"b":"2","a":"1"},
      "annotations":{"k":"v"},"managedFields":[{"manager":"m"}],"finalizers":["f"],
      "ownerReferences":[{"apiVersion":"v1","kind":"Job","name":"j","uid":"ju","controller":true}]},
      "spec":{"keep":1}})");
  ObjectMeta meta;
  const Reader root(object);
  ReadObjectMeta(root, meta);
  HEKLA_ASSERT_OK(root.status());
  EXPECT_EQ(meta.Key(), "n/a");
  EXPECT_EQ(meta.labels.Get("b"), "2");
  ASSERT_NE(meta.ControllerRef(), nullptr);
  EXPECT_EQ(meta.ControllerRef()->name, "j");
  Value back = object;
  WriteObjectMeta(meta, back);
  EXPECT_EQ(back, object) << json::Dump(back);
}

TEST(StringMapTest, SortedLookup) {
  StringMap map{{"b", "2"}, {"a", "1"}, {"c", "3"}};
  EXPECT_EQ(map.begin()->first, "a");
  EXPECT_EQ(map.Get("c"), "3");
  EXPECT_EQ(map.Get("d", "none"), "none");
  map.Set("b", "9");
  map.Erase("a");
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(*map.Find("b"), "9");
}

}  // namespace
}  // namespace hekla::apis::meta

#include "pkg/apiserver/schema/decode.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pkg/util/testing/shared_folder.h"

namespace hekla::apiserver::schema {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

Value J(absl::string_view text) {
  auto value = Parse(text);
  EXPECT_TRUE(value.ok()) << text << value.status();
  return value.ok() ? *value : Value();
}

const Message& Pod() { return *FindKind("", "v1", "Pod"); }

TEST(DecodeTest, DropsAndReportsUnknownFields) {
  std::vector<std::string> unknown;
  const auto out = Decode(Pod(), J(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},
      "spec":{"containers":[{"name":"c","imagee":"x"}],"nodeSelector":{"k":"v"}},"nonsense":1})"),
                          &unknown);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(unknown, (std::vector<std::string>{"spec.containers[0].imagee", "nonsense"}));
  EXPECT_EQ(StrictDecodingError(unknown),
            "strict decoding error: unknown field \"spec.containers[0].imagee\", unknown field "
            "\"nonsense\"");
  EXPECT_EQ(Dump(*out),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":)"
            R"([{"name":"c","resources":{}}],"nodeSelector":{"k":"v"}},"status":{}})");
}

TEST(DecodeTest, LeavesOutWhatIsEmptyAndAddsWhatIsMandatory) {
  const auto out = Decode(Pod(), J(R"({"metadata":{"name":"a","labels":{},"finalizers":[]},
      "spec":{"hostNetwork":false,"priority":0,"securityContext":{},"nodeName":""},
      "status":{"conditions":[{"type":"Ready","status":"True"}],
                "containerStatuses":[{"name":"c","state":{"running":{}}}]}})"));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, J(R"({"metadata":{"name":"a"},
      "spec":{"containers":null,"priority":0,"securityContext":{}},
      "status":{"conditions":[{"type":"Ready","status":"True","lastProbeTime":null,
                               "lastTransitionTime":null}],
                "containerStatuses":[{"name":"c","state":{"running":{"startedAt":null}},
                  "lastState":{},"ready":false,"restartCount":0,"image":"","imageID":""}]}})"));
}

TEST(DecodeTest, ErrorsReadAsThoseOfTheRealDecoder) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {R"({"metadata":{"name":true}})",
       "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string"},
      {R"({"spec":{"containers":[{"name":"c","image":3}]}})",
       "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type "
       "string"},
      {R"({"spec":{"containers":{}}})",
       "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
       "[]v1.Container"},
      {R"({"spec":{"containers":["x"]}})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
       "v1.Container"},
      {R"({"spec":"x"})",
       "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec"},
      {R"({"spec":{"restartPolicy":1}})",
       "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type "
       "v1.RestartPolicy"},
      {R"({"spec":{"priority":"1"}})",
       "json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32"},
      {R"({"spec":{"priority":1.5}})",
       "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type "
       "int32"},
      {R"({"spec":{"priority":3000000000}})",
       "json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of "
       "type int32"},
      {R"({"metadata":{"labels":{"a":1}}})",
       "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
       "string"},
      {R"({"metadata":{"labels":[]}})",
       "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type "
       "map[string]string"},
      {R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"abc"}}}]}})",
       "quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {R"(["x"])", "json: cannot unmarshal array into Go value of type v1.Pod"},
  };
  for (const auto& c : cases) {
    const auto out = Decode(Pod(), J(c.text));
    ASSERT_FALSE(out.ok()) << c.text;
    EXPECT_EQ(out.status().message(), c.error) << c.text;
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(DecodeTest, TheFirstErrorCountsUnlessAValueCannotBeReadAtAll) {
  const auto soft = Decode(Pod(), J(R"({"spec":{"hostname":1},"metadata":{"name":2}})"));
  EXPECT_EQ(soft.status().message(),
            "json: cannot unmarshal number into Go struct field PodSpec.spec.hostname of type "
            "string");
  const auto hard = Decode(Pod(), J(R"({"metadata":{"name":2,"creationTimestamp":3}})"));
  EXPECT_EQ(hard.status().message(),
            "json: cannot unmarshal number into Go struct field "
            "ObjectMeta.metadata.creationTimestamp of type string");
  const auto inlined = Decode(Pod(), J(R"({"spec":{"volumes":[{"name":"v","emptyDir":1}]}})"));
  EXPECT_EQ(inlined.status().message(),
            "json: cannot unmarshal number into Go struct field "
            "Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource");
}

TEST(DecodeTest, TimesAreUtcAndSecondsOrMicroseconds) {
  const auto lease = Decode(*FindKind("coordination.k8s.io", "v1", "Lease"),
                            J(R"({"metadata":{"creationTimestamp":"2026-01-02T03:04:05.9+01:00"},
                                  "spec":{"renewTime":"2026-01-02T03:04:05.123456Z"}})"));
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(*lease, J(R"({"metadata":{"creationTimestamp":"2026-01-02T02:04:05Z"},
                          "spec":{"renewTime":"2026-01-02T03:04:05.123456Z"}})"));
  const auto bad = Decode(Pod(), J(R"({"metadata":{"creationTimestamp":"yesterday"}})"));
  EXPECT_EQ(bad.status().message(),
            "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
            "\"yesterday\" as \"2006\"");
}

TEST(DecodeTest, QuantitiesBecomeCanonical) {
  const struct {
    const char* in;
    const char* out;
  } cases[] = {{"1000m", "1"},
               {"100m", "100m"},
               {"0.1", "100m"},
               {"1.5", "1500m"},
               {"2", "2"},
               {"0", "0"},
               {"-0", "0"},
               {"+5", "+5"},
               {"-1", "-1"},
               {"1000", "1k"},
               {"12000", "12k"},
               {"1024", "1024"},
               {"1Ki", "1Ki"},
               {"1024Ki", "1Mi"},
               {"0.5Gi", "512Mi"},
               {"1.5Gi", "1536Mi"},
               {"0.5Ki", "512"},
               {"0.1Ki", "102400m"},
               {"1e3", "1e3"},
               {"1E3", "1E3"},
               {"1E", "1E"},
               {"100e-3", "100e-3"},
               {"1000000k", "1G"},
               {"128Gi", "128Gi"},
               {"1u", "1u"},
               {"0.5n", "1n"},
               {"1.0000000001", "1000000001n"},
               {"1.0001", "1000100u"},
               {"1.000001", "1.000001"},
               {"100.5k", "100500"},
               {"0.1Mi", "104857600m"},
               {"1000Ki", "1000Ki"},
               {"100000Ei", "9223372036854775807"},
               {"9223372036854775807", "9223372036854775807"},
               {"0Gi", "0"},
               {"1500M", "1500M"},
               {"1000M", "1G"}};
  for (const auto& c : cases) {
    const auto out = CanonicalQuantity(c.in);
    ASSERT_TRUE(out.ok()) << c.in << " " << out.status();
    EXPECT_EQ(*out, c.out) << c.in;
    EXPECT_EQ(*CanonicalQuantity(*out), *out) << c.in;
  }
  for (const char* bad : {"", "abc", "1 Gi", "m", "1KiB", "--1", "1.2.3", "1ee3", "1mm"}) {
    EXPECT_FALSE(CanonicalQuantity(bad).ok()) << bad;
  }
}

TEST(DecodeTest, QuantitiesMayBeNumbers) {
  const auto out = Decode(Pod(), J(R"({"spec":{"containers":[{"name":"c","resources":
      {"requests":{"memory":"64Mi","cpu":2,"x":0.5}}}]}})"));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Dump(out->At("spec").At("containers").as_array()[0].At("resources")),
            R"({"requests":{"cpu":"2","memory":"64Mi","x":"500m"}})");
}

// Puts real values where the recording has place-holders.
Value Restored(const Value& value, absl::string_view key) {
  if (value.is_string() && value.as_string() == "<set>") {
    const bool time = absl::StrContains(key, "Time");
    const bool micro = key == "renewTime" || key == "acquireTime" || key == "eventTime";
    return time ? Value(micro ? "2026-01-01T00:00:00.000000Z" : "2026-01-01T00:00:00Z")
                : Value("x");
  }
  if (value.is_string() && value.as_string() == "<age>") return Value("100m");
  Value out = value;
  if (out.is_object()) {
    for (auto& member : out.as_object()) member.value = Restored(member.value, member.key);
  } else if (out.is_array()) {
    for (Value& item : out.as_array()) item = Restored(item, key);
  }
  return out;
}

// What a real server answered must pass through unchanged: presence rules, quantities, times.
TEST(DecodeTest, RecordedAnswersPassUnchanged) {
  std::ifstream file(util::testing::SharedFolder() / "cases/apiserver/transcripts.json");
  if (!file) {
    std::cout << "recorded transcripts are not present\n";
    return;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Value groups = J(text);
  int checked = 0;
  for (const auto& group : groups.as_object()) {
    for (const Value& step : group.value.as_array()) {
      const Value body = Restored(step.At("body"), "");
      const absl::string_view gv = body.GetString("apiVersion");
      const size_t slash = gv.find('/');
      const Message* message =
          slash == absl::string_view::npos
              ? FindKind("", gv, body.GetString("kind"))
              : FindKind(gv.substr(0, slash), gv.substr(slash + 1), body.GetString("kind"));
      if (message == nullptr || body.GetInt("code") != 0) continue;
      std::vector<std::string> unknown;
      const auto out = Decode(*message, body, &unknown);
      ASSERT_TRUE(out.ok()) << out.status() << Dump(body);
      EXPECT_TRUE(unknown.empty()) << unknown[0];
      EXPECT_EQ(*out, body) << Dump(*out) << "\n" << Dump(body);
      ++checked;
    }
  }
  EXPECT_GT(checked, 90);
}

}  // namespace
}  // namespace hekla::apiserver::schema

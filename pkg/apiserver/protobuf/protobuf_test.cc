#include "pkg/apiserver/protobuf/protobuf.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/protobuf/wire.h"
#include "pkg/apiserver/schema/decode.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/shared_folder.h"

namespace hekla::apiserver::protobuf {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

std::string Bytes(absl::string_view base64) {
  std::string out;
  EXPECT_TRUE(absl::Base64Unescape(base64, &out));
  return out;
}

const schema::Message* FormOf(const Value& object) {
  const absl::string_view version = object.GetString("apiVersion");
  const size_t slash = version.find('/');
  return slash == absl::string_view::npos
             ? schema::FindKind("", version, object.GetString("kind"))
             : schema::FindKind(version.substr(0, slash), version.substr(slash + 1),
                                object.GetString("kind"));
}

// The object as the server would keep it.
Value Typed(const Value& object) {
  const schema::Message* message = FormOf(object);
  EXPECT_NE(message, nullptr) << Dump(object);
  const auto out = schema::Decode(*message, object);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? *out : Value();
}

// Bodies as the Go serialiser writes them, with the JSON of the same objects.
const struct {
  const char* body;
  const char* json;
} kBodies[] = {
    {"azhzAAoJCgJ2MRIDUG9kEucBCicKAXASABoBZCIAKgAyADgAQggIgPLWygYQAFoGCgFhEgExcgN4L2YS"
     "pgEKDwoBdhIKEggKBk1lbW9yeRJhCgFjEgFpKgAyDQoAEAAYUCIDVENQKgA6BgoBRRIBdkIPEg0KA2Nw"
     "dRIGCgQyNTBtWh8KExIRCgIveBIHCAAQkD8aABoAIgAQABgAIAAoADAAagByAIABAIgBAJABAKIBABoA"
     "IAUyAEIASgBSAFgAYABoAIIBAIoBAJoBALIBEQoBaxIGRXhpc3RzGgAiACgFwgEAGhMKABoAIgAqADIA"
     "SgBaAHIAiAEAGgAiAA==",
     R"js({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","creation)js"
     R"js(Timestamp":"2026-01-01T00:00:00Z","labels":{"a":"1"},"finalizers":["x/f"]},"spec)js"
     R"js(":{"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}],"containers":[{"name")js"
     R"js(:"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP"}],"env":[{"name":)js"
     R"js("E","value":"v"}],"resources":{"requests":{"cpu":"250m"}},"readinessProbe":{"htt)js"
     R"js(pGet":{"path":"/x","port":8080}}}],"terminationGracePeriodSeconds":5,"toleration)js"
     R"js(s":[{"key":"k","operator":"Exists","tolerationSeconds":5}]},"status":{}})js"},
    {"azhzAAoNCgJ2MRIHQmluZGluZxIqChIKAXASABoBZCIAKgAyADgAQgASFAoETm9kZRIAGgJuMSIAKgAy"
     "ADoAGgAiAA==",
     R"js({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p","namespace":"d"},"tar)js"
     R"js(get":{"kind":"Node","name":"n1"}})js"},
    {"azhzAAoVCglwb2xpY3kvdjESCEV2aWN0aW9uEhcKEQoBcBIAGgAiACoAMgA4AEIAEgIIBRoAIgA=",
     R"js({"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"},"deleteOptio)js"
     R"js(ns":{"gracePeriodSeconds":5}})js"},
    {"azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxIOCAUiCkJhY2tncm91bmQaACIA",
     R"js({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"propagationPol)js"
     R"js(icy":"Background"})js"},
    {"azhzAAofChZjb29yZGluYXRpb24uazhzLmlvL3YxEgVMZWFzZRIoChEKAWwSABoAIgAqADIAOABCABIT"
     "CgJtZRAPIgsIgPLWygYQgJTvOhoAIgA=",
     R"js({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l"},"s)js"
     R"js(pec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-01-01T00)js"
     R"js(:00:00.123456Z"}})js"},
    {"azhzAAoMCgJ2MRIGU2VjcmV0El0KSgoBcxIAGgAiACoAMgA4AEIAigE2CgFtEgZVcGRhdGUaAnYxIggI"
     "gPLWygYQADIIRmllbGRzVjE6DwoNeyJmOmRhdGEiOnt9fUIAEgcKAWsSAmhpGgZPcGFxdWUaACIA",
     R"js({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","managedFields":[{"man)js"
     R"js(ager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z",")js"
     R"js(fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]},"data":{"k":"aGk="},"type":"O)js"
     R"js(paque"})js"},
};

TEST(ProtobufTest, BodiesOfGoClients) {
  for (const auto& c : kBodies) {
    const auto decoded = Decode(Bytes(c.body));
    ASSERT_TRUE(decoded.ok()) << decoded.status() << c.json;
    EXPECT_EQ(Typed(*decoded), Typed(*Parse(c.json))) << Dump(*decoded);
  }
}

TEST(ProtobufTest, OwnBodiesComeBack) {
  for (const auto& c : kBodies) {
    const Value object = Typed(*Parse(c.json));
    const auto body = Encode(object);
    ASSERT_TRUE(body.ok()) << body.status();
    const auto decoded = Decode(*body);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(Typed(*decoded), object);
  }
}

TEST(ProtobufTest, KindFromOutsideWhereTheEnvelopeHasNone) {
  std::string raw, body("k8s\0", 4);
  PutVarintField(1, 7, raw);
  PutBytesField(2, raw, body);
  const auto decoded = Decode(body, "v1", "DeleteOptions");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded,
            *Parse(R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":7})"));
  EXPECT_EQ(Decode(body).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(ProtobufTest, UnknownFieldsAreSkipped) {
  std::string raw, body("k8s\0", 4);
  PutVarintField(999, 7, raw);
  PutBytesField(998, "x", raw);
  PutFixed64Field(997, 1, raw);
  PutVarintField(1, 3, raw);
  PutBytesField(2, raw, body);
  const auto decoded = Decode(body, "v1", "DeleteOptions");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->GetInt("gracePeriodSeconds"), 3);
}

TEST(ProtobufTest, CutAndChangedBodiesAreRefusedOrRead) {
  util::Random random(3);
  int refused = 0;
  for (const auto& c : kBodies) {
    const std::string body = Bytes(c.body);
    for (size_t size = 0; size < body.size(); ++size) {
      if (!Decode(absl::string_view(body).substr(0, size)).ok()) ++refused;
    }
    for (int i = 0; i < 3000; ++i) {
      std::string changed = body;
      for (int n = 0; n < 3; ++n) {
        changed[4 + random.Below(changed.size() - 4)] = static_cast<char>(random.Below(256));
      }
      const auto decoded = Decode(changed);
      if (!decoded.ok()) {
        EXPECT_FALSE(decoded.status().message().empty());
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_FALSE(Decode("").ok());
  EXPECT_FALSE(HasMagic("{}"));
}

// Every built-in object of the recorded answers survives the way there and back.
TEST(ProtobufTest, RecordedObjectsComeBack) {
  std::ifstream file(util::testing::SharedFolder() / "cases/apiserver/transcripts.json");
  if (!file) {
    std::cout << "recorded transcripts are not present\n";
    return;
  }
  const auto groups =
      Parse(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
  ASSERT_TRUE(groups.ok());
  int checked = 0;
  for (const auto& group : groups->as_object()) {
    for (const Value& step : group.value.as_array()) {
      const Value& sent = step.At("b");
      if (step.GetInt("status") != 201 || !sent.is_object() || FormOf(sent) == nullptr) continue;
      if (sent.GetString("kind") == "CustomResourceDefinition") continue;
      const Value object = Typed(sent);
      const auto body = Encode(object);
      ASSERT_TRUE(body.ok()) << body.status() << Dump(object);
      const auto decoded = Decode(*body);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      EXPECT_EQ(Typed(*decoded), object) << Dump(*decoded) << Dump(object);
      ++checked;
    }
  }
  EXPECT_GT(checked, 40);
}

}  // namespace
}  // namespace hekla::apiserver::protobuf

#include "pkg/apiserver/printing/json_path.h"

#include "gtest/gtest.h"

namespace hekla::apiserver::printing {
namespace {

using apis::json::Dump;
using apis::json::Parse;
using apis::json::Value;

std::string Found(absl::string_view path, const Value& root) {
  const auto parsed = JsonPath::Parse(path);
  if (!parsed.ok()) return std::string("error: ") + std::string(parsed.status().message());
  Value out = Value::MakeArray();
  for (const Value* value : parsed->Find(root)) out.Append(*value);
  return Dump(out);
}

TEST(JsonPathTest, WalksWhatDefinitionsUse) {
  const Value root = *Parse(R"({"spec":{"replicas":3,"a.b":"dot","list":[1,2,3],
      "items":[{"type":"Ready","status":"True","n":1},{"type":"Held","n":5}]},
      "metadata":{"labels":{"x/y":"v"}}})");
  const struct {
    const char* path;
    const char* found;
  } cases[] = {
      {".spec.replicas", "[3]"},
      {"spec.replicas", "[3]"},
      {"$.spec.replicas", "[3]"},
      {"{.spec.replicas}", "[3]"},
      {".spec.nothing", "[]"},
      {".spec.replicas.more", "[]"},
      {".spec['a.b']", "[\"dot\"]"},
      {".spec.a\\.b", "[\"dot\"]"},
      {".metadata.labels['x/y']", "[\"v\"]"},
      {".spec.list[0]", "[1]"},
      {".spec.list[-1]", "[3]"},
      {".spec.list[7]", "[]"},
      {".spec.list[*]", "[1,2,3]"},
      {".spec.list[1:]", "[2,3]"},
      {".spec.list[:-1]", "[1,2]"},
      {".spec.list[0:2]", "[1,2]"},
      {".spec.items[*].type", "[\"Ready\",\"Held\"]"},
      {".spec.items[?(@.type==\"Ready\")].status", "[\"True\"]"},
      {".spec.items[?(@.type=='Held')].n", "[5]"},
      {".spec.items[?(@.n>1)].type", "[\"Held\"]"},
      {".spec.items[?(@.status)].type", "[\"Ready\"]"},
      {"..type", "[\"Ready\",\"Held\"]"},
      {".metadata.labels.*", "[\"v\"]"},
  };
  for (const auto& c : cases) EXPECT_EQ(Found(c.path, root), c.found) << c.path;
}

TEST(JsonPathTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* bad : {"", "{}", ".a[", ".a[x]", ".a[1:2:3]", ".a b", ".a[?(@.b==zz)]"}) {
    EXPECT_FALSE(JsonPath::Parse(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace hekla::apiserver::printing

#include "glog/logging.h"
#include "pkg/apis/json/value.h"
#include "test/fuzz/fuzz_target.h"

namespace json = hekla::apis::json;

// What parses is written so that it parses to the same value again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto value = json::Parse(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.ok()) return 0;
  const std::string text = json::Dump(*value);
  auto again = json::Parse(text);
  CHECK(again.ok()) << text << ": " << again.status();
  CHECK(*again == *value) << text;
  CHECK_EQ(json::Dump(*again), text);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {R"({"a":[1,-2.5e3,true,null,"x\u00e9\n"],"b":{"c":{}}})",
          "[[[[]]]]",
          "9223372036854775807",
          "18446744073709551616",
          R"("\ud834\udd1e")",
          "-0",
          "1e-400"};
}
std::vector<std::string> FuzzWords() {
  return {"\"", "{", "}", "[", "]", ",", ":", "null", "true", "\\u", "\\ud800", "1e", "-", ".5"};
}

#include "glog/logging.h"
#include "pkg/yaml/yaml.h"
#include "test/fuzz/fuzz_target.h"

// Any text is read or refused; what is read comes back from its own dump.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto documents =
      hekla::yaml::ParseAll(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!documents.ok()) return 0;
  for (const auto& document : *documents) {
    if (document.value.is_null()) continue;
    const std::string text = hekla::yaml::Dump(document.value);
    auto again = hekla::yaml::ParseOne(text);
    CHECK(again.ok()) << text << ": " << again.status();
    CHECK(again->value == document.value) << text;
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {"actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n    enable: yes\n",
          "a: &x {b: 1}\nc: *x\n---\n- 0x1f\n- 017\n- 1_000\n- .5\n- ~\n",
          "k: |\n  text\n  more\nl: >-\n  folded\n", "{a: [b, 'c', \"d\\n\"]}\n",
          "<<: {a: 1}\nb: 2001-01-01\n"};
}
std::vector<std::string> FuzzWords() {
  return {"\n", "- ", ": ", "---\n", "&a ", "*a", "<<: ", "!!str ", "|\n",  "? ",
          "'",  "\"", "{",  "}",     "[",   "]",  "# ",   "yes",    "null", "  "};
}

#include "glog/logging.h"
#include "pkg/conf/config.h"
#include "test/fuzz/fuzz_target.h"

// Any configuration file is taken or refused with a message; what is taken names known things only.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hekla::conf::Known known{{"enqueue", "allocate", "backfill"},
                                        {"gang", "drf", "proportion", "predicates"}};
  auto config = hekla::conf::ParseConfig(
      absl::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml", known);
  if (!config.ok()) {
    CHECK(!config.status().message().empty());
    return 0;
  }
  CHECK(!config->actions.empty());
  for (const std::string& action : config->actions) {
    CHECK(std::count(known.actions.begin(), known.actions.end(), action) == 1) << action;
  }
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {
      "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: gang\n"
      "    enableJobOrder: false\n- plugins:\n  - name: drf\n    enableHierarchy: true\n"
      "  - name: predicates\n    arguments:\n      predicate.CacheEnable: true\n",
      "actions: allocate\nconfigurations:\n- name: allocate\n  arguments: {a: 1}\nmetrics: {type: "
      "x}\n"};
}
std::vector<std::string> FuzzWords() {
  return {"actions: ",  "tiers:\n", "- plugins:\n", "  - name: ", "enqueue",
          "proportion", "\n",       "null",         "[]",         "{}"};
}

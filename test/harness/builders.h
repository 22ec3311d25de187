#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

// Kubernetes objects for tests, as the API server would serve them. Amounts are quantity strings.
namespace hekla::harness {

using apis::json::Value;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// "2026-01-01T00:00:<seconds>Z", growing: creation times in the order of a test's objects.
std::string TimeAt(int seconds);

// A ready node. Capacity = allocatable = `resources`, with 110 pods unless given.
Value BuildNode(absl::string_view name, const Pairs& resources, const Pairs& labels = {});

struct PodArgs {
  std::string namespace_name = "default";
  std::string name = {};
  std::string node = {};  // bound there
  std::string phase = "Pending";
  Pairs requests = {};
  std::string pod_group = {};
  Pairs labels = {};
  int created = 0;
};
Value BuildPod(const PodArgs& args);

struct PodGroupArgs {
  std::string namespace_name = "default";
  std::string name = {};
  std::string queue = "default";
  int min_member = 1;
  std::string phase = "Pending";
  int created = 0;
};
Value BuildPodGroup(const PodGroupArgs& args);

Value BuildQueue(absl::string_view name, int weight, int created = 0);
Value BuildPriorityClass(absl::string_view name, int value, bool global_default = false);

// {"a": "1", …}
Value MapOf(const Pairs& pairs);
// Lays `over` on `base`: objects are merged, everything else replaces.
void Merge(Value& base, const Value& over);

}  // namespace hekla::harness

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/macro/scenario.h"

namespace hekla::bench {
namespace {

double At(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void Append(std::string& out, const std::string& key, double value) {
  absl::StrAppend(&out, ",\"", key, "\":", absl::StrFormat("%.6g", value));
}

}  // namespace

std::string ToJson(const Result& result) {
  std::vector<double> millis;
  double seconds = 0;
  double cpu = 0;
  double placed = 0;
  double allocations = 0;
  for (const Scenario::Cost& cycle : result.cycles) {
    millis.push_back(cycle.seconds * 1e3);
    seconds += cycle.seconds;
    cpu += cycle.cpu_seconds;
    placed += static_cast<double>(cycle.binds);
    allocations += static_cast<double>(cycle.allocations);
  }
  std::sort(millis.begin(), millis.end());
  std::string out = absl::StrCat("{\"case\":\"", result.name, "\",\"nodes\":", result.nodes,
                                 ",\"cycles\":", result.cycles.size());
  Append(out, "placements", placed);
  if (placed > 0) {
    Append(out, "placements_per_second", placed / seconds);
    Append(out, "placements_per_cpu_second", placed / cpu);
    Append(out, "allocations_per_placement", allocations / placed);
  } else if (!millis.empty()) {
    Append(out, "allocations_per_cycle", allocations / static_cast<double>(millis.size()));
  }
  if (!millis.empty()) {
    Append(out, "cycle_p50_milliseconds", At(millis, 0.5));
    Append(out, "cycle_p99_milliseconds", At(millis, 0.99));
    Append(out, "cycle_max_milliseconds", millis.back());
  }
  for (const auto& [key, value] : result.more) Append(out, key, value);
  return out + "}";
}

}  // namespace hekla::bench

#include "pkg/sim/shrink.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hekla::sim {
namespace {

using apis::json::Value;

class Shrinker {
 public:
  Shrinker(Script script, const ShrinkOptions& options)
      : options_(options), best_(std::move(script)) {}

  Shrunk Go() {
    Script without = best_;
    without.placed_faults.clear();
    if (!without.actions.empty()) Try(std::move(without));
    // The end of the run first: most of what follows the cause is not needed.
    bool smaller = true;
    while (smaller && runs_ < options_.most_runs) {
      smaller = LeaveOut(&Script::actions);
      smaller = LeaveOut(&Script::placed_faults) || smaller;
      smaller = Simplify() || smaller;
    }
    return {std::move(best_), runs_};
  }

 private:
  bool Try(Script candidate) {
    if (runs_ >= options_.most_runs) return false;
    ++runs_;
    if (!options_.fails(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // Stretches of half the list, then of a quarter, and so on; back to front.
  template <typename Item>
  bool LeaveOut(std::vector<Item> Script::*list) {
    bool smaller = false;
    for (size_t length = ((best_.*list).size() + 1) / 2; length > 0; length /= 2) {
      for (size_t end = (best_.*list).size(); end > 0;) {
        const size_t begin = end > length ? end - length : 0;
        Script candidate = best_;
        auto& items = candidate.*list;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(begin),
                    items.begin() + static_cast<std::ptrdiff_t>(end));
        smaller = Try(std::move(candidate)) || smaller;
        end = std::min(begin, (best_.*list).size());
      }
    }
    return smaller;
  }

  bool TryAction(size_t i, const std::function<bool(Value&)>& change) {
    Script candidate = best_;
    return change(candidate.actions[i]) && Try(std::move(candidate));
  }

  // Fewer members, smaller minimums, shorter pauses.
  bool Simplify() {
    bool smaller = false;
    for (size_t i = 0; i < best_.actions.size(); ++i) {
      while (TryAction(i, [](Value& action) {
        Value* run = action.Find("run");
        if (run == nullptr || !run->is_array() || run->size() < 2) return false;
        run->as_array().pop_back();
        const auto size = static_cast<int64_t>(run->size());
        if (action.GetInt("min") > size) action.Set("min", size);
        return true;
      })) {
        smaller = true;
      }
      for (const char* key : {"leaders", "podsFirst", "queue", "parent"}) {
        smaller |= TryAction(i, [key](Value& action) { return action.Remove(key); });
      }
      smaller |= TryAction(i, [](Value& action) {
        if (action.GetInt("after") <= 1) return false;
        action.Set("after", 1);
        return true;
      });
    }
    return smaller;
  }

  const ShrinkOptions& options_;
  Script best_;
  int runs_ = 0;
};

}  // namespace

Shrunk Shrink(Script script, const ShrinkOptions& options) {
  return Shrinker(std::move(script), options).Go();
}

Shrunk ShrinkFailure(const FuzzOutcome& outcome, int most_runs) {
  if (outcome.violations.empty()) return {outcome.script, 0};
  const std::string rule = outcome.violations.front().rule;
  ShrinkOptions options;
  options.most_runs = most_runs;
  options.fails = [&rule](const Script& script) {
    const FuzzOutcome again = PlayScript(script);
    return std::any_of(again.violations.begin(), again.violations.end(),
                       [&rule](const Violation& v) { return v.rule == rule; });
  };
  return Shrink(outcome.script, options);
}

}  // namespace hekla::sim

#include "pkg/sim/faults/fault_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr absl::string_view kNames[] = {
    "none", "refused",    "too-many",       "server-error", "conflict",      "lost-answer", "slow",
    "kill", "kill-after", "stream-refused", "stream-gone",  "stream-broken", "stream-lag"};

}  // namespace

Value ToJson(const PlacedFault& placed) {
  const Fault& fault = placed.fault;
  Value value =
      Value::MakeObject({{"fault", kNames[static_cast<size_t>(fault.kind)]}, {"at", placed.place}});
  if (fault.status != 0) value.Set("status", fault.status);
  if (fault.delay > absl::ZeroDuration()) {
    value.Set("us", absl::ToInt64Microseconds(fault.delay));
  }
  return value;
}

absl::StatusOr<PlacedFault> ParsePlacedFault(const Value& value) {
  const absl::string_view name = value.GetString("fault");
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  PlacedFault placed;
  placed.place = std::string(value.GetString("at"));
  if (found == std::end(kNames) || placed.place.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("not a fault: ", apis::json::Dump(value)));
  }
  placed.fault.kind = static_cast<FaultKind>(found - std::begin(kNames));
  placed.fault.status = static_cast<int>(value.GetInt("status"));
  placed.fault.delay = absl::Microseconds(value.GetInt("us"));
  return placed;
}

FaultBook::FaultBook(const std::vector<PlacedFault>& faults) : plays_(true) {
  for (const PlacedFault& placed : faults) script_[placed.place] = placed.fault;
}

std::string FaultBook::NextPlace(absl::string_view what) {
  auto it = counts_.find(what);
  if (it == counts_.end()) it = counts_.emplace(std::string(what), 0).first;
  return absl::StrCat(what, " #", ++it->second);
}

void FaultBook::Note(std::string place, const Fault& fault) {
  if (fault.kind != FaultKind::kNone) noted_.push_back({std::move(place), fault});
}

Fault FaultBook::At(const std::string& place) const {
  const auto it = script_.find(place);
  return it == script_.end() ? Fault() : it->second;
}

}  // namespace hekla::sim

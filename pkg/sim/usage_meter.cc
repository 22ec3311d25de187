#include "pkg/sim/usage_meter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/meta/time.h"

namespace hekla::sim {

using apis::json::Value;

UsageMeter::Amounts UsageMeter::ReadAmounts(const Value& map) {
  Amounts amounts;
  if (!map.is_object()) return amounts;
  for (const auto& member : map.as_object()) {
    const std::string text =
        member.value.is_string() ? member.value.as_string() : apis::json::Dump(member.value);
    if (auto quantity = apis::meta::Quantity::Parse(text); quantity.ok()) {
      amounts[member.key] = quantity->AsDouble();
    }
  }
  return amounts;
}

void UsageMeter::Observe(absl::string_view type, const Value& object, absl::Time now) {
  const bool gone = type == "DELETED";
  const absl::string_view kind = object.GetString("kind");
  if (kind == "Pod") {
    ObservePod(gone, object, now);
  } else if (kind == "Node") {
    Amounts& row = nodes_[std::string(object.At("metadata").GetString("name"))];
    for (const auto& [name, amount] : row) allocatable_[name] -= amount;
    row = gone ? Amounts() : ReadAmounts(object.At("status").At("allocatable"));
    for (const auto& [name, amount] : row) allocatable_[name] += amount;
  }
}

void UsageMeter::Count(const Pod& pod, int sign) {
  pending_ += pod.waiting ? sign : 0;
  running_ += pod.running ? sign : 0;
  if (!pod.holds) return;
  for (const auto& [name, amount] : pod.request) used_[name] += sign * amount;
}

void UsageMeter::ObservePod(bool gone, const Value& object, absl::Time now) {
  const Value& metadata = object.At("metadata");
  const std::string uid(metadata.GetString("uid"));
  auto [it, fresh] = pods_.try_emplace(uid);
  Pod& pod = it->second;
  const Pod before = pod;
  Count(before, -1);
  if (fresh) {
    pod.created = apis::meta::ParseTime(metadata.GetString("creationTimestamp")).value_or(now);
    const Value& containers = object.At("spec").At("containers");
    if (containers.is_array()) {
      for (const Value& c : containers.as_array()) {
        for (const auto& [name, amount] : ReadAmounts(c.At("resources").At("requests"))) {
          pod.request[name] += amount;
        }
      }
    }
  }
  const absl::string_view phase = object.At("status").GetString("phase");
  const bool has_node = !object.At("spec").GetString("nodeName").empty();
  pod.ended = phase == "Succeeded" || phase == "Failed";
  pod.waiting = !has_node && !pod.ended;
  pod.holds = has_node && !pod.ended;
  pod.running = phase == "Running";
  if (has_node && !pod.bound) {
    pod.bound = true;
    // A pod that had its node from the start did not wait for us.
    if (!fresh) wait_seconds_.push_back(std::max(0.0, absl::ToDoubleSeconds(now - pod.created)));
  }
  if (pod.ended && !before.ended) ++finished_;
  if (gone) {
    pods_.erase(it);
  } else {
    Count(pod, 1);
  }
}

std::vector<std::string> UsageMeter::Resources() const {
  std::vector<std::string> names = {"cpu", "memory"};
  for (const auto& [name, amount] : allocatable_) {
    if (absl::StrContains(name, "gpu")) names.push_back(name);
  }
  return names;
}

double UsageMeter::Used(const std::string& resource) const {
  auto it = used_.find(resource);
  return it == used_.end() ? 0 : it->second;
}

double UsageMeter::Allocatable(const std::string& resource) const {
  auto it = allocatable_.find(resource);
  return it == allocatable_.end() ? 0 : it->second;
}

void UsageMeter::Sample(absl::Time now) {
  if (sampled_resources_.empty()) sampled_resources_ = Resources();
  ReportData::Sample sample;
  sample.time = now;
  sample.pending = pending_;
  sample.running = running_;
  for (const std::string& name : sampled_resources_) {
    const double total = Allocatable(name);
    sample.used_ratio.push_back(total > 0 ? Used(name) / total : 0);
  }
  if (!samples_.empty()) {
    const ReportData::Sample& last = samples_.back();
    if (last.pending == sample.pending && last.running == sample.running &&
        last.used_ratio == sample.used_ratio) {
      return;
    }
    if (last.time == now) samples_.pop_back();
  }
  samples_.push_back(std::move(sample));
}

}  // namespace hekla::sim

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/sim/report.h"

namespace hekla::sim {

// Follows nodes and pods and adds up what is in use, who waits and how long: the numbers of the
// report and of the progress line. Cost: O(size of the object) per event.
class UsageMeter {
 public:
  void Observe(absl::string_view type, const apis::json::Value& object, absl::Time now);
  // Notes the state as of `now` for the curves, where it differs from the last noted one.
  void Sample(absl::Time now);

  // cpu, memory and every resource of some node with "gpu" in its name, in this order, then by
  // name.
  std::vector<std::string> Resources() const;
  double Used(const std::string& resource) const;
  double Allocatable(const std::string& resource) const;
  int64_t pending() const { return pending_; }
  int64_t running() const { return running_; }
  int64_t placed() const { return static_cast<int64_t>(wait_seconds_.size()); }
  int64_t finished() const { return finished_; }
  const std::vector<double>& wait_seconds() const { return wait_seconds_; }
  const std::vector<ReportData::Sample>& samples() const { return samples_; }

 private:
  using Amounts = std::map<std::string, double>;
  struct Pod {
    bool waiting = false, holds = false, running = false, ended = false, bound = false;
    absl::Time created;
    Amounts request;
  };
  static Amounts ReadAmounts(const apis::json::Value& map);
  void ObservePod(bool gone, const apis::json::Value& object, absl::Time now);
  void Count(const Pod& pod, int sign);

  absl::flat_hash_map<std::string, Pod> pods_;  // by uid
  absl::flat_hash_map<std::string, Amounts> nodes_;
  Amounts used_, allocatable_;
  int64_t pending_ = 0, running_ = 0, finished_ = 0;
  std::vector<double> wait_seconds_;
  std::vector<ReportData::Sample> samples_;
  std::vector<std::string> sampled_resources_;
};

}  // namespace hekla::sim

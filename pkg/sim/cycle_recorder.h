#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "pkg/framework/session_observer.h"

namespace hekla::sim {

// What one cycle decided, by name.
struct CycleRecord {
  int64_t cycle = 0;  // from 1
  absl::Time time;
  std::vector<std::pair<std::string, std::string>> binds;  // "ns/name" → node, in order of decision
  std::vector<std::pair<std::string, std::string>> pipelined;  // by name
  struct Eviction {
    std::string pod, by, for_group;
  };
  std::vector<Eviction> evictions;

  bool empty() const { return binds.empty() && pipelined.empty() && evictions.empty(); }
};

// Records every cycle that did something.
class CycleRecorder final : public framework::SessionObserver {
 public:
  void OnBind(const framework::Session& session, model::TaskId task, model::NodeId node) override;
  void OnEvict(const framework::Session& session, model::TaskId victim,
               absl::string_view reason) override;
  void OnClosing(const framework::Session& session) override;

  const std::vector<CycleRecord>& cycles() const { return cycles_; }
  int64_t cycle_count() const { return count_; }
  int64_t placements() const { return placements_; }

 private:
  std::vector<CycleRecord> cycles_;
  CycleRecord current_;
  int64_t count_ = 0;
  int64_t placements_ = 0;
};

}  // namespace hekla::sim

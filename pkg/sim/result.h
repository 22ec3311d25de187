#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/server.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/cycle_recorder.h"

namespace hekla::sim {

// Where the parts of a simulation's outcome come from.
struct ResultInput {
  apiserver::ApiServer* server = nullptr;
  const CycleRecorder* recorder = nullptr;
  const Auditor* auditor = nullptr;
  const std::vector<std::pair<std::string, absl::Time>>* finished = nullptr;
  std::string metrics_text;  // queue shares are read from it
  double decision_seconds = 0;
  double cycle_seconds_max = 0;
  // Explanation of a pending pod; null: none is wanted.
  std::function<apis::json::Value(const std::string& pod)> explain = nullptr;
};

// The outcome as JSON: cycles, finished, podGroups, queues, pods, events, audit, stats.
// Order: lists by name; cycles by time.
// Source: design.md section 11.
apis::json::Value RenderResult(const ResultInput& input);

// The same for people: one table of pod groups, one of queues, one line per waiting pod, totals.
std::string RenderTable(const apis::json::Value& result);

// Value of a sample in metrics text, e.g. `volcano_queue_share{queue_name="q"}`; 0 where it is
// absent.
double MetricValue(const std::string& text, const std::string& sample);

}  // namespace hekla::sim

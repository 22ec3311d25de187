#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace hekla::sim {

// What a simulation has gathered for people to look at.
struct ReportData {
  std::string title;
  absl::Time start, end;
  // One row per moment at which something changed; the values hold until the next row.
  struct Sample {
    absl::Time time;
    std::vector<double> used_ratio;  // as `resources`
    int64_t pending = 0;
    int64_t running = 0;
  };
  std::vector<std::string> resources;  // "cpu", "memory", GPU names
  std::vector<Sample> samples;
  std::vector<double> wait_seconds;                          // of every placed pod, unordered
  std::vector<std::pair<std::string, std::string>> numbers;  // table of results, in order
  std::vector<std::pair<std::string, int64_t>> unplaced;     // reason → pods, most frequent first
};

// One page without references to anything outside: utilisation and pending over time, distribution
// of waiting times, results. The same data give the same bytes.
std::string RenderHtmlReport(const ReportData& data);

// `text` with &, <, > and quotes escaped.
std::string EscapeHtml(const std::string& text);

}  // namespace hekla::sim

#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/conformance/case.h"

namespace hekla::conformance {

// What one session of ours did for a case. Names are "ns/name"; groups are PodGroups.
struct Outcome {
  std::map<std::string, int64_t> bind_counts, pipelined_counts, eviction_counts;  // no zeros
  std::map<std::string, std::string> binds;                                       // pod → node
  std::vector<std::string> evictions;                                             // sorted
  std::map<std::string, std::string> phases;
};

// Before the first action.
struct TaskProbe {
  bool allocatable = false;
  // Per node: "fit", or "code reason; …".
  std::map<std::string, std::string> predicate;
  std::map<std::string, double> score;  // nodes that fit
};
struct JobProbe {
  bool enqueueable = false, ready = false, pipelined = false, starving = false, valid = false;
  int64_t min_available = 0, priority = 0;
};
struct Probe {
  std::vector<std::string> job_order, queue_order;
  std::map<std::string, JobProbe> jobs;
  std::map<std::string, bool> overused;  // by queue
  std::map<std::string, TaskProbe> tasks;
  std::map<std::string, std::vector<std::string>> task_order;  // of each job's tasks
};

struct Result {
  Outcome outcome;
  Probe probe;
};

// Runs the case: one session, probed ahead of its first action where the case has a probe.
// `seed` chooses among nodes of equal score.
// Errors: kUnimplemented where something the case needs does not exist (plugin, action, special
//         set-up), with its name; kInvalidArgument for objects that cannot be decoded.
absl::StatusOr<Result> RunCase(const Case& recorded, uint64_t seed);

}  // namespace hekla::conformance

#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "pkg/apis/json/value.h"
#include "test/harness/world.h"
#include "test/scenario/scenario.h"

namespace hekla::scenario {

// What a scenario's cycles did. Names are short ones.
struct Outcome {
  std::map<std::string, std::string> binds;  // pod → node
  std::map<std::string, int> bind_counts;    // PodGroup → pods
  std::map<std::string, std::string> pipelined;
  std::vector<std::string> evictions;
  std::map<std::string, std::string> phases;
  size_t last_writes = 0;  // of the last cycle
};

// Compares an outcome and what the scheduler wrote with a scenario's `expect`.
class Comparison {
 public:
  Comparison(harness::World& world, const Outcome& outcome, std::vector<Finding>& findings)
      : world_(world), outcome_(outcome), findings_(findings) {}

  // Errors: kInvalidArgument for a field that is not known.
  absl::Status Run(const apis::json::Value& expect);

 private:
  using Value = apis::json::Value;
  absl::Status One(const std::string& field, const Value& value);
  void Add(std::string field, std::string text);
  void Equal(const std::string& field, absl::string_view wanted, absl::string_view found);
  void Placements(const std::string& field, const Value& wanted,
                  const std::map<std::string, std::string>& found);
  void Counts(const Value& wanted);
  void Evictions(const Value& wanted);
  void Condition(const std::string& group, const Value& wanted);
  void PodReason(const std::string& pod, const Value& wanted);
  void Event(const Value& wanted);
  absl::Status Explain(const Value& wanted);
  void ExplainOne(framework::explain::Subject subject, const std::string& name,
                  const Value& wanted);
  std::string AllEvents() const;

  harness::World& world_;
  const Outcome& outcome_;
  std::vector<Finding>& findings_;
};

}  // namespace hekla::scenario

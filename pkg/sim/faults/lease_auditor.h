#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/sim/auditor.h"

namespace hekla::sim {

// Follows the record of one lease as the server stores it. Whoever takes it from another may not
// have seen its last change before the server had it, and has to wait for the record's duration
// from then on: an earlier one is "lease-taken-early". A record that was given back or removed is
// anybody's.
class LeaseAuditor {
 public:
  // Of the clock that goes fastest: whoever has it waits for less in true time.
  explicit LeaseAuditor(int64_t fastest_permille = 1000) : fastest_permille_(fastest_permille) {}

  // Every change, in order, "ADDED", "MODIFIED" or "DELETED".
  void Observe(absl::string_view type, const apis::json::Value& lease, absl::Time now);

  // Who holds it; "": nobody.
  const std::string& holder() const { return holder_; }
  // How often it changed hands.
  int64_t changes() const { return changes_; }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  const int64_t fastest_permille_;
  std::string holder_;
  apis::json::Value spec_;
  absl::Time free_ = absl::InfinitePast();  // when another may take it
  int64_t changes_ = 0;
  std::vector<Violation> violations_;
};

}  // namespace hekla::sim

#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hekla::conformance {

// The list of cases in which we decide otherwise, with the reason that docs/user/differences.md
// carries. Entries name a case (`case: gangs-7`), or something we do not have (`needs: plugin
// tdm`), which covers every case that needs it.
class Differences {
 public:
  // Errors: kNotFound, kInvalidArgument.
  static absl::StatusOr<Differences> Load(const std::string& path);

  // nullptr where it is not listed.
  const std::string* ReasonOf(absl::string_view case_name) const;
  const std::string* ReasonOfNeed(absl::string_view need) const;

 private:
  struct Entry {
    std::string case_name, need, reason;
  };
  std::vector<Entry> entries_;
};

}  // namespace hekla::conformance

#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace hekla::util {

absl::string_view Version();    // "0.1.0"
absl::string_view GitSha();     // "unknown" outside a repository
absl::string_view BuildDate();  // date of the commit, so that equal sources give equal programs

// The six lines that `--version` prints; their names are upstream's, which scripts may look for.
std::string VersionText();

}  // namespace hekla::util

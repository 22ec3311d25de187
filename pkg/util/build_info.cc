#include "pkg/util/build_info.h"

#include "absl/strings/str_cat.h"

namespace hekla::util {

absl::string_view Version() { return HEKLA_VERSION; }
absl::string_view GitSha() { return HEKLA_GIT_SHA; }
absl::string_view BuildDate() { return HEKLA_BUILD_DATE; }

std::string VersionText() {
  return absl::StrCat("API Version: v1alpha1\nVersion: ", Version(), "\nGit SHA: ", GitSha(),
                      "\nBuilt At: ", BuildDate(), "\nGo Version: none (C++20, gcc ", __VERSION__,
                      ")\nGo OS/Arch: linux/", HEKLA_ARCH, "\n");
}

}  // namespace hekla::util

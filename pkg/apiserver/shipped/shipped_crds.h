#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pkg/apiserver/server.h"

namespace hekla::apiserver::shipped {

// A file of config/crd, as it was when the program was built.
struct CrdFile {
  absl::string_view name;
  absl::string_view text;
};
absl::Span<const CrdFile> CrdFiles();

// Registers the custom resources that Hekla's programs know (PodGroup, Queue, RayCluster, …), along
// the path of any CustomResourceDefinition. Errors: names the file.
absl::Status LoadCrds(ApiServer& server, absl::string_view group = "");

}  // namespace hekla::apiserver::shipped

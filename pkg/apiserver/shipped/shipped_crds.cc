#include "pkg/apiserver/shipped/shipped_crds.h"

#include "absl/strings/str_cat.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver::shipped {

absl::Status LoadCrds(ApiServer& server, absl::string_view group) {
  for (const CrdFile& file : CrdFiles()) {
    // Files are named GROUP_PLURAL.yaml.
    if (!group.empty() && file.name.substr(0, file.name.find('_')) != group) continue;
    auto documents = yaml::ParseAll(file.text);
    if (!documents.ok()) {
      return absl::Status(documents.status().code(),
                          absl::StrCat(file.name, ": ", documents.status().message()));
    }
    for (const yaml::Document& document : *documents) {
      if (document.value.is_null()) continue;
      if (absl::Status status = server.LoadCrd(document.value); !status.ok()) {
        return absl::Status(status.code(), absl::StrCat(file.name, ": ", status.message()));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace hekla::apiserver::shipped

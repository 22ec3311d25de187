#include "pkg/apiserver/shipped/shipped_crds.h"

#include "absl/strings/str_cat.h"
#include "pkg/yaml/yaml.h"

namespace hekla::apiserver::shipped {

absl::Status LoadCrds(ApiServer& server) {
  for (const CrdFile& file : CrdFiles()) {
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

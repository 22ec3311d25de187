#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/kubelet/kubelet.h"

namespace hekla::apiserver::kubelet {

// The kubelet's wishes as requests of the Kubernetes API; how they are sent is up to who inherits.
class HttpApi : public Api {
 public:
  absl::Status PatchPodStatus(absl::string_view ns, absl::string_view name,
                              const apis::json::Value& patch) final;
  absl::Status DeletePodNow(absl::string_view ns, absl::string_view name,
                            absl::string_view uid) final;
  absl::Status PatchNodeStatus(absl::string_view name, const apis::json::Value& patch) final;
  absl::Status PutNodeLease(const apis::json::Value& lease) final;

 protected:
  // Waits for the answer. Errors: those of Api, by the answer's code.
  virtual absl::Status Send(absl::string_view method, std::string path,
                            absl::string_view content_type, const apis::json::Value& body) = 0;
};

}  // namespace hekla::apiserver::kubelet

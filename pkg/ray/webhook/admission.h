#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/server.h"

namespace hekla::ray::webhook {

// Where the API server sends RayClusters that are about to be created or changed.
inline constexpr absl::string_view kRayClusterPath = "/validate-ray-io-v1-raycluster";

// Answers an AdmissionReview of admission.k8s.io/v1 about a RayCluster: its name follows the rules,
// and no two worker groups have the same name. Nothing else is looked at, nothing is changed, and
// deletions pass. Pure.
// Errors:  kInvalidArgument: no review, or one without a request.
// Source:  spec ray-cluster 3.4.
absl::StatusOr<apis::json::Value> ReviewRayCluster(const apis::json::Value& review);

// Serves it.
// Threads: any.
class AdmissionHandler final : public http::Handler {
 public:
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;
  // The answer to a request; apart for tests.
  static http::Response Answer(const http::Request& request);
};

}  // namespace hekla::ray::webhook

#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/builders/build_options.h"

// Services, Ingress and Route of a RayCluster. Source: spec ray-cluster 7.1 - 7.4, 7.6.
namespace hekla::ray::builders {

// For clusters made by a RayJob or RayService: whose name the head service carries.
struct ServiceOwner {
  absl::string_view kind;  // RayJob or RayService
  absl::string_view name;
  apis::json::Value controller_reference;
};

// The head service; with `owner` its variant that belongs to a RayJob or RayService.
// Errors: kInvalidArgument when there is no port at all.
absl::StatusOr<apis::json::Value> BuildHeadService(const apis::ray::RayCluster& cluster,
                                                   const BuildOptions& options,
                                                   const ServiceOwner* owner = nullptr);

// The service without a head of its own that gives workers of several hosts their names.
apis::json::Value BuildHeadlessService(const apis::ray::RayCluster& cluster);

// Errors: kInvalidArgument when no head port is named `serve` or `serve-...`.
absl::StatusOr<apis::json::Value> BuildServeService(const apis::ray::RayCluster& cluster,
                                                    const ServiceOwner* owner = nullptr);

// Whether some group needs BuildHeadlessService.
bool NeedsHeadlessService(const apis::ray::RayCluster& cluster);
// Annotation ray.io/enable-serve-service is exactly `true`.
bool WantsServeService(const apis::ray::RayCluster& cluster);

// Errors: kInvalidArgument when the head service of the cluster cannot be built.
absl::StatusOr<apis::json::Value> BuildIngress(const apis::ray::RayCluster& cluster);
// The update a live Ingress needs: the whole object to put, nothing when labels, annotations and
// spec agree. When no class is requested the live class stays.
std::optional<apis::json::Value> UpdatedIngress(const apis::json::Value& live,
                                                const apis::json::Value& wanted);
// OpenShift.
absl::StatusOr<apis::json::Value> BuildRoute(const apis::ray::RayCluster& cluster);

// `status.endpoints` that a service as the server returned it adds (spec 5.5).
void MergeEndpoints(const apis::json::Value& service, apis::meta::StringMap& endpoints);

}  // namespace hekla::ray::builders

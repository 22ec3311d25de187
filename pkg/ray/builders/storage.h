#pragma once

#include <optional>
#include <span>
#include <string>

#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

// Auth secret and GCS storage claim. Source: spec ray-cluster 6.11, 7.7.
namespace hekla::ray::builders {

inline constexpr size_t kAuthTokenBytes = 32;

// Mode is not `disabled`, no Kubernetes token auth, no secret of the user.
// Quirk: an empty mode makes the secret too, although pods do not use it.
bool NeedsAuthSecret(const apis::ray::RayCluster& cluster);
// `random`: kAuthTokenBytes bytes from a source fit for secrets.
apis::json::Value BuildAuthSecret(const apis::ray::RayCluster& cluster,
                                  std::span<const unsigned char> random);

// The claim the operator makes itself: embedded backend, no `claimName`.
bool NeedsGcsClaim(const apis::ray::RayCluster& cluster);
// With a controller reference unless `deletionPolicy: Retain`.
apis::json::Value BuildGcsClaim(const apis::ray::RayCluster& cluster);
// Whether the claim is to have a controller reference.
bool OwnsGcsClaim(const apis::ray::RayCluster& cluster);
// How a live claim differs in what cannot be changed in place, as the event names it:
// `requested size 4Gi != current 3Gi`; nothing when it agrees.
std::optional<std::string> GcsClaimDrift(const apis::ray::RayCluster& cluster,
                                         const apis::json::Value& live);

}  // namespace hekla::ray::builders

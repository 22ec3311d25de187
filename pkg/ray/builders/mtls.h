#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/builders/build_options.h"

// cert-manager objects of a RayCluster. Source: spec ray-cluster 8.2.
namespace hekla::ray::builders {

std::string SelfSignedIssuerName(absl::string_view cluster);
std::string CaCertificateName(absl::string_view cluster);
std::string CaIssuerName(absl::string_view cluster);
std::string CaSecretName(const apis::ray::RayCluster& cluster);
// Node type: kHeadNode or kWorkerNode.
std::string LeafCertificateName(absl::string_view cluster, absl::string_view node_type);
std::string LeafSecretName(absl::string_view cluster, absl::string_view node_type);

apis::json::Value BuildSelfSignedIssuer(const apis::ray::RayCluster& cluster);
apis::json::Value BuildCaCertificate(const apis::ray::RayCluster& cluster);
apis::json::Value BuildCaIssuer(const apis::ray::RayCluster& cluster);
// `ips`: as LeafIps gives them.
apis::json::Value BuildLeafCertificate(const apis::ray::RayCluster& cluster,
                                       absl::string_view node_type,
                                       const std::vector<std::string>& ips,
                                       const BuildOptions& options);

// Sorted unique addresses of live pods and 127.0.0.1. `pods`: those of one node type.
std::vector<std::string> LeafIps(const std::vector<const apis::json::Value*>& pods);
// Labels, DNS names or addresses differ (as sets).
bool LeafNeedsUpdate(const apis::json::Value& live, const apis::json::Value& wanted);
// `live` with labels and names of `wanted`.
apis::json::Value UpdatedLeaf(const apis::json::Value& live, const apis::json::Value& wanted);

// Ready is True and speaks of the certificate's present generation.
bool CertificateReady(const apis::json::Value& certificate);
// tls.crt, tls.key and ca.crt are there.
bool TlsSecretComplete(const apis::json::Value& secret);
// `status.notAfter`; NoTime() where absent or malformed.
absl::Time CertificateExpiry(const apis::json::Value& certificate);

}  // namespace hekla::ray::builders

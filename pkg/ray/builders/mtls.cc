#include "pkg/ray/builders/mtls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/time.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::ray::RayCluster;

namespace {

constexpr absl::string_view kVersion = "cert-manager.io/v1";
constexpr absl::string_view kLoopback = "127.0.0.1";
constexpr size_t kUidPrefix = 8;

Value Owned(absl::string_view kind, absl::string_view name, absl::string_view component,
            const RayCluster& cluster) {
  Value object = NewObject(kVersion, kind, name, cluster.ns());
  apis::meta::StringMap labels = AllPodsSelector(cluster.name());
  labels.Set(apis::ray::kApplicationNameLabel, apis::ray::kApplicationName);
  labels.Set(apis::ray::kCreatedByLabel, apis::ray::kOperatorName);
  labels.Set(apis::ray::kComponentLabel, component);
  SetLabels(labels, object);
  SetController(cluster, object);
  return object;
}

Value IssuerRef(absl::string_view name) {
  return Value::MakeObject({{"name", name}, {"kind", "Issuer"}, {"group", "cert-manager.io"}});
}

std::vector<std::string> SortedTexts(const Value& list) {
  std::vector<std::string> out;
  if (list.is_array()) {
    for (const Value& item : list.as_array()) {
      if (item.is_string()) out.push_back(item.as_string());
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::string SelfSignedIssuerName(absl::string_view cluster) {
  return absl::StrCat("ray-selfsigned-issuer-", cluster);
}

std::string CaCertificateName(absl::string_view cluster) {
  return absl::StrCat("ray-ca-certificate-", cluster);
}

std::string CaIssuerName(absl::string_view cluster) {
  return absl::StrCat("ray-ca-issuer-", cluster);
}

std::string CaSecretName(const RayCluster& cluster) {
  return absl::StrCat(cluster.name(), "-ca-secret-",
                      absl::string_view(cluster.metadata.uid).substr(0, kUidPrefix));
}

std::string LeafCertificateName(absl::string_view cluster, absl::string_view node_type) {
  return absl::StrCat("ray-", node_type, "-cert-", cluster);
}

std::string LeafSecretName(absl::string_view cluster, absl::string_view node_type) {
  return absl::StrCat("ray-", node_type, "-secret-", cluster);
}

Value BuildSelfSignedIssuer(const RayCluster& cluster) {
  Value issuer =
      Owned("Issuer", SelfSignedIssuerName(cluster.name()), "selfsigned-issuer", cluster);
  issuer.Set("spec", Value::MakeObject({{"selfSigned", Value::MakeObject()}}));
  return issuer;
}

Value BuildCaCertificate(const RayCluster& cluster) {
  Value certificate =
      Owned("Certificate", CaCertificateName(cluster.name()), "ca-certificate", cluster);
  certificate.Set(
      "spec",
      Value::MakeObject({{"isCA", true},
                         {"commonName", absl::StrCat("ray-ca-", cluster.name())},
                         {"duration", "87600h0m0s"},   // 3650 days
                         {"renewBefore", "720h0m0s"},  // 30 days
                         {"secretName", CaSecretName(cluster)},
                         {"privateKey", Value::MakeObject({{"algorithm", "RSA"}, {"size", 4096}})},
                         {"usages", Strings({"cert sign", "crl sign"})},
                         {"issuerRef", IssuerRef(SelfSignedIssuerName(cluster.name()))}}));
  return certificate;
}

Value BuildCaIssuer(const RayCluster& cluster) {
  Value issuer = Owned("Issuer", CaIssuerName(cluster.name()), "ca-issuer", cluster);
  issuer.Set("spec", Value::MakeObject(
                         {{"ca", Value::MakeObject({{"secretName", CaSecretName(cluster)}})}}));
  return issuer;
}

Value BuildLeafCertificate(const RayCluster& cluster, absl::string_view node_type,
                           const std::vector<std::string>& ips, const BuildOptions& options) {
  Value certificate = Owned("Certificate", LeafCertificateName(cluster.name(), node_type),
                            absl::StrCat(node_type, "-certificate"), cluster);
  std::vector<std::string> sorted = {"localhost"};
  if (node_type == apis::ray::kHeadNode) sorted.push_back(HeadFqdn(cluster, options));
  std::sort(sorted.begin(), sorted.end());
  Value names = apis::meta::EncodeStrings(sorted);
  Value addresses = Value::MakeArray();
  for (const std::string& ip : ips) addresses.Append(ip);
  certificate.Set("spec",
                  Value::MakeObject({{"dnsNames", std::move(names)},
                                     {"ipAddresses", std::move(addresses)},
                                     {"duration", "2160h0m0s"},
                                     {"renewBefore", "360h0m0s"},
                                     {"secretName", LeafSecretName(cluster.name(), node_type)},
                                     {"usages", Strings({"digital signature", "key encipherment",
                                                         "server auth", "client auth"})},
                                     {"issuerRef", IssuerRef(CaIssuerName(cluster.name()))}}));
  return certificate;
}

std::vector<std::string> LeafIps(const std::vector<const Value*>& pods) {
  std::vector<std::string> ips = {std::string(kLoopback)};
  for (const Value* pod : pods) {
    const Value& status = pod->At("status");
    const absl::string_view phase = status.GetString("phase");
    const absl::string_view ip = status.GetString("podIP");
    if (ip.empty() || phase == "Succeeded" || phase == "Failed" ||
        !pod->At("metadata").GetString("deletionTimestamp").empty()) {
      continue;
    }
    ips.emplace_back(ip);
  }
  std::sort(ips.begin(), ips.end());
  ips.erase(std::unique(ips.begin(), ips.end()), ips.end());
  return ips;
}

bool LeafNeedsUpdate(const Value& live, const Value& wanted) {
  if (ToStringMap(live.At("metadata").At("labels")) !=
      ToStringMap(wanted.At("metadata").At("labels"))) {
    return true;
  }
  for (absl::string_view key : {"dnsNames", "ipAddresses"}) {
    if (SortedTexts(live.At("spec").At(key)) != SortedTexts(wanted.At("spec").At(key))) {
      return true;
    }
  }
  return false;
}

Value UpdatedLeaf(const Value& live, const Value& wanted) {
  Value updated = live;
  updated["metadata"].Set("labels", wanted.At("metadata").At("labels"));
  for (absl::string_view key : {"dnsNames", "ipAddresses"}) {
    updated["spec"].Set(key, wanted.At("spec").At(key));
  }
  return updated;
}

bool CertificateReady(const Value& certificate) {
  return apis::meta::ConditionIsTrue(certificate, "Ready") &&
         apis::meta::ConditionOf(certificate, "Ready").GetInt("observedGeneration") ==
             certificate.At("metadata").GetInt("generation");
}

bool TlsSecretComplete(const Value& secret) {
  const Value& data = secret.At("data");
  return data.Has("tls.crt") && data.Has("tls.key") && data.Has("ca.crt");
}

absl::Time CertificateExpiry(const Value& certificate) {
  const auto time = apis::meta::ParseTime(certificate.At("status").GetString("notAfter"));
  return time.ok() ? *time : apis::meta::NoTime();
}

}  // namespace hekla::ray::builders

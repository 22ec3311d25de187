#include "pkg/sim/ray/cert_manager.h"

#include "pkg/apis/meta/time.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

bool IsIssued(const Value& certificate) {
  const Value& conditions = certificate.At("status").At("conditions");
  if (conditions.size() == 0) return false;
  return conditions.as_array().front().GetInt("observedGeneration") ==
         certificate.At("metadata").GetInt("generation");
}

// Exists already where the certificate is renewed.
void PutSecret(apiserver::ApiServer& server, const std::string& ns, absl::string_view name) {
  Value data = Value::MakeObject();
  for (const char* key : {"tls.crt", "tls.key", "ca.crt"}) data.Set(key, "cGVt");
  (void)server.Create(
      Value::MakeObject({{"apiVersion", "v1"},
                         {"kind", "Secret"},
                         {"metadata", Value::MakeObject({{"name", name}, {"namespace", ns}})},
                         {"data", std::move(data)}}));
}

}  // namespace

int IssueCertificates(apiserver::ApiServer& server, const std::string& ns, absl::Time now) {
  const auto certificates = server.List("cert-manager.io/v1", "Certificate", ns);
  if (!certificates.ok()) return 0;
  int issued = 0;
  for (Value certificate : *certificates) {
    if (IsIssued(certificate)) continue;
    PutSecret(server, ns, certificate.At("spec").GetString("secretName"));
    Value ready = Value::MakeObject({{"type", "Ready"}, {"status", "True"}});
    ready.Set("observedGeneration", certificate.At("metadata").At("generation"));
    certificate.Set(
        "status",
        Value::MakeObject({{"conditions", Value::MakeArray({std::move(ready)})},
                           {"notAfter", apis::meta::TimeToString(now + absl::Hours(2160))}}));
    issued += server.UpdateStatus(certificate).ok() ? 1 : 0;
  }
  return issued;
}

}  // namespace hekla::sim

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hekla::http::testing {

struct KeyPair {
  std::string cert_pem;
  std::string key_pem;
};

// A certificate authority made on the spot (P-256 keys), for tests of TLS.
class CertificateAuthority {
 public:
  using Subject = std::vector<std::pair<std::string, std::string>>;  // {"CN", "x"}, {"O", "y"}

  explicit CertificateAuthority(const std::string& common_name);
  ~CertificateAuthority();

  const std::string& cert_pem() const { return cert_pem_; }
  // `alt_names`: "DNS:localhost", "IP:127.0.0.1".
  KeyPair IssueServer(const std::string& common_name, const std::vector<std::string>& alt_names);
  KeyPair IssueClient(const Subject& subject);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string cert_pem_;
};

}  // namespace hekla::http::testing

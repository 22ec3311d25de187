#include "pkg/http/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace hekla::http::testing {
namespace {

constexpr long kDay = 24 * 3600;  // NOLINT(runtime/int): OpenSSL's type

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);  // NOLINT(runtime/int)
  std::string out(data, static_cast<size_t>(size));
  BIO_free(bio);
  return out;
}

std::string CertificatePem(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  CHECK_EQ(PEM_write_bio_X509(bio, certificate), 1);
  return Text(bio);
}

std::string KeyPem(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  CHECK_EQ(PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  return Text(bio);
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX ctx;
  X509V3_set_ctx_nodb(&ctx);
  X509V3_set_ctx(&ctx, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &ctx, nid, value.c_str());
  CHECK(extension != nullptr) << value;
  CHECK_EQ(X509_add_ext(certificate, extension, -1), 1);
  X509_EXTENSION_free(extension);
}

X509* NewCertificate(EVP_PKEY* key, const CertificateAuthority::Subject& subject, int64_t serial) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate), kDay);
  X509_set_pubkey(certificate, key);
  for (const auto& [field, value] : subject) {
    CHECK_EQ(X509_NAME_add_entry_by_txt(
                 X509_get_subject_name(certificate), field.c_str(), MBSTRING_UTF8,
                 reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0),
             1);
  }
  return certificate;
}

}  // namespace

struct CertificateAuthority::Impl {
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  int64_t next_serial = 2;

  KeyPair Issue(const Subject& subject, const std::string& usage,
                const std::vector<std::string>& alt_names) {
    EVP_PKEY* leaf_key = EVP_EC_gen("P-256");
    CHECK(leaf_key != nullptr);
    X509* leaf = NewCertificate(leaf_key, subject, next_serial++);
    X509_set_issuer_name(leaf, X509_get_subject_name(certificate));
    AddExtension(leaf, certificate, NID_ext_key_usage, usage);
    if (!alt_names.empty()) {
      AddExtension(leaf, certificate, NID_subject_alt_name, absl::StrJoin(alt_names, ","));
    }
    CHECK_GT(X509_sign(leaf, key, EVP_sha256()), 0);
    KeyPair pair{CertificatePem(leaf), KeyPem(leaf_key)};
    X509_free(leaf);
    EVP_PKEY_free(leaf_key);
    return pair;
  }
};

CertificateAuthority::CertificateAuthority(const std::string& common_name)
    : impl_(std::make_unique<Impl>()) {
  impl_->key = EVP_EC_gen("P-256");
  CHECK(impl_->key != nullptr);
  impl_->certificate = NewCertificate(impl_->key, {{"CN", common_name}}, 1);
  X509* certificate = impl_->certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  CHECK_GT(X509_sign(certificate, impl_->key, EVP_sha256()), 0);
  cert_pem_ = CertificatePem(certificate);
}

CertificateAuthority::~CertificateAuthority() {
  X509_free(impl_->certificate);
  EVP_PKEY_free(impl_->key);
}

KeyPair CertificateAuthority::IssueServer(const std::string& common_name,
                                          const std::vector<std::string>& alt_names) {
  return impl_->Issue({{"CN", common_name}}, "serverAuth", alt_names);
}

KeyPair CertificateAuthority::IssueClient(const Subject& subject) {
  return impl_->Issue(subject, "clientAuth", {});
}

}  // namespace hekla::http::testing

#include "pkg/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"

namespace hekla::http {
namespace {

template <auto kFree>
struct Freer {
  template <typename T>
  void operator()(T* p) const {
    kFree(p);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

Bio Reader(absl::string_view pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The first error OpenSSL queued; the queue is emptied.
absl::Status TlsError(absl::string_view what) {
  const unsigned long code = ERR_get_error();  // NOLINT(runtime/int)
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return absl::InvalidArgumentError(
      absl::StrCat(what, reason == nullptr ? "" : ": ", reason == nullptr ? "" : reason));
}

absl::Status UseCertificate(SSL_CTX* ctx, absl::string_view cert_pem, absl::string_view key_pem) {
  Bio bio = Reader(cert_pem);
  Certificate leaf(PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr));
  if (leaf == nullptr || SSL_CTX_use_certificate(ctx, leaf.get()) != 1) {
    return TlsError("certificate cannot be read");
  }
  SSL_CTX_clear_chain_certs(ctx);
  while (Certificate next{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(ctx, next.get()) != 1) return TlsError("certificate chain");
  }
  ERR_clear_error();  // the end of the file is an error to OpenSSL
  Bio key_bio = Reader(key_pem);
  // An empty pass phrase keeps OpenSSL from asking on the terminal.
  char no_pass_phrase[] = "";
  PrivateKey key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, no_pass_phrase));
  if (key == nullptr) return TlsError("private key cannot be read");
  if (SSL_CTX_use_PrivateKey(ctx, key.get()) != 1 || SSL_CTX_check_private_key(ctx) != 1) {
    return TlsError("private key does not belong to the certificate");
  }
  return absl::OkStatus();
}

// Trusts exactly the certificates in `pem`.
absl::Status UseAuthorities(SSL_CTX* ctx, absl::string_view pem, bool announce) {
  X509_STORE* store = X509_STORE_new();
  SSL_CTX_set_cert_store(ctx, store);  // takes ownership
  Bio bio = Reader(pem);
  int count = 0;
  while (Certificate next{PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr)}) {
    if (X509_STORE_add_cert(store, next.get()) != 1) return TlsError("CA certificate");
    if (announce && SSL_CTX_add_client_CA(ctx, next.get()) != 1) return TlsError("CA certificate");
    ++count;
  }
  ERR_clear_error();
  if (count == 0) return absl::InvalidArgumentError("CA data holds no PEM certificate");
  return absl::OkStatus();
}

int SelectHttp11(SSL*, const unsigned char** out, unsigned char* out_size,
                 const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_size, kHttp11, sizeof(kHttp11) - 1, offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void SslCtxDeleter::operator()(ssl_ctx_st* ctx) const { SSL_CTX_free(ctx); }

absl::Status ConfigureServerContext(const ServerTls& tls, ssl_ctx_st* ctx) {
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(ctx, SelectHttp11, nullptr);
  static constexpr unsigned char kSessionId[] = "hekla";
  SSL_CTX_set_session_id_context(ctx, kSessionId, sizeof(kSessionId) - 1);
  HEKLA_RETURN_IF_ERROR(UseCertificate(ctx, tls.cert_pem, tls.key_pem));
  if (tls.client_ca_pem.empty()) return absl::OkStatus();
  HEKLA_RETURN_IF_ERROR(UseAuthorities(ctx, tls.client_ca_pem, /*announce=*/true));
  SSL_CTX_set_verify(
      ctx, SSL_VERIFY_PEER | (tls.require_client_cert ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
      nullptr);
  return absl::OkStatus();
}

absl::StatusOr<SslCtx> MakeServerContext(const ServerTls& tls) {
  SslCtx ctx(SSL_CTX_new(TLS_server_method()));
  if (ctx == nullptr) return TlsError("TLS context");
  HEKLA_RETURN_IF_ERROR(ConfigureServerContext(tls, ctx.get()));
  return ctx;
}

absl::Status ConfigureClientContext(const ClientTls& tls, ssl_ctx_st* ctx) {
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  if (tls.insecure) {
    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
    if (tls.ca_pem.empty()) {
      if (SSL_CTX_set_default_verify_paths(ctx) != 1) return TlsError("system CA certificates");
    } else {
      HEKLA_RETURN_IF_ERROR(UseAuthorities(ctx, tls.ca_pem, /*announce=*/false));
    }
  }
  if (tls.cert_pem.empty()) return absl::OkStatus();
  return UseCertificate(ctx, tls.cert_pem, tls.key_pem);
}

absl::StatusOr<SslCtx> MakeClientContext(const ClientTls& tls) {
  SslCtx ctx(SSL_CTX_new(TLS_client_method()));
  if (ctx == nullptr) return TlsError("TLS context");
  HEKLA_RETURN_IF_ERROR(ConfigureClientContext(tls, ctx.get()));
  return ctx;
}

absl::Status SetServerName(ssl_st* ssl, const std::string& host, bool insecure) {
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl);
  std::string bare = host;
  if (bare.size() > 2 && bare.front() == '[') bare = bare.substr(1, bare.size() - 2);
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(param, bare.c_str()) == 1;
  if (!is_address) {
    ERR_clear_error();
    if (SSL_set_tlsext_host_name(ssl, bare.c_str()) != 1) return TlsError("server name");
    if (!insecure && SSL_set1_host(ssl, bare.c_str()) != 1) return TlsError("server name");
  }
  return absl::OkStatus();
}

std::string VerifiedSubject(ssl_st* ssl) {
  Certificate peer(SSL_get1_peer_certificate(ssl));
  if (peer == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return "";
  X509_NAME* name = X509_get_subject_name(peer.get());
  std::string out;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) continue;
    if (!out.empty()) out.push_back(',');
    absl::StrAppend(&out, OBJ_nid2sn(OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))), "=");
    for (int k = 0; k < size; ++k) {
      const char c = static_cast<char>(text[k]);
      if (c == ',' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
    OPENSSL_free(text);
  }
  return out;
}

}  // namespace hekla::http

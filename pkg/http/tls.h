#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct ssl_ctx_st;
struct ssl_st;

// TLS settings in PEM text, and OpenSSL contexts made from them. TLS 1.2 is the oldest version.
namespace hekla::http {

struct ServerTls {
  std::string cert_pem;  // chain, leaf first
  std::string key_pem = {};
  std::string client_ca_pem = {};    // not empty: client certificates are asked for and verified
  bool require_client_cert = false;  // without one the handshake fails
};

struct ClientTls {
  std::string ca_pem = {};  // empty: the system's certificates
  std::string cert_pem = {};
  std::string key_pem = {};
  std::string server_name = {};  // for SNI and verification; empty: the host of the URL
  bool insecure = false;         // the server is not verified
};

struct SslCtxDeleter {
  void operator()(ssl_ctx_st* ctx) const;
};
using SslCtx = std::unique_ptr<ssl_ctx_st, SslCtxDeleter>;

// Errors: kInvalidArgument naming the part that OpenSSL did not accept. Never shows key material.
absl::StatusOr<SslCtx> MakeServerContext(const ServerTls& tls);
absl::StatusOr<SslCtx> MakeClientContext(const ClientTls& tls);
// Apply settings to a context that somebody else owns.
absl::Status ConfigureServerContext(const ServerTls& tls, ssl_ctx_st* ctx);
absl::Status ConfigureClientContext(const ClientTls& tls, ssl_ctx_st* ctx);
// Sets SNI and the name or address that the server's certificate must carry.
absl::Status SetServerName(ssl_st* ssl, const std::string& host, bool insecure);
// Subject of the peer's verified certificate as "CN=…,O=…" in the certificate's order; "" if none.
std::string VerifiedSubject(ssl_st* ssl);

}  // namespace hekla::http

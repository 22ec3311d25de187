#include "pkg/apiserver/account_tokens.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr char kIssuer[] = "https://kubernetes.default.svc.cluster.local";
constexpr absl::string_view kHead = R"({"alg":"HS256","typ":"JWT"})";

}  // namespace

std::string AccountTokens::NewKey() {
  std::string key(kKeyBytes, '\0');
  CHECK_EQ(RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), kKeyBytes), 1);
  return key;
}

std::string AccountTokens::Signature(absl::string_view signed_part) const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CHECK(HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
             reinterpret_cast<const unsigned char*>(signed_part.data()), signed_part.size(), digest,
             &size) != nullptr);
  return absl::WebSafeBase64Escape(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

std::string AccountTokens::Sign(const AccountToken& token) const {
  const auto seconds = [](absl::Time time) {
    return static_cast<long long>(absl::ToUnixSeconds(time));  // NOLINT(runtime/int)
  };
  Value claims = Value::MakeObject({{"aud", Value::MakeArray({Value(kIssuer)})},
                                    {"exp", seconds(token.expires)},
                                    {"iat", seconds(token.issued)},
                                    {"iss", kIssuer},
                                    {"jti", token.id}});
  Value& account = claims["kubernetes.io"];
  account.Set("namespace", token.ns);
  account.Set("serviceaccount", Value::MakeObject({{"name", token.name}, {"uid", token.uid}}));
  claims.Set("nbf", seconds(token.issued));
  claims.Set("sub", absl::StrCat("system:serviceaccount:", token.ns, ":", token.name));
  const std::string signed_part = absl::StrCat(absl::WebSafeBase64Escape(kHead), ".",
                                               absl::WebSafeBase64Escape(apis::json::Dump(claims)));
  return absl::StrCat(signed_part, ".", Signature(signed_part));
}

std::optional<AccountToken> AccountTokens::Read(absl::string_view text) const {
  const size_t last = text.rfind('.');
  if (last == absl::string_view::npos) return std::nullopt;
  const absl::string_view signed_part = text.substr(0, last);
  const absl::string_view given = text.substr(last + 1);
  const std::string wanted = Signature(signed_part);
  if (given.size() != wanted.size() ||
      CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) != 0) {
    return std::nullopt;
  }
  // What was signed is well-formed.
  std::string payload;
  const size_t dot = signed_part.find('.');
  if (dot == absl::string_view::npos ||
      !absl::WebSafeBase64Unescape(signed_part.substr(dot + 1), &payload)) {
    return std::nullopt;
  }
  const absl::StatusOr<Value> claims = apis::json::Parse(payload);
  if (!claims.ok()) return std::nullopt;
  const Value& account = claims->At("kubernetes.io");
  AccountToken out;
  out.ns = std::string(account.GetString("namespace"));
  out.name = std::string(account.At("serviceaccount").GetString("name"));
  out.uid = std::string(account.At("serviceaccount").GetString("uid"));
  out.id = std::string(claims->GetString("jti"));
  out.issued = absl::FromUnixSeconds(claims->GetInt("iat"));
  out.expires = absl::FromUnixSeconds(claims->GetInt("exp"));
  return out;
}

}  // namespace hekla::apiserver

#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hekla::apiserver {

// What a token of a service account says.
struct AccountToken {
  std::string ns;
  std::string name;
  std::string uid;  // of the account: another one of its name is not meant
  std::string id;
  absl::Time issued;
  absl::Time expires;
};

// Signs the tokens of service accounts: JSON web tokens with the claims of real ones and an HMAC
// over SHA-256. Nothing but the key is kept, so that tokens hold as long as it does.
// Threads: any.
class AccountTokens {
 public:
  static constexpr size_t kKeyBytes = 32;

  // `key`: kKeyBytes or more that nobody else knows.
  explicit AccountTokens(std::string key) : key_(std::move(key)) {}

  std::string Sign(const AccountToken& token) const;
  // nullopt: it was not signed with this key. Whether it has expired is the caller's question.
  std::optional<AccountToken> Read(absl::string_view text) const;

  // Bytes fit for a key.
  static std::string NewKey();

 private:
  std::string Signature(absl::string_view signed_part) const;

  const std::string key_;
};

}  // namespace hekla::apiserver

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hekla::http {

// The parts of an absolute http or https URL.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // as written, IPv6 addresses without brackets
  uint16_t port = 0;   // never 0: the scheme's default where the URL has none
  std::string path;    // without trailing slashes; "" for the root

  bool tls() const { return scheme == "https"; }
  // "host:port", with brackets where they are needed, and without the scheme's default port.
  std::string Authority() const;
};

// Query, fragment and user part are dropped.
// Errors: kInvalidArgument: another scheme, no host, a bad port.
absl::StatusOr<Url> ParseUrl(absl::string_view text);

}  // namespace hekla::http

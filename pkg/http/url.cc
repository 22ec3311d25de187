#include "pkg/http/url.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hekla::http {
namespace {

uint16_t DefaultPort(absl::string_view scheme) { return scheme == "https" ? 443 : 80; }

// A user part may hold a password: it is not shown, wherever the URL is broken.
absl::Status Bad(absl::string_view text, absl::string_view why) {
  const size_t at = text.rfind('@');
  if (at == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("bad URL \"", text, "\": ", why));
  }
  return absl::InvalidArgumentError(absl::StrCat("bad URL \"...", text.substr(at), "\": ", why));
}

}  // namespace

std::string Url::Authority() const {
  const bool v6 = absl::StrContains(host, ':');
  std::string out = v6 ? absl::StrCat("[", host, "]") : host;
  if (port != DefaultPort(scheme)) absl::StrAppend(&out, ":", port);
  return out;
}

absl::StatusOr<Url> ParseUrl(absl::string_view text) {
  Url url;
  const size_t mark = text.find("://");
  if (mark == absl::string_view::npos) return Bad(text, "no scheme");
  url.scheme = absl::AsciiStrToLower(text.substr(0, mark));
  if (url.scheme != "http" && url.scheme != "https") {
    return Bad(text, "the scheme must be http or https");
  }
  absl::string_view rest = text.substr(mark + 3);
  rest = rest.substr(0, rest.find_first_of("?#"));
  absl::string_view authority = rest.substr(0, rest.find('/'));
  absl::string_view path = rest.substr(authority.size());
  while (absl::ConsumeSuffix(&path, "/")) {
  }
  url.path = std::string(path);
  const size_t at = authority.rfind('@');
  if (at != absl::string_view::npos) authority.remove_prefix(at + 1);
  absl::string_view port;
  bool has_port = false;
  if (absl::StartsWith(authority, "[")) {
    const size_t end = authority.find(']');
    if (end == absl::string_view::npos) return Bad(text, "missing ]");
    url.host = std::string(authority.substr(1, end - 1));
    absl::string_view tail = authority.substr(end + 1);
    has_port = absl::ConsumePrefix(&tail, ":");
    if (!has_port && !tail.empty()) return Bad(text, "unexpected text after ]");
    port = tail;
  } else {
    const size_t colon = authority.find(':');
    url.host = std::string(authority.substr(0, colon));
    has_port = colon != absl::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return Bad(text, "no host");
  url.port = DefaultPort(url.scheme);
  if (has_port && !port.empty()) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(port, &number) || number == 0 || number > 65535) {
      return Bad(text, "bad port");
    }
    url.port = static_cast<uint16_t>(number);
  }
  return url;
}

}  // namespace hekla::http

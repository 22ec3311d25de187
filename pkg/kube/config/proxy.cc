#include "pkg/kube/config/proxy.h"

#include <arpa/inet.h>

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hekla::kube {
namespace {

// An IPv4 or IPv6 address as 16 bytes.
bool ParseAddress(const std::string& text, unsigned char out[16]) {
  static constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  memcpy(out, kMapped, sizeof(kMapped));
  if (inet_pton(AF_INET, text.c_str(), out + 12) == 1) return true;
  return inet_pton(AF_INET6, text.c_str(), out) == 1;
}

bool InNetwork(const unsigned char address[16], absl::string_view network) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(network, absl::MaxSplits('/', 1));
  unsigned char base[16];
  int bits = 0;
  if (!ParseAddress(parts.first, base) || !absl::SimpleAtoi(parts.second, &bits)) return false;
  if (!absl::StrContains(parts.first, ':')) bits += 96;
  for (int i = 0; i < 128 && i < bits; ++i) {
    const int mask = 0x80 >> (i % 8);
    if ((address[i / 8] & mask) != (base[i / 8] & mask)) return false;
  }
  return bits <= 128;
}

bool IsLoopback(const std::string& host) {
  unsigned char address[16];
  if (!ParseAddress(host, address)) return absl::EqualsIgnoreCase(host, "localhost");
  return InNetwork(address, "127.0.0.0/8") || host == "::1";
}

bool Excepted(const http::Url& server, absl::string_view no_proxy) {
  unsigned char address[16];
  const bool is_address = ParseAddress(server.host, address);
  const std::string host = absl::AsciiStrToLower(server.host);
  for (absl::string_view item : absl::StrSplit(no_proxy, ',')) {
    std::string entry = absl::AsciiStrToLower(absl::StripAsciiWhitespace(item));
    if (entry.empty()) continue;
    if (entry == "*") return true;
    if (absl::StrContains(entry, '/')) {
      if (is_address && InNetwork(address, entry)) return true;
      continue;
    }
    const size_t colon = entry.rfind(':');
    int port = 0;
    if (colon != std::string::npos && absl::SimpleAtoi(entry.substr(colon + 1), &port) &&
        entry.find(':') == colon) {
      if (port != server.port) continue;
      entry.resize(colon);
    }
    if (entry == host) return true;
    absl::string_view domain = entry;
    absl::ConsumePrefix(&domain, "*");
    absl::ConsumePrefix(&domain, ".");
    if (!is_address && absl::EndsWith(host, absl::StrCat(".", domain))) return true;
  }
  return false;
}

}  // namespace

absl::Status RefuseProxy(const http::Url& server, const std::string& proxy_url,
                         const Environment& environment) {
  if (!proxy_url.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("proxy-url is set for ", server.Authority(), ": proxies are not supported"));
  }
  if (IsLoopback(server.host)) return absl::OkStatus();
  const auto variable = [&](const std::string& name) {
    const std::string upper = environment.variable(name).value_or("");
    return upper.empty() ? environment.variable(absl::AsciiStrToLower(name)).value_or("") : upper;
  };
  const std::string name = server.tls() ? "HTTPS_PROXY" : "HTTP_PROXY";
  if (variable(name).empty() || Excepted(server, variable("NO_PROXY"))) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(name, " is set and proxies are not supported: add ",
                                               server.host, " to NO_PROXY"));
}

}  // namespace hekla::kube

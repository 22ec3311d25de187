#include "pkg/kube/redaction.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "pkg/apis/json/value.h"

namespace hekla::kube {
namespace {

constexpr size_t kShort = 8;
constexpr absl::string_view kMark = "[redacted]";

void Add(absl::string_view text, std::vector<std::string>& out) {
  if (text.size() >= kShort) out.emplace_back(text);
}

}  // namespace

std::vector<std::string> SecretTexts(const http::Request& request) {
  std::vector<std::string> out;
  const absl::string_view authorization = request.headers.Get("Authorization");
  Add(authorization.substr(std::min(authorization.size(), authorization.find(' ') + 1)), out);
  if (!absl::StrContains(request.target, "/secrets") || request.body.empty()) return out;
  const auto body = apis::json::Parse(request.body);
  if (!body.ok()) return out;
  for (const char* member : {"data", "stringData"}) {
    const apis::json::Value& data = body->At(member);
    if (!data.is_object()) continue;
    for (const apis::json::Member& item : data.as_object()) {
      if (!item.value.is_string()) continue;
      Add(item.value.as_string(), out);
      std::string decoded;
      if (absl::Base64Unescape(item.value.as_string(), &decoded)) Add(decoded, out);
    }
  }
  return out;
}

void Redact(const std::vector<std::string>& secrets, std::string& text) {
  std::vector<std::pair<absl::string_view, absl::string_view>> replacements;
  for (const std::string& secret : secrets) replacements.emplace_back(secret, kMark);
  absl::StrReplaceAll(replacements, &text);
}

}  // namespace hekla::kube

#include "pkg/http/message.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace hekla::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsUnreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

}  // namespace

void Headers::Add(absl::string_view name, absl::string_view value) {
  fields_.emplace_back(std::string(name), std::string(value));
}

void Headers::Set(absl::string_view name, absl::string_view value) {
  auto same = [name](const auto& field) { return absl::EqualsIgnoreCase(field.first, name); };
  auto first = std::find_if(fields_.begin(), fields_.end(), same);
  if (first == fields_.end()) {
    Add(name, value);
    return;
  }
  first->second = std::string(value);
  fields_.erase(std::remove_if(first + 1, fields_.end(), same), fields_.end());
}

absl::string_view Headers::Get(absl::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (absl::EqualsIgnoreCase(key, name)) return value;
  }
  return "";
}

bool Headers::Has(absl::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(), [name](const auto& field) {
    return absl::EqualsIgnoreCase(field.first, name);
  });
}

absl::string_view Target::Get(absl::string_view key) const {
  for (const auto& [name, value] : query) {
    if (name == key) return value;
  }
  return "";
}

bool Target::Has(absl::string_view key) const {
  return std::any_of(query.begin(), query.end(),
                     [key](const auto& pair) { return pair.first == key; });
}

Target ParseTarget(absl::string_view target) {
  Target result;
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  result.path = PercentDecode(target.substr(0, mark), /*plus_is_blank=*/false);
  if (mark == absl::string_view::npos) return result;
  absl::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const absl::string_view pair = rest.substr(0, end);
    rest = end == absl::string_view::npos ? absl::string_view() : rest.substr(end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const absl::string_view value =
        equals == absl::string_view::npos ? absl::string_view() : pair.substr(equals + 1);
    result.query.emplace_back(PercentDecode(pair.substr(0, equals), true),
                              PercentDecode(value, true));
  }
  return result;
}

std::string PercentEncode(absl::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (IsUnreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

std::string PercentDecode(absl::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2])));
      i += 2;
    } else if (c == '+' && plus_is_blank) {
      out.push_back(' ');
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace hekla::http

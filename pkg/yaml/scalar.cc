#include "pkg/yaml/scalar.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace hekla::yaml {
namespace {

using apis::json::Value;

bool OneOf(absl::string_view text, std::initializer_list<absl::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// [-+]? ( . digits | digits [. digits*] ) ( [eE] [-+]? digits )?
bool LooksLikeFloat(absl::string_view t) {
  size_t i = 0;
  const auto digits = [&] {
    const size_t from = i;
    while (i < t.size() && absl::ascii_isdigit(t[i])) ++i;
    return i - from;
  };
  if (i < t.size() && (t[i] == '-' || t[i] == '+')) ++i;
  const size_t whole = digits();
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    if (i < t.size() && (t[i] == '-' || t[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == t.size();
}

// Integers with the prefixes of Go's base 0: 0x, 0b, 0o and a leading zero.
std::optional<Value> ParseInteger(absl::string_view t) {
  bool negative = false;
  if (!t.empty() && (t[0] == '-' || t[0] == '+')) {
    negative = t[0] == '-';
    t.remove_prefix(1);
  }
  unsigned base = 10;
  if (t.size() > 1 && t[0] == '0') {
    const char c = absl::ascii_tolower(t[1]);
    base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
    t.remove_prefix(c == 'x' || c == 'b' || c == 'o' ? 2 : 1);
  }
  if (t.empty()) return std::nullopt;
  uint64_t number = 0;
  for (char c : t) {
    unsigned digit = 99;
    if (absl::ascii_isdigit(c)) digit = static_cast<unsigned>(c - '0');
    if (absl::ascii_isalpha(c)) digit = static_cast<unsigned>(absl::ascii_tolower(c) - 'a') + 10;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(number, base, &number) ||
        __builtin_add_overflow(number, digit, &number)) {
      return std::nullopt;
    }
  }
  constexpr auto kMax = static_cast<uint64_t>(INT64_MAX);
  if (negative) {
    if (number > kMax + 1) return std::nullopt;
    return Value(static_cast<long long>(~number + 1));
  }
  if (number > kMax) return Value(static_cast<double>(number));
  return Value(static_cast<long long>(number));
}

}  // namespace

std::optional<Value> ResolvePlain(absl::string_view text) {
  if (OneOf(text, {"", "~", "null", "Null", "NULL"})) return Value();
  if (OneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return Value(true);
  }
  if (OneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return Value(false);
  }
  if (OneOf(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
                   "-.inf", "-.Inf", "-.INF"})) {
    return std::nullopt;
  }
  const char first = text[0];
  if (!absl::ascii_isdigit(first) && first != '-' && first != '+' && first != '.') {
    return Value(text);
  }
  const std::string plain = absl::StrReplaceAll(text, {{"_", ""}});
  if (std::optional<Value> integer = ParseInteger(plain)) return integer;
  if (LooksLikeFloat(plain)) {
    const absl::string_view unsigned_text = absl::StripPrefix(plain, "+");
    double number = 0;
    if (absl::SimpleAtod(unsigned_text, &number) && std::isfinite(number)) return Value(number);
  }
  return Value(text);
}

bool NeedsQuotes(absl::string_view text) {
  if (text.empty()) return true;
  const std::optional<Value> plain = ResolvePlain(text);
  if (!plain || !plain->is_string()) return true;
  if (text.front() == ' ' || text.back() == ' ' || text == "<<" || text == "=") return true;
  // Where a line starts with either a document does, or ends.
  if (absl::StartsWith(text, "---") || absl::StartsWith(text, "...")) return true;
  if (absl::string_view("-?:,[]{}#&*!|>'\"%@`").find(text.front()) != absl::string_view::npos) {
    // A dash, question mark or colon is an indicator only before a blank or alone.
    const bool soft = text.front() == '-' || text.front() == '?' || text.front() == ':';
    if (!soft || text.size() == 1 || text[1] == ' ') return true;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) return true;
    if (c == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) return true;
    if (c == '#' && i > 0 && text[i - 1] == ' ') return true;
  }
  // What looks like a date would be a timestamp to other readers.
  return text.size() >= 8 && absl::ascii_isdigit(text[0]) && absl::ascii_isdigit(text[1]) &&
         absl::ascii_isdigit(text[2]) && absl::ascii_isdigit(text[3]) && text[4] == '-';
}

}  // namespace hekla::yaml

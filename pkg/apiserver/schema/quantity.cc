#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "pkg/apiserver/schema/decode.h"

namespace hekla::apiserver::schema {
namespace {

using Wide = unsigned __int128;

constexpr char kFormatError[] =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr char kNumericError[] = "unable to parse numeric part of quantity";
constexpr char kSuffixError[] = "unable to parse quantity's suffix";

// More digits than any representable amount has; what is beyond is capped.
constexpr int kMaxDigits = 30;
constexpr int64_t kMaxAmount = INT64_MAX;

enum class Format : uint8_t { kDecimal, kBinary, kExponent };

struct Suffix {
  Format format = Format::kDecimal;
  int power = 0;  // of ten, or of 1024 where binary
};

bool ParseSuffix(absl::string_view text, Suffix& out) {
  static constexpr absl::string_view kDecimal = "num";
  static constexpr absl::string_view kLarge = "kMGTPE";
  static constexpr absl::string_view kBinary = "KMGTPE";
  if (text.empty()) return true;
  if (text.size() == 1) {
    const size_t small = kDecimal.find(text[0]);
    if (small != absl::string_view::npos) {
      out.power = -9 + 3 * static_cast<int>(small);
      return true;
    }
    const size_t large = kLarge.find(text[0]);
    if (large == absl::string_view::npos) return false;
    out.power = 3 * (static_cast<int>(large) + 1);
    return true;
  }
  if (text.size() == 2 && text[1] == 'i') {
    const size_t at = kBinary.find(text[0]);
    if (at == absl::string_view::npos) return false;
    out = {Format::kBinary, static_cast<int>(at) + 1};
    return true;
  }
  if (text[0] != 'e' && text[0] != 'E') return false;
  int32_t exponent = 0;
  if (!absl::SimpleAtoi(text.substr(1), &exponent)) return false;
  out = {Format::kExponent, std::clamp(exponent, -1000, 1000)};
  return true;
}

// value = mantissa x 10^exponent, without trailing zeros.
struct Decimal {
  Wide mantissa = 0;
  int exponent = 0;
  bool over = false;  // too big to hold

  void Trim() {
    if (mantissa == 0) exponent = 0;
    while (mantissa != 0 && mantissa % 10 == 0) {
      mantissa /= 10;
      ++exponent;
    }
  }
  // Rounds up so that no digit below 10^-9 is left.
  void RoundUpToNano() {
    bool rest = false;
    while (exponent < -9 && mantissa != 0) {
      rest = rest || mantissa % 10 != 0;
      mantissa /= 10;
      ++exponent;
    }
    if (rest) ++mantissa;
    if (mantissa != 0 && exponent < -9) {
      exponent = -9;
    }
    if (mantissa == 0 && rest) mantissa = 1;
    if (rest) exponent = -9;
    Trim();
  }
  void Cap() {
    Wide value = mantissa;
    for (int i = 0; i < exponent && value <= static_cast<Wide>(kMaxAmount); ++i) value *= 10;
    for (int i = exponent; i < 0; ++i) value /= 10;
    if (over || value > static_cast<Wide>(kMaxAmount)) {
      mantissa = static_cast<Wide>(kMaxAmount);
      exponent = 0;
    }
  }
};

std::string Digits(Wide value) {
  std::string out;
  do {
    out.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string FormatDecimal(Decimal value, Format format) {
  static constexpr absl::string_view kSuffixes[] = {"n", "u", "m", "",  "k",
                                                    "M", "G", "T", "P", "E"};
  while (value.exponent % 3 != 0) {
    value.mantissa *= 10;
    --value.exponent;
  }
  if (format == Format::kExponent) {
    return value.exponent == 0 ? Digits(value.mantissa)
                               : absl::StrCat(Digits(value.mantissa), "e", value.exponent);
  }
  while (value.exponent > 18) {
    value.mantissa *= 1000;
    value.exponent -= 3;
  }
  return absl::StrCat(Digits(value.mantissa), kSuffixes[value.exponent / 3 + 3]);
}

std::string FormatBinary(Wide whole) {
  static constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  int power = 0;
  while (power < 6 && whole != 0 && whole % 1024 == 0) {
    whole /= 1024;
    ++power;
  }
  return absl::StrCat(Digits(whole), kSuffixes[power]);
}

std::string FormatAmount(Decimal value, Format format) {
  if (format != Format::kBinary) return FormatDecimal(value, format);
  if (value.exponent < 0) return FormatDecimal(value, Format::kDecimal);
  Wide whole = value.mantissa;
  for (int i = 0; i < value.exponent; ++i) whole *= 10;
  // Small binary amounts are written plainly.
  if (whole < 1024) return FormatDecimal(value, Format::kDecimal);
  return FormatBinary(whole);
}

// Whether a real server keeps the text as it is, because it takes it for canonical already: whole
// thousands as exponent, no factor of a thousand (of eight in binary) left in the digits. Quirk:
// such a text keeps its sign, its "E" and zeros behind the point.
bool KeepsText(absl::string_view number, const Suffix& suffix) {
  constexpr int kMaxDigitsOfInt64 = 18;
  while (number.size() > 1 && number[0] == '0' && absl::ascii_isdigit(number[1])) {
    number.remove_prefix(1);
  }
  const size_t dot = number.find('.');
  std::string whole(number.substr(0, dot));
  if (whole.empty()) whole = "0";
  const absl::string_view fraction =
      dot == absl::string_view::npos ? absl::string_view() : number.substr(dot + 1);
  const std::string digits = absl::StrCat(whole, fraction);
  if (suffix.format == Format::kBinary) {
    const int precision = 15 - static_cast<int>(whole.size()) - suffix.power * 3 - 1;
    int64_t value = 0;
    return fraction.empty() && precision >= 0 && absl::SimpleAtoi(digits, &value) &&
           (value & 7) != 0;
  }
  const int scale = suffix.power - static_cast<int>(fraction.size());
  return digits.size() <= kMaxDigitsOfInt64 && scale >= -9 && scale % 3 == 0 && digits[0] != '0' &&
         (digits.size() < 3 || digits.compare(digits.size() - 3, 3, "000") != 0);
}

// Reads "12.5" into `out`. Returns false where it is no number.
bool ParseNumber(absl::string_view text, Decimal& out) {
  bool dot = false;
  int digits = 0;
  bool any = false;
  for (const char c : text) {
    if (c == '.') {
      if (dot) return false;
      dot = true;
      continue;
    }
    any = true;
    if (out.mantissa == 0 && c == '0') {
      if (dot) --out.exponent;
      continue;
    }
    if (digits == kMaxDigits) {
      if (!dot) out.over = true;  // more digits before the point than any amount has
      continue;
    }
    out.mantissa = out.mantissa * 10 + static_cast<Wide>(c - '0');
    ++digits;
    if (dot) --out.exponent;
  }
  return any;
}

}  // namespace

absl::StatusOr<std::string> CanonicalQuantity(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError(kFormatError);
  size_t at = 0;
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') at = 1;
  size_t end = at;
  while (end < text.size() && (absl::ascii_isdigit(text[end]) || text[end] == '.')) ++end;
  if (end == at) return absl::InvalidArgumentError(kFormatError);
  const absl::string_view rest = text.substr(end);
  size_t letters = 0;
  while (letters < rest.size() &&
         absl::string_view("eEinumkKMGTP").find(rest[letters]) != absl::string_view::npos) {
    ++letters;
  }
  size_t tail = letters;
  if (tail < rest.size() && (rest[tail] == '-' || rest[tail] == '+')) ++tail;
  while (tail < rest.size() && absl::ascii_isdigit(rest[tail])) ++tail;
  if (tail != rest.size()) return absl::InvalidArgumentError(kFormatError);
  Decimal value;
  if (!ParseNumber(text.substr(at, end - at), value)) {
    return absl::InvalidArgumentError(kNumericError);
  }
  Suffix suffix;
  if (!ParseSuffix(rest, suffix)) return absl::InvalidArgumentError(kSuffixError);
  if (KeepsText(text.substr(at, end - at), suffix)) return std::string(text);
  value.Trim();
  if (suffix.format == Format::kBinary) {
    for (int i = 0; i < suffix.power && !value.over; ++i) {
      if (value.mantissa > (~Wide{0} >> 12)) value.over = true;
      value.mantissa *= 1024;
    }
    value.Trim();
  } else {
    if (value.mantissa != 0) value.exponent += suffix.power;
  }
  value.RoundUpToNano();
  if (suffix.format == Format::kBinary) value.Cap();
  value.Trim();
  const std::string out = FormatAmount(value, suffix.format);
  return negative && value.mantissa != 0 ? absl::StrCat("-", out) : out;
}

}  // namespace hekla::apiserver::schema

#include "pkg/apis/meta/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hekla::apis::meta {
namespace {

using Int128 = Quantity::Int128;
using Format = Quantity::Format;

constexpr Int128 kNano = 1000000000;
constexpr Int128 kMaxNano = static_cast<Int128>(INT64_MAX) * kNano;

struct Suffix {
  Format format = Format::kDecimalSi;
  int exponent = 0;  // of 10, or of 2 for the binary family
};

std::optional<Suffix> ParseSuffix(absl::string_view s) {
  if (s.empty()) return Suffix{};
  static constexpr absl::string_view kBinary = "KMGTPE";
  static constexpr absl::string_view kDecimal = "kMGTPE";
  if (s.size() == 2 && s[1] == 'i') {
    const size_t at = kBinary.find(s[0]);
    if (at == absl::string_view::npos) return std::nullopt;
    return Suffix{Format::kBinarySi, static_cast<int>(at + 1) * 10};
  }
  if (s.size() == 1) {
    if (s == "n") return Suffix{Format::kDecimalSi, -9};
    if (s == "u") return Suffix{Format::kDecimalSi, -6};
    if (s == "m") return Suffix{Format::kDecimalSi, -3};
    const size_t at = kDecimal.find(s[0]);
    if (at == absl::string_view::npos) return std::nullopt;
    return Suffix{Format::kDecimalSi, static_cast<int>(at + 1) * 3};
  }
  if (s[0] != 'e' && s[0] != 'E') return std::nullopt;
  int exponent = 0;
  for (char c : s.substr(s[1] == '-' || s[1] == '+' ? 2 : 1)) {
    if (!absl::ascii_isdigit(c)) return std::nullopt;
  }
  if (!absl::SimpleAtoi(s.substr(s[1] == '+' ? 2 : 1), &exponent)) return std::nullopt;
  return Suffix{Format::kDecimalExponent, exponent};
}

// digits * 10^exponent10 * 2^exponent2 in nano units, away from zero, capped.
Int128 ToNano(absl::string_view digits, int64_t exponent10, int exponent2) {
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  if (digits.empty()) return 0;
  exponent10 += 9;
  // Digits that are rounded away anyway, and numbers beyond any range.
  if (static_cast<int64_t>(digits.size()) + exponent10 > 30) return kMaxNano;
  if (exponent2 == 0 && static_cast<int64_t>(digits.size()) + exponent10 <= 0) return 1;
  // A longer tail only matters as "not zero". Decimal amounts keep every digit that can be in
  // range; the binary family leaves room for its shift.
  const size_t kept = exponent2 == 0 ? 30 : 20;
  bool tail = false;
  while (digits.size() > kept) {
    tail = tail || digits.back() != '0';
    digits.remove_suffix(1);
    ++exponent10;
  }
  Int128 value = 0;
  for (char c : digits) value = value * 10 + (c - '0');
  while (exponent10 > 0) {
    if (value > kMaxNano / 10) return kMaxNano;
    value *= 10;
    --exponent10;
  }
  // value < 2^100 here; a product with 2^60 would overflow, so shift in steps and divide in
  // between.
  Int128 rest = tail ? 1 : 0;
  const auto divide = [&] {
    if (value % 10 != 0) rest = 1;
    value /= 10;
    ++exponent10;
  };
  for (int shift = exponent2; shift > 0; --shift) {
    while (value > (std::numeric_limits<Int128>::max() >> 1)) {
      if (exponent10 >= 0) return kMaxNano;
      divide();
    }
    value <<= 1;
  }
  while (exponent10 < 0 && value > 0) divide();
  if (rest != 0 || exponent10 < 0) ++value;
  return std::min(value, kMaxNano);
}

std::string Int128ToString(Int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  std::string text;
  while (value != 0) {
    const int digit = static_cast<int>(value % 10);
    text.push_back(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  }
  if (negative) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

Int128 DivideAwayFromZero(Int128 value, Int128 divisor) {
  const Int128 quotient = value / divisor;
  const Int128 rest = value % divisor;
  if (rest == 0) return quotient;
  return value > 0 ? quotient + 1 : quotient - 1;
}

}  // namespace

Quantity Quantity::FromInt(int64_t value, Format format) {
  return FromNano(static_cast<Int128>(value) * kNano, format);
}

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  return FromNano(static_cast<Int128>(milli) * 1000000, format);
}

Quantity Quantity::FromNano(Int128 nano, Format format) {
  Quantity q;
  q.SetNano(nano);
  q.format_ = format;
  return q;
}

Quantity::Int128 Quantity::nano() const {
  return (static_cast<Int128>(high_) << 64) | static_cast<Int128>(low_);
}

void Quantity::SetNano(Int128 nano) {
  high_ = static_cast<int64_t>(nano >> 64);
  low_ = static_cast<uint64_t>(nano);
}

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(absl::StrCat("invalid quantity \"", text, "\""));
  };
  size_t i = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++i;
  const size_t whole_from = i;
  while (i < text.size() && absl::ascii_isdigit(text[i])) ++i;
  const absl::string_view whole = text.substr(whole_from, i - whole_from);
  absl::string_view fraction;
  if (i < text.size() && text[i] == '.') {
    const size_t from = ++i;
    while (i < text.size() && absl::ascii_isdigit(text[i])) ++i;
    fraction = text.substr(from, i - from);
  }
  if (whole.empty() && fraction.empty()) return invalid();
  const std::optional<Suffix> suffix = ParseSuffix(text.substr(i));
  if (!suffix) return invalid();

  const bool binary = suffix->format == Format::kBinarySi;
  Int128 nano = 0;
  // The usual case without fraction and with few digits needs no string.
  int64_t small = 0;
  if (fraction.empty() && whole.size() <= 9 && !binary && suffix->exponent == 0) {
    for (char c : whole) small = small * 10 + (c - '0');
    nano = static_cast<Int128>(small) * kNano;
  } else {
    const std::string digits = absl::StrCat(whole, fraction);
    nano = ToNano(digits, (binary ? 0 : suffix->exponent) - static_cast<int64_t>(fraction.size()),
                  binary ? suffix->exponent : 0);
  }
  // Below one unit a binary suffix could not be written back.
  const bool tiny = binary && nano > 0 && nano < kNano;
  return FromNano(negative ? -nano : nano, tiny ? Format::kDecimalSi : suffix->format);
}

int64_t Quantity::Scaled(int64_t nano_per_unit) const {
  const Int128 value = DivideAwayFromZero(nano(), nano_per_unit);
  if (value > INT64_MAX) return INT64_MAX;
  if (value < INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(value);
}

double Quantity::AsDouble() const { return static_cast<double>(nano()) / 1e9; }

std::string Quantity::ToString() const {
  Int128 value = nano();
  if (value == 0) return "0";
  // A number with a fraction keeps it: it is shown in the decimal family.
  if (format_ == Format::kBinarySi && value % kNano == 0 &&
      (value >= 1024 * kNano || value <= -1024 * kNano)) {
    static constexpr std::array<absl::string_view, 7> kSuffixes = {"",   "Ki", "Mi", "Gi",
                                                                   "Ti", "Pi", "Ei"};
    value /= kNano;
    size_t power = 0;
    while (power + 1 < kSuffixes.size() && value % 1024 == 0) {
      value /= 1024;
      ++power;
    }
    return absl::StrCat(Int128ToString(value), kSuffixes[power]);
  }
  int exponent = -9;
  while (exponent < 18 && value % 1000 == 0) {
    value /= 1000;
    exponent += 3;
  }
  if (format_ == Format::kDecimalExponent) {
    if (exponent == 0) return Int128ToString(value);
    return absl::StrCat(Int128ToString(value), "e", exponent);
  }
  static constexpr std::array<absl::string_view, 10> kSuffixes = {"n", "u", "m", "",  "k",
                                                                  "M", "G", "T", "P", "E"};
  return absl::StrCat(Int128ToString(value), kSuffixes[static_cast<size_t>((exponent + 9) / 3)]);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  // A sum takes over the family of the first number that is not zero.
  if (is_zero()) format_ = other.format_;
  SetNano(nano() + other.nano());
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  SetNano(nano() - other.nano());
  return *this;
}

std::vector<ResourceList::Entry>::iterator ResourceList::LowerBound(absl::string_view name) {
  return std::lower_bound(entries_.begin(), entries_.end(), name,
                          [](const Entry& e, absl::string_view n) { return e.first < n; });
}

const Quantity* ResourceList::Find(absl::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

Quantity ResourceList::Get(absl::string_view name) const {
  const Quantity* q = Find(name);
  return q == nullptr ? Quantity() : *q;
}

void ResourceList::Set(absl::string_view name, const Quantity& quantity) {
  const auto it = LowerBound(name);
  if (it != entries_.end() && it->first == name) {
    it->second = quantity;
  } else {
    entries_.emplace(it, std::string(name), quantity);
  }
}

void ResourceList::Erase(absl::string_view name) {
  const auto it = LowerBound(name);
  if (it != entries_.end() && it->first == name) entries_.erase(it);
}

void ResourceList::Add(const ResourceList& other) {
  for (const auto& [name, quantity] : other) Set(name, Get(name) + quantity);
}

void ResourceList::Max(const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const Quantity* mine = Find(name);
    if (mine == nullptr || *mine < quantity) Set(name, quantity);
  }
}

}  // namespace hekla::apis::meta

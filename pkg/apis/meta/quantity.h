#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hekla::apis::meta {

// A Kubernetes quantity: an exact decimal number down to 10^-9 with the suffix family it was
// written in.
// Range:  +-(2^63 - 1); larger magnitudes are capped there when parsed, digits below 10^-9 are
//         rounded away from zero, both as the API machinery does.
// Order:  compares by number, whatever the suffixes.
class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };
  using Int128 = __int128;

  Quantity() = default;
  static Quantity FromInt(int64_t value, Format format = Format::kDecimalSi);
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSi);
  // nano = number * 10^9.
  static Quantity FromNano(Int128 nano, Format format);

  // `[+-] digits [. digits] suffix`; suffix one of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, e<int>.
  // Errors: kInvalidArgument `invalid quantity "<text>"`.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // Rounded away from zero to a whole number, or to thousandths; saturated to int64.
  int64_t Value() const { return Scaled(1000000000); }
  int64_t MilliValue() const { return Scaled(1000000); }
  double AsDouble() const;
  Int128 nano() const;
  Format format() const { return format_; }
  bool is_zero() const { return high_ == 0 && low_ == 0; }

  // The canonical text: no fraction, the largest suffix that keeps the number whole, binary
  // suffixes only from 1024 on.
  std::string ToString() const;

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  friend bool operator==(const Quantity& a, const Quantity& b) {
    return a.high_ == b.high_ && a.low_ == b.low_;
  }
  friend bool operator!=(const Quantity& a, const Quantity& b) { return !(a == b); }
  friend bool operator<(const Quantity& a, const Quantity& b) { return a.nano() < b.nano(); }

 private:
  int64_t Scaled(int64_t nano_per_unit) const;
  void SetNano(Int128 nano);

  // Two halves instead of one __int128: 24 bytes instead of 32.
  int64_t high_ = 0;
  uint64_t low_ = 0;
  Format format_ = Format::kDecimalSi;
};

// Amounts by resource name, sorted by name. Small: a handful of entries.
class ResourceList {
 public:
  using Entry = std::pair<std::string, Quantity>;

  const Quantity* Find(absl::string_view name) const;
  // Zero where absent.
  Quantity Get(absl::string_view name) const;
  void Set(absl::string_view name, const Quantity& quantity);
  void Erase(absl::string_view name);
  // Component-wise sum; the union of the names.
  void Add(const ResourceList& other);
  // Component-wise maximum; the union of the names.
  void Max(const ResourceList& other);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  void reserve(size_t n) { entries_.reserve(n); }
  friend bool operator==(const ResourceList& a, const ResourceList& b) {
    return a.entries_ == b.entries_;
  }

 private:
  std::vector<Entry>::iterator LowerBound(absl::string_view name);
  std::vector<Entry> entries_;
};

}  // namespace hekla::apis::meta

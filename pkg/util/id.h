#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace hekla::util {

// A typed index into a table. Two tables have two tags, so that their ids cannot be mixed up.
// Ids are dense and may be reused after a row is freed; they never decide anything (no order by id
// may be visible in a decision).
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t value) : value_(value) {}

  constexpr bool valid() const { return value_ != kInvalid; }
  constexpr uint32_t value() const { return value_; }
  constexpr size_t index() const { return value_; }

  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Id a, Id b) { return a.value_ < b.value_; }
  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  static constexpr uint32_t kInvalid = std::numeric_limits<uint32_t>::max();
  uint32_t value_ = kInvalid;
};

}  // namespace hekla::util

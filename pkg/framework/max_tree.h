#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// HOT PATH
namespace hekla::framework {

// Values by position: the greatest one of a range, how many positions have it, and the k-th of
// them. Cost:  Set and questions about everything O(log n); about a part O(log n + n / 16).
class MaxTree {
 public:
  static constexpr double kAbsent = -std::numeric_limits<double>::infinity();

  struct Top {
    double value = kAbsent;
    uint32_t count = 0;  // 0: every position is absent
  };

  // All values at once (kAbsent: none there).
  void Assign(std::vector<double> values);
  void Set(size_t position, double value);
  double at(size_t position) const { return values_[position]; }
  size_t size() const { return values_.size(); }

  Top TopOf(size_t begin, size_t end) const;
  // The k-th position (from 0) in the range that has the value; there must be one.
  size_t Find(size_t begin, size_t end, double value, uint64_t k) const;

  size_t bytes() const { return values_.size() * sizeof(double) + nodes_.size() * sizeof(Top); }

 private:
  static constexpr size_t kBlock = 16;
  static Top Merge(const Top& a, const Top& b);
  Top ScanBlock(size_t begin, size_t end) const;

  std::vector<double> values_;
  std::vector<Top> nodes_;  // a heap-shaped tree over blocks; [1] is the root
  size_t leaves_ = 0;       // blocks, rounded up to a power of two
};

}  // namespace hekla::framework

#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

// The values behind one line (or one histogram) of the exposition. Cheap to change: atomics, no
// lookups. A handle stays valid after its series was removed from the family; it is then no longer
// shown.
// Threads: any.
namespace hekla::metrics {

class Counter {
 public:
  // `n` >= 0.
  void Add(double n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void Set(double v) { value_.store(v, std::memory_order_relaxed); }
  void Add(double n) { value_.fetch_add(n, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  // Upper bounds, ascending, without +Inf.
  explicit Histogram(std::vector<double> bounds);

  void Observe(double v);
  struct Snapshot {
    std::vector<uint64_t> counts;  // per bucket, not cumulative; the last one is +Inf
    double sum = 0;
    uint64_t count = 0;
  };
  Snapshot snapshot() const;
  std::span<const double> bounds() const { return bounds_; }

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

// n bounds from a to b, each the one before times (b/a)^(1/(n-1)); n >= 2, 0 < a < b. In the spec:
// R(a,b,n).
std::vector<double> ExponentialRange(double a, double b, int n);
// n bounds: start, start * factor, ...
std::vector<double> ExponentialBuckets(double start, double factor, int n);
// n bounds: start, start + width, ...
std::vector<double> LinearBuckets(double start, double width, int n);

}  // namespace hekla::metrics

#include "pkg/metrics/metric.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "glog/logging.h"

namespace hekla::metrics {

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  CHECK(std::is_sorted(bounds_.begin(), bounds_.end())) << "histogram bounds must ascend";
}

void Histogram::Observe(double v) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), v) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(v, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot out;
  out.counts.reserve(counts_.size());
  for (const auto& count : counts_) {
    out.counts.push_back(count.load(std::memory_order_relaxed));
    out.count += out.counts.back();
  }
  out.sum = sum_.load(std::memory_order_relaxed);
  return out;
}

std::vector<double> ExponentialRange(double a, double b, int n) {
  CHECK(n >= 2 && a > 0 && a < b);
  const double growth = std::pow(b / a, 1.0 / (n - 1));
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(a * std::pow(growth, i));
  return out;
}

std::vector<double> ExponentialBuckets(double start, double factor, int n) {
  CHECK(n >= 1 && start > 0 && factor > 1);
  std::vector<double> out;
  for (double bound = start; n > 0; --n, bound *= factor) out.push_back(bound);
  return out;
}

std::vector<double> LinearBuckets(double start, double width, int n) {
  CHECK(n >= 1 && width > 0);
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(start + i * width);
  return out;
}

}  // namespace hekla::metrics

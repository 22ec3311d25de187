#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/metrics/metric.h"

namespace hekla::metrics {

// Writes Prometheus text lines (version 0.0.4).
class TextWriter {
 public:
  // "counter", "gauge", "histogram". Starts a family.
  void Family(absl::string_view name, absl::string_view type, absl::string_view help);
  using Labels = std::vector<std::pair<absl::string_view, absl::string_view>>;
  void Sample(absl::string_view name, const Labels& labels, double value);
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

// A number as the exposition writes it: shortest form that reads back, exponents from 10^6 on.
std::string FormatNumber(double value);

// Metrics of one name, told apart by label values.
// Threads: any. With takes a lock: call it when a series begins and keep the handle.
template <typename Metric>
class Family {
 public:
  using Values = std::vector<std::string>;
  using Factory = std::function<std::shared_ptr<Metric>()>;

  Family(size_t label_count, Factory factory)
      : label_count_(label_count), factory_(std::move(factory)) {}

  // The series of these label values, made where it does not exist.
  std::shared_ptr<Metric> With(const Values& values) {
    CHECK_EQ(values.size(), label_count_) << "wrong number of label values";
    absl::MutexLock lock(&mutex_);
    std::shared_ptr<Metric>& series = series_[values];
    if (series == nullptr) series = factory_();
    return series;
  }
  // Returns whether there was such a series.
  bool Remove(const Values& values) {
    absl::MutexLock lock(&mutex_);
    return series_.erase(values) > 0;
  }
  // Removes all series whose label `index` has that value.
  void RemoveWhere(size_t index, absl::string_view value) {
    absl::MutexLock lock(&mutex_);
    for (auto it = series_.begin(); it != series_.end();) {
      it = it->first[index] == value ? series_.erase(it) : std::next(it);
    }
  }
  void Clear() {
    absl::MutexLock lock(&mutex_);
    series_.clear();
  }
  // Sorted by label values.
  std::vector<std::pair<Values, std::shared_ptr<Metric>>> All() const {
    absl::MutexLock lock(&mutex_);
    return {series_.begin(), series_.end()};
  }

 private:
  const size_t label_count_;
  const Factory factory_;
  mutable absl::Mutex mutex_;
  std::map<Values, std::shared_ptr<Metric>> series_ ABSL_GUARDED_BY(mutex_);
};

using CounterFamily = Family<Counter>;
using GaugeFamily = Family<Gauge>;
using HistogramFamily = Family<Histogram>;

// All metrics of one process (or one simulated process). Everything it hands out lives as long as
// the registry. A name that is taken is a bug of ours: CHECK.
// Threads: any.
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Counter& NewCounter(absl::string_view name, absl::string_view help);
  Gauge& NewGauge(absl::string_view name, absl::string_view help);
  Histogram& NewHistogram(absl::string_view name, absl::string_view help,
                          std::vector<double> bounds);
  CounterFamily& NewCounterFamily(absl::string_view name, absl::string_view help,
                                  std::vector<std::string> labels);
  GaugeFamily& NewGaugeFamily(absl::string_view name, absl::string_view help,
                              std::vector<std::string> labels);
  HistogramFamily& NewHistogramFamily(absl::string_view name, absl::string_view help,
                                      std::vector<std::string> labels, std::vector<double> bounds);
  // Asked at each exposition; writes whole families. `name` places it in the order.
  void AddCollector(absl::string_view name, std::function<void(TextWriter&)> collect);

  // All metrics as text. Order: families by name, labels by name (`le` last), series by the values
  // of their labels in that order, as Go's client writes them. Collectors see to their own.
  std::string Expose() const;

 private:
  template <typename Metric>
  Family<Metric>& Add(absl::string_view name, absl::string_view help, absl::string_view type,
                      std::vector<std::string> labels, typename Family<Metric>::Factory factory);

  mutable absl::Mutex mutex_;
  std::map<std::string, std::function<void(TextWriter&)>> collectors_ ABSL_GUARDED_BY(mutex_);
};

inline constexpr char kTextContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// CPU time, memory, file descriptors and start time of this process, under the usual names.
void AddProcessMetrics(Registry& registry);

}  // namespace hekla::metrics

#include "pkg/metrics/registry.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hekla::metrics {
namespace {

std::string EscapeHelp(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\n", "\\n"}});
}

std::string EscapeLabel(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\n", "\\n"}, {"\"", "\\\""}});
}

TextWriter::Labels SortedLabels(const std::vector<std::string>& names,
                                const std::vector<std::string>& values) {
  TextWriter::Labels pairs;
  for (size_t i = 0; i < names.size(); ++i) pairs.emplace_back(names[i], values[i]);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

void WriteSeries(TextWriter& out, absl::string_view name, const TextWriter::Labels& labels,
                 const Counter& counter) {
  out.Sample(name, labels, counter.value());
}

void WriteSeries(TextWriter& out, absl::string_view name, const TextWriter::Labels& labels,
                 const Gauge& gauge) {
  out.Sample(name, labels, gauge.value());
}

void WriteSeries(TextWriter& out, absl::string_view name, const TextWriter::Labels& labels,
                 const Histogram& histogram) {
  const Histogram::Snapshot snapshot = histogram.snapshot();
  const std::string bucket = absl::StrCat(name, "_bucket");
  TextWriter::Labels with_bound = labels;
  with_bound.emplace_back("le", "");
  uint64_t so_far = 0;
  for (size_t i = 0; i < snapshot.counts.size(); ++i) {
    so_far += snapshot.counts[i];
    const std::string bound =
        i < histogram.bounds().size() ? FormatNumber(histogram.bounds()[i]) : "+Inf";
    with_bound.back().second = bound;
    out.Sample(bucket, with_bound, static_cast<double>(so_far));
  }
  out.Sample(absl::StrCat(name, "_sum"), labels, snapshot.sum);
  out.Sample(absl::StrCat(name, "_count"), labels, static_cast<double>(snapshot.count));
}

}  // namespace

std::string FormatNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  const double size = std::fabs(value);
  const auto format = size == 0 || (size >= 1e-4 && size < 1e6) ? std::chars_format::fixed
                                                                : std::chars_format::scientific;
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  return std::string(buffer, end.ptr);
}

void TextWriter::Family(absl::string_view name, absl::string_view type, absl::string_view help) {
  absl::StrAppend(&out_, "# HELP ", name, " ", EscapeHelp(help), "\n# TYPE ", name, " ", type,
                  "\n");
}

void TextWriter::Sample(absl::string_view name, const Labels& labels, double value) {
  absl::StrAppend(&out_, name);
  absl::string_view separator = "{";
  for (const auto& [label, text] : labels) {
    absl::StrAppend(&out_, separator, label, "=\"", EscapeLabel(text), "\"");
    separator = ",";
  }
  absl::StrAppend(&out_, labels.empty() ? " " : "} ", FormatNumber(value), "\n");
}

template <typename Metric>
Family<Metric>& Registry::Add(absl::string_view name, absl::string_view help,
                              absl::string_view type, std::vector<std::string> labels,
                              typename Family<Metric>::Factory factory) {
  auto family = std::make_shared<Family<Metric>>(labels.size(), std::move(factory));
  Family<Metric>& result = *family;
  AddCollector(name, [name = std::string(name), help = std::string(help), type = std::string(type),
                      labels = std::move(labels), family](TextWriter& out) {
    const auto all = family->All();
    if (all.empty()) return;  // a family without series is not shown
    out.Family(name, type, help);
    std::vector<std::pair<TextWriter::Labels, const Metric*>> rows;
    for (const auto& [values, metric] : all) {
      rows.emplace_back(SortedLabels(labels, values), metric.get());
    }
    std::sort(rows.begin(), rows.end());
    for (const auto& [pairs, metric] : rows) WriteSeries(out, name, pairs, *metric);
  });
  return result;
}

CounterFamily& Registry::NewCounterFamily(absl::string_view name, absl::string_view help,
                                          std::vector<std::string> labels) {
  return Add<Counter>(name, help, "counter", std::move(labels),
                      [] { return std::make_shared<Counter>(); });
}

GaugeFamily& Registry::NewGaugeFamily(absl::string_view name, absl::string_view help,
                                      std::vector<std::string> labels) {
  return Add<Gauge>(name, help, "gauge", std::move(labels),
                    [] { return std::make_shared<Gauge>(); });
}

HistogramFamily& Registry::NewHistogramFamily(absl::string_view name, absl::string_view help,
                                              std::vector<std::string> labels,
                                              std::vector<double> bounds) {
  return Add<Histogram>(name, help, "histogram", std::move(labels), [bounds = std::move(bounds)] {
    return std::make_shared<Histogram>(bounds);
  });
}

// The family behind a metric without labels keeps it alive.
Counter& Registry::NewCounter(absl::string_view name, absl::string_view help) {
  return *NewCounterFamily(name, help, {}).With({});
}

Gauge& Registry::NewGauge(absl::string_view name, absl::string_view help) {
  return *NewGaugeFamily(name, help, {}).With({});
}

Histogram& Registry::NewHistogram(absl::string_view name, absl::string_view help,
                                  std::vector<double> bounds) {
  return *NewHistogramFamily(name, help, {}, std::move(bounds)).With({});
}

void Registry::AddCollector(absl::string_view name, std::function<void(TextWriter&)> collect) {
  absl::MutexLock lock(&mutex_);
  const bool is_new = collectors_.emplace(std::string(name), std::move(collect)).second;
  CHECK(is_new) << "metric registered twice name=" << name;
}

std::string Registry::Expose() const {
  std::vector<std::function<void(TextWriter&)>> collectors;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, collect] : collectors_) collectors.push_back(collect);
  }
  TextWriter out;
  for (const auto& collect : collectors) collect(out);
  return out.Take();
}

}  // namespace hekla::metrics

#include "pkg/sim/report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace hekla::sim {
namespace {

constexpr int kWidth = 860;
constexpr int kHeight = 220;
constexpr int kLeft = 56;
constexpr int kBottom = 28;
constexpr int kTop = 12;
constexpr size_t kColumns = 400;  // points per curve
constexpr const char* kColours[] = {"#3566a8", "#c05a2b", "#3d8f57", "#8a4fa3", "#a08a1f"};

struct Curve {
  std::string name;
  std::vector<double> values;  // kColumns of them
};

// Time-weighted mean of one value in each of kColumns equal slices of the run.
std::vector<double> Resample(const ReportData& data,
                             double (*value)(const ReportData::Sample&, size_t), size_t index) {
  std::vector<double> sum(kColumns, 0), weight(kColumns, 0);
  const double span = std::max(1e-9, absl::ToDoubleSeconds(data.end - data.start));
  for (size_t i = 0; i < data.samples.size(); ++i) {
    const absl::Time until = i + 1 < data.samples.size() ? data.samples[i + 1].time : data.end;
    const double from = absl::ToDoubleSeconds(data.samples[i].time - data.start) / span * kColumns;
    const double to = absl::ToDoubleSeconds(until - data.start) / span * kColumns;
    const double v = value(data.samples[i], index);
    for (size_t c = static_cast<size_t>(std::max(0.0, from)); c < kColumns && c < to; ++c) {
      const double part = std::min<double>(to, static_cast<double>(c + 1)) -
                          std::max<double>(from, static_cast<double>(c));
      if (part <= 0) continue;
      sum[c] += v * part;
      weight[c] += part;
    }
  }
  double last = 0;
  for (size_t c = 0; c < kColumns; ++c) {
    if (weight[c] > 0) last = sum[c] / weight[c];
    sum[c] = last;
  }
  return sum;
}

std::string Axis(double top, const std::string& unit, const std::string& left,
                 const std::string& right) {
  std::string svg;
  for (int i = 0; i <= 4; ++i) {
    const double y = kTop + (kHeight - kTop - kBottom) * (1 - i / 4.0);
    absl::StrAppendFormat(&svg,
                          "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' class='grid'/>"
                          "<text x='%d' y='%.1f' class='left'>%.6g%s</text>\n",
                          kLeft, kWidth, y, y, kLeft - 6, y + 4, top * i / 4, unit);
  }
  absl::StrAppendFormat(
      &svg, "<text x='%d' y='%d'>%s</text><text x='%d' y='%d' class='left'>%s</text>\n", kLeft,
      kHeight - 8, EscapeHtml(left), kWidth, kHeight - 8, EscapeHtml(right));
  return svg;
}

std::string Plot(const std::vector<Curve>& curves, double top, const std::string& unit,
                 const std::string& left, const std::string& right) {
  std::string html = "<p class='legend'>";
  for (size_t i = 0; i < curves.size(); ++i) {
    absl::StrAppend(&html, "<span style='color:", kColours[i % 5], "'>&#9632; ",
                    EscapeHtml(curves[i].name), "</span> ");
  }
  absl::StrAppend(&html, "</p><svg viewBox='0 0 ", kWidth, " ", kHeight, "'>\n",
                  Axis(top, unit, left, right));
  for (size_t i = 0; i < curves.size(); ++i) {
    absl::StrAppend(&html, "<polyline fill='none' stroke='", kColours[i % 5], "' points='");
    for (size_t c = 0; c < curves[i].values.size(); ++c) {
      const double x = kLeft + (kWidth - kLeft) * (static_cast<double>(c) + 0.5) / kColumns;
      const double y = kTop + (kHeight - kTop - kBottom) * (1 - curves[i].values[c] / top);
      absl::StrAppendFormat(&html, "%.1f,%.1f ", x, y);
    }
    absl::StrAppend(&html, "'/>\n");
  }
  return absl::StrCat(html, "</svg>\n");
}

std::string ShortDuration(double seconds) {
  if (seconds < 1) return absl::StrFormat("%.0f ms", seconds * 1000);
  if (seconds < 120) return absl::StrFormat("%.3g s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.3g min", seconds / 60);
  if (seconds < 172800) return absl::StrFormat("%.3g h", seconds / 3600);
  return absl::StrFormat("%.3g d", seconds / 86400);
}

// Bars over classes of waiting time that grow by factors of about three.
std::string WaitHistogram(std::vector<double> waits) {
  if (waits.empty()) return "<p>No pod was placed.</p>\n";
  static constexpr double kLimits[] = {0.01, 0.1,  1,     3,     10,    30,     100,   300,
                                       1000, 3600, 10800, 36000, 86400, 259200, 864000};
  constexpr size_t kClasses = std::size(kLimits) + 1;
  std::vector<int64_t> counts(kClasses, 0);
  for (double w : waits) {
    counts[static_cast<size_t>(std::lower_bound(std::begin(kLimits), std::end(kLimits), w) -
                               std::begin(kLimits))]++;
  }
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  std::string html = "<table class='bars'>\n";
  for (size_t i = 0; i < kClasses; ++i) {
    if (counts[i] == 0) continue;
    const std::string label = i + 1 < kClasses
                                  ? absl::StrCat("up to ", ShortDuration(kLimits[i]))
                                  : absl::StrCat("more than ", ShortDuration(kLimits[i - 1]));
    absl::StrAppendFormat(
        &html, "<tr><td>%s</td><td><div style='width:%.1f%%'></div></td><td>%d</td></tr>\n", label,
        100.0 * static_cast<double>(counts[i]) / static_cast<double>(most), counts[i]);
  }
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double q) {
    return waits[std::min(waits.size() - 1,
                          static_cast<size_t>(q * static_cast<double>(waits.size())))];
  };
  absl::StrAppend(&html, "</table>\n<p>median ", ShortDuration(at(0.5)), ", 90th percentile ",
                  ShortDuration(at(0.9)), ", 99th ", ShortDuration(at(0.99)), ", longest ",
                  ShortDuration(waits.back()), "</p>\n");
  return html;
}

std::string Tables(const ReportData& data) {
  std::string html = "<table>\n";
  for (const auto& [name, value] : data.numbers) {
    absl::StrAppend(&html, "<tr><td>", EscapeHtml(name), "</td><td>", EscapeHtml(value),
                    "</td></tr>\n");
  }
  absl::StrAppend(&html, "</table>\n");
  if (data.unplaced.empty()) return html;
  absl::StrAppend(&html, "<h2>Pods without a place at the end</h2>\n<table>\n");
  for (const auto& [reason, count] : data.unplaced) {
    absl::StrAppend(&html, "<tr><td>", count, "</td><td>", EscapeHtml(reason), "</td></tr>\n");
  }
  return absl::StrCat(html, "</table>\n");
}

}  // namespace

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string RenderHtmlReport(const ReportData& data) {
  const std::string left = absl::FormatTime("%Y-%m-%d %H:%M:%S", data.start, absl::UTCTimeZone());
  const std::string right = absl::FormatTime("%Y-%m-%d %H:%M:%S", data.end, absl::UTCTimeZone());
  std::vector<Curve> used;
  for (size_t r = 0; r < data.resources.size(); ++r) {
    used.push_back(
        {data.resources[r],
         Resample(
             data, [](const ReportData::Sample& s, size_t i) { return 100 * s.used_ratio[i]; },
             r)});
  }
  std::vector<Curve> waiting;
  waiting.push_back(
      {"pending pods",
       Resample(
           data, [](const ReportData::Sample& s, size_t) { return static_cast<double>(s.pending); },
           0)});
  waiting.push_back(
      {"running pods",
       Resample(
           data, [](const ReportData::Sample& s, size_t) { return static_cast<double>(s.running); },
           0)});
  double top = 1;
  for (const Curve& c : waiting)
    top = std::max(top, *std::max_element(c.values.begin(), c.values.end()));
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>",
      EscapeHtml(data.title),
      "</title>\n<style>body{font:14px sans-serif;max-width:900px;margin:2em auto;color:#222}"
      "svg{width:100%}svg text{font-size:11px;fill:#555}svg .left{text-anchor:end}"
      ".grid{stroke:#ddd}table{border-collapse:collapse}td{padding:2px 12px 2px "
      "0;vertical-align:top}"
      ".bars td:nth-child(2){width:500px}.bars "
      "div{background:#3566a8;height:12px}</style></head>\n<body><h1>",
      EscapeHtml(data.title), "</h1>\n", Tables(data), "<h2>Share of allocatable in use</h2>\n",
      Plot(used, 100, "%", left, right), "<h2>Pods</h2>\n", Plot(waiting, top, "", left, right),
      "<h2>Time from creation to binding</h2>\n", WaitHistogram(data.wait_seconds),
      "</body></html>\n");
}

}  // namespace hekla::sim

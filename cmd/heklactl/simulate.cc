#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cmd/heklactl/simulate_options.h"
#include "cmd/heklactl/subcommands.h"
#include "pkg/sim/manifests.h"
#include "pkg/sim/openb_trace.h"
#include "pkg/sim/report.h"
#include "pkg/sim/result.h"
#include "pkg/sim/simulation.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

using apis::json::Value;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void ShowProgress(const sim::Progress& p) {
  std::cerr << absl::StrFormat("\r\033[K%s  arrived %d/%d  placed %d  pending %d  running %d",
                               absl::FormatTime("%Y-%m-%d %H:%M", p.time, absl::UTCTimeZone()),
                               p.arrived, p.to_arrive, p.placed, p.pending, p.running)
            << std::flush;
}

// Everything that is read before anything runs.
absl::Status ReadInputs(const SimulateOptions& options, sim::SimulationOptions& run,
                        std::vector<sim::Manifest>& manifests) {
  run.cycles = options.cycles;
  run.kubelet = options.kubelet;
  run.seed = static_cast<uint64_t>(options.seed);
  if (!options.scheduler_conf.empty()) {
    HEKLA_ASSIGN_OR_RETURN(run.scheduler_conf, ReadText(options.scheduler_conf));
    run.scheduler_conf_name = options.scheduler_conf;
  }
  if (!options.trace.empty()) {
    HEKLA_ASSIGN_OR_RETURN(const std::string pods, ReadText(options.trace));
    HEKLA_ASSIGN_OR_RETURN(run.trace_pods,
                           sim::ParseOpenbPods(pods, options.trace, options.trace_forever));
    sim::CompressArrivals(run.trace_pods, options.trace_time_scale);
    if (!options.nodes.empty()) {
      HEKLA_ASSIGN_OR_RETURN(const std::string nodes, ReadText(options.nodes));
      HEKLA_ASSIGN_OR_RETURN(run.trace_nodes, sim::ParseOpenbNodes(nodes, options.nodes));
    }
  }
  HEKLA_ASSIGN_OR_RETURN(manifests, sim::ReadManifests(options.manifests));
  sim::SortForLoading(manifests);
  return absl::OkStatus();
}

std::vector<std::pair<std::string, int64_t>> UnplacedReasons(const Value& result) {
  std::map<std::string, int64_t> counts;
  for (const Value& pod : result.At("pods").as_array()) {
    if (!pod.GetString("node").empty() || pod.GetString("phase") != "Pending") continue;
    const absl::string_view message = pod.GetString("message");
    ++counts[message.empty() ? "no reason given" : std::string(message)];
  }
  std::vector<std::pair<std::string, int64_t>> reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

absl::Status WriteReport(const SimulateOptions& options, const sim::Simulation& simulation,
                         const Value& result) {
  const sim::UsageMeter& meter = simulation.meter();
  sim::ReportData data;
  data.title = absl::StrCat("Simulation of ", options.trace.empty() ? "manifests" : options.trace);
  data.start = simulation.start();
  data.end = std::max(simulation.now(), simulation.start() + absl::Seconds(1));
  data.resources = meter.Resources();
  data.samples = meter.samples();
  data.wait_seconds = meter.wait_seconds();
  data.numbers = {{"simulated time", absl::FormatDuration(simulation.now() - simulation.start())},
                  {"placed", absl::StrCat(meter.placed())},
                  {"finished", absl::StrCat(meter.finished())},
                  {"running at the end", absl::StrCat(meter.running())},
                  {"pending at the end", absl::StrCat(meter.pending())},
                  {"cycles", absl::StrCat(result.At("stats").GetInt("cycles"))},
                  {"auditor's findings", absl::StrCat(simulation.auditor().violations().size())}};
  for (const std::string& name : data.resources) {
    const double total = meter.Allocatable(name);
    if (total <= 0) continue;
    data.numbers.emplace_back(absl::StrCat(name, " in use at the end"),
                              absl::StrFormat("%.2f%%", 100 * meter.Used(name) / total));
  }
  data.unplaced = UnplacedReasons(result);
  std::ofstream out(options.report, std::ios::binary);
  out << sim::RenderHtmlReport(data);
  out.close();
  if (!out) return absl::InternalError(absl::StrCat(options.report, ": cannot be written"));
  return absl::OkStatus();
}

// A few lines on standard error, so that they disturb no output.
void PrintSummary(const sim::Simulation& simulation, absl::Duration took) {
  const sim::UsageMeter& meter = simulation.meter();
  std::cerr << absl::StrFormat(
      "simulated %s in %.2f s: placed %d, finished %d, running %d, pending %d\n",
      absl::FormatDuration(simulation.now() - simulation.start()), absl::ToDoubleSeconds(took),
      meter.placed(), meter.finished(), meter.running(), meter.pending());
  for (const std::string& name : meter.Resources()) {
    const double total = meter.Allocatable(name);
    if (total <= 0) continue;
    std::cerr << absl::StrFormat("  %s in use: %.6g of %.6g (%.2f%%)\n", name, meter.Used(name),
                                 total, 100 * meter.Used(name) / total);
  }
  for (const sim::Violation& v : simulation.auditor().violations()) {
    std::cerr << "  audit " << v.rule << ": " << v.text << "\n";
  }
}

int Fail(const absl::Status& status, int code) {
  std::cerr << "heklactl simulate: " << status.message() << "\n";
  return code;
}

}  // namespace

int RunSimulate(const Arguments& arguments) {
  auto options = ParseSimulateOptions(arguments);
  if (!options.ok()) {
    std::cerr << "heklactl simulate: " << options.status().message() << "\n\n" << SimulateUsage();
    return kBadInput;
  }
  if (options->help) {
    std::cout << SimulateUsage();
    return 0;
  }
  util::StartLogging("heklactl", options->log);
  sim::SimulationOptions run;
  std::vector<sim::Manifest> manifests;
  if (auto s = ReadInputs(*options, run, manifests); !s.ok()) return Fail(s, kBadInput);
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) run.progress = ShowProgress;

  const absl::Time before = absl::Now();
  sim::Simulation simulation(std::move(run));
  if (auto s = simulation.Load(manifests); !s.ok()) return Fail(s, kBadInput);
  const absl::Status ran = simulation.Run();
  const absl::Duration took = absl::Now() - before;
  if (terminal) std::cerr << "\r\033[K";

  const Value result =
      simulation.Result({.timings = options->timings, .explain = options->explain});
  if (options->output == SimulateOptions::Output::kJson) {
    std::cout << apis::json::DumpPretty(result, 1) << "\n";
  } else if (options->output == SimulateOptions::Output::kTable) {
    std::cout << sim::RenderTable(result);
  }
  PrintSummary(simulation, took);
  if (!options->report.empty()) {
    if (auto s = WriteReport(*options, simulation, result); !s.ok()) return Fail(s, kFailed);
  }
  if (!ran.ok()) return Fail(ran, kFailed);
  return simulation.auditor().violations().empty() ? 0 : kFailed;
}

}  // namespace hekla::cmd::heklactl

#include "cmd/heklactl/simulate_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

absl::Status SetOutput(absl::string_view text, SimulateOptions::Output* output) {
  if (text == "json") {
    *output = SimulateOptions::Output::kJson;
  } else if (text == "table") {
    *output = SimulateOptions::Output::kTable;
  } else if (text == "none") {
    *output = SimulateOptions::Output::kNone;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not one of json, table, none"));
  }
  return absl::OkStatus();
}

void AddFlags(util::FlagSet& flags, SimulateOptions& o) {
  flags.String("scheduler-conf", &o.scheduler_conf, "Configuration of the scheduler.");
  flags.Int("cycles", &o.cycles, "Run this many cycles, one per second of simulated time.");
  flags.Bool("until-idle", &o.until_idle, "Run until nothing is left that could happen (default).");
  flags.Bool("kubelet", &o.kubelet, "Bound pods run, and end after hekla.dev/run-seconds.");
  flags.Int("seed", &o.seed, "Seed of names, uids and ties.");
  flags.Custom(
      "output", "table", [&o](absl::string_view text) { return SetOutput(text, &o.output); },
      "json, table or none.");
  flags.Alias("o", "output");
  flags.String("trace", &o.trace, "Trace of pods; implies --kubelet.");
  flags.String("trace-format", &o.trace_format, "Format of the trace: openb.");
  flags.String("nodes", &o.nodes, "Nodes of the trace.");
  flags.Bool("trace-forever", &o.trace_forever, "Pods of the trace never end.");
  flags.Int("trace-time-scale", &o.trace_time_scale,
            "Divide the arrival times of the trace's pods by this; run times stay (a storm).");
  flags.String("report", &o.report, "Write a page with curves and distributions to this file.");
  flags.Bool("explain", &o.explain, "Say of every pending pod why it is.");
  flags.Bool("timings", &o.timings,
             "Put wall-clock seconds into the output, which then differs from run to run.");
  util::AddLogFlags(flags, &o.log);
}

absl::Status Validate(const SimulateOptions& o) {
  const auto bad = [](absl::string_view text) { return absl::InvalidArgumentError(text); };
  if (o.cycles < 0) return bad("--cycles must not be negative");
  if (o.cycles > 0 && o.until_idle) return bad("--cycles and --until-idle exclude each other");
  if (o.seed < 0) return bad("--seed must not be negative");
  if (o.trace_time_scale < 1) return bad("--trace-time-scale must be at least 1");
  if (o.trace.empty()) {
    if (!o.trace_format.empty() || !o.nodes.empty() || o.trace_forever || o.trace_time_scale > 1) {
      return bad("--trace-format, --nodes, --trace-forever and --trace-time-scale need --trace");
    }
    if (o.manifests.empty()) return bad("nothing to simulate: name manifests or --trace");
    return absl::OkStatus();
  }
  if (o.trace_format != "openb") {
    return bad(absl::StrCat("--trace-format must be openb, not \"", o.trace_format, "\""));
  }
  if (o.cycles > 0) return bad("--cycles cannot be used with --trace");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SimulateOptions> ParseSimulateOptions(const std::vector<std::string>& arguments) {
  SimulateOptions options;
  options.log.min_severity = 1;
  util::FlagSet flags;
  AddFlags(flags, options);
  HEKLA_ASSIGN_OR_RETURN(options.manifests, flags.Parse(arguments));
  options.help = flags.help();
  if (flags.Given("v")) options.log.min_severity = 0;
  if (options.help) return options;
  HEKLA_RETURN_IF_ERROR(Validate(options));
  options.kubelet = options.kubelet || !options.trace.empty();
  return options;
}

std::string SimulateUsage() {
  SimulateOptions options;
  util::FlagSet flags;
  AddFlags(flags, options);
  return absl::StrCat(
      "Usage: heklactl simulate [flags] [MANIFEST...]\n\nManifests: files, folders, - for ",
      "standard input. Exit codes: 0, 1 (the run failed, or the auditor found ",
      "something), 2 (bad input).\n\nFlags:\n", flags.Usage());
}

}  // namespace hekla::cmd::heklactl

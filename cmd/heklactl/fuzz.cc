#include "pkg/sim/fuzz.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "cmd/heklactl/subcommands.h"
#include "pkg/sim/ray/ray_fuzz.h"
#include "pkg/sim/shrink.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::heklactl {
namespace {

struct FuzzFlags {
  uint64_t first = 1, last = 20;
  int steps = 400;
  bool no_faults = false;
  bool trail = false;
  bool plain = false;
  bool ray = false;
  int shrink_runs = 500;
  std::string replay;
  std::string output_dir = ".";
  util::LogOptions log;
};

// "5" or "5..9".
absl::Status ReadSeeds(absl::string_view text, FuzzFlags* flags) {
  const std::pair<std::string, std::string> sides = absl::StrSplit(text, absl::MaxSplits("..", 1));
  const std::string& last = sides.second.empty() ? sides.first : sides.second;
  if (!absl::SimpleAtoi(sides.first, &flags->first) || !absl::SimpleAtoi(last, &flags->last) ||
      flags->last < flags->first) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not of the form A or A..B"));
  }
  return absl::OkStatus();
}

void Add(util::FlagSet& set, FuzzFlags& flags) {
  set.Custom(
      "seeds", "1..20", [&flags](absl::string_view text) { return ReadSeeds(text, &flags); },
      "Seeds to run: A or A..B.");
  set.Int("steps", &flags.steps, "Steps of each run.");
  set.Bool("no-faults", &flags.no_faults, "A well-behaved network and no restarts.");
  set.Bool("ray", &flags.ray, "RayClusters and the Ray operator in place of the scheduler.");
  set.Int("shrink-runs", &flags.shrink_runs,
          "Most runs to shrink the first failing seed's script with; 0: do not. Not with --ray.");
  set.String("output-dir", &flags.output_dir, "Where a failing seed's shrunk script is written.");
  set.String("replay", &flags.replay, "Play this script in place of seeds.");
  set.Bool("plain", &flags.plain,
           "With --ray: no batch scheduler, no clusters with autoscaling, TLS or NetworkPolicies.");
  set.Bool("trail", &flags.trail, "Print what was done in each run.");
  util::AddLogFlags(set, &flags.log);
}

void Print(const std::vector<std::string>& trail, const std::vector<sim::Violation>& violations,
           const std::string& again, bool with_trail) {
  if (with_trail || !violations.empty()) {
    for (const std::string& line : trail) std::cout << "  " << line << "\n";
  }
  for (const sim::Violation& v : violations) {
    std::cout << "  " << absl::FormatTime("%H:%M:%E3S", v.time, absl::UTCTimeZone()) << " FOUND "
              << v.rule << ": " << v.text << "\n";
  }
  if (!violations.empty()) std::cout << "again: " << again << "\n";
}

// What one seed led to.
struct SeedRun {
  std::vector<std::string> trail;
  std::vector<sim::Violation> violations;
  std::string again;  // the line that repeats it
  std::vector<std::pair<const char*, int64_t>> counts;
};

sim::FuzzOptions SchedulerOptions(uint64_t seed, const FuzzFlags& flags) {
  sim::FuzzOptions options;
  options.seed = seed;
  options.steps = flags.steps;
  options.faults = !flags.no_faults;
  return options;
}

SeedRun RunScheduler(uint64_t seed, const FuzzFlags& flags) {
  const sim::FuzzOptions options = SchedulerOptions(seed, flags);
  sim::FuzzOutcome outcome = sim::RunFuzz(options);
  return {std::move(outcome.trail),
          std::move(outcome.violations),
          sim::Reproduction(options),
          {{"steps", outcome.steps},
           {"cycles", outcome.cycles},
           {"bindings", outcome.bindings},
           {"faults", outcome.faults},
           {"changes of the leader", outcome.leaders}}};
}

SeedRun RunRay(uint64_t seed, const FuzzFlags& flags) {
  sim::RayFuzzOptions options;
  options.seed = seed;
  options.actions = flags.steps;
  options.faults = !flags.no_faults;
  options.extras = !flags.plain;
  sim::RayFuzzOutcome outcome = sim::RunRayFuzz(options);
  return {std::move(outcome.trail),
          std::move(outcome.violations),
          sim::RayReproduction(options),
          {{"steps", outcome.steps},
           {"reconciles", outcome.reconciles},
           {"pods", outcome.pods},
           {"faults", outcome.faults}}};
}

// Writes what is left of the failing run once everything that it does not need is left out, and
// prints it with the line that plays it.
void PrintShrunk(uint64_t seed, const FuzzFlags& flags) {
  sim::FuzzOptions options = SchedulerOptions(seed, flags);
  options.record = true;
  const sim::FuzzOutcome outcome = sim::RunFuzz(options);
  std::cout << "shrinking a script of " << outcome.script.actions.size() << " actions and "
            << outcome.script.placed_faults.size() << " faults" << std::endl;
  const sim::Shrunk shrunk = sim::ShrinkFailure(outcome, flags.shrink_runs);
  const std::string path = absl::StrCat(flags.output_dir, "/fuzz-", seed, ".script");
  std::ofstream file(path, std::ios::binary);
  file << shrunk.script.ToText();
  file.close();
  std::cout << "after " << shrunk.runs << " runs " << shrunk.script.actions.size()
            << " actions and " << shrunk.script.placed_faults.size() << " faults are left:\n"
            << shrunk.script.ToText();
  if (file) {
    std::cout << "again: heklactl fuzz --replay " << path << "\n";
  } else {
    std::cout << "cannot write " << path << "\n";
  }
}

int Replay(const FuzzFlags& flags) {
  std::ifstream file(flags.replay, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    std::cerr << "heklactl fuzz: cannot read " << flags.replay << "\n";
    return 2;
  }
  const absl::StatusOr<sim::Script> script = sim::Script::Parse(text.str());
  if (!script.ok()) {
    std::cerr << "heklactl fuzz: " << flags.replay << ": " << script.status().message() << "\n";
    return 2;
  }
  const sim::FuzzOutcome outcome = sim::PlayScript(*script);
  Print(outcome.trail, outcome.violations, absl::StrCat("heklactl fuzz --replay ", flags.replay),
        flags.trail);
  std::cout << outcome.steps << " steps, " << outcome.faults << " faults, "
            << outcome.violations.size() << " findings\n";
  return outcome.violations.empty() ? 0 : 1;
}

int RunSeeds(const FuzzFlags& flags) {
  std::vector<std::pair<const char*, int64_t>> sums;
  int64_t failed = 0;
  const absl::Time start = absl::Now();
  for (uint64_t seed = flags.first; seed <= flags.last; ++seed) {
    const SeedRun run = flags.ray ? RunRay(seed, flags) : RunScheduler(seed, flags);
    Print(run.trail, run.violations, run.again, flags.trail);
    sums.resize(run.counts.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = {run.counts[i].first, sums[i].second + run.counts[i].second};
    }
    if (run.violations.empty()) continue;
    if (failed++ == 0 && !flags.ray && flags.shrink_runs > 0) PrintShrunk(seed, flags);
  }
  std::cout << flags.last - flags.first + 1 << " seeds";
  for (const auto& [what, sum] : sums) std::cout << ", " << sum << " " << what;
  std::cout << " in " << absl::ToDoubleSeconds(absl::Now() - start) << " s: " << failed
            << " seeds with findings\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace

int RunFuzz(const Arguments& arguments) {
  FuzzFlags flags;
  flags.log.min_severity = 3;
  util::FlagSet set;
  Add(set, flags);
  const auto rest = set.Parse(arguments);
  if (!rest.ok() || !rest->empty() || flags.steps < 1) {
    std::cerr << "heklactl fuzz: "
              << (!rest.ok()
                      ? std::string(rest.status().message())
                      : (rest->empty() ? "--steps must be at least 1" : "unexpected argument"))
              << "\n\nUsage: heklactl fuzz [flags]\n\nFlags:\n"
              << set.Usage();
    return 2;
  }
  if (set.help()) {
    std::cout << "Usage: heklactl fuzz [flags]\n\nFlags:\n" << set.Usage();
    return 0;
  }
  if (set.Given("v")) flags.log.min_severity = 0;
  util::StartLogging("heklactl", flags.log);
  return flags.replay.empty() ? RunSeeds(flags) : Replay(flags);
}

}  // namespace hekla::cmd::heklactl

#include "pkg/sim/fuzz.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "pkg/sim/fuzz_world.h"
#include "pkg/sim/liveness.h"
#include "pkg/util/random.h"
#include "pkg/util/status_macros.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

// Longer than any back-off that may have built up, several times.
constexpr absl::Duration kPatience = absl::Minutes(25);
constexpr absl::Duration kLook = absl::Seconds(20);

class Run {
 public:
  Run(uint64_t seed, bool faults, FaultBook* book)
      : random_(seed), shape_(DrawShape(random_, faults)), world_(WorldOptions(seed, book)) {}

  // Returns whether the run goes on.
  bool Do(const Action& action) {
    outcome_.trail.push_back(
        absl::StrCat(absl::FormatTime("%H:%M:%E3S", world_.now(), absl::UTCTimeZone()), " ",
                     apis::json::Dump(action)));
    Perform(world_, shape_, action);
    world_.Advance(absl::Milliseconds(action.GetInt("after")));
    ++outcome_.steps;
    return world_.clean();
  }
  Storm MakeStorm() { return Storm(&world_, shape_, random_.Next()); }

  FuzzOutcome Finish() {
    const int64_t cycles = world_.cycles();
    const absl::Time calm = world_.now();
    Calm(world_, shape_);
    while (world_.clean()) {
      world_.Advance(kLook);
      std::vector<Violation> left =
          LeftPending(world_.mirror(), SharingOf(shape_.family), world_.now());
      for (Violation& v : StaleStatuses(world_.mirror(), world_.now()))
        left.push_back(std::move(v));
      const absl::Duration settled = world_.now() - calm;
      if (left.empty() && settled >= 3 * kLook) break;
      if (settled < kPatience) continue;
      outcome_.violations = std::move(left);
      break;
    }
    for (Violation& v : world_.Violations()) outcome_.violations.push_back(std::move(v));
    outcome_.faults = world_.faults();
    outcome_.bindings = world_.bindings();
    outcome_.cycles = world_.cycles();
    outcome_.settling_cycles = world_.cycles() - cycles;
    outcome_.leaders = world_.leaders();
    return std::move(outcome_);
  }

 private:
  FuzzWorld::Options WorldOptions(uint64_t seed, FaultBook* book) const {
    FuzzWorld::Options options;
    options.seed = seed;
    options.plan = shape_.plan;
    options.check_gangs = !shape_.faults;
    options.lives = shape_.lives;
    options.clocks_apart = shape_.faults;
    options.config = ConfigText(shape_.family, 0);
    options.book = book;
    return options;
  }

  util::Random random_;
  const Shape shape_;
  FuzzWorld world_;
  FuzzOutcome outcome_;
};

}  // namespace

std::string Script::ToText() const {
  std::string text = absl::StrCat(
      apis::json::Dump(Value::MakeObject({{"seed", static_cast<long>(seed)}, {"faults", faults}})),
      "\n");
  for (const Action& action : actions) absl::StrAppend(&text, apis::json::Dump(action), "\n");
  for (const PlacedFault& fault : placed_faults) {
    absl::StrAppend(&text, apis::json::Dump(ToJson(fault)), "\n");
  }
  return text;
}

absl::StatusOr<Script> Script::Parse(absl::string_view text) {
  Script script;
  int number = 0;
  bool head = false;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line[0] == '#') continue;
    const absl::StatusOr<Value> value = apis::json::Parse(line);
    const auto wrong = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", what));
    };
    if (!value.ok()) return wrong(value.status().message());
    if (!std::exchange(head, true)) {
      if (!value->At("seed").is_int()) return wrong("the first line must have a seed");
      script.seed = static_cast<uint64_t>(value->GetInt("seed"));
      script.faults = value->GetBool("faults", true);
    } else if (value->Has("do")) {
      script.actions.push_back(*value);
    } else {
      const absl::StatusOr<PlacedFault> fault = ParsePlacedFault(*value);
      if (!fault.ok()) return wrong(fault.status().message());
      script.placed_faults.push_back(*fault);
    }
  }
  if (!head) return absl::InvalidArgumentError("an empty script");
  return script;
}

std::string Reproduction(const FuzzOptions& options) {
  return absl::StrCat("heklactl fuzz --seeds ", options.seed, "..", options.seed, " --steps ",
                      options.steps, options.faults ? "" : " --no-faults");
}

std::string Findings(const FuzzOptions& options, const FuzzOutcome& outcome) {
  std::string text;
  for (const Violation& v : outcome.violations) absl::StrAppend(&text, v.rule, ": ", v.text, "\n");
  if (!text.empty()) absl::StrAppend(&text, "again: ", Reproduction(options), "\n");
  return text;
}

FuzzOutcome RunFuzz(const FuzzOptions& options) {
  FaultBook book;
  Script script;
  script.seed = options.seed;
  script.faults = options.faults;
  Run run(options.seed, options.faults, options.record ? &book : nullptr);
  Storm storm = run.MakeStorm();
  const auto step = [&](const Action& action) {
    if (options.record) script.actions.push_back(action);
    return run.Do(action);
  };
  bool clean = true;
  for (const Action& action : storm.Prologue()) clean = clean && step(action);
  for (int i = 0; i < options.steps && clean; ++i) clean = step(storm.Next());
  FuzzOutcome outcome = run.Finish();
  script.placed_faults = book.noted();
  outcome.script = std::move(script);
  return outcome;
}

FuzzOutcome PlayScript(const Script& script) {
  FaultBook book(script.placed_faults);
  Run run(script.seed, script.faults, &book);
  for (const Action& action : script.actions) {
    if (!run.Do(action)) break;
  }
  return run.Finish();
}

}  // namespace hekla::sim

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "bench/macro/scenario.h"
#include "glog/logging.h"

namespace hekla::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;
using Cost = Scenario::Cost;

double At(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

void AddPlacements(Result& result, const Cost& cost, size_t expected) {
  CHECK_EQ(cost.binds, expected) << result.name << ": wrong number of placements";
  const auto placed = static_cast<double>(cost.binds);
  result.numbers.emplace_back("placements", placed);
  result.numbers.emplace_back("seconds", cost.seconds);
  result.numbers.emplace_back("placements_per_second", placed / cost.seconds);
  result.numbers.emplace_back("allocations_per_placement",
                              static_cast<double>(cost.allocations) / placed);
}

Result Idle(int nodes) {
  Scenario s(nodes, false);
  s.FillNodes(10, 1000, 2 * kGi);
  for (int i = 0; i < 3; ++i) s.Run();
  std::vector<double> micros;
  uint64_t allocations = 0;
  for (int i = 0; i < 200; ++i) {
    const Cost cost = s.Run();
    CHECK_EQ(cost.writes, 0u);
    micros.push_back(cost.seconds * 1e6);
    allocations += cost.allocations;
  }
  return {"idle",
          nodes,
          {{"running_pods", nodes * 10.0},
           {"cycle_p50_microseconds", At(micros, 0.5)},
           {"cycle_p99_microseconds", At(micros, 0.99)},
           {"allocations_per_cycle", static_cast<double>(allocations) / 200}}};
}

Result Identical(int nodes) {
  Scenario s(nodes, false);
  const int pods = std::min(nodes * 5, 50000);
  s.AddGang("gang", pods, pods, 1000, 2 * kGi);
  Result result{"identical", nodes, {}};
  AddPlacements(result, s.Run(), static_cast<size_t>(pods));
  return result;
}

Result OwnClasses(int nodes) {
  Scenario s(nodes, false);
  constexpr int kPods = 2000;
  s.world().AddJob("gang", kPods);
  for (int i = 0; i < kPods; ++i) {
    s.world().AddPod({.name = absl::StrCat("gang-worker-", i),
                      .job = "gang",
                      .cpu = 500 + i,
                      .memory = kGi + static_cast<int64_t>(s.random().Below(kGi))});
  }
  Result result{"own_classes", nodes, {}};
  AddPlacements(result, s.Run(), kPods);
  return result;
}

Result Gangs(int nodes) {
  Scenario s(nodes, false);
  for (int g = 0; g < 100; ++g) {
    s.AddGang(absl::StrCat("gang", g), 100, 100, 1000 + 10 * g, 2 * kGi);
  }
  Result result{"gangs_100x100", nodes, {}};
  AddPlacements(result, s.Run(), 10000);
  return result;
}

Result Mixed(int nodes) {
  Scenario s(nodes, true);
  constexpr int kPods = 5000;
  model::testing::World& w = s.world();
  const auto in = [&](const char* key, std::string value) {
    return model::Requirement{w.Sym(key), model::SelectorOp::kIn, {w.Sym(value)}, 0};
  };
  for (int i = 0; i < kPods; ++i) {
    const std::string job = absl::StrCat("job", i / 50);
    if (i % 50 == 0) w.AddJob(job, 1);
    const std::string app = absl::StrCat("app", i / 50 % 20);
    auto spec = w.MakePod({.name = absl::StrCat(job, "-worker-", i % 50),
                           .job = job,
                           .cpu = 500,
                           .memory = kGi,
                           .labels = {{"app", app}}});
    auto pod = std::make_shared<model::PodTemplate>(*spec->pod);
    const int kind = i / 50 % 20;  // 4 of 20 node affinity, 2 spread, 1 anti-affinity
    if (kind < 4) {
      model::NodeTerm term;
      term.expressions = {in("topology.kubernetes.io/zone", absl::StrCat("z", kind))};
      pod->has_required_affinity = true;
      pod->required_affinity = {term};
    } else if (kind < 6) {
      model::SpreadConstraint spread;
      spread.topology_key = w.Sym("topology.kubernetes.io/zone");
      spread.selector.requirements = {in("app", app)};
      pod->spread = {spread};
    } else if (kind == 6) {
      model::PodTerm term;
      term.selector.requirements = {in("app", app)};
      term.namespaces = {w.Sym("ns")};
      term.topology_key = w.Sym("kubernetes.io/hostname");
      pod->anti_affinity = {term};
    }
    spec->pod = pod;
    w.Apply(spec);
  }
  Result result{"mixed_constraints", nodes, {}};
  AddPlacements(result, s.Run(), kPods);
  return result;
}

Result Full(int nodes) {
  Scenario s(nodes, false);
  s.FillNodes(19, 1600, 6 * kGi);  // 30400 of 32000 milli-cores
  constexpr int kPending = 50000;
  for (int g = 0; g < kPending / 100; ++g) s.AddGang(absl::StrCat("big", g), 100, 1, 4000, kGi);
  const Cost first = s.Run();
  CHECK_EQ(first.binds, 0u);
  const Cost again = s.Run();
  s.EndPods(1);
  const Cost relieved = s.Run();
  return {"full_50000_pending",
          nodes,
          {{"first_cycle_milliseconds", first.seconds * 1e3},
           {"unchanged_cycle_milliseconds", again.seconds * 1e3},
           {"cycle_after_one_pod_end_milliseconds", relieved.seconds * 1e3}}};
}

Result Churn(int nodes) {
  Scenario s(nodes, false);
  s.FillNodes(10, 1000, 2 * kGi);
  s.Run();
  std::vector<double> millis;
  size_t placed = 0;
  for (int cycle = 0; cycle < 50; ++cycle) {
    s.EndPods(100);
    s.AddGang(absl::StrCat("churn", cycle), 100, 100, 1000, 2 * kGi);
    const Cost cost = s.Run();
    placed += cost.binds;
    millis.push_back(cost.seconds * 1e3);
    s.ConfirmBinds();
  }
  CHECK_EQ(placed, 5000u);
  return {"churn_100_per_cycle",
          nodes,
          {{"cycle_p50_milliseconds", At(millis, 0.5)},
           {"cycle_p99_milliseconds", At(millis, 0.99)},
           {"cycle_max_milliseconds", At(millis, 1)}}};
}

}  // namespace

std::vector<Case> AllCases() {
  return {{"idle", Idle},   {"identical", Identical}, {"own_classes", OwnClasses},
          {"gangs", Gangs}, {"mixed", Mixed},         {"full", Full},
          {"churn", Churn}};
}

}  // namespace hekla::bench

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "bench/macro/scenario.h"
#include "glog/logging.h"

namespace hekla::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

Result Of(const char* name, const Scenario& s) { return {name, s.nodes(), {}, {}}; }

void Measure(Result& result, Scenario& s, size_t expected) {
  result.cycles.push_back(s.Run());
  CHECK_EQ(result.cycles.back().binds, expected) << result.name << ": wrong number of placements";
}

Result Idle(int nodes) {
  Scenario s(nodes, false);
  s.FillNodes(10, 1000, 2 * kGi);
  for (int i = 0; i < 3; ++i) s.Run();
  Result result = Of("idle", s);
  for (int i = 0; i < 200; ++i) {
    Measure(result, s, 0);
    CHECK_EQ(result.cycles.back().writes, 0u);
  }
  result.more.emplace_back("running_pods", nodes * 10.0);
  return result;
}

Result Identical(int nodes) {
  Scenario s(nodes, false);
  const int pods = std::min(nodes * 5, 50000);
  s.AddGang("gang", pods, pods, 1000, 2 * kGi);
  Result result = Of("identical", s);
  Measure(result, s, static_cast<size_t>(pods));
  return result;
}

Result OwnClassesOn(Scenario& s, const char* name) {
  constexpr int kPods = 2000;
  s.world().AddJob("gang", kPods);
  for (int i = 0; i < kPods; ++i) {
    s.world().AddPod({.name = absl::StrCat("gang-worker-", i),
                      .job = "gang",
                      .cpu = 500 + i,
                      .memory = kGi + static_cast<int64_t>(s.random().Below(kGi))});
  }
  Result result = Of(name, s);
  Measure(result, s, kPods);
  return result;
}

Result OwnClasses(int nodes) {
  Scenario s(nodes, false);
  return OwnClassesOn(s, "own_classes");
}

// The same where every node is filled in its own way already.
Result OwnClassesUneven(int nodes) {
  Scenario s(nodes, false);
  s.FillUnevenly(8);
  s.Run();
  return OwnClassesOn(s, "own_classes_uneven");
}

Result Gangs(int nodes) {
  Scenario s(nodes, false);
  for (int g = 0; g < 100; ++g) {
    s.AddGang(absl::StrCat("gang", g), 100, 100, 1000 + 10 * g, 2 * kGi);
  }
  Result result = Of("gangs_100x100", s);
  Measure(result, s, 10000);
  return result;
}

Result OneGang(int nodes) {
  Scenario s(nodes, false);
  s.AddGang("gang", 10000, 10000, 2000, 4 * kGi);
  Result result = Of("one_gang_10000", s);
  Measure(result, s, 10000);
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
  Result result = Of("mixed", s);
  Measure(result, s, kPods);
  return result;
}

Result Full(int nodes) {
  Scenario s(nodes, false);
  s.FillNodes(19, 1600, 6 * kGi);  // 30400 of 32000 milli-cores
  constexpr int kPending = 50000;
  for (int g = 0; g < kPending / 100; ++g) s.AddGang(absl::StrCat("big", g), 100, 1, 4000, kGi);
  Result result = Of("full_50000_pending", s);
  const Scenario::Cost first = s.Run();
  CHECK_EQ(first.binds, 0u);
  result.more.emplace_back("first_cycle_milliseconds", first.seconds * 1e3);
  for (int i = 0; i < 20; ++i) Measure(result, s, 0);
  const auto relieved = [&](int ended) {
    s.EndPods(ended);
    const Scenario::Cost cost = s.Run();
    CHECK_EQ(cost.binds, 0u);
    result.more.emplace_back(absl::StrCat("cycle_after_", ended, "_ends_milliseconds"),
                             cost.seconds * 1e3);
  };
  for (int ended : {1, 10, 100}) relieved(ended);
  return result;
}

// Ten seconds of 1,000 pods that end and 1,000 that arrive per second, a cycle every 10 ms.
Result Churn(int nodes) {
  Scenario s(nodes, false);
  s.FillNodes(10, 1000, 2 * kGi);
  s.Run();
  constexpr int kSeconds = 10;
  constexpr int kCycles = 100 * kSeconds;
  Result result = Of("churn_1000_per_second", s);
  double cpu = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    s.EndPods(10);
    s.AddGang(absl::StrCat("churn", cycle), 10, 10, 1000, 2 * kGi);
    Measure(result, s, 10);
    cpu += result.cycles.back().cpu_seconds;
    s.ConfirmBinds();
  }
  result.more.emplace_back("cpu_milliseconds_per_second", cpu * 1e3 / kSeconds);
  return result;
}

}  // namespace

std::vector<Case> AllCases() {
  return {{"idle", Idle},
          {"identical", Identical},
          {"own_classes", OwnClasses},
          {"own_classes_uneven", OwnClassesUneven},
          {"gangs", Gangs},
          {"one_gang", OneGang},
          {"mixed", Mixed},
          {"full", Full},
          {"churn", Churn},
          {"start", Start}};
}

}  // namespace hekla::bench

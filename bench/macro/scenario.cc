#include "bench/macro/scenario.h"

#include <chrono>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/plugins/registry.h"

namespace hekla::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;
const std::vector<std::string> kActions = {"enqueue", "allocate", "backfill"};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CpuNow() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Calls add(tier, name, entry) for every plugin of the default configuration.
template <typename Fn>
void ForEachPlugin(bool binpack, Fn add) {
  std::vector<std::vector<std::string>> tiers = {
      {"priority", "gang", "conformance"},
      {"overcommit", "drf", "predicates", "proportion", "nodeorder"}};
  if (binpack) tiers[1].push_back("binpack");
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    for (const std::string& name : tiers[tier]) {
      for (const framework::PluginEntry& entry : plugins::AllPlugins()) {
        if (entry.name == name) add(static_cast<int32_t>(tier), name, entry);
      }
    }
  }
}

}  // namespace

Scenario::Scenario(int nodes, bool binpack) : nodes_(nodes) {
  framework::PluginDeps deps;
  deps.clock = &state_.clock;
  int32_t last_tier = 0;
  ForEachPlugin(binpack,
                [&](int32_t tier, const std::string& name, const framework::PluginEntry& entry) {
                  if (tier > last_tier) state_.NextTier();
                  last_tier = tier;
                  framework::PluginOption option;
                  option.name = name;
                  state_.AddPlugin(name, entry.make(option, deps), option);
                });
  state_.AddActions(kActions);
  for (const std::string& name : kActions) {
    for (const framework::ActionEntry& entry : actions::AllActions()) {
      if (entry.name == name) actions_.emplace_back(name, entry.make());
    }
  }
  world().AddQueue("root");
  world().AddQueue("default", "root");
  for (int i = 0; i < nodes; ++i) {
    world().AddNode({.name = absl::StrCat("node-", i),
                     .cpu = 32000,
                     .memory = 128 * kGi,
                     .pods = 110,
                     .labels = {{"topology.kubernetes.io/zone", absl::StrCat("z", i % 10)}}});
  }
}

namespace {

using Actions = std::vector<std::pair<std::string, std::unique_ptr<framework::Action>>>;

Scenario::Cost RunCycle(framework::Session& session, const Actions& actions,
                        const framework::testing::RecordingSink& sink) {
  const framework::Arguments none;
  Scenario::Cost cost;
  const uint64_t allocations = AllocationCount();
  const double start = Now();
  const double cpu_start = CpuNow();
  session.Open("0f8fad5b-d9cb-469f-a165-70867728950e");
  for (const auto& [name, action] : actions) action->Execute(session, none);
  session.Close();
  cost.cpu_seconds = CpuNow() - cpu_start;
  cost.seconds = Now() - start;
  cost.allocations = AllocationCount() - allocations;
  cost.binds = sink.binds.size();
  cost.writes = sink.writes();
  return cost;
}

}  // namespace

Scenario::Cost Scenario::Run() {
  state_.sink.Clear();
  // The session is made once per configuration, not per cycle.
  return RunCycle(state_.session(), actions_, state_.sink);
}

Policies::Policies(bool binpack, const util::Clock* clock) : clock_(clock) {
  framework::PluginDeps deps;
  deps.clock = clock;
  ForEachPlugin(binpack,
                [&](int32_t tier, const std::string& name, const framework::PluginEntry& entry) {
                  options_.push_back(std::make_unique<framework::PluginOption>());
                  options_.back()->name = name;
                  plugins_.push_back(entry.make(*options_.back(), deps));
                  slots_.push_back({options_.back().get(), plugins_.back().get(), tier});
                });
}

Scenario::Cost Policies::FirstCycle(model::Cluster& cluster) {
  framework::testing::RecordingSink sink;
  framework::ReasonTable reasons;
  framework::NodeSearch search(cluster);
  framework::SessionDeps deps;
  deps.cluster = &cluster;
  deps.sink = &sink;
  deps.clock = clock_;
  deps.reasons = &reasons;
  deps.search = &search;
  Actions actions;
  for (const std::string& name : kActions) {
    for (const framework::ActionEntry& entry : actions::AllActions()) {
      if (entry.name == name) actions.emplace_back(name, entry.make());
    }
  }
  framework::Session session(deps, slots_, kActions);
  return RunCycle(session, actions, sink);
}

void Scenario::AddGang(const std::string& name, int pods, int32_t min_member, int64_t cpu,
                       int64_t memory) {
  world().AddJob(name, min_member);
  for (int i = 0; i < pods; ++i) {
    world().AddPod({.name = absl::StrCat(name, "-worker-", i),
                    .job = name,
                    .cpu = cpu,
                    .memory = memory,
                    .labels = {{"job", name}, {"index", absl::StrCat(i)}}});
  }
}

void Scenario::FillNodes(int per_node, int64_t cpu, int64_t memory) {
  int n = 0;
  const int total = nodes_ * per_node;
  for (int start = 0; start < total; start += 100) {
    const std::string job = absl::StrCat("filled-", start / 100);
    world().AddJob(job, 1, "default", model::PodGroupPhase::kRunning);
    for (int i = 0; i < 100 && n < total; ++i, ++n) {
      running_.push_back(world().AddPod({.name = absl::StrCat(job, "-worker-", i),
                                         .job = job,
                                         .cpu = cpu,
                                         .memory = memory,
                                         .node = absl::StrCat("node-", n % nodes_),
                                         .status = model::TaskStatus::kRunning}));
    }
  }
}

void Scenario::FillUnevenly(int per_node) {
  const int total = nodes_ * per_node;
  for (int n = 0; n < total; ++n) {
    const std::string job = absl::StrCat("uneven-", n / 100);
    if (n % 100 == 0) world().AddJob(job, 1, "default", model::PodGroupPhase::kRunning);
    running_.push_back(
        world().AddPod({.name = absl::StrCat(job, "-worker-", n % 100),
                        .job = job,
                        .cpu = 100 + static_cast<int64_t>(random_.Below(3000)),
                        .memory = static_cast<int64_t>(random_.Below(uint64_t{12} << 30)),
                        .node = absl::StrCat("node-", n % nodes_),
                        .status = model::TaskStatus::kRunning}));
  }
}

void Scenario::ConfirmBinds() {
  for (const ports::BindRequest& bind : state_.sink.binds) {
    const model::TaskId task = world().cluster().FindTask(bind.uid);
    if (!task.valid()) continue;
    world().Update(task, model::TaskStatus::kRunning, bind.node);
    running_.push_back(task);
  }
}

void Scenario::EndPods(int count) {
  for (int i = 0; i < count && ended_ < running_.size(); ++i) world().RemovePod(running_[ended_++]);
}

}  // namespace hekla::bench

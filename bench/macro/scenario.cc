#include "bench/macro/scenario.h"

#include <chrono>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/plugins/registry.h"

namespace hekla::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CpuNow() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

Scenario::Scenario(int nodes, bool binpack) : nodes_(nodes) {
  std::vector<std::vector<std::string>> tiers = {
      {"priority", "gang", "conformance"},
      {"overcommit", "drf", "predicates", "proportion", "nodeorder"}};
  if (binpack) tiers[1].push_back("binpack");
  framework::PluginDeps deps;
  deps.clock = &state_.clock;
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    if (tier > 0) state_.NextTier();
    for (const std::string& name : tiers[tier]) {
      for (const framework::PluginEntry& entry : plugins::AllPlugins()) {
        if (entry.name != name) continue;
        framework::PluginOption option;
        option.name = name;
        state_.AddPlugin(name, entry.make(option, deps), option);
      }
    }
  }
  const std::vector<std::string> order = {"enqueue", "allocate", "backfill"};
  state_.AddActions(order);
  for (const std::string& name : order) {
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

Scenario::Cost Scenario::Run() {
  state_.sink.Clear();
  const framework::Arguments none;
  state_.session();  // made once per configuration, not per cycle
  Cost cost;
  const uint64_t allocations = AllocationCount();
  const double start = Now();
  const double cpu_start = CpuNow();
  framework::Session& session = state_.session();
  session.Open("0f8fad5b-d9cb-469f-a165-70867728950e");
  for (auto& [name, action] : actions_) action->Execute(session, none);
  session.Close();
  cost.cpu_seconds = CpuNow() - cpu_start;
  cost.seconds = Now() - start;
  cost.allocations = AllocationCount() - allocations;
  cost.binds = state_.sink.binds.size();
  cost.writes = state_.sink.writes();
  return cost;
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

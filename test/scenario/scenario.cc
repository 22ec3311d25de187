#include "test/scenario/scenario.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"
#include "test/harness/world.h"
#include "test/scenario/comparison.h"
#include "test/scenario/objects.h"

namespace hekla::scenario {
namespace {

using apis::json::Value;
using harness::World;

std::string GroupOf(World& world, const std::string& pod) {
  const model::TaskId task = world.FindTask(FullName(pod));
  if (!task.valid()) return "";
  const model::TaskSpec& spec = *world.tables().tasks.spec[task];
  return ShortName(absl::StrCat(spec.namespace_name, "/", spec.job));
}

void CollectPipelined(World& world, Outcome& outcome) {
  const model::TaskTable& tasks = world.tables().tasks;
  outcome.pipelined.clear();
  for (size_t i = 0; i < tasks.size(); ++i) {
    const model::TaskId t(static_cast<uint32_t>(i));
    if (tasks.live[t] && tasks.status[t] == model::TaskStatus::kPipelined) {
      outcome.pipelined[ShortName(world.TaskName(t))] = world.NodeName(tasks.node[t]);
    }
  }
}

void Collect(World& world, Outcome& outcome) {
  for (const ports::BindRequest& bind : world.sink().binds) {
    const std::string pod = ShortName(absl::StrCat(bind.namespace_name, "/", bind.name));
    outcome.binds[pod] = bind.node;
    ++outcome.bind_counts[GroupOf(world, pod)];
  }
  for (const ports::EvictRequest& e : world.sink().evictions) {
    outcome.evictions.push_back(ShortName(absl::StrCat(e.namespace_name, "/", e.name)));
  }
  const model::JobTable& jobs = world.tables().jobs;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const model::JobId j(static_cast<uint32_t>(i));
    if (jobs.live[j]) {
      const absl::string_view phase = model::PhaseName(jobs.phase[j]);
      outcome.phases[ShortName(jobs.key[j])] = std::string(phase);
    }
  }
}

absl::Status CheckTopLevel(const Value& scenario) {
  if (!scenario.is_object()) return absl::InvalidArgumentError("a scenario is a map");
  static constexpr absl::string_view kFields[] = {
      "name", "config",          "nodes",   "queues", "podGroups",
      "pods", "priorityClasses", "objects", "cycles", "expect"};
  for (const auto& member : scenario.as_object()) {
    if (std::find(std::begin(kFields), std::end(kFields), member.key) == std::end(kFields)) {
      return absl::InvalidArgumentError(absl::StrCat("unknown field ", member.key));
    }
  }
  if (!scenario.At("expect").is_object()) return absl::InvalidArgumentError("expect is missing");
  return absl::OkStatus();
}

}  // namespace

absl::Status RunScenario(const Value& scenario, std::vector<Finding>& findings) {
  HEKLA_RETURN_IF_ERROR(CheckTopLevel(scenario));
  World world;
  HEKLA_ASSIGN_OR_RETURN(std::vector<Value> objects, BuildObjects(scenario));
  for (const Value& object : objects) HEKLA_RETURN_IF_ERROR(world.Apply(object));
  HEKLA_ASSIGN_OR_RETURN(std::string config, BuildConfig(scenario));
  HEKLA_RETURN_IF_ERROR(
      world.Configure(config.empty() ? conf::BuiltInConfigText() : absl::string_view(config)));
  Outcome outcome;
  for (int64_t i = 0; i < scenario.GetInt("cycles", 1); ++i) {
    if (i > 0) world.Echo();
    const size_t before = world.sink().writes();
    world.Run(nullptr, [&](framework::Session&) { CollectPipelined(world, outcome); });
    outcome.last_writes = world.sink().writes() - before;
    world.cluster().CheckConsistency();
    world.clock().Advance(absl::Seconds(1));
  }
  Collect(world, outcome);
  return Comparison(world, outcome, findings).Run(scenario.At("expect"));
}

}  // namespace hekla::scenario

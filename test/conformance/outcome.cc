#include "test/conformance/outcome.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/actions/registry.h"
#include "pkg/framework/node_search.h"
#include "pkg/plugins/registry.h"
#include "pkg/util/status_macros.h"
#include "test/conformance/probe.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"

namespace hekla::conformance {
namespace {

using apis::json::Value;
using harness::World;

constexpr const char* kGroupAnnotation = "scheduling.k8s.io/group-name";

// All names upstream has; those we lack are silent in cases that do not use them.
constexpr const char* kUpstreamPlugins[] = {"drf",
                                            "gang",
                                            "deviceshare",
                                            "predicates",
                                            "priority",
                                            "nodeorder",
                                            "conformance",
                                            "binpack",
                                            "resource-strategy-fit",
                                            "tdm",
                                            "overcommit",
                                            "sla",
                                            "task-topology",
                                            "numaaware",
                                            "cdp",
                                            "rescheduling",
                                            "usage",
                                            "pdb",
                                            "nodegroup",
                                            "network-topology-aware",
                                            "proportion",
                                            "capacity",
                                            "extender",
                                            "resourcequota"};

// What upstream's harness fed to its cache directly: every pod is the scheduler's, but one that
// names no PodGroup only occupies its node.
Value Prepared(const std::string& kind, const Value& object) {
  Value out = object;
  if (kind != "pods") return out;
  const Value* group = out.FindPath({"metadata", "annotations", kGroupAnnotation});
  const bool grouped = group != nullptr && group->is_string() && !group->as_string().empty();
  out.Ensure({"spec"}).Set("schedulerName", grouped ? "volcano" : "default-scheduler");
  return out;
}

absl::Status LoadObjects(World& world, const Case& recorded) {
  static constexpr const char* kOrder[] = {"namespaces",
                                           "priorityclasses",
                                           "storageclasses",
                                           "csidrivers",
                                           "csinodes",
                                           "csistoragecapacities",
                                           "pvs",
                                           "pvcs",
                                           "services",
                                           "queues",
                                           "nodes",
                                           "podgroups",
                                           "pods"};
  for (const auto& [kind, list] : recorded.objects.as_object()) {
    if (list.size() == 0) continue;
    const bool read = std::find_if(std::begin(kOrder), std::end(kOrder),
                                   [&](const char* k) { return kind == k; }) != std::end(kOrder);
    if (!read) return absl::UnimplementedError(absl::StrCat("objects ", kind));
  }
  for (const char* kind : kOrder) {
    const Value& list = recorded.objects.At(kind);
    if (!list.is_array()) continue;
    for (const Value& object : list.as_array()) {
      HEKLA_RETURN_IF_ERROR(world.Apply(Prepared(kind, object)));
    }
  }
  return absl::OkStatus();
}

std::string GroupOf(const model::Tables& tables, model::TaskId task) {
  const model::JobId job = tables.tasks.job[task];
  return job.valid() ? tables.jobs.key[job] : "";
}

void CollectPipelined(const model::Tables& tables, Outcome& outcome) {
  for (size_t i = 0; i < tables.tasks.size(); ++i) {
    const model::TaskId t(static_cast<uint32_t>(i));
    if (tables.tasks.live[t] && tables.tasks.status[t] == model::TaskStatus::kPipelined) {
      ++outcome.pipelined_counts[GroupOf(tables, t)];
    }
  }
}

// Jobs that a session's actions left Inqueue.
std::set<std::string> InqueueJobs(const model::Tables& tables) {
  std::set<std::string> keys;
  for (size_t i = 0; i < tables.jobs.size(); ++i) {
    const model::JobId j(static_cast<uint32_t>(i));
    if (tables.jobs.live[j] && tables.jobs.phase[j] == model::PodGroupPhase::kInqueue) {
      keys.insert(tables.jobs.key[j]);
    }
  }
  return keys;
}

// Recordings were taken ahead of the close hooks, without the condition that makes a running gang
// below its minimum Unknown.
std::string PhaseWithoutCondition(const std::string& key, absl::string_view phase,
                                  const std::set<std::string>& inqueue) {
  if (phase != "Unknown") return std::string(phase);
  return inqueue.count(key) > 0 ? "Inqueue" : "Pending";
}

void Collect(World& world, const std::set<std::string>& inqueue, Outcome& outcome) {
  const model::Tables& tables = world.tables();
  for (const ports::BindRequest& bind : world.sink().binds) {
    const std::string pod = absl::StrCat(bind.namespace_name, "/", bind.name);
    outcome.binds[pod] = bind.node;
    ++outcome.bind_counts[GroupOf(tables, world.FindTask(pod))];
  }
  for (const ports::EvictRequest& evict : world.sink().evictions) {
    const std::string pod = absl::StrCat(evict.namespace_name, "/", evict.name);
    outcome.evictions.push_back(pod);
    ++outcome.eviction_counts[GroupOf(tables, world.FindTask(pod))];
  }
  std::sort(outcome.evictions.begin(), outcome.evictions.end());
  for (size_t i = 0; i < tables.jobs.size(); ++i) {
    const model::JobId j(static_cast<uint32_t>(i));
    if (tables.jobs.live[j] && tables.jobs.spec[j] != nullptr && !tables.jobs.solo[j]) {
      const absl::string_view phase = model::PhaseName(tables.jobs.phase[j]);
      outcome.phases[tables.jobs.key[j]] =
          PhaseWithoutCondition(tables.jobs.key[j], phase, inqueue);
    }
  }
}

template <typename Registry>
bool Has(const Registry& registry, const std::string& name) {
  return std::any_of(registry.begin(), registry.end(),
                     [&](const auto& entry) { return entry.name == name; });
}

// Special set-up that needs nothing from us.
absl::Status CheckSpecial(const Value& special) {
  if (!special.is_object()) return absl::OkStatus();
  for (const auto& member : special.as_object()) {
    if (member.key == "serverOpts") continue;
    return absl::UnimplementedError(absl::StrCat("special ", member.key));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Result> RunCase(const Case& recorded, uint64_t seed) {
  HEKLA_RETURN_IF_ERROR(CheckSpecial(recorded.special));
  HEKLA_ASSIGN_OR_RETURN(std::vector<std::string> used, UsedPlugins(recorded));
  const framework::PluginRegistry plugins = plugins::AllPlugins();
  const framework::ActionRegistry actions = actions::AllActions();
  for (const std::string& name : used) {
    if (!Has(plugins, name)) return absl::UnimplementedError(absl::StrCat("plugin ", name));
  }
  for (const std::string& name : recorded.actions) {
    if (!Has(actions, name)) return absl::UnimplementedError(absl::StrCat("action ", name));
  }
  World::Options options;
  options.seed = seed;
  for (const char* name : kUpstreamPlugins) {
    if (std::find(used.begin(), used.end(), name) == used.end()) {
      options.silent_plugins.emplace_back(name);
    }
  }
  World world(options);
  HEKLA_RETURN_IF_ERROR(LoadObjects(world, recorded));
  HEKLA_RETURN_IF_ERROR(world.Configure(recorded.conf, recorded.actions));
  Result result;
  std::set<std::string> inqueue;
  const Value& wanted = recorded.decided.At("probe");
  world.Run(
      [&](framework::Session& session) {
        if (wanted.is_object()) result.probe = TakeProbe(world, session, wanted);
      },
      [&](framework::Session& session) {
        CollectPipelined(session.tables(), result.outcome);
        inqueue = InqueueJobs(session.tables());
      });
  world.cluster().CheckConsistency();
  Collect(world, inqueue, result.outcome);
  return result;
}

}  // namespace hekla::conformance

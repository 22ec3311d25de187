#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "pkg/conf/config.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"
#include "test/reference/coverage.h"
#include "test/reference/generate.h"

// The product and the reference scheduler decide the same random clusters, cycle by cycle.
//   HEKLA_PROPERTY_CLUSTERS=N  how many (2500)
//   HEKLA_PROPERTY_FIRST=S     the first seed (1)
//   HEKLA_PROPERTY_SEED=S      only this one
//   HEKLA_PROPERTY_NODES=N     most nodes of a cluster (200)
//   HEKLA_PROPERTY_DUMP=F      write the objects of a cycle that differs to this file
namespace hekla::reference {
namespace {

using harness::World;

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoll(text, nullptr, 10);
}

// Keeps the world's objects equal to the cluster's.
class Mirror {
 public:
  explicit Mirror(World& world) : world_(world) {
    for (int value : {10, 100}) {
      Apply(harness::BuildPriorityClass("p" + std::to_string(value), value));
    }
  }

  void Sync(const Cluster& cluster) {
    std::map<std::string, apis::json::Value> now;
    const auto add = [&](apis::json::Value object) {
      const apis::json::Value& meta = object.At("metadata");
      now[absl::StrCat(object.GetString("kind"), " ", meta.GetString("namespace"), "/",
                       meta.GetString("name"))] = std::move(object);
    };
    for (const Namespace& space : cluster.namespaces) add(ToJson(space));
    for (const Service& service : cluster.services) add(ToJson(service));
    for (const Claim& claim : cluster.claims) {
      for (apis::json::Value& object : ToJson(claim)) add(std::move(object));
    }
    for (const Node& node : cluster.nodes) {
      if (std::optional<apis::json::Value> limit = VolumeLimit(node)) add(*std::move(limit));
    }
    for (const Node& node : cluster.nodes) add(ToJson(node));
    for (const Queue& queue : cluster.queues) add(ToJson(queue));
    for (const Group& group : cluster.groups) add(ToJson(group));
    for (const Pod& pod : cluster.pods) add(ToJson(pod));
    for (const auto& [key, object] : objects_) {
      if (now.count(key) == 0) CHECK(world_.Remove(object).ok());
    }
    for (const auto& [key, object] : now) {
      const auto known = objects_.find(key);
      // The status of a group is the scheduler's own; it has written it and remembers.
      const bool same =
          known != objects_.end() &&
          (known->second == object || (object.GetString("kind") == "PodGroup" &&
                                       known->second.At("spec") == object.At("spec") &&
                                       known->second.At("metadata") == object.At("metadata")));
      if (!same) Apply(object);
    }
    objects_ = std::move(now);
  }

  // One object a line, as of the last Sync.
  void Dump(const char* file) const {
    std::ofstream out(file);
    for (const auto& [key, object] : objects_) out << apis::json::Dump(object) << "\n";
  }

 private:
  void Apply(const apis::json::Value& object) {
    const absl::Status status = world_.Apply(object);
    CHECK(status.ok()) << status;
  }
  World& world_;
  std::map<std::string, apis::json::Value> objects_;
};

Decision RunCycle(World& world) {
  Decision decision;
  world.sink() = harness::RecordingSink();
  const auto name = [&](model::TaskId task) {
    const std::string full = world.TaskName(task);
    return full.substr(full.find('/') + 1);
  };
  world.Run(nullptr, [&](framework::Session& session) {
    const model::TaskTable& tasks = session.tables().tasks;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const model::TaskId t(static_cast<uint32_t>(i));
      if (tasks.live[t] && tasks.status[t] == model::TaskStatus::kPipelined) {
        decision.pipelined[name(t)] = world.NodeName(tasks.node[t]);
      }
    }
  });
  for (const ports::BindRequest& bind : world.sink().binds) decision.binds[bind.name] = bind.node;
  const model::JobTable& jobs = world.tables().jobs;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const model::JobId j(static_cast<uint32_t>(i));
    if (jobs.live[j] && jobs.queue[j].valid() && jobs.spec[j] != nullptr && !jobs.solo[j]) {
      decision.phases[jobs.spec[j]->name] = std::string(model::PhaseName(jobs.phase[j]));
    }
  }
  return decision;
}

std::string Difference(const char* what, const std::map<std::string, std::string>& wanted,
                       const std::map<std::string, std::string>& found) {
  if (wanted == found) return "";
  std::string text = absl::StrCat("  ", what, ":");
  for (const auto& [key, value] : wanted) {
    const auto it = found.find(key);
    if (it == found.end() || it->second != value) {
      absl::StrAppend(&text, " ", key, " expected ", value, " found ",
                      it == found.end() ? "nothing" : it->second, ";");
    }
  }
  for (const auto& [key, value] : found) {
    if (wanted.count(key) == 0) absl::StrAppend(&text, " ", key, " expected nothing found ", value);
  }
  return text + "\n";
}

// Nobody is bound, and what was reserved is what was reserved before: the product leaves such a
// cycle out when nothing has happened since the last one, as nobody could come between.
bool IsQuiet(const Decision& wanted, const Decision& found, const Decision& before) {
  return wanted.binds.empty() && found.binds.empty() && found.pipelined.empty() &&
         wanted.pipelined == before.pipelined;
}

// How much was decided at all.
struct Tally {
  int64_t cycles = 0, binds = 0, pipelined = 0;
  std::map<std::string, int64_t> phases;
  Coverage coverage;
};

// Empty: the product decided as the reference did in every cycle.
std::string RunCluster(uint64_t seed, int max_nodes, int cycles, Tally& tally) {
  Generator generator(seed, std::min(10, max_nodes), max_nodes);
  Cluster cluster = generator.Make();
  World::Options options;
  options.seed = seed;
  World world(options);
  Mirror mirror(world);
  CHECK(world.Configure(conf::BuiltInConfigText()).ok());
  Decision before;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    mirror.Sync(cluster);
    const Decision wanted = Decide(cluster, seed);
    Decision found = RunCycle(world);
    if (IsQuiet(wanted, found, before)) found.pipelined = wanted.pipelined;
    if (!(wanted == found)) {
      if (const char* file = std::getenv("HEKLA_PROPERTY_DUMP")) mirror.Dump(file);
      return absl::StrCat("cycle ", cycle, "\n", Difference("binds", wanted.binds, found.binds),
                          Difference("pipelined", wanted.pipelined, found.pipelined),
                          Difference("phases", wanted.phases, found.phases));
    }
    world.cluster().CheckConsistency();
    ++tally.cycles;
    tally.binds += static_cast<int64_t>(wanted.binds.size());
    tally.pipelined += static_cast<int64_t>(wanted.pipelined.size());
    for (const auto& entry : wanted.phases) ++tally.phases[entry.second];
    tally.coverage.Add(cluster, wanted);
    generator.Step(wanted, cluster);
    before = wanted;
  }
  return "";
}

TEST(ReferencePropertyTest, TheProductDecidesAsTheReferenceDoes) {
  const int64_t clusters = FromEnvironment("HEKLA_PROPERTY_CLUSTERS", 2500);
  const int64_t first = FromEnvironment("HEKLA_PROPERTY_FIRST", 1);
  const int64_t only = FromEnvironment("HEKLA_PROPERTY_SEED", -1);
  const int nodes = static_cast<int>(FromEnvironment("HEKLA_PROPERTY_NODES", 200));
  int failures = 0;
  Tally tally;
  for (int64_t seed = first; seed < first + clusters && failures < 5; ++seed) {
    if (only >= 0) seed = only;
    const std::string difference = RunCluster(static_cast<uint64_t>(seed), nodes, 20, tally);
    if (!difference.empty()) {
      ++failures;
      ADD_FAILURE() << "reproduce: HEKLA_PROPERTY_SEED=" << seed
                    << " HEKLA_PROPERTY_NODES=" << nodes << " build/dev/bin/reference_test\n"
                    << difference;
    }
    if (only >= 0) break;
  }
  std::cout << "cycles=" << tally.cycles << " binds=" << tally.binds
            << " pipelined=" << tally.pipelined;
  for (const auto& [phase, count] : tally.phases) std::cout << " " << phase << "=" << count;
  std::cout << "\nseen:" << tally.coverage.Text() << std::endl;
  // The generator must not have become tame.
  if (only < 0 && clusters >= 1000 && failures == 0) {
    EXPECT_EQ(tally.coverage.Missing(), "");
    EXPECT_GT(tally.binds, tally.cycles / 4);
    EXPECT_GT(tally.pipelined, 0);
  }
}

}  // namespace
}  // namespace hekla::reference

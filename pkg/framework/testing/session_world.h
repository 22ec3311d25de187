#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pkg/framework/node_search.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/model/testing/world.h"

namespace hekla::framework::testing {

// Remembers everything that leaves a session.
class RecordingSink final : public ports::DecisionSink {
 public:
  void Bind(std::vector<ports::BindRequest> batch) override {
    for (auto& b : batch) binds.push_back(std::move(b));
  }
  void Evict(std::vector<ports::EvictRequest> batch) override {
    for (auto& e : batch) evicts.push_back(std::move(e));
  }
  void WritePodGroup(ports::PodGroupStatus status) override {
    pod_groups.push_back(std::move(status));
  }
  void WriteQueue(ports::QueueStatus status) override { queues.push_back(std::move(status)); }
  void WritePodCondition(ports::PodConditionWrite write) override {
    conditions.push_back(std::move(write));
  }
  void Emit(ports::EventWrite event) override { events.push_back(std::move(event)); }
  void RemoveGate(ports::GateRemoval removal) override { gates.push_back(std::move(removal)); }

  void Clear() { *this = RecordingSink(); }
  size_t writes() const {
    return binds.size() + evicts.size() + pod_groups.size() + queues.size() + conditions.size() +
           events.size() + gates.size();
  }

  std::vector<ports::BindRequest> binds;
  std::vector<ports::EvictRequest> evicts;
  std::vector<ports::PodGroupStatus> pod_groups;
  std::vector<ports::QueueStatus> queues;
  std::vector<ports::PodConditionWrite> conditions;
  std::vector<ports::EventWrite> events;
  std::vector<ports::GateRemoval> gates;
};

// A plugin made of one function that registers things.
class FunctionPlugin final : public Plugin {
 public:
  explicit FunctionPlugin(std::function<void(SessionBuilder&)> open) : open_(std::move(open)) {}
  void OnSessionOpen(SessionBuilder& session) override { open_(session); }

 private:
  std::function<void(SessionBuilder&)> open_;
};

// A cluster with a session on it, without cache, loop and configuration file.
class SessionWorld {
 public:
  explicit SessionWorld(model::Cluster::Options options = {});
  ~SessionWorld();

  // Plugins in order; each call to NextTier begins a tier. Before the first session.
  void NextTier() { ++tier_; }
  Plugin& AddPlugin(const std::string& name, std::unique_ptr<Plugin> plugin,
                    const PluginOption& option = {});
  void AddActions(std::vector<std::string> actions) { actions_ = std::move(actions); }

  Session& session();
  // One cycle of the given work.
  void Cycle(const std::function<void(Session&)>& work);

  model::testing::World world;
  RecordingSink sink;
  util::FakeClock clock;
  ReasonTable reasons;
  std::unique_ptr<NodeSearch> search;

 private:
  std::vector<std::unique_ptr<PluginOption>> options_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<PluginSlot> slots_;
  std::vector<std::string> actions_;
  int32_t tier_ = 0;
  int64_t cycles_ = 0;
  std::unique_ptr<Session> session_;
};

}  // namespace hekla::framework::testing

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/model/cluster.h"
#include "pkg/ports/decision_sink.h"
#include "pkg/util/clock.h"

// A cluster of rows made by hand and node-level plugins in a session, for tests and benchmarks.
namespace hekla::plugins::testing {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Drops every decision.
class NullSink final : public ports::DecisionSink {
 public:
  void Bind(std::vector<ports::BindRequest>) override {}
  void Evict(std::vector<ports::EvictRequest>) override {}
  void WritePodGroup(ports::PodGroupStatus) override {}
  void WriteQueue(ports::QueueStatus) override {}
  void WritePodCondition(ports::PodConditionWrite) override {}
  void Emit(ports::EventWrite) override {}
  void RemoveGate(ports::GateRemoval) override {}
};

class NodeWorld {
 public:
  NodeWorld();
  NodeWorld(const NodeWorld&) = delete;
  NodeWorld& operator=(const NodeWorld&) = delete;
  ~NodeWorld();

  model::Symbol S(absl::string_view text) { return dictionary_->symbols.Intern(text); }
  model::Labels L(const Pairs& pairs);
  // `key In values`, or another operator.
  model::Requirement Req(absl::string_view key, model::SelectorOp op,
                         std::vector<std::string> values, int64_t number = 0);
  model::Selector Sel(const Pairs& match_labels);
  model::Taint T(absl::string_view key, absl::string_view value, model::Taint::Effect effect);

  // A node of 8 cpu, 16 GiB, 110 pods with its hostname label, changed by `edit`.
  model::NodeId Node(const std::string& name, const Pairs& labels = {},
                     const std::function<void(model::NodeSpec&)>& edit = {});
  void RemoveNode(const std::string& name);

  struct PodArgs {
    std::string name = {};
    std::string namespace_name = "default";
    Pairs labels = {};
    std::string node = {};  // running there; "" pending
    std::function<void(model::PodTemplate&)> pod = {};
    std::function<void(model::TaskSpec&)> task = {};
  };
  model::TaskId Pod(const PodArgs& args);
  void RemovePod(const std::string& name, const std::string& namespace_name = "default");
  void Namespace(const std::string& name, const Pairs& labels);
  template <typename Spec>
  void Put(Spec spec) {
    cluster_->Apply(model::Upsert<Spec>{std::make_shared<const Spec>(std::move(spec))});
  }
  void Move(model::TaskId task, model::TaskStatus status, model::NodeId node) {
    cluster_->MoveTask(task, status, node);
  }

  // Puts the plugin into a session (ending the one before) and opens it.
  void Use(std::unique_ptr<framework::Plugin> plugin);
  void Use(std::vector<std::unique_ptr<framework::Plugin>> plugins);
  // Closes the session and opens it again, as the next cycle.
  void NextCycle();

  // Texts of all refusals of one node; empty: it fits.
  std::vector<std::string> Verdict(model::TaskId task, model::NodeId node);
  std::vector<double> Scores(model::TaskId task, const std::vector<model::NodeId>& nodes);

  model::Cluster& cluster() { return *cluster_; }
  const model::Tables& tables() { return cluster_->tables(); }
  framework::Session& session() { return *session_; }
  framework::ReasonTable& reasons() { return reasons_; }

 private:
  std::shared_ptr<model::Dictionary> dictionary_;
  std::unique_ptr<model::Cluster> cluster_;
  framework::ReasonTable reasons_;
  NullSink sink_;
  util::FakeClock clock_;
  std::unique_ptr<framework::NodeSearch> search_;
  framework::PluginOption option_;
  std::vector<std::unique_ptr<framework::Plugin>> plugins_;
  std::unique_ptr<framework::Session> session_;
  int cycles_ = 0;
  int pods_made_ = 0;
};

}  // namespace hekla::plugins::testing

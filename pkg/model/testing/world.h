#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/model/cluster.h"

namespace hekla::model::testing {

// A cluster for tests and benchmarks, fed by short calls. Everything is in namespace "ns" unless it
// says otherwise; creation times count up with every object, so that older means earlier.
class World {
 public:
  explicit World(Cluster::Options options = {});

  Cluster& cluster() { return *cluster_; }
  const Tables& tables() const { return cluster_->tables(); }
  Dictionary& dictionary() { return *dictionary_; }
  Symbol Sym(absl::string_view text) { return dictionary_->symbols.Intern(text); }
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Labels MakeLabels(const Pairs& pairs);
  // Amounts by name, in stored units ("cpu" milli-cores, "memory" bytes, others as their unit).
  Resource Amounts(const std::vector<std::pair<std::string, int64_t>>& amounts);

  struct NodeArgs {
    std::string name;
    int64_t cpu = 8000;
    int64_t memory = int64_t{16} << 30;
    int64_t pods = 110;
    Pairs labels = {};
    std::vector<std::pair<std::string, int64_t>> more = {};
  };
  NodeId AddNode(const NodeArgs& args);
  void RemoveNode(const std::string& name) { cluster_->Apply(Remove<NodeSpec>{name}); }

  QueueId AddQueue(const std::string& name, const std::string& parent = "", int32_t weight = 1,
                   QueueState state = QueueState::kOpen);
  void RemoveQueue(const std::string& name) { cluster_->Apply(Remove<QueueSpec>{name}); }
  JobId AddJob(JobSpec spec);
  JobId AddJob(const std::string& name, int32_t min_member, const std::string& queue = "default",
               PodGroupPhase phase = PodGroupPhase::kInqueue);

  struct PodArgs {
    std::string name;
    std::string job = "";  // PodGroup; "" and solo = false: none
    int64_t cpu = 1000;
    int64_t memory = 0;
    std::string node = "";
    TaskStatus status = TaskStatus::kPending;  // kBound with a node
    std::string role = "";
    Pairs labels = {};
    int32_t priority = 1;
    bool solo = false;
    std::string uid = "";  // made from the name where empty
    std::vector<std::pair<std::string, int64_t>> more = {};
  };
  // The row that AddPod would apply, to be changed first.
  std::shared_ptr<TaskSpec> MakePod(const PodArgs& args);
  TaskId AddPod(const PodArgs& args) { return Apply(MakePod(args)); }
  TaskId Apply(std::shared_ptr<const TaskSpec> spec);
  void RemovePod(TaskId task);
  // The pod as the API server shows it after a change of status.
  void Update(TaskId task, TaskStatus status, const std::string& node, bool deleting = false);

  TaskStatus StatusOf(TaskId task) const { return tables().tasks.status[task]; }

 private:
  absl::Time NextCreation();
  std::shared_ptr<Dictionary> dictionary_;
  std::unique_ptr<Cluster> cluster_;
  int64_t created_ = 0;
  int64_t version_ = 0;
};

}  // namespace hekla::model::testing

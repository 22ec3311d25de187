#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pkg/framework/extension/points.h"
#include "pkg/framework/max_tree.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/node_search.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::framework {

// A scorer that has a say about the task at hand.
using ActiveScorers = std::vector<Points::ScorerEntry>;

// What every node answers to one task class: whether it fits, with which room, and its total score
// among those with idle room. Answers are kept and brought up to date from the touch log: a node is
// asked again when it was touched or a coupled filter or scorer reports it. Raw scores are kept,
// with counts per value, so that all totals change only when an extremum does.
class ClassAnswers {
 public:
  explicit ClassAnswers(const model::Cluster& cluster) : cluster_(&cluster) {}

  // Makes the answers true for now. `scan` has been prepared for the task.
  void Update(model::TaskId task, NodeScan& scan, const ActiveScorers& scorers,
              bool check_resources);

  // Among the nodes with idle room, at leaf positions.
  const MaxTree& totals() const { return totals_; }
  // Every node of the group gets the same from every normalised scorer, so that totals hold for
  // any part of the cluster.
  bool uniform() const { return uniform_; }
  Room room(size_t position) const { return rooms_[position]; }
  // Nodes that have future room only.
  size_t future_nodes() const { return future_; }
  size_t bytes() const;
  // How many nodes the last Update asked again; 0 for the one that made the answers.
  size_t asked_again() const { return asked_again_; }

 private:
  struct Column {
    std::vector<double> raw;                         // of nodes with idle room
    std::vector<std::pair<double, int32_t>> values;  // sorted, with counts; normalised ones only
    double low = 0, high = 0;
  };
  bool CanCatchUp(const NodeScan& scan, const ActiveScorers& scorers, bool check_resources) const;
  bool CollectDirty(model::TaskId task, const NodeScan& scan, const ActiveScorers& scorers);
  void Rebuild(model::TaskId task, NodeScan& scan, const ActiveScorers& scorers,
               bool check_resources);
  // Asks the nodes at these positions; false if an extremum has moved.
  bool Ask(model::TaskId task, NodeScan& scan, const std::vector<uint32_t>& positions);
  Room RoomOf(const model::Resource& request, model::NodeId node) const;
  void Score(model::TaskId task, bool whole);
  double TotalOf(uint32_t position) const;
  void AddShare(size_t scorer, std::vector<double>& sums) const;
  void SumEverything();
  static void Count(Column& column, double value, int32_t times);
  bool FindExtrema();

  const model::Cluster* cluster_;
  bool check_resources_ = true;
  bool built_ = false;
  bool uniform_ = true;
  uint64_t position_ = 0;  // in the touch log
  uint64_t order_generation_ = 0, volumes_ = 0, namespaces_ = 0;
  std::vector<NodeFilter*> filters_;
  ActiveScorers scorers_;
  std::vector<Room> rooms_;
  std::vector<Column> columns_;  // by scorer
  MaxTree totals_;
  size_t future_ = 0;
  size_t asked_again_ = 0;
  int64_t idle_ = 0;  // nodes with idle room, as SumEverything counted them
  // Scratch.
  std::vector<uint32_t> dirty_, asked_;
  std::vector<uint8_t> marked_;
  std::vector<model::NodeId> nodes_, scored_;
  std::vector<double> raw_;
};

}  // namespace hekla::framework

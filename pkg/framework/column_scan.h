#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/room_columns.h"
#include "pkg/framework/static_answers.h"

// HOT PATH
namespace hekla::framework {

// A search over a range of leaves in whole columns: room and scores of all nodes in leaf order in a
// few passes, static refusals as StaticAnswers keeps them. For the first search of a class, where
// no kept answer helps; decides exactly as NodeScan does, which it falls back on where few nodes
// are left.
class ColumnScan {
 public:
  ColumnScan(model::Cluster& cluster, NodeScan& scan, StaticAnswers& statics)
      : cluster_(&cluster), scan_(&scan), statics_(&statics), room_(cluster) {}

  void Attach(const Points& points) { points_ = &points; }
  // NodeScan::Prepare must have said yes to the task. The set must be a range (`only` empty).
  SearchResult Best(model::TaskId task, const NodeSet& set, const SearchOptions& options);

 private:
  const model::Tables& tables() const { return cluster_->tables(); }
  size_t FindRoom(model::TaskId task, const SearchOptions& options);
  void ApplyFilters(model::TaskId task, bool dense);
  model::NodeId PickFrom(model::TaskId task, size_t count);
  void AddScorers(model::TaskId task, bool batch, std::vector<double>& sums);
  void AddNormalized(const NodeScorer& scorer, std::vector<double>& sums);
  void ListCandidates();

  model::Cluster* cluster_;
  NodeScan* scan_;
  StaticAnswers* statics_;
  const Points* points_ = nullptr;
  RoomColumns room_;

  // Of the question at hand, by leaf - begin_.
  size_t begin_ = 0;
  absl::Span<const model::NodeId> span_;
  std::vector<uint8_t> ok_;
  std::vector<double> idle_slack_, future_slack_;
  std::vector<double> raw_, sums_, batch_;
  std::vector<ReasonId> answers_;
  std::vector<model::NodeId> list_;
};

}  // namespace hekla::framework

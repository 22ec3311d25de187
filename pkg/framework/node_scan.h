#pragma once

#include <vector>

#include "pkg/framework/extension/points.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/reasons.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::framework {

// The plain way to find a node: every filter and scorer over every candidate. It keeps no answers,
// so it is right by construction; NodeSearch falls back on it and is tested against it.
class NodeScan {
 public:
  explicit NodeScan(model::Cluster& cluster) : cluster_(&cluster) {}

  void Attach(const Points& points, ReasonTable& reasons);

  // Asks PrePredicate of everything; false and a reason where the task is refused everywhere. Must
  // come before the questions below; says which filters take part.
  bool Prepare(model::TaskId task, ReasonId* refused);

  SearchResult Best(model::TaskId task, const NodeSet& set, const SearchOptions& options);
  void Explain(model::TaskId task, const NodeSet& set, const SearchOptions& options,
               FitErrors& out);
  bool Check(model::TaskId task, model::NodeId node, std::vector<ReasonId>* reasons);
  void Scores(model::TaskId task, absl::Span<const model::NodeId> nodes, absl::Span<double> out);

  // The candidates of a set, in leaf order.
  absl::Span<const model::NodeId> NodesOf(const NodeSet& set);
  // Removes the nodes some active filter refuses. Order is kept.
  void Filter(model::TaskId task, std::vector<model::NodeId>& nodes);
  // The best of candidates (at least one): total score, ties by position in leaf order.
  model::NodeId Pick(model::TaskId task, absl::Span<const model::NodeId> candidates);
  // Index among `ties` equal best ones.
  uint64_t TieOf(model::TaskId task, uint64_t ties) const;

  const std::vector<Points::FilterEntry>& active_filters() const { return active_; }
  ReasonId Shortfall(int dim);

 private:
  const model::Tables& tables() const { return cluster_->tables(); }
  // Row of future idle amounts.
  const int64_t* FutureIdle(model::NodeId node);
  void AddScorers(model::TaskId task, absl::Span<const model::NodeId> nodes, bool batch,
                  absl::Span<double> sums);
  void ExplainFilters(model::TaskId task, std::vector<model::NodeId>& nodes, FitErrors& out,
                      std::vector<ReasonId>* list);

  model::Cluster* cluster_;
  const Points* points_ = nullptr;
  ReasonTable* reasons_ = nullptr;
  std::vector<Points::FilterEntry> active_;
  std::vector<ReasonId> shortfalls_;
  // Scratch, kept between questions.
  std::vector<model::NodeId> nodes_, idle_, future_, asked_, only_;
  std::vector<ReasonId> answers_;
  std::vector<double> raw_, order_, batch_;
  std::vector<int64_t> room_;
};

}  // namespace hekla::framework

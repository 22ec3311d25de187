#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pkg/framework/class_answers.h"
#include "pkg/framework/node_rows.h"
#include "pkg/framework/static_answers.h"

// HOT PATH
namespace hekla::framework {

// A search over all nodes that looks once at each row of equal nodes (NodeRows). For classes whose
// scores differ in the nodes' accounts alone: every scorer with a say reads the accounts, or is
// static and gives all nodes that are allowed the same. Decides exactly as NodeScan does.
class RowScan {
 public:
  RowScan(model::Cluster& cluster, NodeScan& scan, StaticAnswers& statics)
      : cluster_(&cluster), scan_(&scan), statics_(&statics), rows_(cluster) {}

  // Whether the question can be asked of rows. NodeScan::Prepare must have said yes to the task;
  // `scorers` are those with a say, in order. `leaf_filters`: filters that look at more than the
  // accounts are allowed too and are asked about every node.
  bool CanAnswer(model::TaskId task, const ActiveScorers& scorers, bool leaf_filters);
  // CanAnswer has just said yes.
  SearchResult Best(model::TaskId task, const SearchOptions& options);
  // Likewise: whether Best would find a node.
  bool Fits(model::TaskId task);
  // Rows looked at by a question: its cost.
  size_t row_count() const { return rows_.size(); }

 private:
  // Rows are looked at in blocks, so that what lies between two passes stays in the first cache.
  static constexpr size_t kBlock = 512;

  // Scores of one kind of a block so far: a constant until the first column comes.
  struct Sum {
    bool is_column = false;
    double constant = 0;
    std::array<double, kBlock> column;
  };
  void CountAllowed(model::TaskId task);
  void AskLeafFilters(model::TaskId task);
  void FindRoom(model::TaskId task, const SearchOptions& options);
  void AskFilters(model::TaskId task, size_t begin, absl::Span<double> slack);
  void AddScorers(model::TaskId task, bool batch, size_t begin, size_t n, Sum& sum);
  double Total(model::TaskId task, const double* slack, size_t begin, size_t n);
  model::NodeId Pick(model::TaskId task, const double* slack);
  uint64_t ListBest(double best);
  model::NodeId NodeAt(uint64_t k, uint64_t ties) const;

  model::Cluster* cluster_;
  NodeScan* scan_;
  StaticAnswers* statics_;
  NodeRows rows_;

  // Of the question at hand.
  StaticAnswers::Part* part_ = nullptr;
  const ActiveScorers* scorers_ = nullptr;
  bool leaf_filters_ = false;
  const uint8_t* mask_ = nullptr;  // by leaf: allowed; null: every leaf is
  std::vector<uint8_t> leaf_mask_;
  absl::Span<const uint32_t> allowed_;  // nodes of each row that filters by leaf allow
  std::vector<uint32_t> counted_;
  std::vector<double> future_, idle_, totals_;  // by row
  double most_future_ = 0, most_idle_ = 0;      // the greatest of each
  std::vector<double> block_best_;
  std::array<double, kBlock> raw_;
  Sum order_, batch_;
  std::vector<uint32_t> best_rows_;
  std::vector<uint8_t> is_best_;  // by row, zero between questions
  mutable std::vector<uint32_t> tied_;
  std::vector<ReasonId> answers_;
};

}  // namespace hekla::framework

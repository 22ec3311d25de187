#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pkg/framework/touch_cursor.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::framework {

// Idle and future idle amounts of every node as columns in leaf order, one per dimension, so that a
// request is compared with all nodes in a few passes.
// Units:   doubles of the tables' integers, exact below 2^53.
class RoomColumns {
 public:
  explicit RoomColumns(const model::Cluster& cluster) : cluster_(&cluster) {}

  // Brings the columns up to date with the tables.
  void CatchUp();
  // slack[i]: how much of the tightest dimension is left on leaf begin + i after the request;
  // negative where it does not fit.
  void IdleSlack(const model::Resource& request, size_t begin, absl::Span<double> slack) const;
  void FutureSlack(const model::Resource& request, size_t begin, absl::Span<double> slack) const;

 private:
  using Columns = std::vector<std::vector<double>>;  // by dimension, by leaf
  void Read(model::NodeId node);
  static void Slack(const Columns& room, const model::Resource& request, size_t begin,
                    absl::Span<double> slack);

  const model::Cluster* cluster_;
  TouchCursor cursor_;
  Columns idle_, future_;
};

}  // namespace hekla::framework

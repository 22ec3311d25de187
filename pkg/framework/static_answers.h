#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/touch_cursor.h"

// HOT PATH
namespace hekla::framework {

// What static filters and scorers say about every leaf, per static key, until some node changes
// statically. Shared by the searches that look at whole columns.
class StaticAnswers {
 public:
  // One static key's.
  struct Part {
    std::vector<uint8_t> mask;  // by leaf: 1 where no static filter refuses
    size_t allowed = 0;
    // Whichever are fewer: the allowed leaves or the refused ones.
    std::vector<uint32_t> listed;
    bool lists_allowed = false;
    bool everything() const { return allowed == mask.size(); }

    struct Level {
      const NodeScorer* scorer;
      bool uniform;  // every allowed leaf gets the same raw score
      double raw;
    };
    std::vector<Level> levels;  // of the scorers asked about so far
  };

  StaticAnswers(model::Cluster& cluster, NodeScan& scan) : cluster_(&cluster), scan_(&scan) {}

  // The plugins end.
  void Forget() { parts_.clear(); }
  // Filters have been prepared for the task (NodeScan::Prepare). Valid until the next call.
  Part& Of(model::TaskId task);
  // The scorer has a say about the task.
  const Part::Level& LevelOf(Part& part, model::TaskId task, NodeScorer& scorer);

 private:
  void Make(model::TaskId task, Part& part);

  model::Cluster* cluster_;
  NodeScan* scan_;
  TouchCursor cursor_;
  absl::flat_hash_map<uint32_t, Part> parts_;
  std::vector<ReasonId> answers_;
  std::vector<double> raw_;
};

}  // namespace hekla::framework

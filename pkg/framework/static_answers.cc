#include "pkg/framework/static_answers.h"

#include <algorithm>

namespace hekla::framework {

using model::NodeId;
using model::TaskId;

namespace {

// Bound on what is kept: three bytes per key and leaf at most.
constexpr size_t kMaxBytes = size_t{32} << 20;

}  // namespace

StaticAnswers::Part& StaticAnswers::Of(TaskId task) {
  bool changed = false;
  if (!cursor_.CatchUp(*cluster_, [&](NodeId, bool is_static) { changed |= is_static; })) {
    changed = true;
  }
  const model::Tables& t = cluster_->tables();
  if (changed || parts_.size() * t.nodes.leaves.size() * 3 > kMaxBytes) parts_.clear();
  auto [it, fresh] = parts_.try_emplace(t.classes.static_key[t.tasks.task_class[task]]);
  if (fresh) Make(task, it->second);
  return it->second;
}

void StaticAnswers::Make(TaskId task, Part& part) {
  const std::vector<NodeId>& leaves = cluster_->tables().nodes.leaves;
  part.mask.assign(leaves.size(), 1);
  for (const Points::FilterEntry& entry : scan_->active_filters()) {
    if (entry.filter->row_use() != RowUse::kStatic) continue;
    answers_.assign(leaves.size(), ReasonId());
    entry.filter->Filter(task, leaves, absl::MakeSpan(answers_));
    for (size_t i = 0; i < leaves.size(); ++i) part.mask[i] &= answers_[i].valid() ? 0 : 1;
  }
  part.allowed = static_cast<size_t>(std::count(part.mask.begin(), part.mask.end(), uint8_t{1}));
  part.lists_allowed = part.allowed * 2 < leaves.size();
  const uint8_t listed = part.lists_allowed ? 1 : 0;
  for (uint32_t i = 0; i < leaves.size(); ++i) {
    if (part.mask[i] == listed) part.listed.push_back(i);
  }
}

const StaticAnswers::Part::Level& StaticAnswers::LevelOf(Part& part, TaskId task,
                                                         NodeScorer& scorer) {
  for (const Part::Level& level : part.levels) {
    if (level.scorer == &scorer) return level;
  }
  const std::vector<NodeId>& leaves = cluster_->tables().nodes.leaves;
  raw_.resize(leaves.size());
  scorer.Score(task, leaves, absl::MakeSpan(raw_));
  Part::Level level{&scorer, true, 0};
  bool any = false;
  for (size_t i = 0; i < leaves.size() && level.uniform; ++i) {
    if (part.mask[i] == 0) continue;
    level.uniform = !any || raw_[i] == level.raw;
    level.raw = raw_[i];
    any = true;
  }
  part.levels.push_back(level);
  return part.levels.back();
}

}  // namespace hekla::framework

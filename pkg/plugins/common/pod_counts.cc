#include "pkg/plugins/common/pod_counts.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"

namespace hekla::plugins {

using model::NodeId;
using model::TaskId;

namespace {
constexpr size_t kLogLimit = 256;
constexpr uint64_t kUnlogged = UINT64_MAX;
}  // namespace

PodCounts::PodCounts(NodeColumns& columns, std::vector<TermRole> watched)
    : nodes_(&columns), watched_(std::move(watched)) {}

uint64_t PodCounts::Now() const {
  const model::Cluster& cluster = nodes_->cluster();
  return cluster.touches_trimmed() + cluster.touches().size();
}

bool PodCounts::Carries(const model::PodTemplate& pod) const {
  for (TermRole role : watched_) {
    if (!TermsOf(pod, role).empty()) return true;
  }
  return false;
}

void PodCounts::Sync() {
  const absl::Span<const NodeId> stale = nodes_->CollectStale();
  const size_t rows = tables().nodes.size();
  if (attached_.size() < rows) attached_.resize(rows, 0);
  if (node_groups_.size() < rows) node_groups_.resize(rows);
  for (NodeId node : stale) Detach(node);
  for (NodeId node : stale) nodes_->Refresh(node);
  for (NodeId node : stale) AttachNode(node);
  if (!stale.empty()) stale_before_ = Now();
  if (const uint64_t generation = tables().namespaces.generation;
      generation != namespace_generation_) {
    namespace_generation_ = generation;
    if (uses_namespace_labels_) Reset();
  }
  if (Outgrown()) Reset();
  if (active_ || scanned_) return;
  scanned_ = true;
  for (size_t i = 0; i < tables().tasks.size(); ++i) {
    const TaskId task(static_cast<uint32_t>(i));
    if (tables().tasks.live[task] == 0 || !tables().tasks.node[task].valid()) continue;
    if (Carries(*tables().tasks.pod[task])) {
      Activate();
      return;
    }
  }
}

size_t PodCounts::Cells() const {
  size_t cells = 0;
  for (const CountColumn& column : columns_) {
    cells += column.count.capacity() + column.nodes.capacity() + 6 * column.log.capacity();
  }
  return cells;
}

// Beyond the budget, and twice what is known to be in use.
bool PodCounts::Outgrown() {
  const size_t cells = Cells();
  if (cells_in_use_ == 0) cells_in_use_ = cells;
  return cells > cell_budget_ && cells > 2 * cells_in_use_;
}

// Forgets every query; users notice by the epoch and ask again.
void PodCounts::Reset() {
  ++epoch_;
  active_ = false;
  scanned_ = false;
  stale_before_ = Now() + 1;
  groups_.clear();
  free_groups_.clear();
  group_index_.clear();
  for (std::vector<uint32_t>& groups : node_groups_) groups.clear();
  queries_.clear();
  query_index_.clear();
  selector_index_ = {};
  columns_.clear();
  held_.clear();
  held_index_ = {};
  nodes_->ForgetEligibilities();
  cells_in_use_ = 0;
  uses_namespace_labels_ = false;
}

void PodCounts::Activate() {
  active_ = true;
  const model::NodeTable& nodes = tables().nodes;
  if (node_groups_.size() < nodes.size()) node_groups_.resize(nodes.size());
  if (attached_.size() < nodes.size()) attached_.resize(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeId node(static_cast<uint32_t>(i));
    for (TaskId task : nodes.tasks[node]) {
      const uint32_t group = GroupOf(task);
      ++groups_[group].placed;
      node_groups_[node].push_back(group);
      task_group_.Grow(task) = group;
    }
  }
}

PodCounts::GroupKey PodCounts::KeyOf(TaskId task) const {
  const model::TaskTable& tasks = tables().tasks;
  const model::TaskSpec& spec = *tasks.spec[task];
  return {spec.labels.get(), Carries(*spec.pod) ? spec.pod.get() : nullptr,
          tasks.namespace_id[task].value(), spec.deleting};
}

uint32_t PodCounts::GroupOf(TaskId task) {
  const GroupKey key = KeyOf(task);
  if (auto it = group_index_.find(key); it != group_index_.end()) return it->second;
  uint32_t id = static_cast<uint32_t>(groups_.size());
  if (free_groups_.empty()) {
    groups_.emplace_back();
  } else {
    id = free_groups_.back();
    free_groups_.pop_back();
  }
  const model::TaskSpec& spec = *tables().tasks.spec[task];
  Group group;
  group.labels = spec.labels;
  if (key.pod != nullptr) group.pod = spec.pod;
  group.where = tables().tasks.namespace_id[task];
  group.deleting = spec.deleting;
  FillHits(group);
  groups_[id] = std::move(group);
  group_index_.emplace(key, id);
  return id;
}

void PodCounts::FillHits(Group& group) {
  selector_index_.ForCandidates(*group.labels, [&](uint32_t id) {
    if (Counts(queries_[QueryId(id)].query, group)) group.hits.push_back(QueryId(id));
  });
  if (group.pod == nullptr) return;
  const model::Symbol owner = tables().namespaces.name[group.where];
  for (TermRole role : watched_) {
    for (const model::PodTerm& term : TermsOf(*group.pod, role)) {
      PodQuery query;
      query.parts = {SelectorOf(term, owner)};
      query.holders = true;
      query.role = role;
      query.topology_key = term.topology_key;
      query.weight = term.weight;
      group.hits.push_back(Query(query));
    }
  }
}

bool PodCounts::Counts(const PodQuery& query, const Group& group) const {
  if (query.skip_deleting && group.deleting) return false;
  for (const PodSelector& part : query.parts) {
    if (!Selects(part, *group.labels, group.where, tables(),
                 nodes_->cluster().dictionary().symbols)) {
      return false;
    }
  }
  return true;
}

bool PodCounts::Matches(const PodQuery& query, TaskId task) const {
  const model::TaskTable& tasks = tables().tasks;
  for (const PodSelector& part : query.parts) {
    if (!Selects(part, *tasks.spec[task]->labels, tasks.namespace_id[task], tables(),
                 nodes_->cluster().dictionary().symbols)) {
      return false;
    }
  }
  return true;
}

QueryId PodCounts::Query(const PodQuery& query) {
  std::vector<QueryId>& same = query_index_[HashOf(query)];
  for (QueryId id : same) {
    if (queries_[id].query == query) return id;
  }
  const QueryId id = queries_.push_back({query, {}});
  same.push_back(id);
  for (const PodSelector& part : query.parts) uses_namespace_labels_ |= part.has_namespace_selector;
  if (query.holders) {
    held_index_.Add(static_cast<uint32_t>(held_.size()), query.parts[0].selector);
    held_.push_back({id, query.parts[0], query.role, query.topology_key, query.weight});
    return id;
  }
  if (!query.parts.empty()) selector_index_.Add(id.value(), query.parts[0].selector);
  if (!active_) {
    Activate();
    return id;
  }
  for (Group& group : groups_) {
    if (group.placed > 0 && Counts(query, group)) group.hits.push_back(id);
  }
  return id;
}

ColumnId PodCounts::Column(QueryId query, TopologyId topology, EligibilityId eligibility) {
  for (ColumnId id : queries_[query].columns) {
    if (columns_[id].topology == topology && columns_[id].eligibility == eligibility) return id;
  }
  CountColumn column;
  column.query = query;
  column.topology = topology;
  column.eligibility = eligibility;
  column.log_start = Now();
  std::vector<int32_t> times(groups_.size(), 0);
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].placed == 0) continue;
    for (QueryId hit : groups_[g].hits) times[g] += hit == query ? 1 : 0;
  }
  for (size_t i = 0; i < attached_.size(); ++i) {
    const NodeId node(static_cast<uint32_t>(i));
    if (attached_[node] == 0) continue;
    CountNode(column, node, 1);
    int32_t count = 0;
    for (uint32_t group : node_groups_[node]) count += times[group];
    if (count != 0) Book(column, node, count, kUnlogged);
  }
  const ColumnId id = columns_.push_back(std::move(column));
  queries_[query].columns.push_back(id);
  return id;
}

void PodCounts::OnTaskMoved(TaskId task, NodeId node, bool added) {
  if (!active_) {
    // A watched term wakes the counts up; what the tables hold then includes this task.
    if (added && nodes_->attached() && Carries(*tables().tasks.pod[task])) Activate();
    return;
  }
  std::vector<uint32_t>& on_node = node_groups_.Grow(node);
  if (added) {
    const uint32_t group = GroupOf(task);
    task_group_.Grow(task) = group;
    ++groups_[group].placed;
    on_node.push_back(group);
    Place(group, node, 1);
    return;
  }
  const uint32_t group = task_group_.Grow(task);
  auto it = std::find(on_node.begin(), on_node.end(), group);
  CHECK(it != on_node.end()) << "a task leaves a node it never came to";
  *it = on_node.back();
  on_node.pop_back();
  Place(group, node, -1);
  Leave(group);
}

void PodCounts::Leave(uint32_t id) {
  Group& group = groups_[id];
  if (--group.placed > 0) return;
  group_index_.erase({group.labels.get(), group.pod.get(), group.where.value(), group.deleting});
  group = {};
  free_groups_.push_back(id);
}

// The touch of a task that came is already in the log, that of one about to leave is not.
void PodCounts::Place(uint32_t group, NodeId node, int32_t delta) {
  if (!attached_.contains(node) || attached_[node] == 0) return;
  const uint64_t position = delta > 0 ? std::max<uint64_t>(Now(), 1) - 1 : Now();
  for (QueryId query : groups_[group].hits) {
    for (ColumnId id : queries_[query].columns) Book(columns_[id], node, delta, position);
  }
}

void PodCounts::Book(CountColumn& column, NodeId node, int32_t delta, uint64_t position) {
  const int32_t domain = nodes_->topology(column.topology).domain[node];
  if (domain == kNoDomain) return;
  if (column.eligibility.valid() && nodes_->eligible(column.eligibility)[node.index()] == 0) return;
  if (static_cast<size_t>(domain) >= column.count.size()) column.count.resize(domain + 1, 0);
  column.count[domain] += delta;
  column.total += delta;
  ++column.version;
  if (position == kUnlogged) return;
  if (column.log.size() >= kLogLimit) {
    column.log_start = column.log[kLogLimit / 2 - 1].position + 1;
    column.log.erase(column.log.begin(), column.log.begin() + kLogLimit / 2);
  }
  column.log.push_back({position, domain, delta});
}

void PodCounts::CountNode(CountColumn& column, NodeId node, int32_t delta) {
  const int32_t domain = nodes_->topology(column.topology).domain[node];
  if (domain == kNoDomain) return;
  if (column.eligibility.valid() && nodes_->eligible(column.eligibility)[node.index()] == 0) return;
  if (static_cast<size_t>(domain) >= column.nodes.size()) column.nodes.resize(domain + 1, 0);
  if (column.count.size() < column.nodes.size()) column.count.resize(column.nodes.size(), 0);
  if (column.nodes[domain] == 0) ++column.domains;
  column.nodes[domain] += delta;
  if (column.nodes[domain] == 0) --column.domains;
  ++column.version;
}

void PodCounts::Detach(NodeId node) {
  if (attached_[node] == 0) return;
  attached_[node] = 0;
  for (CountColumn& column : columns_) CountNode(column, node, -1);
  for (uint32_t group : node_groups_[node]) {
    for (QueryId query : groups_[group].hits) {
      for (ColumnId id : queries_[query].columns) Book(columns_[id], node, -1, kUnlogged);
    }
  }
}

void PodCounts::AttachNode(NodeId node) {
  if (tables().nodes.live[node] == 0) return;
  attached_[node] = 1;
  for (CountColumn& column : columns_) CountNode(column, node, 1);
  for (uint32_t group : node_groups_[node]) {
    for (QueryId query : groups_[group].hits) {
      for (ColumnId id : queries_[query].columns) Book(columns_[id], node, 1, kUnlogged);
    }
  }
}

bool PodCounts::ChangesSince(ColumnId id, uint64_t position,
                             std::vector<CountColumn::Change>& net) const {
  net.clear();
  const CountColumn& column = columns_[id];
  if (position < column.log_start || position < stale_before_) return false;
  for (size_t i = column.log.size(); i > 0 && column.log[i - 1].position >= position; --i) {
    const CountColumn::Change& change = column.log[i - 1];
    auto it = std::find_if(net.begin(), net.end(),
                           [&](const CountColumn::Change& c) { return c.domain == change.domain; });
    if (it == net.end()) {
      net.push_back({position, change.domain, change.delta});
    } else {
      it->delta += change.delta;
    }
  }
  return true;
}

void PodCounts::HeldMatching(TaskId task, size_t from, std::vector<uint32_t>& out) const {
  const model::TaskTable& tasks = tables().tasks;
  const model::Labels& labels = *tasks.spec[task]->labels;
  const auto check = [&](uint32_t i) {
    if (i >= from && Selects(held_[i].selects, labels, tasks.namespace_id[task], tables(),
                             nodes_->cluster().dictionary().symbols)) {
      out.push_back(i);
    }
  };
  held_index_.ForCandidates(labels, check);
}

}  // namespace hekla::plugins

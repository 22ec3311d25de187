#include "pkg/plugins/nodeorder/static_scorers.h"

#include <algorithm>

namespace hekla::plugins {

using model::NodeId;
using model::TaskId;

double NormalizedToMax(double raw, double max, bool reverse) {
  if (max == 0) return reverse ? static_cast<double>(kMaxNodeScore) : raw;
  const int64_t share = kMaxNodeScore * static_cast<int64_t>(raw) / static_cast<int64_t>(max);
  return static_cast<double>(reverse ? kMaxNodeScore - share : share);
}

bool NodeAffinityScorer::PreScore(TaskId task, absl::Span<const NodeId> candidates) {
  (void)candidates;
  return !context().pod(task).preferred_affinity.empty();
}

void NodeAffinityScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                               absl::Span<double> raw) {
  const model::TaskClassTable& classes = context().tables().classes;
  const model::TaskClassId id = context().class_of(task);
  Terms* terms = terms_.Find(id, classes);
  if (terms == nullptr) {
    Terms fresh;
    for (const model::NodeTerm& term : context().pod(task).preferred_affinity) {
      if (term.weight != 0) {
        fresh.emplace_back(NodeTermMatcher(context().nodes, term), term.weight);
      }
    }
    terms = &terms_.Put(id, classes, std::move(fresh));
  }
  std::fill(raw.begin(), raw.end(), 0.0);
  ok_.resize(nodes.size());
  for (const auto& [term, weight] : *terms) {
    std::fill(ok_.begin(), ok_.end(), uint8_t{1});
    term.Restrict(nodes, absl::MakeSpan(ok_));
    for (size_t i = 0; i < nodes.size(); ++i) raw[i] += ok_[i] != 0 ? weight : 0;
  }
}

double NodeAffinityScorer::Normalized(double raw, double min, double max) const {
  (void)min;
  return NormalizedToMax(raw, max, false);
}

void TaintTolerationScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                  absl::Span<double> raw) {
  const model::TaskClassTable& classes = context().tables().classes;
  const model::TaskClassId id = context().class_of(task);
  std::vector<double>* counts = counts_.Find(id, classes);
  if (counts == nullptr) counts = &counts_.Put(id, classes, {});
  const NodeColumns& columns = context().nodes;
  while (counts->size() < columns.taint_set_count()) {
    counts->push_back(CountUntoleratedPreferences(
        context().pod(task).tolerations, columns.taints(static_cast<uint32_t>(counts->size()))));
  }
  const double* count = counts->data();
  const uint32_t* sets = columns.taint_set();
  for (size_t i = 0; i < nodes.size(); ++i) raw[i] = count[sets[nodes[i].index()]];
}

double TaintTolerationScorer::Normalized(double raw, double min, double max) const {
  (void)min;
  return NormalizedToMax(raw, max, true);
}

int64_t ImageLocalityScorer::Image::LargestSize() const {
  int64_t largest = 0;
  for (const auto& [size, count] : sizes) largest = std::max(largest, size);
  return largest;
}

void ImageLocalityScorer::AddTo(const model::ImageState& state, NodeId node, int32_t delta) {
  Image& image = images_[state.name];
  auto it = std::find_if(image.sizes.begin(), image.sizes.end(),
                         [&](const auto& entry) { return entry.first == state.size_bytes; });
  if (it == image.sizes.end()) it = image.sizes.insert(it, {state.size_bytes, 0});
  it->second += delta;
  if (it->second == 0) image.sizes.erase(it);
  if (delta > 0) {
    image.nodes.insert(node);
  } else {
    image.nodes.erase(node);
    if (image.nodes.empty()) images_.erase(state.name);
  }
}

void ImageLocalityScorer::Update(NodeId node, std::vector<model::ImageState> now) {
  if (known_[node] == now) return;
  for (const model::ImageState& state : known_[node]) AddTo(state, node, -1);
  for (const model::ImageState& state : now) AddTo(state, node, 1);
  known_[node] = std::move(now);
  ++version_;
}

void ImageLocalityScorer::Open() {
  const model::Cluster& cluster = context().cluster();
  const model::NodeTable& nodes = context().tables().nodes;
  const uint64_t trimmed = cluster.touches_trimmed();
  const size_t old_rows = known_.size();
  const uint64_t old_version = version_;
  if (known_.size() < nodes.size()) {
    known_.resize(nodes.size());
    seen_.resize(nodes.size(), 0);
    sums_.resize(nodes.size(), 0);
  }
  const auto check = [&](NodeId node) {
    const uint64_t now = (uint64_t{nodes.static_generation[node]} << 2) |
                         (nodes.live[node] != 0 ? uint64_t{3} : uint64_t{1});
    if (seen_[node] == now) return;
    seen_[node] = now;
    std::vector<model::ImageState> images;
    if (nodes.live[node] != 0) images = nodes.spec[node]->images;
    // A name a node reports twice counts once.
    std::sort(images.begin(), images.end(), [](const auto& a, const auto& b) {
      return a.name != b.name ? a.name < b.name : a.size_bytes > b.size_bytes;
    });
    images.erase(std::unique(images.begin(), images.end(),
                             [](const auto& a, const auto& b) { return a.name == b.name; }),
                 images.end());
    Update(node, std::move(images));
  };
  if (!started_ || position_ < trimmed) {
    for (uint32_t i = 0; i < nodes.size(); ++i) check(NodeId(i));
  } else {
    for (size_t i = position_ - trimmed; i < cluster.touches().size(); ++i) {
      if (cluster.touches()[i].static_change) check(cluster.touches()[i].node);
    }
    for (size_t i = old_rows; i < nodes.size(); ++i) check(NodeId(static_cast<uint32_t>(i)));
  }
  started_ = true;
  position_ = trimmed + cluster.touches().size();
  if (live_nodes_ != nodes.live_count() && !images_.empty()) ++version_;
  live_nodes_ = nodes.live_count();
  if (version_ != old_version) changed_at_ = position_;
}

void ImageLocalityScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                absl::Span<double> raw) {
  constexpr int64_t kMiB = 1024 * 1024;
  constexpr int64_t kLow = 23 * kMiB;
  const model::PodTemplate& pod = context().pod(task);
  const model::TaskClassId id = context().class_of(task);
  const uint32_t generation = context().tables().classes.generation[id];
  if (sums_of_ != id || sums_generation_ != generation || sums_version_ != version_) {
    sums_of_ = id;
    sums_generation_ = generation;
    sums_version_ = version_;
    if (any_image_) std::fill(sums_.begin(), sums_.end(), 0);
    any_image_ = false;
    for (model::Symbol name : pod.images) {
      auto it = images_.find(name);
      if (it == images_.end()) continue;
      any_image_ = true;
      const double spread =
          static_cast<double>(it->second.nodes.size()) / static_cast<double>(live_nodes_);
      const auto worth =
          static_cast<int64_t>(static_cast<double>(it->second.LargestSize()) * spread);
      for (NodeId node : it->second.nodes) sums_[node] += worth;
    }
  }
  if (!any_image_) {
    std::fill(raw.begin(), raw.end(), 0.0);
    return;
  }
  const int64_t high = 1000 * kMiB * std::max(pod.container_count, 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t sum = std::clamp(sums_[nodes[i]], kLow, high);
    raw[i] = static_cast<double>(kMaxNodeScore * (sum - kLow) / (high - kLow));
  }
}

void ImageLocalityScorer::CollectDirty(model::TaskClassId reader, uint64_t since,
                                       framework::DirtySink& dirty) {
  if (context().tables().classes.pod[reader]->images.empty()) return;
  if (since < changed_at_) dirty.All();
}

}  // namespace hekla::plugins

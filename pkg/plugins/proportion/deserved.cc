#include "pkg/plugins/proportion/deserved.h"

#include <algorithm>

namespace hekla::plugins {
namespace {

constexpr int kMaxRounds = 20000;

// One queue's step; books what it gained and lost. Returns whether the queue still wants more.
bool Step(const QueueDemand& queue, const Amounts& remaining, double part, Amounts& deserved,
          Amounts& increased, Amounts& decreased) {
  bool changed = false;
  for (size_t d = 0; d < deserved.size(); ++d) {
    const double before = deserved[d];
    double now = before + remaining[d] * part;
    now = std::min(now, queue.real_capability[d]);
    now = std::min(now, queue.request[d]);
    now = std::max(now, queue.guarantee[d]);
    deserved[d] = now;
    changed = changed || now != before;
    if (now > before) {
      increased[d] += now - before;
    } else {
      decreased[d] += before - now;
    }
  }
  return changed && !LessEqual(queue.request, deserved);
}

}  // namespace

void DivideByWeight(absl::Span<const QueueDemand> queues, const Amounts& total,
                    std::vector<Amounts>& deserved) {
  const size_t width = total.size();
  deserved.assign(queues.size(), Amounts(width, 0.0));
  std::vector<size_t> unmet(queues.size());
  for (size_t i = 0; i < unmet.size(); ++i) unmet[i] = i;
  Amounts remaining = total, increased(width), decreased(width);
  for (int round = 0; round < kMaxRounds; ++round) {
    int64_t weights = 0;
    for (size_t i : unmet) weights += queues[i].weight;
    if (weights <= 0) return;
    std::fill(increased.begin(), increased.end(), 0.0);
    std::fill(decreased.begin(), decreased.end(), 0.0);
    size_t kept = 0;
    for (size_t i : unmet) {
      const double part = static_cast<double>(queues[i].weight) / static_cast<double>(weights);
      if (Step(queues[i], remaining, part, deserved[i], increased, decreased)) unmet[kept++] = i;
    }
    unmet.resize(kept);
    bool same = true;
    for (size_t d = 0; d < width; ++d) {
      const double before = remaining[d];
      remaining[d] = std::max(before + decreased[d] - increased[d], 0.0);
      same = same && remaining[d] == before;
    }
    if (same || IsEmpty(remaining)) return;
  }
}

}  // namespace hekla::plugins

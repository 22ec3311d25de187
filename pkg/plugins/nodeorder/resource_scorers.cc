#include "pkg/plugins/nodeorder/resource_scorers.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hekla::plugins {

using model::kCpu;
using model::kMemory;
using model::NodeId;
using model::TaskId;

namespace {

// Two numbers handled at once: cpu and memory of one node.
using Pair = double __attribute__((vector_size(16)));

// Below this the quotient of two doubles, cut off, is the integer quotient: numerators stay exact
// (100 * 2^46 < 2^53) and a quotient of at most 100 is never rounded up to the next integer.
constexpr int64_t kExactBelow = int64_t{1} << 46;

// trunc(100 * part / whole), 0 <= part <= whole, whole > 0.
int64_t Percent(int64_t part, int64_t whole) {
  return static_cast<int64_t>(static_cast<__int128>(part) * kMaxNodeScore / whole);
}

// What a node has and would have to give with the pod, cpu and memory.
struct Use {
  std::array<int64_t, 2> capacity;
  std::array<int64_t, 2> request;

  // Amounts that the fast path handles: present, not above capacity, small enough.
  bool Plain() const {
    return capacity[0] > 0 && capacity[1] > 0 && request[0] <= capacity[0] &&
           request[1] <= capacity[1] && ((capacity[0] | capacity[1]) < kExactBelow);
  }
};

// floor(mean of trunc(100 * part / capacity)) over both, for plain amounts.
inline int64_t MeanPercent(std::array<int64_t, 2> part, const std::array<int64_t, 2>& capacity) {
  const Pair numerator = {static_cast<double>(part[0]), static_cast<double>(part[1])};
  const Pair denominator = {static_cast<double>(capacity[0]), static_cast<double>(capacity[1])};
  const Pair quotient = numerator * 100.0 / denominator;
  return (static_cast<int64_t>(quotient[0]) + static_cast<int64_t>(quotient[1])) / 2;
}

// The same for every amount: dimensions a node lacks are left out of the mean.
template <typename PartOf>
int64_t MeanPercentSlow(const Use& use, PartOf part_of) {
  int64_t sum = 0;
  int64_t dims = 0;
  for (int d = 0; d < 2; ++d) {
    if (use.capacity[d] <= 0) continue;
    ++dims;
    sum += Percent(part_of(use.capacity[d], use.request[d]), use.capacity[d]);
  }
  return dims == 0 ? 0 : sum / dims;
}

class NonZeroUse {
 public:
  NonZeroUse(const model::Tables& tables, TaskId task)
      : nodes_(&tables.nodes),
        cpu_(tables.nodes.nonzero_cpu_milli.data()),
        memory_(tables.nodes.nonzero_memory_bytes.data()),
        pod_cpu_(tables.tasks.pod[task]->nonzero_cpu_milli),
        pod_memory_(tables.tasks.pod[task]->nonzero_memory_bytes) {}
  Use At(NodeId node) const {
    const size_t i = node.index();
    const int64_t* capacity = nodes_->allocatable.row(i);
    return {{capacity[kCpu], capacity[kMemory]}, {cpu_[i] + pod_cpu_, memory_[i] + pod_memory_}};
  }

 private:
  const model::NodeTable* nodes_;
  const int64_t* cpu_;
  const int64_t* memory_;
  int64_t pod_cpu_;
  int64_t pod_memory_;
};

}  // namespace

void LeastAllocatedScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                 absl::Span<double> raw) {
  const NonZeroUse uses(context().tables(), task);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Use use = uses.At(nodes[i]);
    if (use.Plain()) [[likely]] {
      raw[i] = static_cast<double>(MeanPercent(
          {use.capacity[0] - use.request[0], use.capacity[1] - use.request[1]}, use.capacity));
    } else {
      raw[i] = static_cast<double>(MeanPercentSlow(use, [](int64_t capacity, int64_t request) {
        return std::max<int64_t>(0, capacity - request);
      }));
    }
  }
}

void MostAllocatedScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                absl::Span<double> raw) {
  const NonZeroUse uses(context().tables(), task);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Use use = uses.At(nodes[i]);
    if (use.Plain()) [[likely]] {
      raw[i] = static_cast<double>(MeanPercent(use.request, use.capacity));
    } else {
      raw[i] = static_cast<double>(MeanPercentSlow(
          use, [](int64_t capacity, int64_t request) { return std::min(capacity, request); }));
    }
  }
}

void BalancedAllocationScorer::Open() {
  gpu_ = context().cluster().dictionary().resources.Find("nvidia.com/gpu");
}

int64_t BalancedAllocationScorer::GpuRequest(TaskId task) const {
  return gpu_ < 0 ? 0 : context().pod(task).request[static_cast<model::ResourceDim>(gpu_)];
}

bool BalancedAllocationScorer::PreScore(TaskId task, absl::Span<const NodeId> candidates) {
  (void)candidates;
  const model::Resource& request = context().pod(task).request;
  return request[kCpu] != 0 || request[kMemory] != 0 || GpuRequest(task) != 0;
}

namespace {

// trunc(100 * (1 - deviation of the fractions in use)).
int64_t Balance(const std::array<int64_t, 3>& request, const std::array<int64_t, 3>& capacity) {
  std::array<double, 3> fractions{};
  int n = 0;
  double total = 0;
  for (int d = 0; d < 3; ++d) {
    if (capacity[d] == 0) continue;
    const double fraction =
        std::min(1.0, static_cast<double>(request[d]) / static_cast<double>(capacity[d]));
    total += fraction;
    fractions[n++] = fraction;
  }
  double deviation = 0;
  if (n == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (n > 2) {
    const double mean = total / n;
    double sum = 0;
    for (int d = 0; d < n; ++d) sum = sum + (fractions[d] - mean) * (fractions[d] - mean);
    deviation = std::sqrt(sum / n);
  }
  return static_cast<int64_t>((1 - deviation) * kMaxNodeScore);
}

// The same for cpu and memory alone, both present.
inline int64_t BalanceOfTwo(Pair used, Pair capacity) {
  const Pair quotient = used / capacity;
  const double deviation = std::abs((std::min(1.0, quotient[0]) - std::min(1.0, quotient[1])) / 2);
  return static_cast<int64_t>((1 - deviation) * kMaxNodeScore);
}

// 75 for a pod that leaves the balance as it is; half a point for each by which it is better or
// worse with the pod than without.
inline double Balanced(int64_t with_pod, int64_t without_pod) {
  return static_cast<double>((kMaxNodeScore * 3 / 2 + with_pod - without_pod) / 2);
}

}  // namespace

void BalancedAllocationScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                     absl::Span<double> raw) {
  const model::NodeTable& table = context().tables().nodes;
  const model::Resource& request = context().pod(task).request;
  const int64_t gpu = GpuRequest(task);
  const auto gpu_dim = static_cast<model::ResourceDim>(std::max(gpu_, 0));
  const int64_t cpu = request[kCpu];
  const int64_t memory = request[kMemory];
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t row = nodes[i].index();
    const int64_t* capacity = table.allocatable.row(row);
    const int64_t* used = table.requested.row(row);
    if (gpu == 0 && capacity[kCpu] > 0 && capacity[kMemory] > 0) [[likely]] {
      const Pair before = {static_cast<double>(used[kCpu]), static_cast<double>(used[kMemory])};
      const Pair after = {static_cast<double>(used[kCpu] + cpu),
                          static_cast<double>(used[kMemory] + memory)};
      const Pair whole = {static_cast<double>(capacity[kCpu]),
                          static_cast<double>(capacity[kMemory])};
      raw[i] = Balanced(BalanceOfTwo(after, whole), BalanceOfTwo(before, whole));
      continue;
    }
    std::array<int64_t, 3> whole = {capacity[kCpu], capacity[kMemory], 0};
    std::array<int64_t, 3> before = {used[kCpu], used[kMemory], 0};
    std::array<int64_t, 3> after = {used[kCpu] + cpu, used[kMemory] + memory, 0};
    if (gpu != 0) {
      whole[2] = table.allocatable.at(row, gpu_dim);
      before[2] = table.requested.at(row, gpu_dim);
      after[2] = before[2] + gpu;
    }
    raw[i] = Balanced(Balance(after, whole), Balance(before, whole));
  }
}

}  // namespace hekla::plugins

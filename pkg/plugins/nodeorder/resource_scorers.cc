#include "pkg/plugins/nodeorder/resource_scorers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "pkg/util/vectorized.h"

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

namespace {

// What the kernels below read, from one leaf or row on.
struct Inputs {
  const double* left;
  const double* percent;
  const double* fraction;
  const double* used;
  double request;

  Inputs(const ResourceColumns::Dimension& d, size_t begin, int64_t amount)
      : left(d.left.data() + begin),
        percent(d.percent.data() + begin),
        fraction(d.fraction.data() + begin),
        used(d.used.data() + begin),
        request(static_cast<double>(amount)) {}
};

// More than the error of a quotient by multiplication, less than its distance from an integer it
// does not reach; see ResourceColumns.
constexpr double kQuotientSlack = 0x1.0p-44;
// A percentage this close to an integer is computed again by division.
constexpr double kNear = 1e-9;
// x + kRounder - kRounder is the integer nearest to x (|x| < 2^51).
constexpr double kRounder = 0x1.8p52;

HEKLA_VECTORIZED void LeastKernel(const Inputs& cpu, const Inputs& memory, double* __restrict raw,
                                  size_t n) {
  const double* cpu_left = cpu.left;
  const double* cpu_percent = cpu.percent;
  const double* memory_left = memory.left;
  const double* memory_percent = memory.percent;
  const double cpu_request = cpu.request;
  const double memory_request = memory.request;
  for (size_t i = 0; i < n; ++i) {
    double c = (cpu_left[i] - cpu_request) * cpu_percent[i];
    double m = (memory_left[i] - memory_request) * memory_percent[i];
    c = (c > 0 ? c : 0) + kQuotientSlack;
    m = (m > 0 ? m : 0) + kQuotientSlack;
    const auto both = static_cast<uint32_t>(static_cast<int32_t>(c) + static_cast<int32_t>(m));
    raw[i] = static_cast<double>(static_cast<int32_t>(both >> 1));
  }
}

// 100 * (1 - deviation) of the fractions with the pod, to within far less than kNear.
inline double PercentBalanced(double cpu, double memory) {
  const double c = cpu < 1 ? cpu : 1;
  const double m = memory < 1 ? memory : 1;
  return (1 - std::abs((c - m) / 2)) * 100;
}

// raw[i] = trunc((150 + trunc(percentage) - before[i]) / 2); returns how many percentages are too
// close to an integer to be cut off like this.
HEKLA_VECTORIZED int64_t BalancedKernel(const Inputs& cpu, const Inputs& memory,
                                        const double* before, double* __restrict raw, size_t n) {
  const double* cpu_used = cpu.used;
  const double* cpu_fraction = cpu.fraction;
  const double* memory_used = memory.used;
  const double* memory_fraction = memory.fraction;
  const double cpu_request = cpu.request;
  const double memory_request = memory.request;
  int64_t near = 0;
  for (size_t i = 0; i < n; ++i) {
    // As PercentBalanced, which would not be inlined into the copies.
    double c = (cpu_used[i] + cpu_request) * cpu_fraction[i];
    double m = (memory_used[i] + memory_request) * memory_fraction[i];
    c = c < 1 ? c : 1;
    m = m < 1 ? m : 1;
    const double percent = (1 - __builtin_fabs((c - m) / 2)) * 100;
    const double nearest = percent + kRounder - kRounder;
    const double rest = percent - nearest;
    near += __builtin_fabs(rest) < kNear ? int64_t{1} : int64_t{0};
    const double whole = nearest - (rest < 0 ? 1.0 : 0.0);
    // Half of an integer that is not negative, less a quarter, is rounded down.
    raw[i] = (150 + whole - before[i]) * 0.5 - 0.25 + kRounder - kRounder;
  }
  return near;
}

}  // namespace

double LeastAllocatedScorer::Exact(TaskId task, NodeId node) const {
  const NonZeroUse uses(context().tables(), task);
  return static_cast<double>(MeanPercentSlow(uses.At(node), [](int64_t capacity, int64_t request) {
    return std::max<int64_t>(0, capacity - request);
  }));
}

// Of the nodes that the columns describe from `begin` on.
void LeastAllocatedScorer::ScoreColumns(TaskId task, const ResourceColumns& columns, size_t begin,
                                        absl::Span<const NodeId> nodes,
                                        absl::Span<double> raw) const {
  const model::PodTemplate& pod = context().pod(task);
  LeastKernel(Inputs(columns.cpu(), begin, pod.nonzero_cpu_milli),
              Inputs(columns.memory(), begin, pod.nonzero_memory_bytes), raw.data(), raw.size());
  for (uint32_t odd : columns.odd()) {
    if (odd < begin || odd - begin >= nodes.size()) continue;
    raw[odd - begin] = Exact(task, nodes[odd - begin]);
  }
}

bool LeastAllocatedScorer::ScoreRows(TaskId task, const framework::NodeRows& rows, size_t begin,
                                     absl::Span<double> raw) {
  context().row_resources.CatchUp(context().cluster(), rows);
  ScoreColumns(task, context().row_resources, begin, rows.nodes().subspan(begin, raw.size()), raw);
  return true;
}

void LeastAllocatedScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                 absl::Span<double> raw) {
  if (const int64_t at = ResourceColumns::PositionOf(nodes, context().cluster()); at >= 0) {
    context().resources.CatchUp(context().cluster());
    ScoreColumns(task, context().resources, static_cast<size_t>(at), nodes, raw);
    return;
  }
  const NonZeroUse uses(context().tables(), task);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Use use = uses.At(nodes[i]);
    if (use.Plain()) [[likely]] {
      raw[i] = static_cast<double>(MeanPercent(
          {use.capacity[0] - use.request[0], use.capacity[1] - use.request[1]}, use.capacity));
    } else {
      raw[i] = Exact(task, nodes[i]);
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

// 75 for a pod that leaves the balance as it is; half a point for each by which it is better or
// worse with the pod than without.
inline double Balanced(int64_t with_pod, int64_t without_pod) {
  return static_cast<double>((kMaxNodeScore * 3 / 2 + with_pod - without_pod) / 2);
}

}  // namespace

double BalancedAllocationScorer::Exact(TaskId task, NodeId node) const {
  const model::NodeTable& table = context().tables().nodes;
  const model::Resource& request = context().pod(task).request;
  const size_t row = node.index();
  const int64_t* capacity = table.allocatable.row(row);
  const int64_t* used = table.requested.row(row);
  std::array<int64_t, 3> whole = {capacity[kCpu], capacity[kMemory], 0};
  std::array<int64_t, 3> before = {used[kCpu], used[kMemory], 0};
  std::array<int64_t, 3> after = {used[kCpu] + request[kCpu], used[kMemory] + request[kMemory], 0};
  if (const int64_t gpu = GpuRequest(task); gpu != 0) {
    const auto dim = static_cast<model::ResourceDim>(gpu_);
    whole[2] = table.allocatable.at(row, dim);
    before[2] = table.requested.at(row, dim);
    after[2] = before[2] + gpu;
  }
  return Balanced(Balance(after, whole), Balance(before, whole));
}

void BalancedAllocationScorer::ScoreEach(TaskId task, absl::Span<const NodeId> nodes,
                                         absl::Span<double> raw) const {
  const model::NodeTable& table = context().tables().nodes;
  const model::Resource& request = context().pod(task).request;
  const auto cpu = static_cast<double>(request[kCpu]);
  const auto memory = static_cast<double>(request[kMemory]);
  const bool gpu = GpuRequest(task) != 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t* whole = table.allocatable.row(nodes[i].index());
    if (gpu || whole[kCpu] <= 0 || whole[kMemory] <= 0) {
      raw[i] = Exact(task, nodes[i]);
      continue;
    }
    const int64_t* used = table.requested.row(nodes[i].index());
    const auto cpu_used = static_cast<double>(used[kCpu]);
    const auto memory_used = static_cast<double>(used[kMemory]);
    const auto cpu_whole = static_cast<double>(whole[kCpu]);
    const auto memory_whole = static_cast<double>(whole[kMemory]);
    raw[i] = Balanced(BalanceOfTwo(cpu_used + cpu, cpu_whole, memory_used + memory, memory_whole),
                      BalanceOfTwo(cpu_used, cpu_whole, memory_used, memory_whole));
  }
}

void BalancedAllocationScorer::ScoreColumns(TaskId task, const ResourceColumns& columns,
                                            size_t begin, absl::Span<const NodeId> nodes,
                                            absl::Span<double> raw) {
  const model::Resource& request = context().pod(task).request;
  const Inputs cpu(columns.cpu(), begin, request[kCpu]);
  const Inputs memory(columns.memory(), begin, request[kMemory]);
  const double* before = columns.balance().data() + begin;
  if (BalancedKernel(cpu, memory, before, raw.data(), raw.size()) > 0) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double percent =
          PercentBalanced((cpu.used[i] + cpu.request) * cpu.fraction[i],
                          (memory.used[i] + memory.request) * memory.fraction[i]);
      if (std::abs(percent - std::round(percent)) < kNear) raw[i] = Exact(task, nodes[i]);
    }
  }
  for (uint32_t odd : columns.odd()) {
    if (odd < begin || odd - begin >= nodes.size()) continue;
    raw[odd - begin] = Exact(task, nodes[odd - begin]);
  }
}

bool BalancedAllocationScorer::ScoreRows(TaskId task, const framework::NodeRows& rows, size_t begin,
                                         absl::Span<double> raw) {
  if (GpuRequest(task) != 0) return false;
  context().row_resources.CatchUp(context().cluster(), rows);
  ScoreColumns(task, context().row_resources, begin, rows.nodes().subspan(begin, raw.size()), raw);
  return true;
}

void BalancedAllocationScorer::Score(TaskId task, absl::Span<const NodeId> nodes,
                                     absl::Span<double> raw) {
  const int64_t at = ResourceColumns::PositionOf(nodes, context().cluster());
  if (at < 0 || GpuRequest(task) != 0) {
    ScoreEach(task, nodes, raw);
    return;
  }
  context().resources.CatchUp(context().cluster());
  ScoreColumns(task, context().resources, static_cast<size_t>(at), nodes, raw);
}

}  // namespace hekla::plugins

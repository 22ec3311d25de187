#include <algorithm>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework {
namespace {

using model::QueueId;
using model::QueueTable;

constexpr absl::string_view kRoot = "root";

std::string DecimalMilli(int64_t milli) {
  if (milli == 0) return "0";
  static constexpr absl::string_view kSuffixes[] = {"m", "", "k", "M", "G", "T", "P", "E"};
  size_t step = 0;
  while (milli % 1000 == 0 && step + 1 < std::size(kSuffixes)) {
    milli /= 1000;
    ++step;
  }
  return absl::StrCat(milli, kSuffixes[step]);
}

std::string Decimal(int64_t amount) {
  if (amount == 0) return "0";
  static constexpr absl::string_view kSuffixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t step = 0;
  while (amount % 1000 == 0 && step + 1 < std::size(kSuffixes)) {
    amount /= 1000;
    ++step;
  }
  return absl::StrCat(amount, kSuffixes[step]);
}

std::string Binary(int64_t bytes) {
  if (bytes > -1024 && bytes < 1024) return Decimal(bytes);
  static constexpr absl::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t step = 0;
  while (bytes % 1024 == 0 && step + 1 < std::size(kSuffixes)) {
    bytes /= 1024;
    ++step;
  }
  return absl::StrCat(bytes, kSuffixes[step]);
}

// The parent whose sums contain this queue's: as named, else the root; invalid at the top.
QueueId ParentOf(const model::Cluster& cluster, QueueId queue) {
  const QueueTable& queues = cluster.tables().queues;
  if (queues.name[queue] == kRoot) return {};
  const std::string& parent = queues.spec[queue]->parent;
  const QueueId found = cluster.FindQueue(parent.empty() ? kRoot : absl::string_view(parent));
  if (!found.valid() && !parent.empty()) {
    LOG_EVERY_N(WARNING, 1000) << "queue names a parent that does not exist queue="
                               << queues.name[queue] << " parent=" << parent;
  }
  return found == queue ? QueueId() : found;
}

std::vector<std::pair<std::string, std::string>> Render(const model::Dictionary& dictionary,
                                                        const model::Resource& sum) {
  std::vector<std::pair<std::string, std::string>> out;
  const size_t dims = std::max<size_t>(sum.size(), model::kPods);
  for (size_t d = 0; d < dims; ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    if (sum[dim] == 0 && dim != model::kCpu && dim != model::kMemory) continue;
    const std::string name = dictionary.resources.Name(dim);
    out.emplace_back(name, FormatAmount(sum[dim], model::ResourceLayout::UnitOf(name), name));
  }
  std::sort(out.begin(), out.end());
  return out;
}

void WriteQueue(Session& session, QueueId queue, const model::Resource& sum) {
  const QueueTable& queues = session.tables().queues;
  const model::QueueSpec& spec = *queues.spec[queue];
  std::vector<std::pair<std::string, std::string>> allocated = Render(session.dictionary(), sum);
  Session::State::SentQueue& sent = session.state().sent_queues.Grow(queue);
  const bool in_flight = sent.resource_version == spec.resource_version;
  std::vector<std::pair<std::string, std::string>> before =
      in_flight ? sent.allocated : spec.status_allocated;
  std::sort(before.begin(), before.end());
  if (before == allocated) return;
  sent.resource_version = spec.resource_version;
  sent.allocated = allocated;
  ports::QueueStatus status;
  status.name = spec.name;
  status.resource_version = spec.resource_version;
  status.allocated = std::move(allocated);
  session.deps().sink->WriteQueue(std::move(status));
}

}  // namespace

std::string FormatAmount(int64_t amount, model::ResourceUnit unit, absl::string_view name) {
  switch (unit) {
    case model::ResourceUnit::kMilliCores:
    case model::ResourceUnit::kMilli:
      return DecimalMilli(amount);
    case model::ResourceUnit::kBytes:
      return name == "memory" ? Binary(amount) : Decimal(amount);
    case model::ResourceUnit::kCount:
      return Decimal(amount);
  }
  return "0";
}

void PublishQueues(Session& session) {
  const model::Cluster& cluster = session.cluster();
  const std::vector<QueueId>& changed = cluster.unpublished_queues();
  if (changed.empty()) return;
  const QueueTable& queues = session.tables().queues;
  const size_t limit = queues.size();
  // Calls visit(q) for a queue and what is above it, each once even where parents form a circle.
  std::vector<QueueId> seen_from(limit);
  const auto path_of = [&](QueueId queue, auto visit) {
    for (QueueId q = queue; q.valid() && queues.live[q] && seen_from[q.index()] != queue;) {
      seen_from[q.index()] = queue;
      visit(q);
      q = ParentOf(cluster, q);
    }
  };
  // Where the tree has changed, those above the place that a queue has left are no longer above it.
  std::vector<uint8_t> wanted(limit, cluster.queue_tree_changed() ? 1 : 0);
  if (!cluster.queue_tree_changed()) {
    for (QueueId queue : changed) path_of(queue, [&](QueueId q) { wanted[q.index()] = 1; });
    seen_from.assign(limit, QueueId());
  }
  std::vector<model::Resource> sums(limit);
  for (uint32_t i = 0; i < limit; ++i) {
    path_of(QueueId(i), [&](QueueId q) {
      if (wanted[q.index()]) sums[q.index()] += queues.allocated[QueueId(i)];
    });
  }
  for (uint32_t i = 0; i < limit; ++i) {
    if (wanted[i] && queues.live[QueueId(i)]) WriteQueue(session, QueueId(i), sums[i]);
  }
}

}  // namespace hekla::framework

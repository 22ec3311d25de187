#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "pkg/model/cluster.h"
#include "pkg/plugins/common/jobs.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::plugins {

// Sums over the jobs of each queue of N amounts that follow from the job's own row. Kept over
// cycles: the first update visits every job, later ones those that have changed since.
template <int N>
class JobLedger {
 public:
  using Row = std::array<model::Resource, N>;

  // contribution(job, row) fills an empty row. `changed` must hold every job whose row differs from
  // the last update; more do no harm. Returns whether any sum may have changed.
  template <typename Contribution>
  bool Update(const model::Tables& tables, absl::Span<const model::JobId> changed,
              Contribution&& contribution) {
    const model::JobTable& jobs = tables.jobs;
    bool any = queues_.size() < tables.queues.size();
    if (any) queues_.resize(tables.queues.size());
    entries_.resize(std::max(entries_.size(), jobs.size()));
    if (first_) {
      first_ = false;
      for (size_t i = 0; i < jobs.size(); ++i) {
        any |= Refresh(jobs, model::JobId(static_cast<uint32_t>(i)), contribution);
      }
      return true;
    }
    for (model::JobId j : changed) any |= Refresh(jobs, j, contribution);
    return any;
  }

  const model::Resource& of(model::QueueId queue, int which) const {
    return queues_[queue].sums[static_cast<size_t>(which)];
  }
  // Jobs in the session that are in this queue.
  int32_t job_count(model::QueueId queue) const {
    return queues_.contains(queue) ? queues_[queue].jobs : 0;
  }
  const Row& total() const { return total_; }

 private:
  struct Entry {
    model::QueueId queue;  // invalid: counts nowhere
    Row row;
  };
  struct Sums {
    int32_t jobs = 0;
    Row sums;
  };

  template <typename Contribution>
  bool Refresh(const model::JobTable& jobs, model::JobId j, Contribution&& contribution) {
    Entry now;
    if (InSession(jobs, j)) {
      now.queue = jobs.queue[j];
      contribution(j, now.row);
    }
    Entry& entry = entries_[j];
    if (entry.queue == now.queue && entry.row == now.row) return false;
    if (entry.queue.valid()) Book(entry, -1);
    if (now.queue.valid()) Book(now, 1);
    entry = std::move(now);
    return true;
  }
  void Book(const Entry& entry, int sign) {
    Sums& queue = queues_[entry.queue];
    queue.jobs += sign;
    for (size_t n = 0; n < N; ++n) {
      if (sign > 0) {
        queue.sums[n] += entry.row[n];
        total_[n] += entry.row[n];
      } else {
        queue.sums[n] -= entry.row[n];
        total_[n] -= entry.row[n];
      }
    }
  }

  util::IdVector<model::JobId, Entry> entries_;
  util::IdVector<model::QueueId, Sums> queues_;
  Row total_;
  bool first_ = true;
};

}  // namespace hekla::plugins

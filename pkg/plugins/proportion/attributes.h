#pragma once

#include <cstdint>
#include <vector>

#include "pkg/framework/session.h"
#include "pkg/plugins/common/amounts.h"
#include "pkg/plugins/common/job_ledger.h"
#include "pkg/plugins/proportion/deserved.h"

namespace hekla::plugins {

// What proportion knows about each queue with at least one job, as of the open of the session.
// `allocated` is not kept: it is read from the tables (allocated and pipelined amounts), so that it
// follows every decision and its undo.
// Cost:   Open divides the cluster anew only if a job, a queue or the cluster's size has changed.
// Source: spec scheduler-actions 3.7.1.
class QueueAttributes {
 public:
  void Open(framework::Session& session);

  bool Has(model::QueueId q) const { return index_.contains(q) && index_[q] >= 0; }
  const Amounts& deserved(model::QueueId q) const { return deserved_[Row(q)]; }
  const Amounts& request(model::QueueId q) const { return demands_[Row(q)].request; }
  const Amounts& real_capability(model::QueueId q) const {
    return demands_[Row(q)].real_capability;
  }
  // Amounts promised to jobs that are Inqueue, and to running ones below their minimum.
  const Amounts& inqueue(model::QueueId q) const { return inqueue_[Row(q)]; }
  // What jobs hold beyond their minResources.
  const Amounts& elastic(model::QueueId q) const { return elastic_[Row(q)]; }
  void AddInqueue(model::QueueId q, const model::Resource& amounts);

  // Fills `out` with what the queue holds now.
  void HeldBy(model::QueueId q, Amounts& out) const;
  // Largest share of what is deserved; 0 for a queue without jobs.
  double ShareOf(model::QueueId q) const;

  const UnitScale& scale() const { return scale_; }
  // Queues with jobs, oldest first.
  absl::Span<const model::QueueId> queues() const { return order_; }
  // Whether the last Open divided the cluster anew.
  bool divided() const { return divided_; }

 private:
  void Divide();
  // Whether a queue that was short of something deserves more than it last did.
  bool Relieves();
  Amounts ToAmounts(const model::ResourceLimit& limit) const;
  Amounts RealCapability(const model::QueueSpec& queue, const Amounts& guarantee) const;
  size_t Row(model::QueueId q) const { return static_cast<size_t>(index_[q]); }

  enum Sum { kInqueue, kElastic };
  const model::Tables* view_ = nullptr;
  UnitScale scale_;
  bool divided_ = false;
  JobLedger<2> ledger_;
  Amounts total_, guaranteed_;                     // of the cluster; by all queues together
  util::IdVector<model::QueueId, int32_t> index_;  // row below; -1: no jobs
  std::vector<model::QueueId> order_;              // queues with jobs, in cluster order
  std::vector<QueueDemand> demands_;
  std::vector<Amounts> deserved_, inqueue_, elastic_;
  struct Granted {
    Amounts deserved;
    bool met = true;  // the whole request
  };
  util::IdVector<model::QueueId, Granted> granted_;  // by the last division
};

}  // namespace hekla::plugins

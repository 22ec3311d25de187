#pragma once

#include <string>
#include <vector>

#include "pkg/framework/cause.h"
#include "pkg/framework/extension/combinators.h"
#include "pkg/framework/extension/node_points.h"
#include "pkg/model/ids.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::framework {

// Answer of a JobValid function.
struct ValidResult {
  bool pass = true;
  std::string reason, message;
  Cause cause = Cause::kJobInvalid;
};

// First answer that does not pass, else a passing one.
class FirstInvalid : public Point<ValidResult(model::JobId)> {
 public:
  ValidResult operator()(model::JobId job) const {
    for (const auto& e : entries_) {
      if (ValidResult r = e.call(job); !r.pass) return r;
    }
    return {};
  }
};

// First error (invalid id: none). PrePredicate of plugins that need more than
// NodeFilter::PreFilter.
class FirstReason : public Point<ReasonId(model::TaskId)> {
 public:
  ReasonId operator()(model::TaskId task) const {
    for (const auto& e : entries_) {
      if (ReasonId r = e.call(task); r.valid()) return r;
    }
    return {};
  }
};

struct EvictContext {
  enum class Kind : uint8_t { kGangPreempt, kGangReclaim, kTaskPreempt, kTaskReclaim } kind;
  model::JobId job;
  model::TaskId task;
  model::HyperNodeId hyper_node;
};

using TaskSpan = absl::Span<const model::TaskId>;
using GradientList = std::vector<std::vector<model::HyperNodeId>>;

// Every extension point of the scheduler: name as upstream, rule, and the enable flag of a plugin's
// options that gates it (— = not gated). Filled at session open, read by actions.
// Source: spec scheduler-core section 7.
struct Points {
  FirstNonZero<model::JobId, model::JobId> job_order;            // enableJobOrder
  FirstNonZero<model::QueueId, model::QueueId> queue_order;      // enableQueueOrder
  FirstNonZero<model::TaskId, model::TaskId> task_order;         // enableTaskOrder
  FirstNonZero<model::SubJobId, model::SubJobId> sub_job_order;  // enabledSubJobOrder
  FirstNonZero<model::QueueId, model::QueueId, model::QueueId> victim_queue_order;  // —
  FirstInvalid job_valid;                                                           // —
  AllPass<model::JobId> job_ready;                                 // enableJobReady
  AllPass<model::JobId, model::SubJobId> sub_job_ready;            // enabledSubJobReady
  VoteAll<model::JobId> job_pipelined;                             // enableJobPipelined
  VoteAll<model::JobId, model::SubJobId> sub_job_pipelined;        // enabledSubJobPipelined
  VoteAll<model::JobId> job_enqueueable;                           // enableJobEnqueued
  Broadcast<model::JobId> job_enqueued;                            // enableJobEnqueued
  TierAll<model::JobId> job_starving;                              // enableJobStarving
  AnyTrue<model::QueueId> overused;                                // enabledOverused
  AllPass<model::QueueId, model::TaskId> allocatable;              // enabledAllocatable
  AllPass<model::QueueId, TaskSpan> preemptive;                    // enablePreemptive
  TierIntersect<model::TaskId, TaskSpan> preemptable;              // enablePreemptable
  TierIntersect<model::TaskId, TaskSpan> reclaimable;              // enableReclaimable
  TierIntersect<const EvictContext&, TaskSpan> unified_evictable;  // —
  TierUnion<TaskSpan> victim_tasks;                                // enabledVictim
  FirstReason pre_predicate;                                       // enablePredicate
  // Called after the tables have changed.
  Broadcast<model::TaskId> allocate_event;    // —; Allocate, Pipeline, unevict
  Broadcast<model::TaskId> deallocate_event;  // —; Evict, unpipeline, unallocate
  // Adds to a binding what the plugin has to have written first (volumes).
  Broadcast<model::TaskId, ports::BindRequest&> bind_context;  // —
  FirstProvider<GradientList, model::JobId, model::HyperNodeId>
      gradient_for_job;  // enabledHyperNodeGradient
  FirstProvider<GradientList, model::SubJobId, model::HyperNodeId> gradient_for_sub_job;

  // Node-level: in order of plugins, each plugin's filters contiguous.
  struct FilterEntry {
    NodeFilter* filter;
    int32_t plugin;
  };
  struct ScorerEntry {
    NodeScorer* scorer;
    int32_t plugin;
    bool batch;  // summed after the per-node scores, as upstream's BatchNodeOrder
  };
  std::vector<FilterEntry> filters;  // enablePredicate
  std::vector<ScorerEntry> scorers;  // enableNodeOrder

  void Clear();
};

}  // namespace hekla::framework

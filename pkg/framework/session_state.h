#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "pkg/framework/scheduler_metrics.h"
#include "pkg/framework/session.h"
#include "pkg/util/id_vector.h"

// Inside of Session; included by the framework's sources only.
namespace hekla::framework {

struct Session::State {
  // Operations of statements that were kept: reversed, newest first, at close. An operation whose
  // task is no longer as it left it has been dealt with elsewhere (committed, un-pipelined).
  std::vector<UndoRecord> kept;
  std::vector<std::string> eviction_reasons;
  int32_t open_statements = 0;

  // Refusals of the last try of each task. They outlive the session, so that a job that is looked
  // at without being tried still knows why it waits. `owner` tells a reused row.
  struct TaskErrors {
    uint64_t owner = 0;
    FitErrors errors;
  };
  util::IdVector<model::TaskId, TaskErrors> fit_errors;
  absl::flat_hash_set<std::pair<model::SubJobId, model::Symbol>> failed_roles;
  struct JobNote {
    uint64_t owner = 0;
    std::string fit_error;  // "": nothing refuses the job as a whole
    Cause refusal = Cause::kQueueRefused;
    // The last event on the PodGroup: an equal one comes again ever later.
    uint64_t event_hash = 0;
    absl::Duration next_event;  // in uptime
    absl::Duration event_pause;
    // State of the world at the last try, settled when its session has closed.
    bool tried = false;
    bool unsettled = false;        // see Tries::MarkTurn
    bool looks_at_others = false;  // pods that others place may make room for it
    model::TaskId blocked;         // see Tries::MarkBlocked
    uint64_t blocked_order = 0;    // generation of the node orders then
    uint32_t tried_generation = 0;
    uint64_t tried_relief = 0;
    uint64_t attempted = 0;      // number of the session that tried the job last
    uint64_t dispatched = 0;     // number of the session that committed tasks of it last
    uint64_t condition_set = 0;  // number of the session that set Unschedulable last
    absl::Duration wording_due = absl::InfiniteDuration();  // the job's first turn in owed_wordings
  };
  util::IdVector<model::JobId, JobNote> notes;

  // What was sent last, and on which version of the object.
  struct SentStatus {
    uint64_t owner = 0;
    int64_t resource_version = -1;
    ports::PodGroupStatus status;
  };
  util::IdVector<model::JobId, SentStatus> sent;
  struct SentCondition {
    uint64_t owner = 0;
    absl::string_view reason;     // a constant
    uint64_t text = 0;            // a hash of it
    absl::Duration next_wording;  // in uptime: another text alone is not sent before
    absl::Duration pause;         // 0: nothing was sent
  };
  util::IdVector<model::TaskId, SentCondition> sent_conditions;
  // Jobs with pods of which only the wording may have changed, to be looked at when its turn comes.
  struct OwedWording {
    absl::Duration due;  // in uptime
    model::JobId job;
    // The first to come is the greatest.
    friend bool operator<(const OwedWording& a, const OwedWording& b) {
      return a.due != b.due ? b.due < a.due : b.job < a.job;
    }
  };
  std::priority_queue<OwedWording> owed_wordings;
  struct SentQueue {
    int64_t resource_version = -1;
    std::vector<std::pair<std::string, std::string>> allocated;
  };
  util::IdVector<model::QueueId, SentQueue> sent_queues;

  std::shared_ptr<metrics::Histogram> assumed;  // one series, looked up once
  struct PluginTimes {
    std::shared_ptr<metrics::Histogram> open, close;
  };
  std::vector<PluginTimes> plugin_times;  // empty without metrics

  std::vector<model::JobId> tries;  // of this session
  bool timed_plugins = false;       // some answer changes with time alone
  uint64_t touches_at_close = 0;
  uint64_t news_at_open = 0;
  bool news = true;  // since the session before was opened

  uint64_t number = 0;  // of the session, counted from 1

  // For explanations between cycles.
  absl::Span<const PluginSlot> plugins;  // of the configuration
  bool quiet = false;                    // questions are asked: nothing is emitted
  // Places that the last session with a try reserved for tasks and took back at its close.
  struct Held {
    model::TaskId task;
    uint64_t owner = 0;
    model::NodeId node;
    model::TaskStatus status;
  };
  std::vector<Held> held;
};

// Who a row belongs to, for notes that outlive it.
uint64_t OwnerOf(const model::TaskTable& tasks, model::TaskId task);
uint64_t OwnerOf(const model::JobTable& jobs, model::JobId job);

Session::State::JobNote& NoteOf(Session& session, model::JobId job);

// Why a task waits. Source: spec scheduler-core 8.6, TaskSchedulingReason.
struct WaitReason {
  absl::string_view reason;
  std::string message;  // only with `with_message`
  model::NodeId nominated;
};
WaitReason TaskWaitReason(const Session& session, model::TaskId task, bool with_message);

// "Open", "Closed", …
absl::string_view QueueStateName(model::QueueState state);

// What users read where the whole job is refused (Session::SetJobFitError).
std::string JobRefusalText(Session& session, model::JobId job, Cause refusal);

// The phase that follows from the counts. Source: spec scheduler-core 4.5, E6.
model::PodGroupPhase NextPhase(const model::JobTable& jobs, model::JobId job, bool unschedulable);

// Statuses, conditions and events of the jobs that changed (job_status.cc).
void PublishJobs(Session& session);
// Conditions of the job's pods that wait, and of those whose wording has waited
// (pod_conditions.cc).
void PublishPods(Session& session, model::JobId job);
void PublishOwedWordings(Session& session);
// Status of the queues that changed, and of their ancestors (queue_status.cc).
void PublishQueues(Session& session);

// A canonical quantity of `amount` in a unit, as Go writes it.
std::string FormatAmount(int64_t amount, model::ResourceUnit unit, absl::string_view name);

}  // namespace hekla::framework

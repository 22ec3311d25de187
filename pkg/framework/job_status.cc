#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework {
namespace {

using model::JobId;
using model::JobTable;
using model::PodGroupPhase;
using model::StatusCounts;
using model::TaskId;
using model::TaskStatus;

constexpr absl::string_view kSchedulable = "Schedulable";
constexpr absl::string_view kUnschedulable = "Unschedulable";

std::string SortedList(std::vector<std::string> items) {
  std::sort(items.begin(), items.end());
  return absl::StrJoin(items, ", ");
}

std::string PodName(const model::TaskSpec& spec) {
  return absl::StrCat(spec.namespace_name, "/", spec.name);
}

// Of the tasks that were refused, the one whose refusal is shown: the first by name.
TaskId FirstRefused(const Session& session, JobId job) {
  const model::Tables& t = session.tables();
  TaskId first;
  for (TaskId task : t.jobs.tasks[job]) {
    if (session.FindFitErrors(task) == nullptr) continue;
    if (!first.valid() || t.tasks.spec[task]->name < t.tasks.spec[first]->name) first = task;
  }
  return first;
}

const std::string& JobNoteText(const Session& session, JobId job) {
  return NoteOf(const_cast<Session&>(session), job).fit_error;  // NOLINT: adds an empty note only
}

bool SameCondition(const model::ConditionRow& a, const model::ConditionRow& b, bool with_message) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason &&
         (!with_message || a.message == b.message);
}

bool SameConditions(const std::vector<model::ConditionRow>& a,
                    const std::vector<model::ConditionRow>& b, bool with_messages) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return SameCondition(x, y, with_messages);
  });
}

struct StatusView {
  PodGroupPhase phase;
  int32_t running, succeeded, failed;
  const std::vector<model::ConditionRow>* conditions;
};

bool SameCounters(const StatusView& a, const ports::PodGroupStatus& b) {
  return a.phase == b.phase && a.running == b.running && a.succeeded == b.succeeded &&
         a.failed == b.failed;
}

// Writes the status where it differs from what the API server has or is about to get. True if so.
bool WriteStatus(Session& session, JobId job) {
  const JobTable& jobs = session.tables().jobs;
  const model::JobSpec& spec = *jobs.spec[job];
  ports::PodGroupStatus status;
  status.namespace_name = spec.namespace_name;
  status.name = spec.name;
  status.uid = spec.uid;
  status.resource_version = spec.resource_version;
  status.phase = jobs.phase[job];
  status.conditions = jobs.conditions[job];
  status.running = jobs.counts[job][TaskStatus::kRunning];
  status.succeeded = jobs.counts[job][TaskStatus::kSucceeded];
  status.failed = jobs.counts[job][TaskStatus::kFailed];
  Session::State::SentStatus& sent = session.state().sent.Grow(job);
  const uint64_t owner = OwnerOf(jobs, job);
  const bool in_flight = sent.owner == owner && sent.resource_version == spec.resource_version;
  const StatusView before =
      in_flight
          ? StatusView{sent.status.phase, sent.status.running, sent.status.succeeded,
                       sent.status.failed, &sent.status.conditions}
          : StatusView{spec.phase, spec.running, spec.succeeded, spec.failed, &spec.conditions};
  const bool same_counters = SameCounters(before, status);
  if (same_counters && SameConditions(*before.conditions, status.conditions, true)) return false;
  status.message_only =
      same_counters && SameConditions(*before.conditions, status.conditions, false);
  sent.owner = owner;
  sent.resource_version = spec.resource_version;
  sent.status = status;
  session.deps().sink->WritePodGroup(std::move(status));
  return true;
}

// A warning per try, and whenever its text changes. Where nothing waits there is nothing to warn
// of.
void EmitUnschedulable(Session& session, JobId job) {
  const JobTable& jobs = session.tables().jobs;
  const int32_t pending = jobs.counts[job][TaskStatus::kPending];
  if (pending == 0) return;
  std::string message =
      absl::StrCat(pending, "/", jobs.task_count[job],
                   " tasks in gang unschedulable: ", session.JobFitErrorText(job));
  session.RecordPodGroupEvent(job, /*warning=*/true, kUnschedulable, std::move(message));
}

// A job that waits for its queue is in no plugin's hands; it must not be silent.
void ExplainMissingQueue(Session& session, JobId job) {
  const JobTable& jobs = session.tables().jobs;
  session.SetJobFitError(job, Cause::kQueueNotFound);
  model::ConditionRow condition;
  condition.type = std::string(kUnschedulable);
  condition.status = "True";
  condition.reason = "QueueNotFound";
  condition.message = absl::StrCat(jobs.task_count[job], "/", jobs.task_count[job],
                                   " tasks in gang unschedulable: ", session.JobFitErrorText(job));
  condition.transition_id = session.uid();
  condition.last_transition = session.now();
  session.SetJobCondition(job, std::move(condition));
}

void PublishJob(Session& session, JobId job) {
  const JobTable& jobs = session.tables().jobs;
  if (!jobs.live[job] || jobs.spec[job] == nullptr) return;
  if (jobs.queue[job].valid()) {
    const bool unschedulable = NoteOf(session, job).condition_set == session.state().number;
    session.cluster().SetPhase(job, NextPhase(jobs, job, unschedulable));
  } else {
    // Its phase stays until it has a queue: what runs goes on as if nothing were missing.
    if (jobs.phase[job] == PodGroupPhase::kNone) {
      session.cluster().SetPhase(job, PodGroupPhase::kPending);
    }
    if (jobs.counts[job][TaskStatus::kPending] > 0) ExplainMissingQueue(session, job);
  }
  if (!jobs.solo[job]) {
    const bool written = WriteStatus(session, job);
    const PodGroupPhase phase = jobs.phase[job];
    if (phase == PodGroupPhase::kUnknown || phase == PodGroupPhase::kPending ||
        phase == PodGroupPhase::kInqueue) {
      EmitUnschedulable(session, job);
    } else if (written) {
      session.RecordPodGroupEvent(job, /*warning=*/false, "Scheduled", "pod group is ready");
    }
  }
  PublishPods(session, job);
}

}  // namespace

WaitReason TaskWaitReason(const Session& session, TaskId task, bool with_message) {
  const model::Tables& t = session.tables();
  const model::LastTransaction& last = t.tasks.last_transaction[task];
  const TaskStatus status = last.set ? last.status : t.tasks.status[task];
  const model::NodeId node = last.set ? last.node : t.tasks.node[task];
  const bool evictions = last.set ? last.evictions : t.tasks.pipeline_evicted[task] != 0;
  WaitReason why;
  const auto possibly = [&](absl::string_view tail) {
    if (!with_message) return;
    why.message =
        absl::StrCat("Pod ", PodName(*t.tasks.spec[task]), " can possibly be assigned to ",
                     session.dictionary().symbols.Text(t.nodes.name[node]), tail);
  };
  switch (status) {
    case TaskStatus::kAllocated:
      why.reason = kSchedulable;
      possibly(", once minAvailable is satisfied");
      return why;
    case TaskStatus::kPipelined:
      why.reason = kUnschedulable;
      possibly(", once resource is released and minAvailable is satisfied");
      if (evictions) why.nominated = node;
      return why;
    case TaskStatus::kPending:
      why.reason = kUnschedulable;
      if (!with_message) return why;
      if (const FitErrors* errors = session.FindFitErrors(task); errors != nullptr) {
        why.message = Render(*errors, *session.deps().reasons);
      }
      break;
    default:
      why.reason = model::StatusName(status);
  }
  if (with_message && why.message.empty() && t.tasks.job[task].valid()) {
    why.message = JobNoteText(session, t.tasks.job[task]);
  }
  return why;
}

std::string Session::JobFitErrorText(JobId job) const {
  const model::Tables& t = tables();
  std::vector<std::string> states;
  for (int s = 0; s < model::kTaskStatusCount; ++s) {
    const int32_t count = t.jobs.counts[job].n[static_cast<size_t>(s)];
    if (count == 0) continue;
    states.push_back(absl::StrCat(count, " ", model::StatusName(static_cast<TaskStatus>(s))));
  }
  states.push_back(absl::StrCat(t.jobs.min_available[job], " minAvailable"));
  std::string text =
      absl::StrCat(t.jobs.IsReady(job) ? "pod group is ready, " : "pod group is not ready, ",
                   SortedList(std::move(states)));
  std::vector<std::pair<absl::string_view, int32_t>> reasons;
  for (TaskId task : t.jobs.tasks[job]) {
    if (t.tasks.status[task] != TaskStatus::kPending) continue;
    const absl::string_view reason = TaskWaitReason(*this, task, false).reason;
    auto it = std::find_if(reasons.begin(), reasons.end(),
                           [&](const auto& entry) { return entry.first == reason; });
    if (it == reasons.end()) it = reasons.insert(reasons.end(), {reason, 0});
    ++it->second;
  }
  if (!reasons.empty()) {
    std::vector<std::string> lines;
    for (const auto& [reason, count] : reasons) lines.push_back(absl::StrCat(count, " ", reason));
    absl::StrAppend(&text, "; Pending: ", SortedList(std::move(lines)));
  }
  if (const std::string& note = JobNoteText(*this, job); !note.empty()) {
    absl::StrAppend(&text, ". Origin reason is: ", note);
  } else if (const TaskId task = FirstRefused(*this, job); task.valid()) {
    absl::StrAppend(&text, ". Origin reason is ", t.tasks.spec[task]->name, ": ",
                    Render(*FindFitErrors(task), *deps_.reasons));
  }
  return text;
}

PodGroupPhase NextPhase(const JobTable& jobs, JobId job, bool unschedulable) {
  const StatusCounts& counts = jobs.counts[job];
  if (counts[TaskStatus::kRunning] > 0 && unschedulable) return PodGroupPhase::kUnknown;
  const int32_t scheduled = counts.Sum(model::kScheduledStatuses) + jobs.releasing_on_node[job];
  const int32_t completed = counts[TaskStatus::kSucceeded] + counts[TaskStatus::kFailed];
  if (scheduled >= jobs.min_available[job]) {
    return scheduled == completed ? PodGroupPhase::kCompleted : PodGroupPhase::kRunning;
  }
  return jobs.phase[job] == PodGroupPhase::kInqueue ? PodGroupPhase::kInqueue
                                                    : PodGroupPhase::kPending;
}

absl::string_view QueueStateName(model::QueueState state) {
  switch (state) {
    case model::QueueState::kNone:
    case model::QueueState::kOpen:
      return "Open";
    case model::QueueState::kClosed:
      return "Closed";
    case model::QueueState::kClosing:
      return "Closing";
    case model::QueueState::kUnknown:
      break;
  }
  return "Unknown";
}

std::string JobRefusalText(Session& session, JobId job, Cause refusal) {
  const JobTable& jobs = session.tables().jobs;
  const model::QueueTable& queues = session.tables().queues;
  if (refusal == Cause::kHyperNodesNotReady) return "hyperNodes are not ready";
  if (refusal == Cause::kQueueNotFound) {
    const std::string& named = jobs.spec[job]->queue;
    return absl::StrCat("queue \"",
                        named.empty() ? session.cluster().options().default_queue : named,
                        "\" does not exist");
  }
  const model::QueueId queue = jobs.queue[job];
  const std::string& name = queues.name[queue];
  switch (refusal) {
    case Cause::kQueueNotOpen:
      return absl::StrCat("queue \"", name, "\" is not open (state ",
                          QueueStateName(queues.spec[queue]->state), ")");
    case Cause::kEnqueueRefused:
      return absl::StrCat("not admitted to queue \"", name, "\" yet: no room for its minResources");
    case Cause::kQueueOverused:
      return absl::StrCat("queue \"", name, "\" is overused");
    case Cause::kQueueShareExceeded:
      return absl::StrCat("queue \"", name, "\" has no room for the request in its share");
    default:
      LOG(FATAL) << "no refusal of a whole job cause=" << CauseName(refusal);
  }
  return "";
}

void PublishJobs(Session& session) {
  // Publishing marks further jobs only while it is at them.
  const std::vector<JobId>& jobs = session.cluster().unpublished_jobs();
  for (size_t i = 0; i < jobs.size(); ++i) PublishJob(session, jobs[i]);
  PublishOwedWordings(session);
}

}  // namespace hekla::framework

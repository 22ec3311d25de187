#include "pkg/framework/explain/explainer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/framework/explain/amounts.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework::explain {

using model::JobId;
using model::JobTable;
using model::NodeId;
using model::TaskId;
using model::TaskStatus;

namespace {

constexpr absl::string_view kSchedulerError = "SchedulerError";

// A place that the last session with a try reserved, if it still means anything.
const Session::State::Held* FindHeld(Session& session, TaskId task) {
  const model::TaskTable& tasks = session.tables().tasks;
  for (const Session::State::Held& held : session.state().held) {
    if (held.task != task || held.owner != OwnerOf(tasks, task)) continue;
    return tasks.status[task] == TaskStatus::kPending ? &held : nullptr;
  }
  return nullptr;
}

std::string ApiError(const model::TaskSpec& spec) {
  const auto& condition = spec.scheduled_condition;
  return condition.has_value() && condition->reason == kSchedulerError ? condition->message : "";
}

}  // namespace

std::string Explainer::PodName(TaskId task) const {
  const model::TaskSpec& spec = *session_.tables().tasks.spec[task];
  return absl::StrCat(spec.namespace_name, "/", spec.name);
}

std::string Explainer::NodeName(NodeId node) const {
  return std::string(session_.dictionary().symbols.Text(session_.tables().nodes.name[node]));
}

TaskId Explainer::FindPod(absl::string_view key) const {
  const model::TaskTable& tasks = session_.tables().tasks;
  TaskId found;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TaskId task(static_cast<uint32_t>(i));
    if (!tasks.live[task]) continue;
    const model::TaskSpec& spec = *tasks.spec[task];
    const size_t length = spec.namespace_name.size() + 1 + spec.name.size();
    if (length != key.size() || !absl::StartsWith(key, spec.namespace_name) ||
        !absl::EndsWith(key, spec.name) || key[spec.namespace_name.size()] != '/') {
      continue;
    }
    // A pod that goes may still be there beside the new one of its name.
    if (!found.valid() || tasks.creation_ns[found] < tasks.creation_ns[task]) found = task;
  }
  return found;
}

absl::StatusOr<Explanation> Explainer::Pod(absl::string_view key) {
  const TaskId task = FindPod(key);
  if (task.valid()) return Task(task);
  return absl::NotFoundError(absl::StrCat(
      "the scheduler knows no pod ", key,
      ": it does not exist, or waits with another spec.schedulerName than this scheduler's (",
      session_.deps().scheduler_name, "), or was created a moment ago"));
}

bool Explainer::WasTried(JobId job) const {
  const Session::State& state = session_.state();
  return state.notes.contains(job) && state.notes[job].attempted > 0 &&
         state.notes[job].owner == OwnerOf(session_.tables().jobs, job);
}

void Explainer::DescribePlaced(TaskId task, Explanation& out) const {
  const model::Tables& t = session_.tables();
  const std::string node = t.tasks.node[task].valid() ? NodeName(t.tasks.node[task]) : "";
  const std::string error = ApiError(*t.tasks.spec[task]);
  switch (t.tasks.status[task]) {
    case TaskStatus::kBinding:
    case TaskStatus::kAllocated:
      if (error.empty()) {
        out.cause = Cause::kBindInFlight;
        out.message = absl::StrCat("decided for ", node, "; the API server's answer is awaited");
      } else {
        out.cause = Cause::kBindFailed;
        out.message = absl::StrCat("the last binding failed, another try is under way to ", node,
                                   ": ", error);
      }
      break;
    case TaskStatus::kReleasing:
      out.cause = Cause::kTerminating;
      out.message = node.empty() ? "it is being deleted"
                                 : absl::StrCat("it is being deleted or evicted on ", node);
      break;
    case TaskStatus::kSucceeded:
    case TaskStatus::kFailed:
      out.cause = Cause::kFinished;
      out.message = absl::StrCat("it has ended (", model::StatusName(t.tasks.status[task]), ")");
      break;
    default:
      out.cause = Cause::kScheduled;
      out.message = absl::StrCat("it has its node, ", node);
  }
  out.chain.push_back({"placement", Verdict::kOk, out.message, {}});
}

bool Explainer::DescribeState(TaskId task, Explanation& out) const {
  const model::Tables& t = session_.tables();
  const JobId job = t.tasks.job[task];
  out.name = PodName(task);
  out.state = std::string(model::StatusName(t.tasks.status[task]));
  if (job.valid()) {
    if (!t.jobs.solo[job]) out.group = JobName(t.jobs, job);
    if (t.jobs.queue[job].valid()) out.queue = t.queues.name[t.jobs.queue[job]];
  }
  if (t.tasks.status[task] == TaskStatus::kPending && job.valid()) return true;
  DescribePlaced(task, out);
  return false;
}

Explanation Explainer::Task(TaskId task) {
  Explanation out;
  if (!DescribeState(task, out)) return out;
  const JobId job = session_.tables().tasks.job[task];
  Finding finding;
  JobSteps steps(session_, job, out.chain, finding);
  const bool goes_on = steps.Ask();
  if (goes_on) {
    if (!finding.found) steps.AddOrder();
    PodAnswer answer = AskPod(task, /*whole=*/true);
    for (Step& step : answer.chain) out.chain.push_back(std::move(step));
    out.nodes = std::move(answer.nodes);
    if (!finding.found) {
      out.blocked_by = std::move(answer.blocked_by);
      finding = std::move(answer.finding);
    }
  }
  out.cause = finding.cause;
  out.message = std::move(finding.message);
  return out;
}

void Explainer::AskGates(TaskId task, PodAnswer& answer) const {
  const model::TaskTable& tasks = session_.tables().tasks;
  if (!tasks.gated[task]) return;
  const model::TaskSpec& spec = *tasks.spec[task];
  if (!spec.only_queue_gate) {
    answer.finding.Say(Cause::kSchedulingGated, "it has scheduling gates");
  } else if (!spec.queue_gate_opt_in) {
    answer.finding.Say(Cause::kQueueGate,
                       "it has the queue-allocation gate but not the annotation "
                       "scheduling.volcano.sh/queue-allocation-gate: \"true\" that lets the "
                       "scheduler remove it");
  } else if (!session_.deps().queue_admission_gates) {
    answer.finding.Say(Cause::kQueueGate,
                       "it has the queue-allocation gate, and the feature gate "
                       "SchedulingGatesQueueAdmission is off");
  } else {
    answer.finding.Say(Cause::kQueueGate,
                       "its queue-allocation gate is being removed; it is placed afterwards");
  }
  answer.chain.push_back({"gates", Verdict::kNo, answer.finding.message, {}});
}

void Explainer::AskHeld(TaskId task, PodAnswer& answer) const {
  const Session::State::Held* held = FindHeld(session_, task);
  if (held == nullptr) return;
  const model::Tables& t = session_.tables();
  const std::string node = NodeName(held->node);
  if (held->status == TaskStatus::kAllocated) {
    answer.finding.Say(Cause::kWaitsForGang,
                       absl::StrCat("it has a place on ", node,
                                    "; other members of its gang wait for room to be freed"));
  } else {
    std::vector<std::string> going;
    for (TaskId other : t.nodes.tasks[held->node]) {
      if (t.tasks.status[other] == TaskStatus::kReleasing) AddExample(going, PodName(other));
    }
    answer.finding.Say(
        Cause::kWaitsForRelease,
        absl::StrCat("its place on ", node, " gets free once pods there have gone",
                     going.empty() ? "" : absl::StrCat(" (", absl::StrJoin(going, ", "), ")")));
  }
  answer.chain.push_back({"reserved", Verdict::kNo, answer.finding.message, {}});
}

model::Resource Explainer::SiblingsOf(TaskId task) const {
  const model::Tables& t = session_.tables();
  model::Resource sum;
  for (TaskId other : t.jobs.tasks[t.tasks.job[task]]) {
    const model::LastTransaction& last = t.tasks.last_transaction[other];
    if (other == task || t.tasks.status[other] != TaskStatus::kPending || !last.set) continue;
    if (last.node.valid()) sum += t.tasks.pod[other]->request;
  }
  return sum;
}

Overlay Explainer::OverlayFor(TaskId task) const {
  const model::Tables& t = session_.tables();
  const JobId job = t.tasks.job[task];
  Overlay overlay;
  for (TaskId other : t.jobs.tasks[job]) {
    const model::LastTransaction& last = t.tasks.last_transaction[other];
    if (other == task || t.tasks.status[other] != TaskStatus::kPending || !last.set) continue;
    if (last.node.valid()) Overlay::Add(overlay.siblings, last.node, t.tasks.pod[other]->request);
  }
  for (const Session::State::Held& held : session_.state().held) {
    if (!t.tasks.live[held.task] || held.owner != OwnerOf(t.tasks, held.task)) continue;
    const JobId holder = t.tasks.job[held.task];
    if (t.tasks.status[held.task] != TaskStatus::kPending || holder == job) continue;
    Overlay::Add(overlay.others, held.node, t.tasks.pod[held.task]->request);
    overlay.holders.push_back(JobName(t.jobs, holder));
  }
  std::sort(overlay.holders.begin(), overlay.holders.end());
  overlay.holders.erase(std::unique(overlay.holders.begin(), overlay.holders.end()),
                        overlay.holders.end());
  return overlay;
}

void Explainer::AskShare(TaskId task, PodAnswer& answer) {
  if (session_.tables().tasks.best_effort[task]) return;
  const JobId job = session_.tables().tasks.job[task];
  JobSteps steps(session_, job, answer.chain, answer.finding);
  steps.AskOverused();
  steps.AskShare(task, SiblingsOf(task));
}

void Explainer::AddVolumes(TaskId task, PodAnswer& answer) const {
  const model::Tables& t = session_.tables();
  const std::string& ns = t.tasks.spec[task]->namespace_name;
  std::vector<std::string> parts;
  for (const model::PodVolume& volume : t.tasks.pod[task]->volumes) {
    const std::string name(session_.dictionary().symbols.Text(volume.claim));
    const auto it = t.volumes.claims.find(absl::StrCat(ns, "/", name));
    if (it == t.volumes.claims.end()) {
      parts.push_back(absl::StrCat(name, " does not exist"));
      continue;
    }
    const model::ClaimSpec& claim = *it->second;
    const std::string storage = claim.storage_class.value_or("");
    const auto found = t.volumes.storage_classes.find(storage);
    if (!claim.volume_name.empty()) {
      parts.push_back(absl::StrCat(name, " has volume ", claim.volume_name));
    } else if (found != t.volumes.storage_classes.end() && found->second->wait_for_first_consumer) {
      parts.push_back(absl::StrCat(name, " waits for a node (class ", storage, ")"));
    } else {
      parts.push_back(absl::StrCat(name, " is not bound (",
                                   storage.empty() ? "no class" : absl::StrCat("class ", storage),
                                   ")"));
    }
  }
  if (parts.empty()) return;
  answer.chain.push_back({"volumes", Verdict::kNote, absl::StrJoin(parts, ", "), {}});
}

void Explainer::AskNodes(TaskId task, PodAnswer& answer) {
  const model::Tables& t = session_.tables();
  AddVolumes(task, answer);
  FunnelAnswer nodes = funnel_.Ask(task, OverlayFor(task));
  if (const FitErrors* errors = session_.FindFitErrors(task); errors != nullptr) {
    nodes.facts.summary = Render(*errors, session_.reasons());
  }
  const std::string text = nodes.fits
                               ? nodes.message
                               : absl::StrCat("0 of ", nodes.facts.total, " fit: ", nodes.message);
  answer.chain.push_back({"nodes", nodes.fits ? Verdict::kOk : Verdict::kNo, text, {}});
  answer.nodes = std::move(nodes.facts);
  if (!nodes.fits) answer.finding.Say(nodes.cause, std::move(nodes.message));
  const std::string& nominated = t.tasks.spec[task]->nominated_node;
  if (!nominated.empty()) {
    answer.chain.push_back(
        {"nominated", Verdict::kNote, absl::StrCat(nominated, " is asked first"), {}});
  }
}

Explainer::PodAnswer Explainer::AskPod(TaskId task, bool whole) {
  PodAnswer answer;
  AskGates(task, answer);
  AskHeld(task, answer);
  AskShare(task, answer);
  AskNodes(task, answer);
  if (const std::string error = ApiError(*session_.tables().tasks.spec[task]); !error.empty()) {
    answer.chain.push_back({"binding", Verdict::kNo, error, {}});
    answer.finding.Say(Cause::kBindFailed, absl::StrCat("the last binding failed: ", error));
  }
  if (answer.finding.found) return answer;
  AskRecorded(task, answer);
  if (whole) AskGang(task, answer);
  if (!answer.finding.found) AskJobNote(session_.tables().tasks.job[task], answer);
  answer.finding.Say(Cause::kNotTriedYet,
                     "nothing stands in its way; the next cycle tries to place it");
  return answer;
}

void Explainer::AskRecorded(TaskId task, PodAnswer& answer) const {
  const FitErrors* errors = session_.FindFitErrors(task);
  if (errors == nullptr) return;
  const ReasonTable& reasons = session_.reasons();
  if (errors->counts.empty()) {
    if (errors->custom_head.empty()) return;
    answer.finding.Say(Cause::kRoleFailed, errors->custom_head);
  }
  // The reason that came last in the chain: the nodes that got furthest.
  Cause last = Cause::kScheduled;
  for (const auto& [reason, count] : errors->counts) {
    last = std::max(last, reasons.cause(reason));
  }
  answer.finding.Say(last, Render(*errors, reasons));
  answer.chain.push_back({"last try", Verdict::kNo, answer.finding.message, {}});
}

TaskId Explainer::RefusedMember(JobId job) const {
  const model::Tables& t = session_.tables();
  TaskId first;
  for (TaskId task : t.jobs.tasks[job]) {
    const FitErrors* errors = session_.FindFitErrors(task);
    if (errors == nullptr || t.tasks.status[task] != TaskStatus::kPending) continue;
    if (errors->counts.empty()) continue;  // a role that has failed: some other member says why
    if (!first.valid() || t.tasks.spec[task]->name < t.tasks.spec[first]->name) first = task;
  }
  return first;
}

// The pod fits. What else could hold it up are the other members.
void Explainer::AskGang(TaskId task, PodAnswer& answer) {
  const model::Tables& t = session_.tables();
  const JobId job = t.tasks.job[task];
  const bool role_failed = answer.finding.found && answer.finding.cause == Cause::kRoleFailed;
  if (answer.finding.found && !role_failed) return;
  const bool incomplete = !session_.points().job_ready(job);
  if (!incomplete && !role_failed) return;
  const TaskId refused = RefusedMember(job);
  std::string why, short_why;
  if (refused.valid() && refused != task) {
    const PodAnswer other = AskPod(refused, /*whole=*/false);
    answer.blocked_by = PodName(refused);
    why = absl::StrCat(answer.blocked_by, ": ", CauseName(other.finding.cause), ": ",
                       other.finding.message);
    short_why = absl::StrCat(answer.blocked_by, ": ", CauseName(other.finding.cause));
  }
  if (role_failed) {
    if (!why.empty()) answer.finding.message = "a pod of its role was refused: " + why;
    return;
  }
  if (why.empty() && t.tasks.last_transaction[task].set) {
    why = WasTried(job) ? session_.state().notes[job].fit_error : "";
    if (why.empty() && t.jobs.pending_gated[job] > 0) {
      why = absl::StrCat(t.jobs.pending_gated[job],
                         t.jobs.pending_gated[job] == 1 ? " member" : " members",
                         " with scheduling gates");
    }
    if (why.empty()) why = "members without a place";
  }
  if (why.empty()) return;
  answer.finding.Say(
      Cause::kWaitsForGang,
      absl::StrCat("it fits, but its gang of ", t.jobs.min_available[job], " is held up by ", why));
  answer.chain.push_back(
      {"members",
       Verdict::kNo,
       absl::StrCat(t.jobs.min_available[job], " must be placed together; held up by ", short_why),
       {}});
}

// What the last try noted about the job as a whole.
void Explainer::AskJobNote(JobId job, PodAnswer& answer) const {
  if (!WasTried(job)) return;
  const std::string& note = session_.state().notes[job].fit_error;
  if (note.empty()) return;
  answer.finding.Say(session_.state().notes[job].refusal, note);
  answer.chain.push_back({"last try", Verdict::kNo, note, {}});
}

}  // namespace hekla::framework::explain

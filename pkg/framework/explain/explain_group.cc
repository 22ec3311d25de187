#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/framework/explain/explainer.h"

// The part of Explainer about PodGroups.
namespace hekla::framework::explain {

using model::JobId;
using model::JobTable;
using model::TaskId;
using model::TaskStatus;

namespace {

// Kinds of pod that are asked about one by one; a group of more kinds is answered by the first
// ones.
constexpr size_t kMaxKinds = 16;

// Members that wait for others say less about the group than those others.
bool SaysWhy(Cause cause) {
  return cause != Cause::kWaitsForGang && cause != Cause::kRoleFailed &&
         cause != Cause::kNotTriedYet;
}

}  // namespace

absl::StatusOr<Explanation> Explainer::PodGroup(absl::string_view key) {
  const model::Tables& t = session_.tables();
  const JobId job = session_.cluster().FindJob(key);
  if (!job.valid() || !t.jobs.live[job] || t.jobs.solo[job]) {
    return absl::NotFoundError(
        absl::StrCat("the scheduler knows no PodGroup ", key,
                     ": it does not exist, or was created a moment ago; pods without a PodGroup "
                     "are asked about by their own name"));
  }
  Explanation out;
  out.pod_group = true;
  out.name = std::string(key);
  const absl::string_view phase = model::PhaseName(t.jobs.phase[job]);
  out.state = phase.empty() ? "new" : std::string(phase);
  if (t.jobs.queue[job].valid()) out.queue = t.queues.name[t.jobs.queue[job]];
  const int32_t pending = t.jobs.counts[job][TaskStatus::kPending];
  if (pending == 0 && t.jobs.spec[job] != nullptr && t.jobs.task_count[job] > 0 &&
      session_.points().job_valid(job).pass) {
    DescribePlacedGroup(job, out);
    return out;
  }
  Finding finding;
  JobSteps steps(session_, job, out.chain, finding);
  if (steps.Ask()) {
    AskGroupGates(job, finding, out.chain);
    if (!finding.found) steps.AddOrder();
    DescribeMembers(job, out);
  }
  if (finding.found) {
    out.cause = finding.cause;
    out.message = std::move(finding.message);
    out.blocked_by.clear();
  }
  return out;
}

// Nothing of it is pending.
void Explainer::DescribePlacedGroup(JobId job, Explanation& out) const {
  const JobTable& jobs = session_.tables().jobs;
  const int32_t binding = jobs.counts[job][TaskStatus::kBinding];
  if (binding > 0) {
    out.cause = Cause::kBindInFlight;
    out.message = absl::StrCat("decided; the API server's answer is awaited for ", binding,
                               binding == 1 ? " pod" : " pods");
  } else if (jobs.counts[job].Sum(model::kAllocatedStatuses) == 0 &&
             jobs.releasing_on_node[job] == 0) {
    out.cause = Cause::kFinished;
    out.message = "its pods have ended";
  } else {
    out.cause = Cause::kScheduled;
    out.message = "none of its pods waits for a node";
  }
  out.chain.push_back({"placement", Verdict::kOk, out.message, {}});
}

// Gates that leave too few pods for the gang.
void Explainer::AskGroupGates(JobId job, Finding& finding, std::vector<Step>& chain) const {
  const JobTable& jobs = session_.tables().jobs;
  const int32_t gated = jobs.pending_gated[job];
  if (gated == 0) return;
  const int32_t valid = jobs.counts[job].Sum(model::kValidStatuses);
  const bool too_few = valid - gated < jobs.min_available[job];
  std::string text = absl::StrCat(gated, " of ", valid, " pods are held by scheduling gates, and ",
                                  jobs.min_available[job], " are needed");
  if (too_few) {
    Cause cause = Cause::kQueueGate;
    for (TaskId task : jobs.tasks[job]) {
      const model::TaskTable& tasks = session_.tables().tasks;
      if (tasks.gated[task] && !tasks.spec[task]->only_queue_gate) cause = Cause::kSchedulingGated;
    }
    finding.Say(cause, text);
  }
  chain.push_back({"gates", too_few ? Verdict::kNo : Verdict::kNote, std::move(text), {}});
}

void Explainer::DescribeMembers(JobId job, Explanation& out) {
  const model::Tables& t = session_.tables();
  struct Kind {
    TaskId first;
    int32_t count = 0;
  };
  std::vector<TaskId> pending;
  for (TaskId task : t.jobs.tasks[job]) {
    if (t.tasks.status[task] == TaskStatus::kPending) pending.push_back(task);
  }
  std::sort(pending.begin(), pending.end(),
            [&](TaskId a, TaskId b) { return t.tasks.spec[a]->name < t.tasks.spec[b]->name; });
  // Pods of one class that the last try treated alike.
  std::map<std::pair<uint32_t, int>, size_t> index;
  std::vector<Kind> kinds;
  for (TaskId task : pending) {
    const int fate = (session_.FindFitErrors(task) != nullptr ? 1 : 0) +
                     (t.tasks.last_transaction[task].set ? 2 : 0) + (t.tasks.gated[task] ? 4 : 0);
    const auto [it, fresh] =
        index.try_emplace({t.tasks.task_class[task].value(), fate}, kinds.size());
    if (fresh) kinds.push_back({task, 0});
    ++kinds[it->second].count;
  }
  // Those that a try refused come first, gated ones last.
  const auto rank = [&](const Kind& kind) {
    if (t.tasks.gated[kind.first]) return 2;
    return session_.FindFitErrors(kind.first) != nullptr ? 0 : 1;
  };
  std::stable_sort(kinds.begin(), kinds.end(),
                   [&](const Kind& a, const Kind& b) { return rank(a) < rank(b); });
  if (kinds.size() > kMaxKinds) kinds.resize(kMaxKinds);
  const auto of_job = static_cast<std::ptrdiff_t>(out.chain.size());
  bool chosen = false;
  for (const Kind& kind : kinds) {
    PodAnswer answer = AskPod(kind.first, /*whole=*/true);
    const Finding& finding = answer.finding;
    const bool first = out.pods.empty();
    const auto same = std::find_if(out.pods.begin(), out.pods.end(), [&](const PodLine& line) {
      return line.cause == finding.cause && line.message == finding.message;
    });
    if (same != out.pods.end()) {
      same->count += kind.count;
    } else {
      out.pods.push_back({kind.count, PodName(kind.first), finding.cause, finding.message});
    }
    const bool better = SaysWhy(finding.cause) && !chosen;
    if (!better && !first) continue;
    chosen = SaysWhy(finding.cause);
    out.cause = finding.cause;
    out.message = pending.size() == 1 ? finding.message
                                      : absl::StrCat(PodName(kind.first), ": ", finding.message);
    out.blocked_by = answer.blocked_by;
    out.nodes = std::move(answer.nodes);
    out.chain.erase(out.chain.begin() + of_job, out.chain.end());
    for (Step& step : answer.chain) out.chain.push_back(std::move(step));
  }
}

}  // namespace hekla::framework::explain

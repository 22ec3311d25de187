#include <algorithm>
#include <utility>

#include "pkg/framework/session_state.h"
#include "pkg/util/random.h"

// The PodScheduled conditions of pods that wait. Wording alone is paced: of a gang that is still
// being created it changes with every cycle, for every member.
namespace hekla::framework {
namespace {

using model::JobId;
using model::StatusCounts;
using model::TaskId;
using model::TaskStatus;

using SentCondition = Session::State::SentCondition;

constexpr absl::string_view kNowhere = "all nodes are unavailable";
// Wording that changes is written this long after the condition was set, then ever later.
constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Seconds(64);

// What is said of every pod of the job that has no refusal of its own.
struct JobText {
  std::string text;
  uint64_t hash = 0;
};

bool Waits(const model::TaskTable& tasks, TaskId task) {
  const TaskStatus status = tasks.status[task];
  const bool waits = status == TaskStatus::kAllocated || status == TaskStatus::kPending ||
                     status == TaskStatus::kPipelined;
  return waits && !tasks.gated[task];
}

// "" where the pod shows that node already, or none is nominated.
std::string NewNomination(const Session& session, TaskId task, const WaitReason& why) {
  if (!why.nominated.valid()) return "";
  const model::Tables& t = session.tables();
  std::string node(session.dictionary().symbols.Text(t.nodes.name[why.nominated]));
  return node == t.tasks.spec[task]->nominated_node ? "" : node;
}

bool Shows(const model::TaskSpec& spec, absl::string_view reason, const std::string& message) {
  const auto& condition = spec.scheduled_condition;
  return condition.has_value() && condition->status == "False" && reason == condition->reason &&
         condition->message == message;
}

// Whether at most the wording differs from what was sent of this pod.
bool IsWordingOnly(const SentCondition& sent, uint64_t owner, absl::string_view reason,
                   const std::string& nominated) {
  return sent.owner == owner && sent.reason == reason && nominated.empty();
}

void WriteCondition(Session& session, TaskId task, const JobText& job) {
  const model::TaskSpec& spec = *session.tables().tasks.spec[task];
  WaitReason why = TaskWaitReason(session, task, /*with_message=*/true);
  const bool own = !why.message.empty();
  const std::string& message = own ? why.message : job.text;
  const uint64_t hash = own ? util::StableHash(message) : job.hash;
  std::string nominated = NewNomination(session, task, why);
  SentCondition& sent = session.state().sent_conditions[task];
  const uint64_t owner = OwnerOf(session.tables().tasks, task);
  const bool wording_only = IsWordingOnly(sent, owner, why.reason, nominated);
  if (wording_only && sent.text == hash) return;
  const bool any = sent.owner == owner && sent.pause > absl::ZeroDuration();
  if (!wording_only) sent = {owner, why.reason, hash, absl::ZeroDuration(), absl::ZeroDuration()};
  sent.text = hash;
  // Once something was sent, what the pod shows may be about to change.
  if (!any && nominated.empty() && Shows(spec, why.reason, message)) return;
  sent.pause = std::clamp(2 * sent.pause, kFirstPause, kLongestPause);
  sent.next_wording = session.opened() + sent.pause;
  ports::PodConditionWrite write;
  write.uid = spec.uid;
  write.namespace_name = spec.namespace_name;
  write.name = spec.name;
  write.reason = std::string(why.reason);
  write.message = message;
  write.nominated_node = std::move(nominated);
  session.deps().sink->WritePodCondition(std::move(write));
}

void WriteConditions(Session& session, JobId job, std::vector<TaskId> tasks) {
  const model::TaskTable& table = session.tables().tasks;
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const TaskStatus x = table.status[a], y = table.status[b];
    if (x != y) return x < y;
    return table.spec[a]->name < table.spec[b]->name;
  });
  JobText text;
  text.text = session.JobFitErrorText(job);
  if (text.text.empty()) text.text = std::string(kNowhere);
  text.hash = util::StableHash(text.text);
  for (TaskId task : tasks) WriteCondition(session, task, text);
}

}  // namespace

void PublishPods(Session& session, JobId job) {
  const model::Tables& t = session.tables();
  const StatusCounts& counts = t.jobs.counts[job];
  if (counts[TaskStatus::kAllocated] + counts[TaskStatus::kPending] +
          counts[TaskStatus::kPipelined] ==
      0) {
    return;
  }
  std::vector<TaskId> due;
  absl::Duration owed = absl::InfiniteDuration();
  for (TaskId task : t.jobs.tasks[job]) {
    if (!Waits(t.tasks, task)) continue;
    const WaitReason why = TaskWaitReason(session, task, /*with_message=*/false);
    const SentCondition& sent = session.state().sent_conditions.Grow(task);
    const bool paced =
        session.opened() < sent.next_wording &&
        IsWordingOnly(sent, OwnerOf(t.tasks, task), why.reason, NewNomination(session, task, why));
    if (!paced) {
      due.push_back(task);
    } else {
      owed = std::min(owed, sent.next_wording);
    }
  }
  if (!due.empty()) WriteConditions(session, job, std::move(due));
  Session::State::JobNote& note = NoteOf(session, job);
  if (owed >= note.wording_due) return;
  note.wording_due = owed;
  session.state().owed_wordings.push({owed, job});
}

void PublishOwedWordings(Session& session) {
  auto& owed = session.state().owed_wordings;
  const model::JobTable& jobs = session.tables().jobs;
  while (!owed.empty() && owed.top().due <= session.opened()) {
    const JobId job = owed.top().job;
    owed.pop();
    if (!jobs.live[job] || jobs.spec[job] == nullptr) continue;
    NoteOf(session, job).wording_due = absl::InfiniteDuration();
    PublishPods(session, job);
  }
}

}  // namespace hekla::framework

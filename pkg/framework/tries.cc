#include "pkg/framework/tries.h"

#include "pkg/framework/node_search.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework {

using model::JobId;
using model::TaskId;

namespace {

// Whether pods that others place could make room for the job: it wants to be near other pods, or
// spread evenly among them.
bool LooksAtOthers(const Session& session, JobId job) {
  const model::Tables& t = session.tables();
  for (const TaskId task : t.jobs.tasks[job]) {
    if (t.tasks.status[task] != model::TaskStatus::kPending) continue;
    const model::PodTemplate& pod = *t.tasks.pod[task];
    if (!pod.affinity.empty() || !pod.spread.empty()) return true;
  }
  return false;
}

}  // namespace

void Tries::Begin(JobId job) {
  Session::State& state = session_.state();
  Session::State::JobNote& note = NoteOf(session_, job);
  if (note.attempted == state.number) return;
  note.attempted = state.number;
  note.fit_error.clear();
  note.tried = false;
  note.unsettled = false;
  note.looks_at_others = session_.cluster().has_coupled_pods() && LooksAtOthers(session_, job);
  note.blocked = TaskId();
  note.tried_relief = session_.cluster().relief();
  state.tries.push_back(job);
  session_.cluster().MarkUnpublished(job);
  for (TaskId task : session_.tables().jobs.tasks[job]) {
    if (state.fit_errors.contains(task)) state.fit_errors[task].owner = 0;
    if (session_.tables().tasks.last_transaction[task].set) {
      session_.cluster().SetLastTransaction(task, model::LastTransaction());
    }
  }
}

void Tries::MarkTurn(JobId job, bool placed) {
  if (placed || !session_.state().kept.empty()) NoteOf(session_, job).unsettled = true;
}

void Tries::MarkBlocked(JobId job, TaskId task) {
  Session::State::JobNote& note = NoteOf(session_, job);
  if (note.unsettled) return;  // other tasks had their turn before
  note.blocked = task;
  note.blocked_order = session_.tables().nodes.order_generation;
}

FitErrors& Tries::AsideErrorsOf(TaskId task) {
  Session::State::TaskErrors& entry = session_.state().fit_errors.Grow(task);
  entry = {OwnerOf(session_.tables().tasks, task), {}};
  return entry.errors;
}

void Tries::DropHopeless(std::vector<JobId>& jobs) {
  const Session::State& state = session_.state();
  bool anybody = state.news || !state.tries.empty();
  std::vector<JobId> sensitive;
  std::erase_if(jobs, [&](JobId job) {
    const Chance chance = ChanceOf(job);
    anybody = anybody || chance == Chance::kOwn;
    if (chance == Chance::kIfOthersMove) sensitive.push_back(job);
    return chance != Chance::kOwn;
  });
  if (anybody) jobs.insert(jobs.end(), sensitive.begin(), sensitive.end());
}

Tries::Chance Tries::ChanceOf(JobId job) {
  const Session::State& state = session_.state();
  if (!state.notes.contains(job) || state.timed_plugins) return Chance::kOwn;
  const Session::State::JobNote& note = state.notes[job];
  const model::JobTable& jobs = session_.tables().jobs;
  if (!note.tried || note.owner != OwnerOf(jobs, job)) return Chance::kOwn;
  if (note.tried_generation != jobs.generation[job]) return Chance::kOwn;
  if (note.looks_at_others) return Chance::kIfOthersMove;
  if (note.tried_relief == session_.cluster().relief() && !note.unsettled) return Chance::kNone;
  if (StillBlocked(job)) return Chance::kNone;
  return note.unsettled ? Chance::kIfOthersMove : Chance::kOwn;
}

bool Tries::StillBlocked(JobId job) {
  Session::State& state = session_.state();
  Session::State::JobNote& note = state.notes[job];
  const model::Tables& t = session_.tables();
  if (!note.blocked.valid() || note.blocked_order != t.nodes.order_generation) return false;
  auto [it, fresh] = fits_.try_emplace(t.tasks.task_class[note.blocked], true);
  if (fresh) it->second = session_.search().MayFit(note.blocked);
  if (it->second) return false;
  note.tried_relief = session_.cluster().relief();
  note.unsettled = false;  // nor does it fit while nobody holds anything
  return true;
}

}  // namespace hekla::framework

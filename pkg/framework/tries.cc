#include "pkg/framework/tries.h"

#include "pkg/framework/node_search.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework {

using model::JobId;
using model::TaskId;

void Tries::Begin(JobId job) {
  Session::State& state = session_.state();
  Session::State::JobNote& note = NoteOf(session_, job);
  if (note.attempted == state.number) return;
  note.attempted = state.number;
  note.fit_error.clear();
  note.tried = false;
  note.pipelined = false;
  note.blocked = TaskId();
  note.tried_relief = session_.cluster().relief();
  note.tried_arrivals = session_.cluster().arrivals();
  state.tries.push_back(job);
  session_.cluster().MarkUnpublished(job);
  for (TaskId task : session_.tables().jobs.tasks[job]) {
    if (state.fit_errors.contains(task)) state.fit_errors[task].owner = 0;
    if (session_.tables().tasks.last_transaction[task].set) {
      session_.cluster().SetLastTransaction(task, model::LastTransaction());
    }
  }
}

bool Tries::Worth(JobId job, bool* pipelined) const {
  *pipelined = false;
  const Session::State& state = session_.state();
  if (!state.notes.contains(job) || state.timed_plugins) return true;
  const Session::State::JobNote& note = state.notes[job];
  const model::JobTable& jobs = session_.tables().jobs;
  if (!note.tried || note.owner != OwnerOf(jobs, job)) return true;
  *pipelined = note.pipelined;
  const model::Cluster& cluster = session_.cluster();
  return note.tried_generation != jobs.generation[job] || note.tried_relief != cluster.relief() ||
         (cluster.has_coupled_pods() && note.tried_arrivals != cluster.arrivals());
}

void Tries::TryAgain(JobId job) {
  Session::State& state = session_.state();
  std::erase(state.tries, job);
  NoteOf(session_, job).tried = false;
}

void Tries::MarkBlocked(JobId job, TaskId task) {
  Session::State::JobNote& note = NoteOf(session_, job);
  note.blocked = task;
  note.blocked_order = session_.tables().nodes.order_generation;
}

bool Tries::StillBlocked(JobId job) {
  Session::State& state = session_.state();
  if (!state.notes.contains(job)) return false;
  Session::State::JobNote& note = state.notes[job];
  const model::Tables& t = session_.tables();
  if (!note.tried || !note.blocked.valid() || note.owner != OwnerOf(t.jobs, job) ||
      note.tried_generation != t.jobs.generation[job] ||
      note.blocked_order != t.nodes.order_generation) {
    return false;
  }
  auto [it, fresh] = fits_.try_emplace(t.tasks.task_class[note.blocked], true);
  if (fresh) it->second = session_.search().MayFit(note.blocked);
  if (it->second) return false;
  note.tried_relief = session_.cluster().relief();
  note.tried_arrivals = session_.cluster().arrivals();
  return true;
}

void Tries::MarkPipelined(JobId job) { NoteOf(session_, job).pipelined = true; }

}  // namespace hekla::framework

#include "pkg/framework/tries.h"

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

void Tries::MarkPipelined(JobId job) { NoteOf(session_, job).pipelined = true; }

}  // namespace hekla::framework

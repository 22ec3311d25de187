#pragma once

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::framework {

// Which jobs are worth another try. A view on a session.
class Tries {
 public:
  explicit Tries(Session& session) : session_(session) {}

  // A job's first try in this session begins: what its last try left behind is forgotten.
  void Begin(model::JobId job);
  // False: nothing has happened since the job's last try that could change its outcome. `pipelined`
  // says whether that try ended with reservations, which only a new try can renew.
  bool Worth(model::JobId job, bool* pipelined) const;
  // Its try of this session does not count: it holds room that the session takes back at its close,
  // and must hold it in every session so that others are decided as if it did.
  void TryAgain(model::JobId job);
  // Its try placed nothing because no node took `task`, and all others tried were of its class.
  void MarkBlocked(model::JobId job, model::TaskId task);
  // A job that is worth trying, but was blocked, is unchanged, and no node takes its class now: the
  // try is counted as made, with the same outcome. Cheap for many jobs of few classes.
  bool StillBlocked(model::JobId job);
  // Its try ended with tasks on room that is being freed.
  void MarkPipelined(model::JobId job);

 private:
  Session& session_;
  absl::flat_hash_map<model::TaskClassId, bool> fits_;
};

}  // namespace hekla::framework

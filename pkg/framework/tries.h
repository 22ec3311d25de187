#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::framework {

// Which jobs are worth another try. A view on a session.
//
// A try that placed nothing, while nobody held room that the session takes back at its close, fails
// again until the job itself changes or relief comes: committed decisions of others only take room
// away. Any other outcome (room that was held for a gang and given back, a try that came after it,
// pods that wait for other pods) may differ as soon as anything has happened at all.
class Tries {
 public:
  explicit Tries(Session& session) : session_(session) {}

  // Leaves out the jobs that would fare as they did the last time.
  void DropHopeless(std::vector<model::JobId>& jobs);

  // A job's first try in this session begins: what its last try left behind is forgotten.
  void Begin(model::JobId job);
  // A turn of the job has ended; `placed`: it put a task somewhere, if only to take it back.
  void MarkTurn(model::JobId job, bool placed);
  // Its try placed nothing because no node took `task`, and all others tried were of its class.
  void MarkBlocked(model::JobId job, model::TaskId task);
  // Where to write down why no node takes a task that was not refused for it: like
  // Session::FitErrorsOf, but others of its role are tried all the same.
  FitErrors& AsideErrorsOf(model::TaskId task);

 private:
  enum class Chance : uint8_t { kNone, kIfOthersMove, kOwn };
  Chance ChanceOf(model::JobId job);
  // The job was blocked, is unchanged, and no node takes its class now. Cheap for many jobs of few
  // classes.
  bool StillBlocked(model::JobId job);

  Session& session_;
  absl::flat_hash_map<model::TaskClassId, bool> fits_;
};

}  // namespace hekla::framework

#pragma once

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
  // Its try ended with tasks on room that is being freed.
  void MarkPipelined(model::JobId job);

 private:
  Session& session_;
};

}  // namespace hekla::framework

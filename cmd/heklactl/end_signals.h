#pragma once

#include <signal.h>

#include "absl/time/time.h"

namespace hekla::cmd::heklactl {

// SIGINT and SIGTERM, which end a program: blocked for this thread and all it starts from now on,
// and waited for. SIGPIPE is ignored.
class EndSignals {
 public:
  EndSignals();

  void Wait() const;
  // False when none came in time.
  bool WaitFor(absl::Duration patience) const;

 private:
  sigset_t signals_;
};

}  // namespace hekla::cmd::heklactl

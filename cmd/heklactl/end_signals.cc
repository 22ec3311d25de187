#include "cmd/heklactl/end_signals.h"

#include <pthread.h>

#include <ctime>

namespace hekla::cmd::heklactl {

EndSignals::EndSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void EndSignals::Wait() const {
  int number = 0;
  sigwait(&signals_, &number);
}

bool EndSignals::WaitFor(absl::Duration patience) const {
  const timespec pause = absl::ToTimespec(patience);
  return sigtimedwait(&signals_, nullptr, &pause) >= 0;
}

}  // namespace hekla::cmd::heklactl

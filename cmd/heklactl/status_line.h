#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace hekla::cmd::heklactl {

// What the playground shows while it runs.
struct PlaygroundStatus {
  int64_t nodes = 0;
  int64_t pending = 0;  // pods without a node that have not ended
  int64_t running = 0;
  int64_t other = 0;  // bound and starting, or ended
  uint64_t cycles = 0;
  absl::Duration last_cycle = absl::ZeroDuration();
  int64_t ray_clusters = 0;
  int64_t ray_ready = 0;  // of them, state "ready"
};

// "nodes 20  pending 4  running 12  cycles 7  last cycle 0.31 ms"
std::string StatusText(const PlaygroundStatus& status);

// One line at the bottom of a terminal, rewritten only when its text changes. Where the output is
// no terminal nothing is written, so that logs stay readable.
class StatusLine {
 public:
  explicit StatusLine(int fd);
  // Clears the line.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void Show(const PlaygroundStatus& status);

 private:
  void Write(const std::string& text) const;

  const int fd_;
  const bool terminal_;
  std::string shown_;
};

}  // namespace hekla::cmd::heklactl

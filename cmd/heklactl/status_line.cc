#include "cmd/heklactl/status_line.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hekla::cmd::heklactl {

std::string StatusText(const PlaygroundStatus& status) {
  std::string text = absl::StrFormat("nodes %d  pending %d  running %d", status.nodes,
                                     status.pending, status.running);
  if (status.other > 0) absl::StrAppendFormat(&text, "  other %d", status.other);
  absl::StrAppendFormat(&text, "  cycles %d", status.cycles);
  if (status.cycles > 0) {
    absl::StrAppendFormat(&text, "  last cycle %.2f ms",
                          absl::ToDoubleMilliseconds(status.last_cycle));
  }
  if (status.ray_clusters > 0) {
    absl::StrAppendFormat(&text, "  rayclusters ready %d of %d", status.ray_ready,
                          status.ray_clusters);
  }
  return text;
}

StatusLine::StatusLine(int fd) : fd_(fd), terminal_(::isatty(fd) == 1) {}

StatusLine::~StatusLine() {
  if (terminal_ && !shown_.empty()) Write("\r\033[K");
}

void StatusLine::Show(const PlaygroundStatus& status) {
  if (!terminal_) return;
  std::string text = StatusText(status);
  if (text == shown_) return;
  shown_ = std::move(text);
  Write(absl::StrCat("\r\033[K", shown_));
}

void StatusLine::Write(const std::string& text) const {
  // A terminal that is gone is no reason to stop.
  if (::write(fd_, text.data(), text.size()) < 0) return;
}

}  // namespace hekla::cmd::heklactl

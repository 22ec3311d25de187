#include "pkg/scheduler/folder_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hekla::scheduler {

absl::StatusOr<std::unique_ptr<FolderWatch>> FolderWatch::Open(const std::string& folder) {
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot watch folder ", folder, ": ", std::strerror(errno)));
  }
  if (::inotify_add_watch(fd, folder.c_str(),
                          IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    const int error = errno;
    ::close(fd);
    return absl::UnavailableError(
        absl::StrCat("cannot watch folder ", folder, ": ", std::strerror(error)));
  }
  return std::unique_ptr<FolderWatch>(new FolderWatch(fd));
}

FolderWatch::~FolderWatch() { ::close(fd_); }

bool FolderWatch::TakeChange() {
  alignas(struct inotify_event) char events[4096];
  bool changed = false;
  for (;;) {
    const ssize_t got = ::read(fd_, events, sizeof(events));
    if (got > 0) {
      changed = true;  // only the kinds asked for are reported (and an overflow, which counts)
    } else if (got == 0 || errno != EINTR) {
      return changed;
    }
  }
}

}  // namespace hekla::scheduler

#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace hekla::scheduler {

// Tells whether anything was created or written in a folder. Watching the folder and not the file
// sees the way in which Kubernetes replaces the files of a ConfigMap (a symbolic link is swapped).
// Threads: none; never blocks.
class FolderWatch {
 public:
  // Errors: kUnavailable, with the folder's name and the system's reason.
  static absl::StatusOr<std::unique_ptr<FolderWatch>> Open(const std::string& folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Whether something was created, written or moved in since the last call. Removals do not count.
  bool TakeChange();

 private:
  explicit FolderWatch(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace hekla::scheduler

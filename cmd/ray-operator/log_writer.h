#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "cmd/ray-operator/options.h"

namespace hekla::cmd::ray_operator {

// One line of the log, without its line break.
//   json:    {"level":"info","ts":"2026-01-02T03:04:05.678Z","logger":"setup","msg":"..."}
//   console: 2026-01-02T03:04:05.678Z<tab>INFO<tab>setup<tab>...
// Text of the form `message key=value ...` stays in the message.
std::string LogLine(Encoder encoder, int severity, absl::Time time, absl::string_view logger,
                    absl::string_view message);

// "W1130 00:17:23.770412 4711 apply.cc:14] text" taken apart; views into `line`.
struct ParsedLine {
  int severity = 0;
  absl::string_view logger = "setup";
  absl::string_view message = {};
};
ParsedLine ParseLibraryLine(absl::string_view line);

// A file that is put aside when it has grown: NAME-<time>.EXT beside it, the newest of which stay.
// Threads: any.
// Source:  spec ray-cluster 1.1, --log-file-path.
class RotatingFile {
 public:
  struct Options {
    std::string path = {};
    int64_t max_bytes = int64_t{500} << 20;
    size_t max_backups = 10;
    absl::Duration max_age = absl::Hours(24 * 30);
  };

  // Folders are made where they are missing. Errors: kUnavailable.
  static absl::StatusOr<std::unique_ptr<RotatingFile>> Open(Options options);
  ~RotatingFile();

  void Write(absl::string_view line, absl::Time now);

 private:
  explicit RotatingFile(Options options) : options_(std::move(options)) {}
  absl::Status OpenFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Rotate(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  absl::Mutex mutex_;
  std::FILE* file_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Sends the process's log to standard output, and to a file where one is given, in upstream's
// forms. Once, before the first line that matters; lives until the process ends. Errors: those of
// RotatingFile::Open.
absl::Status StartOperatorLog(const Options& options);

}  // namespace hekla::cmd::ray_operator

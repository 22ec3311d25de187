#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pkg/conf/config.h"
#include "pkg/scheduler/folder_watch.h"

namespace hekla::scheduler {

// The configuration file: read at start and again whenever its folder changes. What cannot be used
// never replaces what is in force.
// Threads: the session thread.
// Source:  spec scheduler-core 2.5; the table of bad input decides where they differ: a
// file
//          that is there and wrong ends the start instead of being passed over.
class ConfigFile {
 public:
  struct Options {
    std::string path;      // "": the built-in configuration
    bool require = false;  // --disable-default-scheduler-config: any problem is fatal
  };

  ConfigFile(Options options, conf::Known known);

  // The configuration to start with. A file that cannot be read leaves the built-in one in force
  // (logged), unless `require`.
  // Errors: kInvalidArgument (content; names file, line, key), kNotFound (path missing or file
  //         unreadable, with `require`), kUnavailable (the folder cannot be watched).
  absl::StatusOr<conf::Config> Load();

  // A new configuration if the file was changed since the last call. A bad one is logged and
  // counted and gives nothing. Errors: as Load, only with `require`.
  absl::StatusOr<std::optional<conf::Config>> Poll();

  uint64_t reloads() const { return reloads_; }
  uint64_t failed_reloads() const { return failed_reloads_; }

 private:
  absl::StatusOr<std::string> Read() const;
  absl::StatusOr<conf::Config> Parse(const std::string& text) const;
  absl::StatusOr<conf::Config> BuiltIn() const;

  const Options options_;
  const conf::Known known_;
  std::unique_ptr<FolderWatch> watch_;
  std::string text_;  // as last taken
  uint64_t reloads_ = 0;
  uint64_t failed_reloads_ = 0;
};

}  // namespace hekla::scheduler

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace hekla::test {

// A program under test. Its output goes to a file; it never outlives this object.
// Threads: none.
class Process {
 public:
  // Errors: kUnavailable: it cannot be started.
  static absl::StatusOr<Process> Start(const std::string& program,
                                       const std::vector<std::string>& arguments,
                                       const std::string& output_file);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  // Kills what still runs.
  ~Process();

  bool Running();
  void Signal(int number);
  // Exit code, 128 + signal for a killed program, -1 when it still runs after `timeout`.
  int Wait(absl::Duration timeout);
  // SIGTERM, then Wait.
  int Terminate(absl::Duration timeout);

  // Everything written so far, standard output and error together.
  std::string Output() const;
  pid_t pid() const { return pid_; }
  // Peak resident memory so far; 0 once it has ended.
  int64_t PeakMemoryBytes() const;

 private:
  Process(pid_t pid, std::string output_file);

  pid_t pid_ = -1;
  int exit_code_ = -1;
  std::string output_file_;
};

}  // namespace hekla::test

#include "test/integration/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

extern char** environ;

namespace hekla::test {

absl::StatusOr<Process> Process::Start(const std::string& program,
                                       const std::vector<std::string>& arguments,
                                       const std::string& output_file) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // Listening sockets of this process must not stay open in the other one.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(absl::StrCat("cannot start ", program, ": ", strerror(error)));
  }
  return Process(pid, output_file);
}

Process::Process(pid_t pid, std::string output_file)
    : pid_(pid), output_file_(std::move(output_file)) {}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      exit_code_(other.exit_code_),
      output_file_(std::move(other.output_file_)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(exit_code_, other.exit_code_);
  std::swap(output_file_, other.output_file_);
  return *this;
}

Process::~Process() {
  if (!Running()) return;
  Signal(SIGKILL);
  Wait(absl::Seconds(10));
}

bool Process::Running() { return pid_ > 0 && Wait(absl::ZeroDuration()) == -1; }

void Process::Signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

int Process::Wait(absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  while (pid_ > 0) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      pid_ = -1;
    } else if (absl::Now() >= end) {
      return -1;
    } else {
      absl::SleepFor(absl::Milliseconds(5));
    }
  }
  return exit_code_;
}

int Process::Terminate(absl::Duration timeout) {
  Signal(SIGTERM);
  return Wait(timeout);
}

std::string Process::Output() const {
  std::stringstream text;
  text << std::ifstream(output_file_).rdbuf();
  return text.str();
}

int64_t Process::PeakMemoryBytes() const {
  std::ifstream status(absl::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(status, line);) {
    int64_t kib = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %ld kB", &kib) == 1) return kib * 1024;
  }
  return 0;
}

}  // namespace hekla::test

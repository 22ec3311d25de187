#include "pkg/util/logging.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"

namespace hekla::util {
namespace {

// INFO, WARNING, ERROR, FATAL or their numbers.
absl::Status ReadSeverity(absl::string_view text, int* value) {
  static constexpr absl::string_view kNames[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  int number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 0 && number <= 3) {
    *value = number;
    return absl::OkStatus();
  }
  for (int i = 0; i < 4; ++i) {
    if (absl::AsciiStrToUpper(text) == kNames[i]) {
      *value = i;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError("not INFO, WARNING, ERROR or FATAL");
}

}  // namespace

void AddLogFlags(FlagSet& flags, LogOptions* options) {
  flags.Int("v", &options->verbosity, "Log verbosity: 3 flow, 4 decisions per job, 5 details.");
  flags.Bool("logtostderr", &options->to_stderr, "Log to standard error, not to files.");
  flags.Bool("alsologtostderr", &options->also_to_stderr, "Log to standard error and to files.");
  flags.String("log-dir", &options->directory, "Folder of the log files.");
  flags.String("vmodule", &options->vmodule, "Verbosity by source: name=level,...");
  flags.Custom(
      "stderrthreshold", "INFO",
      [options](absl::string_view text) { return ReadSeverity(text, &options->stderr_threshold); },
      "Lines of this severity and above go to standard error also when logging to files.");

  static constexpr absl::string_view kUnused = "Accepted, without effect.";
  for (absl::string_view name : {"add-dir-header", "one-output", "skip-headers", "skip-log-headers",
                                 "legacy-stderr-threshold-behavior"}) {
    flags.Ignored(name, true, kUnused);
  }
  for (absl::string_view name :
       {"log-backtrace-at", "log-file", "log-file-max-size", "log-flush-frequency"}) {
    flags.Ignored(name, false, kUnused);
  }
}

void StartLogging(absl::string_view program, const LogOptions& options) {
#ifdef NDEBUG
  // The packaged abseil looks for lock cycles at every lock unless it is told not to.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  FLAGS_logtostderr = options.to_stderr;
  FLAGS_alsologtostderr = options.also_to_stderr;
  FLAGS_log_dir = options.directory;
  FLAGS_v = options.verbosity;
  FLAGS_vmodule = options.vmodule;
  FLAGS_stderrthreshold = options.stderr_threshold;
  FLAGS_minloglevel = options.min_severity;
  FLAGS_log_year_in_prefix = false;
  static std::string* name = new std::string(program);  // glog keeps the pointer
  google::InitGoogleLogging(name->c_str());
}

}  // namespace hekla::util

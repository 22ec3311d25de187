#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/util/flag_set.h"

namespace hekla::util {

// What klog's flags say, as far as glog can do it.
struct LogOptions {
  int verbosity = 0;
  bool to_stderr = true;  // klog's default; glog's is files
  bool also_to_stderr = false;
  std::string directory;
  std::string vmodule;
  int stderr_threshold = 0;  // INFO
  int min_severity = 0;      // lines below it are not logged at all; no flag
};

// Declares klog's flags: -v, --logtostderr, --vmodule, --stderrthreshold and so on. Those that glog
// has no counterpart for are accepted and without effect.
void AddLogFlags(FlagSet& flags, LogOptions* options);

// Starts glog with klog-like lines, and settles what else is of the process (release builds: no
// search for lock cycles). Once per process, before the first log line that matters.
void StartLogging(absl::string_view program, const LogOptions& options);

}  // namespace hekla::util

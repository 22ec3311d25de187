#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "pkg/metrics/registry.h"

namespace hekla::metrics {
namespace {

// What /proc tells about this process; zero where it cannot be read.
struct ProcessStats {
  double cpu_seconds = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
  double start_ticks = 0;  // since boot
};

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ProcessStats ReadStats() {
  ProcessStats stats;
  timespec cpu{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0) {
    stats.cpu_seconds = static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9;
  }
  const std::string text = ReadFile("/proc/self/stat");
  // The program's name, in brackets, may contain anything; fields are counted from behind it.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return stats;
  const std::vector<std::string> fields =
      absl::StrSplit(text.substr(name_end + 1), ' ', absl::SkipWhitespace());
  // Field 3 of the manual page is fields[0]: 22 start, 23 vsize, 24 rss.
  if (fields.size() < 22) return stats;
  const auto number = [&fields](size_t manual_index) {
    double value = 0;
    return absl::SimpleAtod(fields[manual_index - 3], &value) ? value : 0;
  };
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  stats.start_ticks = number(22) / ticks;
  stats.virtual_bytes = number(23);
  stats.resident_bytes = number(24) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return stats;
}

double BootTime() {
  for (absl::string_view line : absl::StrSplit(ReadFile("/proc/stat"), '\n')) {
    double seconds = 0;
    if (absl::StartsWith(line, "btime ") && absl::SimpleAtod(line.substr(6), &seconds)) {
      return seconds;
    }
  }
  return 0;
}

double OpenFiles() {
  DIR* dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  int count = -1;  // the directory itself
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(dir);
  return count;
}

double Limit(int resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return 0;
  return static_cast<double>(limit.rlim_cur);
}

void Gauge1(TextWriter& out, absl::string_view name, absl::string_view help, double value,
            absl::string_view type = "gauge") {
  out.Family(name, type, help);
  out.Sample(name, {}, value);
}

}  // namespace

void AddProcessMetrics(Registry& registry) {
  const double boot_time = BootTime();
  registry.AddCollector("process", [boot_time](TextWriter& out) {
    const ProcessStats stats = ReadStats();
    Gauge1(out, "process_cpu_seconds_total",
           "CPU time this process has used, user and system, in seconds.", stats.cpu_seconds,
           "counter");
    Gauge1(out, "process_max_fds", "Limit of open file descriptors.", Limit(RLIMIT_NOFILE));
    Gauge1(out, "process_open_fds", "Open file descriptors.", OpenFiles());
    Gauge1(out, "process_resident_memory_bytes", "Resident memory in bytes.", stats.resident_bytes);
    Gauge1(out, "process_start_time_seconds", "Start of the process, in seconds since 1970.",
           boot_time + stats.start_ticks);
    Gauge1(out, "process_virtual_memory_bytes", "Virtual memory in bytes.", stats.virtual_bytes);
    Gauge1(out, "process_virtual_memory_max_bytes", "Limit of virtual memory in bytes.",
           Limit(RLIMIT_AS));
  });
}

}  // namespace hekla::metrics

// hekla-bench [--all] [--case NAME]... [--nodes N]... [-o json|lines] [--growth]: costs of whole
// cycles as JSON, one object per line or (-o json) one document. Every case runs in a process of
// its own, so that its peak memory is its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bench/macro/scenario.h"
#include "pkg/util/logging.h"

namespace {

uint64_t allocations = 0;

}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* p = std::malloc(size); p != nullptr) return p;
  std::abort();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace hekla::bench {

uint64_t AllocationCount() { return allocations; }

namespace {

struct Options {
  std::vector<std::string> cases;  // empty: all
  std::vector<int> sizes;
  bool document = false;
  bool growth = false;
};

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    int size = 0;
    if (flag == "--all") {
      options.cases.clear();
    } else if (flag == "--growth") {
      options.growth = true;
    } else if (flag == "--case" && !value.empty()) {
      options.cases.push_back(value);
      ++i;
    } else if (flag == "--nodes" && absl::SimpleAtoi(value, &size) && size > 0) {
      options.sizes.push_back(size);
      ++i;
    } else if (flag == "-o" && (value == "json" || value == "lines")) {
      options.document = value == "json";
      ++i;
    } else {
      return false;
    }
  }
  if (options.sizes.empty()) options.sizes = {1000, 5000, 10000, 50000};
  return true;
}

// Runs a case in a child process, which prints its row. False if it failed.
bool RunCase(const Case& c, int nodes, const char* before) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    std::string row = ToJson(c.run(nodes));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    row.pop_back();
    std::printf("%s%s,\"peak_megabytes\":%ld}", before, row.c_str(), usage.ru_maxrss / 1024);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: hekla-bench [--all] [--case NAME]... [--nodes N]... [-o json|lines] "
                 "[--growth]\n");
    return 2;
  }
  const char* separator = options.document ? ",\n  " : "\n";
  const char* before = options.document ? "{\"rows\": [\n  " : "";
  bool fine = true;
  for (const Case& c : AllCases()) {
    bool wanted = options.cases.empty() && !options.growth;
    for (const std::string& name : options.cases) wanted = wanted || name == c.name;
    for (int nodes : options.sizes) {
      if (!wanted) continue;
      fine = RunCase(c, nodes, before) && fine;
      before = separator;
    }
  }
  if (options.growth) {
    for (const std::string& row : GrowthRows()) {
      std::printf("%s%s", before, row.c_str());
      std::fflush(stdout);
      before = separator;
    }
  }
  std::printf("%s", options.document ? "\n]}\n" : "\n");
  return fine ? 0 : 1;
}

}  // namespace
}  // namespace hekla::bench

int main(int argc, char** argv) {
  hekla::util::StartLogging("hekla-bench", {});  // as the programs: it sets how locks are checked
  return hekla::bench::Main(argc, argv);
}

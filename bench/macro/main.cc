// hekla-bench [--case NAME]... [--nodes N]...: costs of whole cycles as JSON, one object per line.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "bench/macro/scenario.h"

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

}  // namespace hekla::bench

int main(int argc, char** argv) {
  std::vector<std::string> wanted;
  std::vector<int> sizes;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    int size = 0;
    if (flag == "--case") {
      wanted.push_back(argv[i + 1]);
    } else if (flag == "--nodes" && absl::SimpleAtoi(argv[i + 1], &size) && size > 0) {
      sizes.push_back(size);
    } else {
      std::fprintf(stderr, "usage: hekla-bench [--case NAME]... [--nodes N]...\n");
      return 2;
    }
  }
  if (sizes.empty()) sizes = {1000, 5000, 10000};
  for (const auto& c : hekla::bench::AllCases()) {
    bool run = wanted.empty();
    for (const std::string& name : wanted) run = run || name == c.name;
    for (int nodes : sizes) {
      if (!run) continue;
      const hekla::bench::Result result = c.run(nodes);
      std::printf("{\"case\":\"%s\",\"nodes\":%d", result.name.c_str(), nodes);
      for (const auto& [key, value] : result.numbers)
        std::printf(",\"%s\":%.6g", key.c_str(), value);
      rusage usage{};
      getrusage(RUSAGE_SELF, &usage);
      std::printf(",\"peak_megabytes\":%ld}\n", usage.ru_maxrss / 1024);
      std::fflush(stdout);
    }
  }
  return 0;
}

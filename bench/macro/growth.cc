#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/macro/scenario.h"
#include "glog/logging.h"

namespace hekla::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;
constexpr int kDoublings = 3;
constexpr int kRepeats = 3;

struct Shape {
  int nodes = 1000;
  int pods = 2000;
  int classes = 50;
  int queues = 5;
  int gangs = 50;
};

// CPU seconds of the cycle that places everything.
double Place(const Shape& shape) {
  Scenario s(shape.nodes, false);
  for (int q = 0; q < shape.queues; ++q) s.world().AddQueue(absl::StrCat("q", q), "root");
  for (int g = 0; g < shape.gangs; ++g) {
    const int members = shape.pods / shape.gangs;
    const std::string job = absl::StrCat("gang", g);
    s.world().AddJob(job, members, absl::StrCat("q", g % shape.queues));
    for (int i = 0; i < members; ++i) {
      const int kind = (g * members + i) % shape.classes;
      s.world().AddPod({.name = absl::StrCat(job, "-worker-", i),
                        .job = job,
                        .cpu = 500 + kind,
                        .memory = kGi / 2});
    }
  }
  const Scenario::Cost cost = s.Run();
  CHECK_EQ(cost.binds, static_cast<size_t>(shape.pods / shape.gangs * shape.gangs));
  return cost.cpu_seconds;
}

double Least(const Shape& shape) {
  double least = Place(shape);
  for (int i = 1; i < kRepeats; ++i) least = std::min(least, Place(shape));
  return least;
}

std::string Row(const char* name, int Shape::*dimension) {
  Shape shape;
  std::string sizes;
  std::string times;
  double first = 0;
  double last = 0;
  for (int i = 0; i <= kDoublings; ++i) {
    last = Least(shape);
    if (i == 0) first = last;
    absl::StrAppend(&sizes, i > 0 ? "," : "", shape.*dimension);
    absl::StrAppend(&times, i > 0 ? "," : "", absl::StrFormat("%.4g", last * 1e3));
    shape.*dimension *= 2;
  }
  return absl::StrCat(
      "{\"growth\":\"", name, "\",\"sizes\":[", sizes, "],\"cpu_milliseconds\":[", times,
      "],\"exponent\":", absl::StrFormat("%.2f", std::log2(last / first) / kDoublings), "}");
}

}  // namespace

std::vector<std::string> GrowthRows() {
  return {Row("nodes", &Shape::nodes), Row("pods", &Shape::pods), Row("classes", &Shape::classes),
          Row("queues", &Shape::queues), Row("gangs", &Shape::gangs)};
}

}  // namespace hekla::bench

// A real kill -9: RayClusters are created at once, the operator's program is killed in the middle
// of it and started again, and in the end everything must be as in a run without.
//
//   ray_crash --clusters 1000 --kills 3
//
// One JSON line on standard output. Exit code 1: the ends differ, or not every cluster became
// ready.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/ray/clusters.h"
#include "bench/ray/operator_process.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "pkg/apis/json/value.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::bench {
namespace {

using apis::json::Value;
using cmd::heklactl::HostedCluster;

struct Options : Load {
  int kills = 3;
};

// What chance and the clock decide.
constexpr absl::string_view kChance[] = {
    "uid",       "resourceVersion", "creationTimestamp", "lastTransitionTime",   "lastUpdateTime",
    "startTime", "finishedAt",      "startedAt",         "stateTransitionTimes", "podIP",
    "podIPs",    "podName",         "serviceIP",         "containerID",          "managedFields"};

// Members of an object have no order.
void Normalise(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.as_array()) Normalise(item);
  }
  if (!value.is_object()) return;
  std::sort(value.as_object().begin(), value.as_object().end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  for (apis::json::Member& m : value.as_object()) {
    if (std::find(std::begin(kChance), std::end(kChance), m.key) != std::end(kChance)) {
      m.value = Value();
    } else {
      Normalise(m.value);
    }
  }
}

// Every object of the kinds that RayClusters make, whole but for what chance decides; sorted.
absl::StatusOr<std::vector<std::string>> EndState(apiserver::ApiServer& server) {
  std::vector<std::string> lines;
  for (const auto& [version, kind] :
       {std::pair("ray.io/v1", "RayCluster"), std::pair("v1", "Pod"), std::pair("v1", "Service"),
        std::pair("v1", "Secret"), std::pair("batch/v1", "Job")}) {
    HEKLA_ASSIGN_OR_RETURN(std::vector<Value> objects, server.List(version, kind, "default"));
    for (Value& object : objects) {
      Value& metadata = object["metadata"];
      if (metadata.Has("generateName")) metadata.Set("name", metadata.At("generateName"));
      Normalise(object);
      lines.push_back(absl::StrCat(kind, " ", apis::json::Dump(object)));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

struct Outcome {
  std::vector<std::string> end_state;
  std::vector<int64_t> pods_at_kill;
  size_t ready = 0;
  absl::Duration time;
};

// One run with so many kills, spread evenly over the pods that are made.
absl::StatusOr<Outcome> RunOnce(const Options& options, int kills, const std::string& folder) {
  HostedCluster cluster({});
  HEKLA_RETURN_IF_ERROR(cluster.Start());
  HEKLA_RETURN_IF_ERROR(AddNodesFor(cluster, options));
  HEKLA_ASSIGN_OR_RETURN(const OperatorProcess::Options start,
                         OperatorFor(cluster, options, folder));
  OperatorProcess program;
  HEKLA_RETURN_IF_ERROR(program.Start(start));
  Progress progress(cluster.server());
  Outcome out;
  const absl::Time begin = absl::Now();
  HEKLA_RETURN_IF_ERROR(CreateClusters(cluster.server(), options));
  const auto wanted = static_cast<size_t>(options.clusters);
  const size_t pods = wanted * (static_cast<size_t>(options.workers) + 1);
  while (progress.ready() < wanted && absl::Now() - begin < options.timeout) {
    absl::SleepFor(absl::Milliseconds(1));
    progress.Pump();
    const size_t done = out.pods_at_kill.size();
    if (done == static_cast<size_t>(kills) ||
        progress.pods() < pods * (done + 1) / (static_cast<size_t>(kills) + 1)) {
      continue;
    }
    program.Kill();
    progress.Pump();
    out.pods_at_kill.push_back(static_cast<int64_t>(progress.pods()));
    HEKLA_RETURN_IF_ERROR(program.Start(start));
  }
  out.time = absl::Now() - begin;
  out.ready = progress.ready();
  absl::SleepFor(absl::Seconds(4));  // the look after each status, and what it may write
  program.Stop();
  HEKLA_ASSIGN_OR_RETURN(out.end_state, EndState(cluster.server()));
  cluster.Stop();
  return out;
}

absl::StatusOr<bool> Compare(const Options& options, const std::string& folder) {
  HEKLA_ASSIGN_OR_RETURN(const Outcome without, RunOnce(options, 0, folder));
  HEKLA_ASSIGN_OR_RETURN(const Outcome with, RunOnce(options, options.kills, folder));
  std::vector<std::string> differ;
  std::set_symmetric_difference(without.end_state.begin(), without.end_state.end(),
                                with.end_state.begin(), with.end_state.end(),
                                std::back_inserter(differ));
  Value kills = Value::MakeArray();
  for (const int64_t pods : with.pods_at_kill) kills.Append(static_cast<long>(pods));
  const auto seconds = [](absl::Duration d) { return absl::ToInt64Milliseconds(d) / 1000.0; };
  std::cout << apis::json::Dump(
                   Value::MakeObject({{"clusters", options.clusters},
                                      {"workers", options.workers},
                                      {"concurrency", options.concurrency},
                                      {"podsAtKill", std::move(kills)},
                                      {"ready", with.ready},
                                      {"readySeconds", seconds(with.time)},
                                      {"readySecondsWithoutKill", seconds(without.time)},
                                      {"objects", with.end_state.size()},
                                      {"objectsWithoutKill", without.end_state.size()},
                                      {"differ", differ.size()}}))
            << "\n";
  for (size_t i = 0; i < std::min<size_t>(differ.size(), 4); ++i)
    std::cerr << differ[i].substr(0, 500) << "\n";
  return differ.empty() && with.ready == static_cast<size_t>(options.clusters) &&
         with.pods_at_kill.size() == static_cast<size_t>(options.kills);
}

int Main(const std::vector<std::string>& arguments) {
  Options options;
  util::FlagSet flags;
  AddLoadFlags(flags, &options);
  flags.Int("kills", &options.kills, "How often the operator is killed and started again.");
  if (!ParseLoadFlags(flags, "ray_crash", arguments)) return 2;
  const util::testing::TempFolder folder;
  const absl::StatusOr<bool> same = Compare(options, folder.path());
  if (!same.ok()) {
    std::cerr << "ray_crash: " << same.status().message() << "\n";
    return 1;
  }
  return *same ? 0 : 1;
}

}  // namespace
}  // namespace hekla::bench

int main(int argc, char** argv) {
  return hekla::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}

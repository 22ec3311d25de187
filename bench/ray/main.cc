// RayClusters of one head and two workers, created at once on the embedded API server with hollow
// nodes: how long until every pod exists and every cluster is ready, and what the operator (a
// process of its own) spent on it.
//
//   ray_bench --clusters 1000 --concurrency 10
//   ray_bench --clusters 10000 --concurrency 10 --idle 60s
//
// One JSON line on standard output. Exit code 1: not every cluster became ready.
#include <filesystem>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/ray/clusters.h"
#include "bench/ray/counting_front.h"
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
  absl::Duration idle = absl::ZeroDuration();
  std::string log;  // of the operator
};

Value Rounded(double value) {
  return static_cast<double>(static_cast<int64_t>(value * 1000)) / 1000;
}
double MiB(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

Value CallsOf(const std::map<std::string, int64_t>& calls) {
  Value out = Value::MakeObject();
  for (const auto& [call, count] : calls) out.Set(call, count);
  return out;
}

int64_t WritesOf(const std::map<std::string, int64_t>& calls) {
  int64_t writes = 0;
  for (const auto& [call, count] : calls) {
    const absl::string_view verb = absl::string_view(call).substr(0, call.find(' '));
    if (verb == "POST" || verb == "PUT" || verb == "PATCH" || verb == "DELETE") writes += count;
  }
  return writes;
}

// Where the time of the keys went, from the operator's own metrics.
void AddKeyTimes(const std::map<std::string, double>& metrics, int clusters, Value& out) {
  const double waited = SumOf(metrics, "workqueue_queue_duration_seconds_sum");
  const double worked = SumOf(metrics, "workqueue_work_duration_seconds_sum");
  out.Set("reconciles", SumOf(metrics, "controller_runtime_reconcile_total"));
  out.Set("reconcileErrors", SumOf(metrics, "controller_runtime_reconcile_errors_total"));
  out.Set("conflicts", SumOf(metrics, "rest_client_requests_total", "code=\"409\""));
  out.Set("waitedSecondsPerCluster", Rounded(waited / clusters));
  out.Set("workedSecondsPerCluster", Rounded(worked / clusters));
}

absl::StatusOr<Value> Measure(const Options& options, const std::string& folder) {
  CountingFront front;
  HostedCluster::Options hosted;
  hosted.front = &front;
  HostedCluster cluster(std::move(hosted));
  front.SetInner(&cluster.server());
  HEKLA_RETURN_IF_ERROR(cluster.Start());
  HEKLA_RETURN_IF_ERROR(AddNodesFor(cluster, options));
  const size_t pods = static_cast<size_t>(options.clusters) * (options.workers + 1);
  HEKLA_ASSIGN_OR_RETURN(const OperatorProcess::Options start_options,
                         OperatorFor(cluster, options, folder));
  OperatorProcess program;
  HEKLA_RETURN_IF_ERROR(program.Start(start_options));
  absl::SleepFor(absl::Milliseconds(500));
  Value out = Value::MakeObject({{"clusters", options.clusters},
                                 {"workers", options.workers},
                                 {"concurrency", options.concurrency}});
  const int64_t memory_before = program.MemoryBytes();
  const absl::Duration cpu_before = program.CpuTime();
  front.Take();
  Progress progress(cluster.server());
  progress.Pump();

  const absl::Time start = absl::Now();
  HEKLA_RETURN_IF_ERROR(CreateClusters(cluster.server(), options));
  out.Set("createSeconds", Rounded(absl::ToDoubleSeconds(absl::Now() - start)));
  absl::Time all_pods = absl::InfinitePast();
  while (progress.ready() < static_cast<size_t>(options.clusters) &&
         absl::Now() - start < options.timeout) {
    absl::SleepFor(absl::Milliseconds(2));
    progress.Pump();
    if (all_pods == absl::InfinitePast() && progress.pods() >= pods) all_pods = absl::Now();
  }
  const absl::Time end = absl::Now();
  if (all_pods == absl::InfinitePast()) all_pods = end;
  out.Set("allPodsSeconds", Rounded(absl::ToDoubleSeconds(all_pods - start)));
  out.Set("allReadySeconds", Rounded(absl::ToDoubleSeconds(end - start)));
  out.Set("ready", static_cast<int64_t>(progress.ready()));
  absl::SleepFor(absl::Seconds(3));  // events and last status writes
  const std::map<std::string, int64_t> calls = front.Take();
  out.Set("cpuSeconds", Rounded(absl::ToDoubleSeconds(program.CpuTime() - cpu_before)));
  out.Set("memoryBeforeMiB", Rounded(MiB(memory_before)));
  out.Set("memoryPeakMiB", Rounded(MiB(program.PeakMemoryBytes())));
  out.Set("writesPerCluster", Rounded(static_cast<double>(WritesOf(calls)) / options.clusters));
  HEKLA_ASSIGN_OR_RETURN(const auto metrics, program.Metrics());
  AddKeyTimes(metrics, options.clusters, out);
  out.Set("calls", CallsOf(calls));
  if (options.idle > absl::ZeroDuration()) {
    const absl::Duration before = program.CpuTime();
    absl::SleepFor(options.idle);
    const double cpu = absl::ToDoubleSeconds(program.CpuTime() - before);
    out.Set("idleSeconds", absl::ToDoubleSeconds(options.idle));
    out.Set("idleCpuPercent", Rounded(100 * cpu / absl::ToDoubleSeconds(options.idle)));
    out.Set("idleMemoryMiB", Rounded(MiB(program.MemoryBytes())));
    out.Set("idleCalls", CallsOf(front.Take()));
  }
  program.Stop();
  if (!options.log.empty()) {
    std::error_code ignored;
    std::filesystem::copy_file(folder + "/operator.log", options.log,
                               std::filesystem::copy_options::overwrite_existing, ignored);
  }
  cluster.Stop();
  return out;
}

int Main(const std::vector<std::string>& arguments) {
  Options options;
  util::FlagSet flags;
  AddLoadFlags(flags, &options);
  flags.Duration("idle", &options.idle, "Then watch the operator do nothing for this long.");
  flags.String("operator-log", &options.log, "Where to keep the operator's log.");
  if (!ParseLoadFlags(flags, "ray_bench", arguments)) return 2;
  const util::testing::TempFolder folder;
  const absl::StatusOr<Value> result = Measure(options, folder.path());
  if (!result.ok()) {
    std::cerr << "ray_bench: " << result.status().message() << "\n";
    return 1;
  }
  std::cout << apis::json::Dump(*result) << "\n";
  return result->GetInt("ready") == options.clusters ? 0 : 1;
}

}  // namespace
}  // namespace hekla::bench

int main(int argc, char** argv) {
  return hekla::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
}

#include <chrono>
#include <ctime>
#include <memory>

#include "absl/strings/str_cat.h"
#include "bench/macro/scenario.h"
#include "glog/logging.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/scheduler_cache.h"
#include "pkg/util/manual_executor.h"

namespace hekla::bench {
namespace {

using apis::json::Value;

constexpr int kPodsPerNode = 10;

double CpuMillis() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

Value Parsed(const std::string& text) {
  absl::StatusOr<Value> value = apis::json::Parse(text);
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

Value Queue(const char* name) {
  return Parsed(absl::StrCat(
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
      R"("},"spec":{"weight":1},"status":{"state":"Open"}})"));
}

Value Node(int i) {
  return Parsed(
      absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-)", i,
                   R"(","labels":{"kubernetes.io/hostname":"node-)", i,
                   R"(","topology.kubernetes.io/zone":"z)", i % 10,
                   R"("}},"status":{"allocatable":{"cpu":"32","memory":"128Gi","pods":"110"},
      "conditions":[{"type":"Ready","status":"True"}]}})"));
}

Value Group(const std::string& name, int members, const char* phase) {
  return Parsed(absl::StrCat(
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")",
      name, R"(","namespace":"team","uid":"group-)", name,
      R"(","creationTimestamp":"2026-01-02T15:04:05Z"},"spec":{"minMember":)", members,
      R"(,"queue":"default"},"status":{"phase":")", phase, R"("}})"));
}

// About what a server sends for a pod of a training job.
Value Pod(const std::string& group, int i, const std::string& node) {
  return Parsed(absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", group, "-worker-", i,
      R"(","namespace":"team","uid":"pod-)", group, "-", i, R"(","resourceVersion":")", 1000 + i,
      R"(","creationTimestamp":"2026-01-02T15:04:05Z","labels":{"app":"train","job-name":")", group,
      R"(","index":")", i, R"("},"annotations":{"scheduling.k8s.io/group-name":")", group,
      R"("},"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":")",
      group, R"(","uid":"job-)", group,
      R"(","controller":true}]},"spec":{"schedulerName":"volcano",)",
      node.empty() ? "" : absl::StrCat(R"("nodeName":")", node, R"(",)"),
      R"("priority":100,"containers":[{"name":"main","image":"registry.example.com/train:1",
      "env":[{"name":"RANK","value":"1"},{"name":"WORLD","value":"50"}],
      "resources":{"requests":{"cpu":"1","memory":"4Gi"}},
      "volumeMounts":[{"name":"token","mountPath":"/var/run/secrets"}]}],
      "tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists",
      "effect":"NoExecute","tolerationSeconds":300}],
      "volumes":[{"name":"token","projected":{"sources":[]}}]},"status":{"phase":")",
      node.empty() ? "Pending" : "Running", R"("}})"));
}

std::vector<Value> Lists(int nodes) {
  std::vector<Value> objects;
  objects.push_back(Queue("root"));
  objects.push_back(Queue("default"));
  for (int i = 0; i < nodes; ++i) objects.push_back(Node(i));
  const int pods = nodes * kPodsPerNode;
  for (int i = 0; i < pods; ++i) {
    const std::string group = absl::StrCat("job-", i / 50);
    if (i % 50 == 0) objects.push_back(Group(group, 1, "Running"));
    objects.push_back(Pod(group, i % 50, absl::StrCat("node-", i % nodes)));
  }
  objects.push_back(Group("new", 10, "Inqueue"));
  for (int i = 0; i < 10; ++i) objects.push_back(Pod("new", i, ""));
  return objects;
}

}  // namespace

// From decoded lists (ten running pods per node, one gang that waits) to the first decision: what
// ingest, the first snapshot and the first cycle take, all on one thread.
Result Start(int nodes) {
  const std::vector<Value> objects = Lists(nodes);
  util::FakeClock clock;
  util::ManualExecutor executor(&clock);
  const double begin = CpuMillis();
  cache::SchedulerCache cache({nullptr, &executor, nullptr, nullptr, nullptr}, {});
  for (const Value& object : objects) CHECK(cache.Ingest(object).ok());
  cache.MarkSynced();
  const double ingested = CpuMillis();
  model::Cluster& cluster = cache.Snapshot();
  const double applied = CpuMillis();
  Policies policies(false, &clock);
  const Scenario::Cost cost = policies.FirstCycle(cluster);
  const double decided = CpuMillis();
  CHECK_EQ(cost.binds, 10u);
  Result result{"start", nodes, {}, {}};
  result.more = {{"running_pods", static_cast<double>(nodes * kPodsPerNode)},
                 {"ingest_cpu_milliseconds", ingested - begin},
                 {"snapshot_cpu_milliseconds", applied - ingested},
                 {"first_cycle_cpu_milliseconds", decided - applied},
                 {"first_decision_cpu_milliseconds", decided - begin}};
  return result;
}

}  // namespace hekla::bench

#include "pkg/sim/simulation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "pkg/apis/meta/time.h"
#include "pkg/apiserver/hollow/hollow_cluster.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/sim/result.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/status_macros.h"

namespace hekla::sim {
namespace {

using apis::json::Value;
using apiserver::hollow::LocalWatch;

const absl::Time kDefaultStart =
    absl::FromCivil(absl::CivilHour(2026, 1, 1, 1), absl::UTCTimeZone());
constexpr absl::Duration kCycleGap = absl::Milliseconds(10);
constexpr absl::Duration kPeriod = absl::Seconds(1);
// Cycles in a row without a decision while deltas keep coming: something goes in circles.
constexpr int kMaxIdleCycles = 2000;

apiserver::Options ServerOptions(const util::Clock* clock, uint64_t seed) {
  apiserver::Options options;
  options.clock = clock;
  options.seed = seed;
  options.bookmark_interval = absl::InfiniteDuration();
  options.event_ttl = absl::InfiniteDuration();
  return options;
}

apiserver::kubelet::Options KubeletOptions() {
  apiserver::kubelet::Options options;
  options.heartbeat = absl::ZeroDuration();
  options.lease_renewal = absl::ZeroDuration();
  return options;
}

}  // namespace

struct Simulation::World {
  explicit World(const SimulationOptions& options)
      : clock(kDefaultStart),
        executor(&clock),
        server(ServerOptions(&clock, options.seed)),
        transport(&server, &executor),
        auditor(Auditor::Options{}) {}

  util::FakeClock clock;
  util::ManualExecutor executor;
  apiserver::ApiServer server;
  http::LoopbackTransport transport;
  std::unique_ptr<apiserver::hollow::HollowCluster> hollow;  // null without --kubelet
  CycleRecorder recorder;
  Auditor auditor;
  UsageMeter meter;
  std::vector<std::unique_ptr<LocalWatch>> watches;
  std::vector<std::pair<std::string, absl::Time>> finished;
  std::set<std::string> finished_uids;
  std::unique_ptr<assembly::SchedulerGraph> graph;
  absl::Time start = kDefaultStart;
  size_t next_arrival = 0;
  absl::Duration cycle_total, cycle_longest;  // of the wall clock
  absl::Time last_progress = absl::InfinitePast();

  void Observe(absl::string_view type, const Value& object) {
    const absl::Time now = clock.Now();
    auditor.Observe(type, object, now);
    meter.Observe(type, object, now);
    if (object.GetString("kind") != "Pod") return;
    const absl::string_view phase = object.At("status").GetString("phase");
    if (phase != "Succeeded" && phase != "Failed") return;
    const Value& metadata = object.At("metadata");
    if (!finished_uids.insert(std::string(metadata.GetString("uid"))).second) return;
    finished.emplace_back(
        absl::StrCat(metadata.GetString("namespace"), "/", metadata.GetString("name")), now);
  }
};

Simulation::Simulation(SimulationOptions options) : options_(std::move(options)) {}
Simulation::~Simulation() = default;

const Auditor& Simulation::auditor() const { return world_->auditor; }
const UsageMeter& Simulation::meter() const { return world_->meter; }
absl::Time Simulation::start() const { return world_->start; }
absl::Time Simulation::now() const { return world_->clock.Now(); }

absl::Status Simulation::Import(const Manifest& manifest) {
  if (manifest.object.GetString("kind") == "CustomResourceDefinition") {
    const absl::Status status = world_->server.LoadCrd(manifest.object);
    if (status.ok()) return status;
    return absl::InvalidArgumentError(absl::StrCat(manifest.origin, ": ", status.message()));
  }
  auto stored = world_->server.Import(manifest.object);
  if (stored.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(manifest.origin, ": ", stored.status().message()));
}

absl::Status Simulation::Load(const std::vector<Manifest>& manifests) {
  world_ = std::make_unique<World>(options_);
  // Nothing described may lie in the future of the simulated cluster.
  for (const Manifest& m : manifests) {
    const auto created =
        apis::meta::ParseTime(m.object.At("metadata").GetString("creationTimestamp"));
    if (created.ok()) world_->start = std::max(world_->start, *created + absl::Seconds(1));
  }
  world_->clock.Set(world_->start);
  HEKLA_RETURN_IF_ERROR(apiserver::shipped::LoadCrds(world_->server));
  for (const Manifest& manifest : manifests) HEKLA_RETURN_IF_ERROR(Import(manifest));
  for (const TraceNode& node : options_.trace_nodes) {
    HEKLA_RETURN_IF_ERROR(
        Import(Manifest{ToObject(node, world_->start), absl::StrCat("trace node ", node.name)}));
  }
  assembly::SchedulerGraph::Options graph;
  graph.config_text = options_.scheduler_conf;
  graph.config_name = options_.scheduler_conf_name;
  graph.seed = options_.seed;
  graph.manual_cycles = true;
  // Watches are not renewed in vain. A watch that died in silence would not be noticed, either:
  // here there are no faults.
  graph.min_watch_time = absl::Hours(24 * 365);
  assembly::SchedulerGraph::Deps deps;
  deps.transport = &world_->transport;
  deps.io = &world_->executor;
  deps.session = &world_->executor;
  deps.clock = &world_->clock;
  deps.observer = &world_->recorder;
  HEKLA_ASSIGN_OR_RETURN(world_->graph, assembly::SchedulerGraph::Build(deps, std::move(graph)));
  if (options_.kubelet) {
    world_->hollow =
        std::make_unique<apiserver::hollow::HollowCluster>(world_->server, KubeletOptions());
  }
  for (const char* path : kAuditedPaths) {
    World* world = world_.get();
    world_->watches.push_back(std::make_unique<LocalWatch>(
        world_->server, path,
        [world](absl::string_view type, const Value& object) { world->Observe(type, object); }));
  }
  world_->graph->Start();
  return absl::OkStatus();
}

void Simulation::Settle() {
  World& w = *world_;
  w.server.Tick();
  for (;;) {
    size_t did = w.executor.RunReady();
    if (w.hollow != nullptr) did += static_cast<size_t>(w.hollow->Pump(w.clock.Now()));
    for (const auto& watch : w.watches) did += static_cast<size_t>(watch->Pump());
    if (did == 0) break;
  }
  w.auditor.EndOfStep(w.clock.Now());
  w.meter.Sample(w.clock.Now());
}

void Simulation::RunCycle(absl::Duration gap) {
  world_->executor.Advance(gap);
  const absl::Time before = absl::Now();
  world_->graph->RunOnce();
  const absl::Duration took = absl::Now() - before;
  world_->cycle_total += took;
  world_->cycle_longest = std::max(world_->cycle_longest, took);
  Settle();
  if (options_.progress == nullptr) return;
  const absl::Time real = absl::Now();
  if (real - world_->last_progress < absl::Milliseconds(200)) return;
  world_->last_progress = real;
  Progress progress;
  progress.time = world_->clock.Now();
  progress.arrived = static_cast<int64_t>(world_->next_arrival);
  progress.to_arrive = static_cast<int64_t>(options_.trace_pods.size());
  progress.placed = world_->meter.placed();
  progress.pending = world_->meter.pending();
  progress.running = world_->meter.running();
  options_.progress(progress);
}

// Creates the pods of the trace whose time has come.
bool Simulation::Arrive() {
  World& w = *world_;
  bool any = false;
  while (w.next_arrival < options_.trace_pods.size()) {
    const TracePod& pod = options_.trace_pods[w.next_arrival];
    if (w.start + absl::Seconds(pod.creation_second) > w.clock.Now()) break;
    const auto created = w.server.Create(ToObject(pod, w.clock.Now()));
    CHECK(created.ok()) << "trace pod " << pod.name << ": " << created.status();
    ++w.next_arrival;
    any = true;
  }
  return any;
}

absl::Time Simulation::NextEvent() const {
  const World& w = *world_;
  absl::Time next = absl::InfiniteFuture();
  if (w.next_arrival < options_.trace_pods.size()) {
    next = w.start + absl::Seconds(options_.trace_pods[w.next_arrival].creation_second);
  }
  if (w.hollow != nullptr) next = std::min(next, w.hollow->NextDue());
  // Timers matter only while some write waits for one; renewals of watches do not keep a run alive.
  if (w.graph->PendingWrites() > 0) next = std::min(next, w.executor.NextDue());
  return next;
}

absl::Status Simulation::Run() {
  World& w = *world_;
  Settle();
  for (int i = 0; i < 100 && !w.graph->Ready(); ++i) {
    w.executor.AdvanceTo(std::min(w.executor.NextDue(), w.clock.Now() + kPeriod));
    Settle();
  }
  if (!w.graph->Ready())
    return absl::InternalError("the scheduler's initial lists did not complete");
  Arrive();
  Settle();
  if (options_.cycles > 0) {
    for (int64_t i = 0; i < options_.cycles; ++i) {
      RunCycle(i == 0 ? kCycleGap : kPeriod);
      if (Arrive()) Settle();
    }
    return absl::OkStatus();
  }
  RunCycle(kCycleGap);
  int idle = 0;
  for (;;) {
    if (w.graph->PendingDeltas() > 0) {
      const size_t before = w.recorder.cycles().size();
      RunCycle(kCycleGap);
      idle = w.recorder.cycles().size() == before ? idle + 1 : 0;
      if (idle > kMaxIdleCycles) {
        return absl::DeadlineExceededError(absl::StrCat(
            kMaxIdleCycles, " cycles in a row decided nothing, and still something changes"));
      }
      continue;
    }
    const absl::Time next = NextEvent();
    if (next == absl::InfiniteFuture()) break;
    if (next > w.clock.Now()) idle = 0;
    w.executor.AdvanceTo(std::max(next, w.clock.Now()));
    Arrive();
    Settle();
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Simulation::Explain(framework::explain::Subject subject,
                                          absl::string_view key) {
  HEKLA_ASSIGN_OR_RETURN(const framework::explain::Explanation explanation,
                         world_->graph->scheduler().Explain(subject, key));
  return framework::explain::ToJson(explanation);
}

Value Simulation::Result(ResultOptions options) {
  ResultInput input;
  input.server = &world_->server;
  input.recorder = &world_->recorder;
  input.auditor = &world_->auditor;
  input.finished = &world_->finished;
  input.metrics_text = world_->graph->MetricsText();
  if (options.explain) {
    input.explain = [this](const std::string& pod) {
      auto explanation = Explain(framework::explain::Subject::kPod, pod);
      return explanation.ok() ? *std::move(explanation)
                              : Value::MakeObject({{"error", explanation.status().message()}});
    };
  }
  if (options.timings) {
    input.decision_seconds = absl::ToDoubleSeconds(world_->cycle_total);
    input.cycle_seconds_max = absl::ToDoubleSeconds(world_->cycle_longest);
  }
  return RenderResult(input);
}

}  // namespace hekla::sim

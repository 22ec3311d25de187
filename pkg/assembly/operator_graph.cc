#include "pkg/assembly/operator_graph.h"

#include <utility>

#include "pkg/apis/ray/event_reasons.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/controllers/common/event_sink.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/mtls/reconciler.h"
#include "pkg/ray/controllers/networkpolicy/reconciler.h"
#include "pkg/ray/controllers/raycluster/metrics.h"
#include "pkg/ray/controllers/raycluster/reconciler.h"
#include "pkg/util/random.h"
#include "pkg/util/status_macros.h"

namespace hekla::assembly {
namespace {

namespace rc = ray::controllers;

controller::Cache::Options CacheOptions(const OperatorGraph::Options& options) {
  controller::Cache::Options cache;
  cache.namespaces = ray::WatchedNamespaces(options.config.watch_namespace, nullptr);
  cache.min_watch_time = options.min_watch_time;
  cache.seed = options.seed;
  return cache;
}

rc::ClusterOptions MakeOptions(const OperatorGraph::Options& options) {
  rc::ClusterOptions out =
      rc::MakeClusterOptions(options.config, options.gates, options.environment, options.server);
  out.surplus_seed = options.surplus_seed;
  return out;
}

std::string BytesFromSeed(util::Random& random, size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
  return bytes;
}

}  // namespace

// In the order in which things depend on each other; destroyed from the bottom up.
struct OperatorGraph::Parts {
  // One controller with what it alone has.
  struct Unit {
    std::unique_ptr<kube::SeriesEventRecorder> recorder;
    std::unique_ptr<rc::RecorderSink> sink;
    std::unique_ptr<controller::Reconciler> reconciler;
    std::unique_ptr<controller::Controller> controller;
  };

  Parts(Deps d, Options o)
      : deps(std::move(d)),
        options(std::move(o)),
        random(options.seed),
        controller_metrics(*deps.registry),
        event_drops(*deps.registry),
        cache({.client = deps.watch_client, .io = deps.io}, CacheOptions(options)),
        client(&cache, deps.write_client),
        cluster_options(MakeOptions(options)) {
    if (deps.secret_bytes == nullptr) {
      deps.secret_bytes = [this](size_t count) { return BytesFromSeed(random, count); };
    }
  }

  bool mtls() const {
    return options.gates.Enabled(ray::Feature::kRayClusterMtls) && options.server.cert_manager;
  }
  // The gate stands for a batch scheduler of its own.
  absl::string_view batch_scheduler() const {
    return options.gates.Enabled(ray::Feature::kKubernetesWas)
               ? ray::batchscheduler::KubernetesWasScheduler::kName
               : options.config.ChosenBatchScheduler();
  }
  bool network_policies() const {
    return options.gates.Enabled(ray::Feature::kRayClusterNetworkPolicy);
  }

  absl::Status Build();
  void AddKinds();
  void AddCluster();
  void AddMtls();
  void AddNetworkPolicy();
  Unit& NewUnit(absl::string_view reporter);
  void Finish(Unit& unit, absl::string_view name, int concurrency,
              std::vector<controller::Source> sources);

  Deps deps;
  const Options options;
  util::Random random;
  controller::ControllerMetrics controller_metrics;
  kube::EventDrops event_drops;
  controller::Cache cache;
  controller::ApiClient client;
  const rc::ClusterOptions cluster_options;
  std::unique_ptr<ray::batchscheduler::BatchScheduler> batch;
  std::unique_ptr<rc::raycluster::ClusterMetrics> cluster_metrics;
  std::vector<Unit> units;
  std::vector<controller::Controller*> controllers;
  std::unique_ptr<controller::Manager> manager;
};

absl::Status OperatorGraph::Parts::Build() {
  HEKLA_RETURN_IF_ERROR(ray::ValidateOperatorConfig(options.config, options.gates));
  HEKLA_ASSIGN_OR_RETURN(batch, ray::batchscheduler::MakeBatchScheduler(batch_scheduler()));
  if (options.config.enable_metrics) {
    cluster_metrics = std::make_unique<rc::raycluster::ClusterMetrics>(deps.registry, &cache);
  }
  AddKinds();
  manager = std::make_unique<controller::Manager>(
      controller::Manager::Deps{.io = deps.io,
                                .cache = &cache,
                                .metrics = &controller_metrics,
                                .on_ready = deps.on_ready,
                                .on_lost = deps.on_lost},
      deps.election);
  AddCluster();
  if (mtls()) AddMtls();
  if (network_policies()) AddNetworkPolicy();
  for (const Unit& unit : units) {
    controllers.push_back(unit.controller.get());
    manager->Add(unit.controller.get());
  }
  return absl::OkStatus();
}

void OperatorGraph::Parts::AddKinds() {
  rc::CacheNeeds needs;
  needs.routes = cluster_options.routes;
  needs.network_policies = network_policies();
  needs.mtls = mtls();
  needs.workloads = options.gates.Enabled(ray::Feature::kKubernetesWas);
  needs.batch_scheduler = std::string(batch_scheduler());
  for (controller::Cache::Kind& kind : rc::CacheKinds(needs)) cache.AddKind(std::move(kind));
}

OperatorGraph::Parts::Unit& OperatorGraph::Parts::NewUnit(absl::string_view reporter) {
  Unit& unit = units.emplace_back();
  kube::SeriesEventRecorder::Options recorder;
  recorder.controller = std::string(reporter);
  recorder.host = options.host;
  recorder.seed = options.seed + units.size();
  recorder.drops = &event_drops;
  unit.recorder =
      std::make_unique<kube::SeriesEventRecorder>(deps.watch_client, deps.io, std::move(recorder));
  unit.sink = std::make_unique<rc::RecorderSink>(unit.recorder.get());
  return unit;
}

void OperatorGraph::Parts::Finish(Unit& unit, absl::string_view name, int concurrency,
                                  std::vector<controller::Source> sources) {
  const bool reported = name == rc::raycluster::Reconciler::kName;
  controller::Controller::Deps to;
  to.reconciler = unit.reconciler.get();
  to.executor = deps.queues;
  to.metrics = &controller_metrics;
  if (reported) {
    to.on_dispatch = deps.on_dispatch;
    to.on_done = deps.on_done;
  }
  controller::Controller::Options with;
  with.name = std::string(name);
  with.max_concurrent = concurrency;
  with.low_priority_initial = options.low_priority_initial;
  with.limiter = options.limiter;
  unit.controller = std::make_unique<controller::Controller>(std::move(to), std::move(with));
  for (controller::Source& source : sources) unit.controller->Watch(std::move(source));
}

void OperatorGraph::Parts::AddCluster() {
  Unit& unit = NewUnit(apis::ray::kRayClusterReporter);
  rc::raycluster::Reconciler::Deps to;
  to.client = &client;
  to.events = unit.sink.get();
  to.clock = deps.clock;
  to.batch = batch.get();
  to.metrics = cluster_metrics.get();
  to.secret_bytes = deps.secret_bytes;
  to.seed = options.seed;
  unit.reconciler = std::make_unique<rc::raycluster::Reconciler>(std::move(to), cluster_options);
  Finish(unit, rc::raycluster::Reconciler::kName, options.config.reconcile_concurrency,
         rc::raycluster::Sources(batch_scheduler()));
}

void OperatorGraph::Parts::AddMtls() {
  Unit& unit = NewUnit(apis::ray::kMtlsReporter);
  unit.reconciler = std::make_unique<rc::mtls::Reconciler>(
      rc::mtls::Reconciler::Deps{.client = &client, .events = unit.sink.get(), .clock = deps.clock},
      cluster_options);
  Finish(unit, rc::mtls::Reconciler::kName, 1, rc::mtls::Sources());
}

void OperatorGraph::Parts::AddNetworkPolicy() {
  Unit& unit = NewUnit(apis::ray::kNetworkPolicyReporter);
  unit.reconciler = std::make_unique<rc::networkpolicy::Reconciler>(
      rc::networkpolicy::Reconciler::Deps{.client = &client, .events = unit.sink.get()});
  Finish(unit, rc::networkpolicy::Reconciler::kName, options.config.reconcile_concurrency,
         rc::networkpolicy::Sources());
}

absl::StatusOr<std::unique_ptr<OperatorGraph>> OperatorGraph::Build(Deps deps, Options options) {
  auto parts = std::make_unique<Parts>(std::move(deps), std::move(options));
  HEKLA_RETURN_IF_ERROR(parts->Build());
  return std::unique_ptr<OperatorGraph>(new OperatorGraph(std::move(parts)));
}

OperatorGraph::OperatorGraph(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
OperatorGraph::~OperatorGraph() = default;

void OperatorGraph::Start() { parts_->manager->Start(); }
void OperatorGraph::StopWork() { parts_->manager->StopWork(); }
void OperatorGraph::Stop(std::function<void()> done) { parts_->manager->Stop(std::move(done)); }

bool OperatorGraph::ProcessNext() {
  bool any = false;
  for (controller::Controller* const controller : parts_->controllers) {
    any = controller->ProcessNext() || any;
  }
  return any;
}

bool OperatorGraph::Ready() const { return parts_->manager->Ready(); }
bool OperatorGraph::IsLeading() const { return parts_->manager->IsLeading(); }
bool OperatorGraph::MayWrite() const { return parts_->manager->MayWrite(); }
bool OperatorGraph::Working() const { return parts_->manager->Working(); }

size_t OperatorGraph::PendingKeys() const {
  size_t sum = 0;
  for (controller::Controller* const controller : parts_->controllers) {
    const controller::PriorityQueue::Counts counts = controller->queue().counts();
    sum += counts.ready + counts.waiting + counts.locked;
  }
  return sum;
}
size_t OperatorGraph::PendingEvents() const {
  size_t sum = 0;
  for (const Parts::Unit& unit : parts_->units) sum += unit.recorder->pending();
  return sum;
}

const std::vector<controller::Controller*>& OperatorGraph::controllers() const {
  return parts_->controllers;
}
controller::Cache& OperatorGraph::cache() { return parts_->cache; }
controller::Client& OperatorGraph::client() { return parts_->client; }

}  // namespace hekla::assembly

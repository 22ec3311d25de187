#include "pkg/assembly/scheduler_graph.h"

#include <utility>

#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/actions/registry.h"
#include "pkg/cache/scheduler_cache.h"
#include "pkg/framework/scheduler_metrics.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/plugins/registry.h"
#include "pkg/util/status_macros.h"

namespace hekla::assembly {

namespace {

// Enough for every pod of a large gang, some 15 MB: its events wait until its bindings are through.
constexpr size_t kWaitingEvents = 10000;

}  // namespace

// In the order in which things depend on each other; destroyed from the bottom up.
struct SchedulerGraph::Parts {
  Parts(Deps d, Options o)
      : deps(std::move(d)),
        options(std::move(o)),
        own_registry(deps.registry == nullptr ? std::make_unique<metrics::Registry>() : nullptr),
        registry(own_registry == nullptr ? *deps.registry : *own_registry),
        scheduling_metrics(registry),
        event_drops(registry),
        plugins(plugins::AllPlugins()),
        actions(actions::AllActions()),
        config_file(options.config, Known()) {}

  conf::Known Known() const {
    conf::Known known;
    for (const framework::ActionEntry& entry : actions) known.actions.emplace_back(entry.name);
    for (const framework::PluginEntry& entry : plugins) known.plugins.emplace_back(entry.name);
    return known;
  }

  // Events and texts carry the scheduler's name if there is exactly one.
  std::string Component() const {
    return options.scheduler_names.size() == 1 ? options.scheduler_names[0] : "volcano";
  }

  void Build();
  void Cycle();
  bool RunOnce();
  void PollConfig();

  const Deps deps;
  const Options options;
  const std::unique_ptr<metrics::Registry> own_registry;
  metrics::Registry& registry;
  framework::SchedulerMetrics scheduling_metrics;
  kube::EventDrops event_drops;
  const framework::PluginRegistry plugins;
  const framework::ActionRegistry actions;
  scheduler::ConfigFile config_file;
  std::unique_ptr<kube::RestClient> own_client;
  std::unique_ptr<kube::CoreEventRecorder> events;
  std::unique_ptr<scheduler::CycleLoop> loop;
  std::unique_ptr<cache::SchedulerCache> cache;
  std::unique_ptr<scheduler::Scheduler> scheduler;
  bool waiting_logged = false;
  mutable absl::Mutex stats_mutex;
  scheduler::CycleStats stats ABSL_GUARDED_BY(stats_mutex);  // for other threads
};

void SchedulerGraph::Parts::Build() {
  if (options.process_metrics) metrics::AddProcessMetrics(registry);
  kube::RestClient* client = deps.client;
  if (client == nullptr) {
    own_client = std::make_unique<kube::RestClient>(
        kube::RestClient::Deps{.transport = deps.transport, .executor = deps.io},
        kube::RestClient::Options{
            .user_agent = "hekla-scheduler", .qps = options.api_qps, .burst = options.api_burst});
    client = own_client.get();
  }
  kube::CoreEventRecorder::Options recorder;
  recorder.component = Component();
  recorder.seed = options.seed;
  recorder.drops = &event_drops;
  recorder.queue_limit = kWaitingEvents;
  events = std::make_unique<kube::CoreEventRecorder>(client, deps.io, std::move(recorder));

  if (!options.manual_cycles) {
    loop =
        std::make_unique<scheduler::CycleLoop>(deps.session, options.cycles, [this] { Cycle(); });
  }
  cache::SchedulerCache::Options mirror;
  mirror.scheduler_names = options.scheduler_names;
  mirror.default_queue = options.default_queue;
  mirror.seed = options.seed;
  mirror.priority_class = options.priority_class;
  mirror.csi_storage = options.csi_storage;
  mirror.min_watch_time = options.min_watch_time;
  mirror.node_selector = options.node_selector;
  cache =
      std::make_unique<cache::SchedulerCache>(cache::SchedulerCache::Deps{.client = client,
                                                                          .io = deps.io,
                                                                          .events = events.get(),
                                                                          .metrics = &registry,
                                                                          .wake =
                                                                              [this] {
                                                                                if (loop != nullptr)
                                                                                  loop->Wake();
                                                                              }},
                                              std::move(mirror));
  events->YieldWhile(cache->IsWriting());
  cache->OnQuiet([recorder = events.get()] { recorder->LookAgain(); });

  scheduler::Scheduler::Deps engine;
  engine.source = cache.get();
  engine.sink = cache.get();
  engine.clock = deps.clock;
  engine.plugins = &plugins;
  engine.actions = &actions;
  engine.plugin_deps.clock = deps.clock;
  engine.plugin_deps.scheduler_name = Component();
  engine.plugin_deps.default_queue = options.default_queue;
  engine.plugin_deps.csi_storage = options.csi_storage;
  engine.metrics = &scheduling_metrics;
  engine.observer = deps.observer;
  engine.queue_admission_gates = options.queue_admission_gates;
  engine.seed = options.seed;
  scheduler = std::make_unique<scheduler::Scheduler>(std::move(engine));
}

void SchedulerGraph::Parts::PollConfig() {
  const uint64_t failed_before = config_file.failed_reloads();
  absl::StatusOr<std::optional<conf::Config>> config = config_file.Poll();
  if (config_file.failed_reloads() != failed_before) {
    scheduling_metrics.config_reloads.With({"failed"})->Add();
  }
  if (!config.ok()) {
    LOG(ERROR) << "configuration cannot be used: " << config.status().message();
    if (deps.on_fatal) deps.on_fatal(config.status());
  } else if (config->has_value()) {
    scheduling_metrics.config_reloads.With({"ok"})->Add();
    scheduler->SetConfig(**std::move(config));
  }
}

bool SchedulerGraph::Parts::RunOnce() {
  const bool ran = scheduler->RunOnce();
  absl::MutexLock lock(&stats_mutex);
  stats = scheduler->stats();
  return ran;
}

void SchedulerGraph::Parts::Cycle() {
  PollConfig();
  const bool ran = RunOnce();
  if (!ran && !waiting_logged) {
    waiting_logged = true;
    LOG(INFO) << "waiting for the initial lists";
  } else if (ran && waiting_logged) {
    waiting_logged = false;
    LOG(INFO) << "initial lists are complete, scheduling";
  }
}

absl::StatusOr<std::unique_ptr<SchedulerGraph>> SchedulerGraph::Build(Deps deps, Options options) {
  auto parts = std::make_unique<Parts>(std::move(deps), std::move(options));
  const Options& o = parts->options;
  absl::StatusOr<conf::Config> config =
      o.config_text.has_value() ? conf::ParseConfig(*o.config_text, o.config_name, parts->Known())
                                : parts->config_file.Load();
  HEKLA_RETURN_IF_ERROR(config.status());
  parts->Build();
  parts->scheduler->SetConfig(*std::move(config));
  return std::unique_ptr<SchedulerGraph>(new SchedulerGraph(std::move(parts)));
}

SchedulerGraph::SchedulerGraph(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SchedulerGraph::~SchedulerGraph() = default;

void SchedulerGraph::Start() {
  parts_->deps.io->Post([parts = parts_.get()] { parts->cache->Start(); });
  if (parts_->loop != nullptr) parts_->loop->Start();
}

void SchedulerGraph::Stop(std::function<void()> done) {
  if (parts_->loop != nullptr) parts_->loop->Stop();
  // Behind the cycle that may be running: its decisions are still taken.
  parts_->deps.session->Post([parts = parts_.get(), done = std::move(done)]() mutable {
    parts->deps.io->Post([parts, done = std::move(done)]() mutable {
      parts->cache->Stop(
          [parts, done = std::move(done)]() mutable { parts->events->WhenSent(std::move(done)); });
    });
  });
}

absl::Status SchedulerGraph::Reload(const std::string& text) {
  absl::StatusOr<conf::Config> config =
      conf::ParseConfig(text, parts_->options.config_name, parts_->Known());
  parts_->scheduling_metrics.config_reloads.With({config.ok() ? "ok" : "failed"})->Add();
  HEKLA_RETURN_IF_ERROR(config.status());
  parts_->scheduler->SetConfig(*std::move(config));
  return absl::OkStatus();
}

bool SchedulerGraph::RunOnce() { return parts_->RunOnce(); }
bool SchedulerGraph::Ready() const { return parts_->cache->Synced(); }
size_t SchedulerGraph::PendingWrites() const {
  return parts_->cache->PendingWrites() + parts_->events->pending();
}
size_t SchedulerGraph::PendingDeltas() const { return parts_->cache->PendingDeltas(); }
scheduler::CycleStats SchedulerGraph::Stats() const {
  absl::MutexLock lock(&parts_->stats_mutex);
  return parts_->stats;
}
scheduler::Scheduler& SchedulerGraph::scheduler() { return *parts_->scheduler; }
void SchedulerGraph::Explain(framework::explain::Subject subject, std::string key, Explained done) {
  parts_->deps.session->Post(
      [parts = parts_.get(), subject, key = std::move(key), done = std::move(done)] {
        const auto explanation = parts->scheduler->Explain(subject, key);
        if (explanation.ok()) {
          done(framework::explain::ToJson(*explanation));
        } else {
          done(explanation.status());
        }
      });
}
void SchedulerGraph::Inspect(std::function<void(const model::Cluster*)> look) {
  parts_->deps.session->Post(
      [parts = parts_.get(), look = std::move(look)] { look(parts->scheduler->cluster()); });
}
std::string SchedulerGraph::MetricsText() const { return parts_->registry.Expose(); }

}  // namespace hekla::assembly

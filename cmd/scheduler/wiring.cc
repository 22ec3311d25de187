#include "cmd/scheduler/wiring.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "cmd/scheduler/endpoints.h"
#include "glog/logging.h"
#include "pkg/assembly/debug_handler.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/cache/dump.h"
#include "pkg/http/beast_server.h"
#include "pkg/kube/config/client.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/kube/config/environment.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/leader_election.h"
#include "pkg/kube/metered_transport.h"
#include "pkg/kube/write_fence.h"
#include "pkg/metrics/registry.h"
#include "pkg/util/build_info.h"
#include "pkg/util/clock.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/thread_executor.h"

namespace hekla::cmd::scheduler {
namespace {

// SIGTERM ends the process within two seconds.
constexpr absl::Duration kStopTime = absl::Milliseconds(1300);
constexpr absl::Duration kReleaseTime = absl::Milliseconds(300);

// Ends the program from any thread: the waiting main thread gets the signal and this exit code.
class Exit {
 public:
  // Blocks the signals that end the program, for this thread and all it starts from now on; with
  // `dumps` also those that ask for a dump, which are ignored otherwise.
  explicit Exit(bool dumps) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    if (dumps) {
      sigaddset(&signals_, SIGUSR1);
      sigaddset(&signals_, SIGUSR2);
    } else {
      IgnoreDumps();
    }
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  void Request(int code) {
    code_ = code;
    ::kill(::getpid(), SIGTERM);
  }
  // Waits for a signal or a request; from then on a second signal ends the process at once.
  // `on_dump` is called for each SIGUSR1 and SIGUSR2 until then.
  int Wait(const std::function<void(int)>& on_dump) {
    int number = 0;
    while (sigwait(&signals_, &number) == 0 && (number == SIGUSR1 || number == SIGUSR2)) {
      on_dump(number);
    }
    IgnoreDumps();
    signal(SIGINT, [](int) { ::_exit(1); });
    signal(SIGTERM, [](int) { ::_exit(1); });
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return code_;
  }

 private:
  static void IgnoreDumps() {
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
  }

  sigset_t signals_;
  std::atomic<int> code_ = 0;
};

// Opaque part of an identity; a new one for every start.
uint64_t RandomSeed() {
  uint64_t seed = 0;
  std::ifstream("/dev/urandom", std::ios::binary)
      .read(reinterpret_cast<char*>(&seed), sizeof(seed));
  return seed ^ static_cast<uint64_t>(absl::ToUnixNanos(absl::Now()));
}

std::string UserAgentOf(absl::string_view part) {
  return kube::UserAgent(absl::StrCat("hekla-", part), std::string(util::Version()),
                         std::string(util::GitSha()));
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

void LogWhatIsIgnored(const Options& options) {
  for (const std::string& argument : options.ignored_arguments) {
    LOG(INFO) << "ignored argument=" << argument;
  }
  for (const std::string& flag : options.flags_without_effect) {
    LOG(INFO) << "accepted without effect yet flag=--" << flag;
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read file ", path));
  return text.str();
}

// All metrics as text, counted as Go's handler counts its own answers.
class Scrapes {
 public:
  explicit Scrapes(metrics::Registry* registry)
      : registry_(registry),
        in_flight_(registry->NewGauge("promhttp_metric_handler_requests_in_flight",
                                      "Requests for metrics that are being answered.")),
        total_(registry->NewCounterFamily("promhttp_metric_handler_requests_total",
                                          "Answers to requests for metrics by code.", {"code"})) {
    for (const char* code : {"200", "500", "503"}) total_.With({code});
  }
  std::string Text() {
    in_flight_.Set(1);  // they are answered on one thread
    std::string text = registry_->Expose();
    in_flight_.Set(0);
    total_.With({"200"})->Add();
    return text;
  }

 private:
  metrics::Registry* const registry_;
  metrics::Gauge& in_flight_;
  metrics::CounterFamily& total_;
};

// Health, metrics and explanations, each on its own address.
class Serving {
 public:
  // Health must be served where it is asked for; the others only log that they are not.
  absl::Status Start(const ServingOptions& options, assembly::SchedulerGraph* graph,
                     metrics::Registry* registry, util::Executor* timers) {
    if (!options.debug_address.empty()) {
      debug_.emplace(graph, timers);
      const absl::Status started = StartDebug(options);
      if (!started.ok()) LOG(WARNING) << "explanations are not served: " << started.message();
    }
    if (options.enable_metrics) {
      scrapes_.emplace(registry);
      metrics_.emplace(Endpoints::Sources{.metrics = [this] { return scrapes_->Text(); }});
      const absl::Status started = StartMetrics(options);
      if (!started.ok()) LOG(ERROR) << "metrics are not served: " << started.message();
    }
    if (options.enable_healthz) {
      health_.emplace(
          Endpoints::Sources{.health = true, .ready = [graph] { return graph->Ready(); }});
      return StartHealth(options);
    }
    return absl::OkStatus();
  }
  // Waits for requests under way: to be called before the executors stop.
  void Stop() {
    health_server_.reset();
    metrics_server_.reset();
    debug_server_.reset();
  }

 private:
  absl::Status StartDebug(const ServingOptions& options) {
    HEKLA_ASSIGN_OR_RETURN(http::BeastServer::Options listener,
                           EndpointListener(options.debug_address, "debug"));
    const std::string& host = listener.address;
    if (host != "localhost" && host != "::1" && !absl::StartsWith(host, "127.")) {
      LOG(WARNING) << "explanations can be read from other machines address="
                   << options.debug_address;
    }
    debug_server_ = std::make_unique<http::BeastServer>(std::move(listener));
    HEKLA_RETURN_IF_ERROR(debug_server_->Start(&*debug_));
    LOG(INFO) << "explanations are served path=/debug/explain port=" << debug_server_->port();
    return absl::OkStatus();
  }
  absl::Status StartMetrics(const ServingOptions& options) {
    HEKLA_ASSIGN_OR_RETURN(http::BeastServer::Options listener,
                           EndpointListener(options.listen_address, "metrics"));
    metrics_server_ = std::make_unique<http::BeastServer>(std::move(listener));
    return metrics_server_->Start(&*metrics_);
  }
  absl::Status StartHealth(const ServingOptions& options) {
    HEKLA_ASSIGN_OR_RETURN(http::BeastServer::Options listener,
                           EndpointListener(options.healthz_address, "health"));
    // TLS only when all three files are given.
    listener.tls = !options.ca_cert_file.empty() && !options.tls_cert_file.empty() &&
                   !options.tls_private_key_file.empty();
    if (listener.tls) {
      HEKLA_ASSIGN_OR_RETURN(listener.tls_files.client_ca_pem, ReadFile(options.ca_cert_file));
      HEKLA_ASSIGN_OR_RETURN(listener.tls_files.cert_pem, ReadFile(options.tls_cert_file));
      HEKLA_ASSIGN_OR_RETURN(listener.tls_files.key_pem, ReadFile(options.tls_private_key_file));
    }
    health_server_ = std::make_unique<http::BeastServer>(std::move(listener));
    return health_server_->Start(&*health_);
  }

  std::optional<Scrapes> scrapes_;
  std::optional<Endpoints> metrics_;
  std::optional<Endpoints> health_;
  std::unique_ptr<http::BeastServer> metrics_server_;
  std::unique_ptr<http::BeastServer> health_server_;
  std::optional<assembly::DebugHandler> debug_;
  std::unique_ptr<http::BeastServer> debug_server_;
};

assembly::SchedulerGraph::Options GraphOptions(const Options& options) {
  assembly::SchedulerGraph::Options graph;
  graph.scheduler_names = options.scheduler_names;
  graph.default_queue = options.default_queue;
  graph.config.path = options.scheduler_conf;
  graph.config.require = options.disable_default_scheduler_config;
  graph.cycles.period = options.schedule_period;
  graph.cycles.min_gap = options.schedule_min_gap;
  graph.node_selector = options.node_selector;
  graph.priority_class = options.priority_class;
  graph.csi_storage = options.csi_storage;
  graph.process_metrics = true;
  for (const auto& [gate, on] : options.feature_gates) {
    if (gate == "SchedulingGatesQueueAdmission") graph.queue_admission_gates = on;
  }
  return graph;
}

// Leads, or waits until it may, with a connection of its own.
class Election {
 public:
  ~Election() { executor_.Stop(); }

  // All outlive it.
  struct Deps {
    util::Executor* background;  // for what may block, so that the lease's own times are kept
    metrics::Registry* registry;
    kube::ClientMetrics* client_metrics;
    kube::WriteFence* fence;  // opened while this process leads
  };
  absl::Status Start(const Options& options, const kube::ClientConfig& config, const Deps& deps,
                     std::function<void()> lead) {
    kube::Client::Options client;
    client.metrics = deps.client_metrics;
    client.rest.user_agent = UserAgentOf("leader-election");
    // One lost answer must leave time for another try before the lease is lost.
    client.rest.timeout = std::max(absl::Seconds(1), options.leader_election.renew_deadline / 2);
    client.max_connections = 2;
    client.thread_name = "election-client";
    HEKLA_ASSIGN_OR_RETURN(
        client_, kube::Client::Create(config, &executor_, deps.background, std::move(client)));
    kube::CoreEventRecorder::Options recorder;
    recorder.component =
        options.scheduler_names.size() == 1 ? options.scheduler_names[0] : "volcano";
    events_ = std::make_unique<kube::CoreEventRecorder>(&client_->rest(), &executor_,
                                                        std::move(recorder));
    kube::LeaderElector::Options elector = ElectorOptions(options.leader_election);
    kube::LeaderElector::Callbacks callbacks;
    const auto status = kube::LeaderStatus(*deps.registry).With({elector.name});
    callbacks.on_started_leading = [identity = elector.identity, status, lead = std::move(lead)] {
      LOG(INFO) << "leading identity=" << identity;
      status->Set(1);
      lead();
    };
    // Nothing may be written once another process leads: no orderly stop.
    callbacks.on_stopped_leading = [this] {
      if (stopping_) return;
      LOG(ERROR) << "leaderelection lost";
      google::FlushLogFiles(google::GLOG_INFO);
      ::_exit(1);
    };
    callbacks.on_new_leader = [](const std::string& identity) {
      LOG(INFO) << "new leader identity=" << identity;
    };
    elector_ = std::make_unique<kube::LeaderElector>(&client_->rest(), &executor_, events_.get(),
                                                     std::move(elector), std::move(callbacks));
    deps.fence->Set([elector = elector_.get()] { return elector->IsLeader(); });
    elector_->Start();
    return absl::OkStatus();
  }
  // Gives the lease away and waits a little for that.
  void Stop(absl::Duration patience) {
    stopping_ = true;
    auto released = std::make_shared<absl::Notification>();
    elector_->Stop([released] { released->Notify(); });
    released->WaitForNotificationWithTimeout(patience);
    executor_.Stop();
  }

 private:
  static kube::LeaderElector::Options ElectorOptions(const LeaderElectionOptions& given) {
    kube::LeaderElector::Options elector;
    elector.ns = given.lease_namespace();
    elector.name = given.resource_name;
    elector.seed = RandomSeed();
    elector.identity = absl::StrFormat("%s_%016x", HostName(), elector.seed);
    elector.lease_duration = given.lease_duration;
    elector.renew_deadline = given.renew_deadline;
    elector.retry_period = given.retry_period;
    elector.release_on_cancel = true;
    return elector;
  }

  util::ThreadExecutor executor_{"election"};
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::CoreEventRecorder> events_;
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<kube::LeaderElector> elector_;
};

// Everything that runs, in the order in which it is started.
class Process {
 public:
  Process(const Options& options, Exit* exit) : options_(options), exit_(exit) {}

  int Run() {
    if (const int code = Start(); code != 0) {
      serving_.Stop();
      StopThreads();
      return code;
    }
    const int code = exit_->Wait([this](int number) { Dump(number); });
    Stop();
    return code;
  }

 private:
  int Start();
  absl::Status MakeClient();
  void Stop();
  void Dump(int number);
  // With the clients goes a credential plugin that still runs, for which nobody waits.
  void StopThreads() {
    session_.Stop();
    io_.Stop();
    fence_.Set(nullptr);
    election_.reset();
    graph_.reset();
    client_.reset();
    background_.Stop();
  }

  const Options& options_;
  Exit* const exit_;
  util::SystemClock clock_;
  metrics::Registry registry_;
  kube::ClientMetrics client_metrics_{registry_};
  kube::WriteFence fence_;
  kube::ClientConfig config_;
  util::ThreadExecutor background_{"background"};  // what may block: credentials
  util::ThreadExecutor io_{"io"};
  util::ThreadExecutor session_{"session"};
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<assembly::SchedulerGraph> graph_;
  Serving serving_;
  std::unique_ptr<Election> election_;
};

int Fail(absl::string_view what, const absl::Status& status, int code) {
  LOG(ERROR) << what << ": " << status.message();
  return code;
}

absl::Status Process::MakeClient() {
  HEKLA_ASSIGN_OR_RETURN(config_,
                         kube::ConfigFromFlags(options_.api.master, options_.api.kubeconfig,
                                               kube::Environment::OfProcess()));
  for (const std::string& warning : config_.warnings) LOG(WARNING) << warning;
  kube::Client::Options client;
  client.metrics = &client_metrics_;
  client.rest.user_agent = UserAgentOf("scheduler");
  client.rest.qps = options_.api.qps;
  client.rest.burst = options_.api.burst;
  if (options_.leader_election.enabled) {
    // Nothing is written before the election has begun.
    client.rest.may_write = [this] { return fence_.MayWrite(); };
  }
  HEKLA_ASSIGN_OR_RETURN(client_,
                         kube::Client::Create(config_, &io_, &background_, std::move(client)));
  return absl::OkStatus();
}

int Process::Start() {
  if (const absl::Status made = MakeClient(); !made.ok()) {
    return Fail("the API server's configuration cannot be used", made, 1);
  }
  absl::StatusOr<std::unique_ptr<assembly::SchedulerGraph>> graph = assembly::SchedulerGraph::Build(
      {.client = &client_->rest(),
       .io = &io_,
       .session = &session_,
       .clock = &clock_,
       .registry = &registry_,
       .on_fatal = [exit = exit_](const absl::Status&) { exit->Request(2); }},
      GraphOptions(options_));
  if (!graph.ok()) {
    const bool content = absl::IsInvalidArgument(graph.status());
    return Fail("the configuration cannot be used", graph.status(), content ? 2 : 1);
  }
  graph_ = *std::move(graph);
  if (const absl::Status served = serving_.Start(options_.serving, graph_.get(), &registry_, &io_);
      !served.ok()) {
    return Fail("healthz is not served", served, 1);
  }
  if (!options_.leader_election.enabled) {
    graph_->Start();
    return 0;
  }
  election_ = std::make_unique<Election>();
  const absl::Status started =
      election_->Start(options_, config_, {&background_, &registry_, &client_metrics_, &fence_},
                       [graph = graph_.get()] { graph->Start(); });
  return started.ok() ? 0 : Fail("the leader election cannot start", started, 1);
}

// SIGUSR1: the tables into a file; SIGUSR2: into the log.
void Process::Dump(int number) {
  if (number == SIGUSR2) {
    graph_->Inspect([](const model::Cluster* cluster) {
      if (cluster == nullptr) return;
      for (const std::string& line : cache::DumpText(*cluster)) LOG(INFO) << "dump " << line;
    });
    return;
  }
  std::string path = absl::StrCat(options_.cache_dump_dir, "/snapshot-",
                                  absl::ToUnixSeconds(clock_.Now()), ".json");
  graph_->Inspect([path = std::move(path)](const model::Cluster* cluster) {
    if (cluster == nullptr) return;
    std::ofstream out(path, std::ios::binary);
    out << cache::DumpJson(*cluster);
    out.close();
    if (out) {
      LOG(INFO) << "dumped file=" << path;
    } else {
      LOG(ERROR) << "cannot write the dump file=" << path;
    }
  });
}

void Process::Stop() {
  LOG(INFO) << "stopping";
  auto written = std::make_shared<absl::Notification>();
  graph_->Stop([written] { written->Notify(); });
  if (!written->WaitForNotificationWithTimeout(kStopTime)) {
    LOG(WARNING) << "writes were left behind pending=" << graph_->PendingWrites();
  }
  if (election_ != nullptr) election_->Stop(kReleaseTime);
  serving_.Stop();
  StopThreads();
  LOG(INFO) << "stopped";
}

}  // namespace

int RunScheduler(const Options& options) {
  Exit exit(options.cache_dumper);
  LOG(INFO) << "hekla-scheduler starts version=" << util::Version() << " sha=" << util::GitSha();
  LogWhatIsIgnored(options);
  return Process(options, &exit).Run();
}

}  // namespace hekla::cmd::scheduler

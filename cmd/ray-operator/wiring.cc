#include "cmd/ray-operator/wiring.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "cmd/scheduler/endpoints.h"
#include "glog/logging.h"
#include "pkg/assembly/operator_graph.h"
#include "pkg/controller/worker_pool.h"
#include "pkg/http/beast_server.h"
#include "pkg/kube/config/client.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/kube/config/environment.h"
#include "pkg/kube/discovery.h"
#include "pkg/kube/metered_transport.h"
#include "pkg/kube/write_fence.h"
#include "pkg/ray/webhook/webhook_server.h"
#include "pkg/util/build_info.h"
#include "pkg/util/clock.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/thread_executor.h"
#include "pkg/yaml/yaml.h"

namespace hekla::cmd::ray_operator {
namespace {

constexpr char kLeaseName[] = "ray-operator-leader";
constexpr absl::Duration kGracePeriod = absl::Seconds(30);
constexpr char kNamespaceFile[] = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

// Ends the program from any thread: the waiting main thread gets the signal and this exit code.
class Exit {
 public:
  // Blocks the signals that end the program, for this thread and all it starts from now on.
  Exit() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  // Waits for a signal; from then on a second one ends the process at once.
  void Wait() {
    int number = 0;
    sigwait(&signals_, &number);
    LOG(INFO) << "signal received number=" << number;
    signal(SIGINT, [](int) { ::_exit(1); });
    signal(SIGTERM, [](int) { ::_exit(1); });
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_;
};

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  std::ifstream random("/dev/urandom", std::ios::binary);
  random.read(bytes.data(), static_cast<std::streamsize>(count));
  CHECK(random) << "/dev/urandom cannot be read";
  return bytes;
}

uint64_t RandomSeed() {
  uint64_t seed = 0;
  const std::string bytes = RandomBytes(sizeof(seed));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&seed));
  return seed;
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

// Upstream's name, which audit logs and flow schemas look for, and ours behind it.
std::string UserAgent() {
  return absl::StrCat("kuberay-operator/nightly hekla-ray-operator/", util::Version());
}

ray::OperatorEnvironment ProcessEnvironment() {
  return ray::OperatorEnvironment([](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

// Health and metrics, each on its own address; "0" switches one off.
class Serving {
 public:
  absl::Status Start(const ray::OperatorConfig& config, const metrics::Registry* registry) {
    metrics_.emplace(
        scheduler::Endpoints::Sources{.metrics = [registry] { return registry->Expose(); }});
    health_.emplace(scheduler::Endpoints::Sources{.health = true, .ready = [] { return true; }});
    HEKLA_RETURN_IF_ERROR(Listen(config.metrics_addr, "metrics", &*metrics_, &metrics_server_));
    return Listen(config.probe_addr, "health", &*health_, &health_server_);
  }
  void Stop() {
    health_server_.reset();
    metrics_server_.reset();
  }

 private:
  static absl::Status Listen(const std::string& address, const char* name, http::Handler* handler,
                             std::unique_ptr<http::BeastServer>* server) {
    if (address == "0") return absl::OkStatus();
    HEKLA_ASSIGN_OR_RETURN(http::BeastServer::Options options,
                           scheduler::EndpointListener(address, name));
    *server = std::make_unique<http::BeastServer>(std::move(options));
    HEKLA_RETURN_IF_ERROR((*server)->Start(handler));
    LOG(INFO) << "serving address=" << address << " port=" << (*server)->port();
    return absl::OkStatus();
  }

  std::optional<scheduler::Endpoints> metrics_;
  std::optional<scheduler::Endpoints> health_;
  std::unique_ptr<http::BeastServer> metrics_server_;
  std::unique_ptr<http::BeastServer> health_server_;
};

// Everything that runs, in the order in which it is started.
class Process {
 public:
  explicit Process(const Options& options) : options_(options) {}
  ~Process() { StopThreads(); }

  absl::Status Start();
  // After a signal.
  void Stop();

 private:
  absl::Status MakeClients();
  absl::StatusOr<ray::controllers::ServerFeatures> AskServer();
  absl::Status CheckVersion();
  absl::StatusOr<controller::Manager::Election> MakeElection();
  absl::Status Build(ray::controllers::ServerFeatures server);
  void StopThreads() {
    queues_.Stop();
    io_.Stop();
    election_executor_.Stop();
    // With the clients goes a credential plugin that still runs, for which nobody waits.
    fence_.Set(nullptr);
    graph_.reset();
    client_.reset();
    election_client_.reset();
    background_.Stop();
  }

  const Options& options_;
  ray::FeatureGates gates_;
  util::SystemClock clock_;
  metrics::Registry registry_;
  kube::ClientMetrics client_metrics_{registry_};
  kube::WriteFence fence_;
  kube::ClientConfig config_;
  Serving serving_;
  std::optional<ray::webhook::WebhookServer> webhooks_;
  util::ThreadExecutor background_{"background"};  // what may block: credentials
  util::ThreadExecutor election_executor_{"election"};
  util::ThreadExecutor io_{"io"};
  util::ThreadExecutor queues_{"queue"};
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Client> election_client_;
  std::unique_ptr<assembly::OperatorGraph> graph_;
  controller::WorkerPool workers_;
};

absl::Status Process::MakeClients() {
  HEKLA_ASSIGN_OR_RETURN(
      config_, kube::OperatorConfig(options_.kubeconfig, "", kube::Environment::OfProcess()));
  for (const std::string& warning : config_.warnings) LOG(WARNING) << warning;
  kube::Client::Options client;
  client.rest.user_agent = UserAgent();
  client.rest.qps = options_.config.qps;
  client.rest.burst = options_.config.burst;
  client.metrics = &client_metrics_;
  if (options_.config.enable_leader_election) {
    client.rest.may_write = [this] { return fence_.MayWrite(); };
  }
  HEKLA_ASSIGN_OR_RETURN(client_, kube::Client::Create(config_, &io_, &background_, client));
  if (!options_.config.enable_leader_election) return absl::OkStatus();
  // A connection and a budget of its own, and time for another try before the lease is lost.
  client.rest.may_write = nullptr;
  client.rest.qps = 0;
  client.rest.timeout = absl::Seconds(5);
  client.max_connections = 2;
  client.thread_name = "election-client";
  HEKLA_ASSIGN_OR_RETURN(election_client_, kube::Client::Create(config_, &election_executor_,
                                                                &background_, std::move(client)));
  return absl::OkStatus();
}

absl::StatusOr<ray::controllers::ServerFeatures> Process::AskServer() {
  absl::StatusOr<kube::ApiCatalog> catalog = absl::UnknownError("no answer");
  absl::Notification answered;
  kube::Discover(&client_->rest(), [&](absl::StatusOr<kube::ApiCatalog> found) {
    catalog = std::move(found);
    answered.Notify();
  });
  answered.WaitForNotification();
  HEKLA_RETURN_IF_ERROR(catalog.status());
  ray::controllers::ServerFeatures features;
  for (const kube::ApiCatalog::Entry& entry : catalog->entries) {
    const std::string& group = entry.resource.group;
    if (group == "cert-manager.io" && entry.resource.version == "v1") features.cert_manager = true;
    if (group == "route.openshift.io" || group == "security.openshift.io" ||
        group == "config.openshift.io") {
      features.openshift = true;
    }
    if (group == "scheduling.k8s.io" && entry.resource.version == "v1alpha2" &&
        entry.resource.kind == "PodGroup") {
      features.workloads = true;
    }
  }
  return features;
}

absl::Status Process::CheckVersion() {
  if (!gates_.Enabled(ray::Feature::kSidecarSubmitterRestart)) return absl::OkStatus();
  absl::StatusOr<kube::ServerVersion> version = absl::UnknownError("no answer");
  absl::Notification answered;
  kube::GetServerVersion(&client_->rest(), [&](absl::StatusOr<kube::ServerVersion> found) {
    version = std::move(found);
    answered.Notify();
  });
  answered.WaitForNotification();
  HEKLA_RETURN_IF_ERROR(version.status());
  if (std::make_pair(version->major, version->minor) >= std::make_pair(1, 35)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("feature gate SidecarSubmitterRestart needs an API server of at least 1.35.0, "
                   "this one is ",
                   version->git_version));
}

absl::StatusOr<controller::Manager::Election> Process::MakeElection() {
  controller::Manager::Election election;
  election.client = &election_client_->rest();
  election.executor = &election_executor_;
  election.options.name = kLeaseName;
  election.options.ns = options_.config.leader_election_namespace;
  if (election.options.ns.empty()) {
    const absl::StatusOr<std::string> own = kube::ReadFile(kNamespaceFile);
    if (!own.ok()) {
      return absl::FailedPreconditionError(
          "unable to find leader election namespace: not running in-cluster, please specify "
          "--leader-election-namespace");
    }
    election.options.ns = *own;
  }
  election.options.seed = RandomSeed();
  election.options.identity = absl::StrFormat("%s_%016x", HostName(), election.options.seed);
  return election;
}

absl::Status Process::Build(ray::controllers::ServerFeatures server) {
  assembly::OperatorGraph::Options options;
  options.config = options_.config;
  options.gates = gates_;
  options.environment = ProcessEnvironment();
  options.server = server;
  options.host = HostName();
  options.seed = RandomSeed();
  assembly::OperatorGraph::Deps deps;
  deps.watch_client = &client_->rest();
  deps.write_client = &client_->rest();
  deps.io = &io_;
  deps.queues = &queues_;
  deps.clock = &clock_;
  deps.registry = &registry_;
  if (options_.config.enable_leader_election) {
    HEKLA_ASSIGN_OR_RETURN(deps.election, MakeElection());
  }
  deps.on_ready = [this] {
    LOG(INFO) << "starting workers";
    for (controller::Controller* const c : graph_->controllers()) workers_.Start(c);
  };
  // Nothing may be written once another process leads: no orderly stop.
  deps.on_lost = [](const absl::Status& status) {
    LOG(ERROR) << "problem running manager: " << status.message();
    google::FlushLogFiles(google::GLOG_INFO);
    ::_exit(1);
  };
  deps.secret_bytes = RandomBytes;
  HEKLA_ASSIGN_OR_RETURN(graph_,
                         assembly::OperatorGraph::Build(std::move(deps), std::move(options)));
  fence_.Set([graph = graph_.get()] { return graph->MayWrite(); });
  return absl::OkStatus();
}

absl::Status Process::Start() {
  HEKLA_RETURN_IF_ERROR(gates_.Parse(options_.feature_gates));
  LOG(INFO) << "feature gates " << gates_.ToString();
  HEKLA_RETURN_IF_ERROR(ray::ValidateOperatorConfig(options_.config, gates_));
  std::vector<std::string> warnings;
  ray::WatchedNamespaces(options_.config.watch_namespace, &warnings);
  for (const std::string& warning : warnings) LOG(WARNING) << warning;
  HEKLA_RETURN_IF_ERROR(MakeClients());
  HEKLA_RETURN_IF_ERROR(CheckVersion());
  HEKLA_ASSIGN_OR_RETURN(const ray::controllers::ServerFeatures server, AskServer());
  if (gates_.Enabled(ray::Feature::kKubernetesWas) && !server.workloads) {
    return absl::FailedPreconditionError(
        "feature gate KubernetesWAS needs an API server that serves PodGroup of "
        "scheduling.k8s.io/v1alpha2");
  }
  LOG(INFO) << "server cert_manager=" << server.cert_manager << " openshift=" << server.openshift;
  metrics::AddProcessMetrics(registry_);
  HEKLA_RETURN_IF_ERROR(Build(server));
  HEKLA_RETURN_IF_ERROR(serving_.Start(options_.config, &registry_));
  if (ProcessEnvironment().Webhooks()) {
    webhooks_.emplace(&background_, &registry_, ray::webhook::WebhookServer::Options());
    HEKLA_RETURN_IF_ERROR(webhooks_->Start());
  }
  LOG(INFO) << "starting manager";
  graph_->Start();
  return absl::OkStatus();
}

void Process::Stop() {
  LOG(INFO) << "stopping";
  // Reconciles that do not end in time are given up with the process.
  background_.PostAfter(kGracePeriod, [] {
    LOG(ERROR) << "reconciles did not end in time";
    ::_exit(1);
  });
  graph_->StopWork();
  // Workers are started on the io thread: after this task none are any more.
  absl::Notification no_more_workers;
  io_.Post([&no_more_workers] { no_more_workers.Notify(); });
  no_more_workers.WaitForNotification();
  workers_.Join();
  absl::Notification stopped;
  graph_->Stop([&stopped] { stopped.Notify(); });
  stopped.WaitForNotification();
  serving_.Stop();
  StopThreads();
  if (webhooks_.has_value()) webhooks_->Stop();
  LOG(INFO) << "stopped";
}

void LogWhatIsIgnored(const Options& options) {
  for (const std::string& argument : options.ignored_arguments) {
    LOG(INFO) << "ignored argument=" << argument;
  }
  if (options.forced_cluster_upgrade) {
    LOG(INFO) << "--forced-cluster-upgrade is deprecated and does nothing";
  }
  if (options.config.enable_batch_scheduler) {
    LOG(INFO) << "--enable-batch-scheduler is deprecated; use --batch-scheduler=volcano";
  }
}

}  // namespace

absl::Status ReadConfigFile(Options& options) {
  if (options.config_path.empty()) {
    options.config.delete_ray_job_after_job_finishes =
        ProcessEnvironment().DeleteRayJobAfterJobFinishes();
    return absl::OkStatus();
  }
  const auto in_file = [&options](const absl::Status& status) {
    return absl::Status(
        status.code(), absl::StrCat("configuration ", options.config_path, ": ", status.message()));
  };
  const absl::StatusOr<std::string> text = kube::ReadFile(options.config_path);
  if (!text.ok()) return in_file(text.status());
  const absl::StatusOr<yaml::Document> document = yaml::ParseOne(*text);
  if (!document.ok()) return in_file(document.status());
  absl::StatusOr<ray::OperatorConfig> config = ray::ParseOperatorConfig(document->value);
  if (!config.ok()) return in_file(config.status());
  options.config = *std::move(config);
  return absl::OkStatus();
}

int RunOperator(const Options& options) {
  Exit exit;
  LOG(INFO) << "hekla-ray-operator starts version=" << util::Version() << " sha=" << util::GitSha();
  LogWhatIsIgnored(options);
  Process process(options);
  if (const absl::Status started = process.Start(); !started.ok()) {
    LOG(ERROR) << "the operator cannot run: " << started.message();
    return 1;
  }
  exit.Wait();
  process.Stop();
  return 0;
}

}  // namespace hekla::cmd::ray_operator

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "cmd/heklactl/end_signals.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "cmd/heklactl/hosted_operator.h"
#include "cmd/heklactl/kubeconfig.h"
#include "cmd/heklactl/playground_options.h"
#include "cmd/heklactl/status_line.h"
#include "cmd/heklactl/subcommands.h"
#include "cmd/scheduler/endpoints.h"
#include "glog/logging.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/assembly/debug_handler.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/beast_transport.h"
#include "pkg/util/logging.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/thread_executor.h"

namespace hekla::cmd::heklactl {
namespace {

using apis::json::Value;

// Counts nodes and pods as they change.
class Counts {
 public:
  explicit Counts(apiserver::ApiServer& server)
      : nodes_(server, "/api/v1/nodes",
               [this](absl::string_view type, const Value& node) { OnNode(type, node); }),
        pods_(server, "/api/v1/pods",
              [this](absl::string_view type, const Value& pod) { OnPod(type, pod); }),
        ray_clusters_(
            server, "/apis/ray.io/v1/rayclusters",
            [this](absl::string_view type, const Value& object) { OnRayCluster(type, object); }) {}

  PlaygroundStatus Now() {
    nodes_.Pump();
    pods_.Pump();
    ray_clusters_.Pump();
    PlaygroundStatus status;
    status.ray_clusters = static_cast<int64_t>(known_ray_clusters_.size());
    for (const auto& [key, ready] : known_ray_clusters_) status.ray_ready += ready ? 1 : 0;
    status.nodes = static_cast<int64_t>(known_nodes_.size());
    status.pending = totals_[kPending];
    status.running = totals_[kRunning];
    status.other = totals_[kOther];
    return status;
  }

 private:
  enum State { kPending, kRunning, kOther, kStates };

  static State StateOf(const Value& pod) {
    const absl::string_view phase = pod.At("status").GetString("phase");
    if (phase == "Running") return kRunning;
    return phase == "Pending" && pod.At("spec").GetString("nodeName").empty() ? kPending : kOther;
  }
  void OnNode(absl::string_view type, const Value& node) {
    const std::string name(node.At("metadata").GetString("name"));
    if (type == "DELETED") {
      known_nodes_.erase(name);
    } else {
      known_nodes_[name] = true;
    }
  }
  static std::string KeyOf(const Value& object) {
    const Value& metadata = object.At("metadata");
    return absl::StrCat(metadata.GetString("namespace"), "/", metadata.GetString("name"));
  }
  void OnRayCluster(absl::string_view type, const Value& object) {
    if (type == "DELETED") {
      known_ray_clusters_.erase(KeyOf(object));
    } else {
      known_ray_clusters_[KeyOf(object)] = object.At("status").GetString("state") == "ready";
    }
  }
  void OnPod(absl::string_view type, const Value& pod) {
    const std::string key = KeyOf(pod);
    if (const auto it = known_pods_.find(key); it != known_pods_.end()) {
      --totals_[it->second];
      known_pods_.erase(it);
    }
    if (type == "DELETED") return;
    const State state = StateOf(pod);
    known_pods_[key] = state;
    ++totals_[state];
  }

  absl::flat_hash_map<std::string, bool> known_nodes_;
  absl::flat_hash_map<std::string, State> known_pods_;
  absl::flat_hash_map<std::string, bool> known_ray_clusters_;  // whether it is ready
  int64_t totals_[kStates] = {};
  apiserver::hollow::LocalWatch nodes_;
  apiserver::hollow::LocalWatch pods_;
  apiserver::hollow::LocalWatch ray_clusters_;
};

// The scheduler as it runs in production, in this process: its own HTTP client and its own threads.
class InProcessScheduler {
 public:
  ~InProcessScheduler() {
    debug_server_.reset();
    if (graph_ != nullptr) graph_->Stop([] {});
    session_.Stop();
    io_.Stop();
  }

  absl::Status Start(const PlaygroundOptions& options, const std::string& url,
                     const util::Clock* clock) {
    http::BeastTransport::Options client;
    client.url = url;
    HEKLA_ASSIGN_OR_RETURN(transport_, http::BeastTransport::Create(std::move(client)));
    assembly::SchedulerGraph::Options graph;
    graph.config.path = options.scheduler_conf;
    graph.cycles.period = options.schedule_period;
    // Nobody else places the pods of those who name no scheduler.
    if (options.ray) graph.scheduler_names.emplace_back("default-scheduler");
    graph.api_qps = 0;  // everything is on this machine
    graph.seed = static_cast<uint64_t>(options.seed);
    HEKLA_ASSIGN_OR_RETURN(
        graph_,
        assembly::SchedulerGraph::Build(
            {.transport = transport_.get(), .io = &io_, .session = &session_, .clock = clock},
            std::move(graph)));
    graph_->Start();
    debug_ = std::make_unique<assembly::DebugHandler>(graph_.get(), &io_);
    return StartDebug(options.debug_port);
  }
  std::string debug_url() const { return absl::StrCat("http://127.0.0.1:", debug_server_->port()); }

  void AddTo(PlaygroundStatus& status) const {
    const hekla::scheduler::CycleStats stats = graph_->Stats();
    status.cycles = stats.cycles;
    status.last_cycle = stats.last;
  }

 private:
  absl::Status StartDebug(int port) {
    for (const int wanted : {port, 0}) {
      HEKLA_ASSIGN_OR_RETURN(
          http::BeastServer::Options options,
          scheduler::EndpointListener(absl::StrCat("127.0.0.1:", wanted), "debug"));
      debug_server_ = std::make_unique<http::BeastServer>(std::move(options));
      const absl::Status started = debug_server_->Start(debug_.get());
      if (started.ok() || wanted == 0) return started;
    }
    return absl::OkStatus();
  }

  std::unique_ptr<http::BeastTransport> transport_;
  util::ThreadExecutor io_{"io"};
  util::ThreadExecutor session_{"session"};
  std::unique_ptr<assembly::SchedulerGraph> graph_;
  std::unique_ptr<assembly::DebugHandler> debug_;
  std::unique_ptr<http::BeastServer> debug_server_;
};

// The Ray operator in this process, and its metrics where they are asked for.
class InProcessOperator {
 public:
  absl::Status Start(const PlaygroundOptions& options, const std::string& url,
                     const util::Clock* clock) {
    HostedOperator::Options hosted;
    hosted.url = url;
    hosted.config.qps = 0;  // everything is on this machine
    hosted.config.reconcile_concurrency = options.reconcile_concurrency;
    hosted.config.batch_scheduler = options.batch_scheduler;
    hosted.config.enable_metrics = true;
    hosted.seed = static_cast<uint64_t>(options.seed);
    HEKLA_RETURN_IF_ERROR(hosted.gates.Parse(options.feature_gates));
    operator_.emplace(std::move(hosted), clock);
    HEKLA_RETURN_IF_ERROR(operator_->Start());
    return options.metrics_addr.empty() ? absl::OkStatus() : Serve(options.metrics_addr);
  }

 private:
  absl::Status Serve(const std::string& address) {
    HEKLA_ASSIGN_OR_RETURN(http::BeastServer::Options listener,
                           scheduler::EndpointListener(address, "ray-metrics"));
    endpoints_.emplace(scheduler::Endpoints::Sources{
        .metrics = [this] { return operator_->registry().Expose(); }});
    server_ = std::make_unique<http::BeastServer>(std::move(listener));
    return server_->Start(&*endpoints_);
  }

  // In this order: the listener goes first.
  std::optional<HostedOperator> operator_;
  std::optional<scheduler::Endpoints> endpoints_;
  std::unique_ptr<http::BeastServer> server_;
};

// Where the kubeconfig goes; removed at the end if the folder is ours.
class KubeconfigFile {
 public:
  ~KubeconfigFile() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  absl::Status Write(const PlaygroundOptions& options, const std::string& url,
                     const std::string& debug_url) {
    path_ = options.kubeconfig;
    if (path_.empty()) {
      const char* const temporary = ::getenv("TMPDIR");
      std::string pattern =
          absl::StrCat(temporary != nullptr ? temporary : "/tmp", "/hekla-playground-XXXXXX");
      if (::mkdtemp(pattern.data()) == nullptr) {
        return absl::UnavailableError(absl::StrCat("cannot create folder ", pattern));
      }
      folder_ = pattern;
      path_ = folder_ + "/kubeconfig";
    }
    return WritePrivateFile(path_, KubeconfigText(url, options.token, debug_url));
  }
  const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
};

void PrintHelp(const std::string& url, const std::string& debug_url, const std::string& kubeconfig,
               const PlaygroundOptions& options) {
  std::cout << "API server   " << url << "   (" << options.nodes << " hollow nodes, each cpu "
            << options.node_cpu << ", memory " << options.node_memory << ", " << options.gpus
            << " GPUs)\n"
            << (debug_url.empty() ? "" : absl::StrCat("explain      ", debug_url, "\n"))
            << "kubeconfig   " << kubeconfig << "\n\nTry:\n"
            << "  export KUBECONFIG=" << kubeconfig << "\n"
            << "  kubectl get nodes\n"
            << "  kubectl apply -f config/samples/queue.yaml -f config/samples/gang.yaml\n"
            << "  kubectl get queues,podgroups,pods -o wide\n"
            << (options.ray ? "  kubectl apply -f config/samples/raycluster.yaml\n"
                              "  kubectl get rayclusters -w\n"
                            : "")
            << (debug_url.empty() ? "" : "  heklactl explain podgroup/NAME\n")
            << "\nCtrl-C stops it.\n"
            << std::flush;
}

int Fail(const absl::Status& status, int code) {
  std::cerr << "heklactl playground: " << status.message() << "\n";
  return code;
}

// Shows the state until a signal comes.
void ShowUntilSignal(const EndSignals& signals, HostedCluster& cluster,
                     const InProcessScheduler* scheduler) {
  if (::isatty(STDOUT_FILENO) != 1) {
    signals.Wait();
    return;
  }
  Counts counts(cluster.server());
  StatusLine line(STDOUT_FILENO);
  do {
    PlaygroundStatus status = counts.Now();
    if (scheduler != nullptr) scheduler->AddTo(status);
    line.Show(status);
  } while (!signals.WaitFor(absl::Milliseconds(250)));
}

int Run(const PlaygroundOptions& options) {
  const EndSignals signals;
  HostedCluster::Options hosted;
  hosted.port = static_cast<uint16_t>(options.port);
  hosted.token = options.token;
  hosted.data_dir = options.data_dir;
  hosted.data_sync = options.data_sync;
  hosted.seed = static_cast<uint64_t>(options.seed);
  // A playground without nodes is there for its API server: what looks like a node then is only an
  // object, unless it asks to be run.
  hosted.kubelet.all_nodes = options.nodes > 0;
  HostedCluster cluster(std::move(hosted));
  if (const absl::Status started = cluster.Start(); !started.ok()) return Fail(started, 1);
  apiserver::kubelet::NodeTemplate node;
  node.cpu = options.node_cpu;
  node.memory = options.node_memory;
  node.pods = absl::StrCat(options.node_pods);
  node.gpus = options.gpus;
  if (const absl::Status added = cluster.AddNodes(node, "node-", options.nodes); !added.ok()) {
    return Fail(added, 2);
  }
  std::optional<InProcessScheduler> scheduler;
  if (!options.no_scheduler) {
    scheduler.emplace();
    const absl::Status started = scheduler->Start(options, cluster.url(), &cluster.clock());
    if (!started.ok()) return Fail(started, absl::IsInvalidArgument(started) ? 2 : 1);
  }
  std::optional<InProcessOperator> ray;
  if (options.ray) {
    ray.emplace();
    const absl::Status started = ray->Start(options, cluster.url(), &cluster.clock());
    if (!started.ok()) return Fail(started, absl::IsInvalidArgument(started) ? 2 : 1);
  }
  const std::string debug_url = scheduler.has_value() ? scheduler->debug_url() : "";
  KubeconfigFile kubeconfig;
  if (const absl::Status written = kubeconfig.Write(options, cluster.url(), debug_url);
      !written.ok()) {
    return Fail(written, 1);
  }
  PrintHelp(cluster.url(), debug_url, kubeconfig.path(), options);
  ShowUntilSignal(signals, cluster, scheduler.has_value() ? &*scheduler : nullptr);
  ray.reset();
  scheduler.reset();
  cluster.Stop();
  return 0;
}

}  // namespace

int RunPlayground(const Arguments& arguments) {
  const absl::StatusOr<PlaygroundOptions> options = ParsePlaygroundOptions(arguments);
  if (!options.ok()) {
    std::cerr << "heklactl playground: " << options.status().message() << "\n" << PlaygroundUsage();
    return 2;
  }
  if (options->help) {
    std::cout << PlaygroundUsage();
    return 0;
  }
  util::StartLogging("heklactl", options->log);
  return Run(*options);
}

}  // namespace hekla::cmd::heklactl

// Loads an API server through HTTP, and with it the scheduler behind it.
//
//   heklactl playground --nodes 1000 --port 8001 &
//   pod_load --url http://127.0.0.1:8001 --gangs 10 --pods 1000
//       creates gangs, many requests at a time: how long until every pod is bound. With one gang
//       nothing is bound before all pods are there: the rate after that is the scheduler's.
//   heklactl playground --nodes 1000 --port 8001 --no-scheduler &
//   pod_load --mode binds --gangs 1 --pods 10000 --nodes 1000
//       creates the same objects, and when all are there binds them itself, in turn to node-0,
//       node-1, …: a bare loop that decides nothing. All else is as behind a scheduler: the same
//       hollow nodes start the pods, the same watch tells when the last one is bound. Its rate is
//       what a scheduler's after creation is held against.
//   pod_load --mode latency --pods 500
//       creates one pod at a time: how long until it is seen bound.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/beast_transport.h"
#include "pkg/kube/config/environment.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/logging.h"
#include "pkg/util/status_macros.h"

namespace hekla {
namespace {

using apis::json::Value;

struct Options {
  std::string url = "http://127.0.0.1:8001";
  std::string ca_file = {};
  std::string token_file = {};
  int gangs = 10;
  int pods = 1000;
  int in_flight = 64;
  std::string cpu = "1";
  std::string memory = "1Gi";
  absl::Duration timeout = absl::Minutes(5);
  std::string mode = "gangs";
  int nodes = 1000;  // to bind to
  std::string node_prefix = "node-";
};

// Follows all pods and counts those that are bound.
class BoundCounter final : public http::StreamObserver {
 public:
  void OnHeaders(int status, const http::Headers&) override { status_ = status; }
  void OnData(absl::string_view bytes) override {
    buffer_.append(bytes.data(), bytes.size());
    size_t start = 0;
    for (size_t end; (end = buffer_.find('\n', start)) != std::string::npos; start = end + 1) {
      OnLine(absl::string_view(buffer_).substr(start, end - start));
    }
    buffer_.erase(0, start);
  }
  void OnEnd(const absl::Status& status) override {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
    end_ = status.ok() && status_ != 200
               ? absl::UnavailableError(absl::StrCat("watch: HTTP ", status_.load()))
               : status;
  }
  // Waits until n pods were seen bound, the watch has ended, or the deadline.
  void Wait(size_t n, absl::Time deadline) {
    absl::MutexLock lock(&mutex_);
    const auto done = [this, n]() { return bound_.size() >= n || ended_; };
    mutex_.AwaitWithDeadline(absl::Condition(&done), deadline);
  }
  // The time at which the last of n pods was seen bound; nothing where the watch ended in order
  // before. Errors: that of the watch; kDeadlineExceeded.
  absl::StatusOr<std::optional<absl::Time>> Found(size_t n) {
    absl::MutexLock lock(&mutex_);
    if (bound_.size() >= n) return last_;
    if (!end_.ok()) return end_;
    if (std::exchange(ended_, false)) return std::nullopt;
    return absl::DeadlineExceededError(absl::StrCat("only ", bound_.size(), " of ", n, " bound"));
  }

 private:
  void OnLine(absl::string_view line) {
    const absl::StatusOr<Value> event = apis::json::Parse(line);
    if (!event.ok()) return;
    const Value& object = event->At("object");
    if (object.At("spec").GetString("nodeName").empty()) return;
    absl::MutexLock lock(&mutex_);
    if (bound_.insert(std::string(object.At("metadata").GetString("uid"))).second) {
      last_ = absl::Now();
    }
  }

  std::string buffer_;
  std::atomic<int> status_ = 0;
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> bound_ ABSL_GUARDED_BY(mutex_);
  absl::Time last_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);
};

http::Request Post(const std::string& target, const Value& object) {
  http::Request request;
  request.method = "POST";
  request.target = target;
  request.headers.Set("Content-Type", "application/json");
  request.headers.Set("Accept", "application/json");
  request.body = apis::json::Dump(object);
  return request;
}

http::Request PodGroup(const std::string& name, int members) {
  Value group = Value::MakeObject({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                                   {"kind", "PodGroup"},
                                   {"metadata", Value::MakeObject({{"name", name}})}});
  group.Ensure({"spec"}).Set("minMember", members);
  group.Ensure({"spec"}).Set("queue", "default");
  return Post("/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups", group);
}

http::Request Pod(const std::string& group, int index, const Options& options) {
  Value pod = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
  Value& metadata = pod.Ensure({"metadata"});
  metadata.Set("name", absl::StrCat(group, "-", index));
  metadata.Ensure({"annotations"}).Set("scheduling.k8s.io/group-name", group);
  Value& spec = pod.Ensure({"spec"});
  spec.Set("schedulerName", "volcano");
  Value container = Value::MakeObject({{"name", "main"}, {"image", "busybox"}});
  container.Ensure({"resources", "requests"}).Set("cpu", options.cpu);
  container.Ensure({"resources", "requests"}).Set("memory", options.memory);
  spec["containers"].Append(std::move(container));
  return Post("/api/v1/namespaces/default/pods", pod);
}

// Sends all requests, which create something, at most `in_flight` at a time; returns the number
// that failed.
int SendAll(http::Transport& transport, std::vector<http::Request> requests, int in_flight) {
  absl::Mutex mutex;
  int open = 0, failed = 0;
  for (http::Request& request : requests) {
    {
      absl::MutexLock lock(&mutex);
      const auto room = [&open, in_flight]() { return open < in_flight; };
      mutex.Await(absl::Condition(&room));
      ++open;
    }
    transport.Send(std::move(request), absl::Seconds(60),
                   [&](absl::StatusOr<http::Response> response) {
                     absl::MutexLock lock(&mutex);
                     --open;
                     if (!response.ok() || response->status != 201) ++failed;
                   });
  }
  absl::MutexLock lock(&mutex);
  const auto idle = [&open]() { return open == 0; };
  mutex.Await(absl::Condition(&idle));
  return failed;
}

// A client with a watch on all pods.
struct Load {
  std::unique_ptr<http::Transport> transport;
  BoundCounter counter;
  std::unique_ptr<http::Stream> watch;

  // A watch without a version begins with all pods that are there.
  void Open() {
    watch.reset();
    http::Request request;
    request.method = "GET";
    request.target = "/api/v1/namespaces/default/pods?watch=1";
    watch = transport->OpenStream(std::move(request), absl::InfiniteDuration(), &counter);
  }
  // The time at which the n-th pod was seen bound. Servers end the watches of those that cannot
  // follow at once: then it is opened again.
  absl::StatusOr<absl::Time> WaitFor(size_t n, absl::Duration timeout) {
    const absl::Time deadline = absl::Now() + timeout;
    while (true) {
      counter.Wait(n, deadline);
      HEKLA_ASSIGN_OR_RETURN(const std::optional<absl::Time> found, counter.Found(n));
      if (found.has_value()) return *found;
      Open();
    }
  }
};

struct Created {
  size_t pods = 0;
  int failed = 0;
  absl::Time begin, end;
};

// Gangs with their pods; `end` is when the last pod was there.
Created CreateGangs(Load& load, const Options& options) {
  std::vector<http::Request> groups, pods;
  for (int g = 0; g < options.gangs; ++g) {
    const std::string name = absl::StrCat("gang-", g);
    groups.push_back(PodGroup(name, options.pods));
    for (int i = 0; i < options.pods; ++i) pods.push_back(Pod(name, i, options));
  }
  Created created;
  created.pods = pods.size();
  created.begin = absl::Now();
  created.failed = SendAll(*load.transport, std::move(groups), options.in_flight);
  created.failed += SendAll(*load.transport, std::move(pods), options.in_flight);
  created.end = absl::Now();
  return created;
}

// Waits until all are seen bound and says how fast that was. Returns the exit code.
int Report(Load& load, const Options& options, const Created& created, absl::string_view what) {
  if (created.failed > 0) std::cerr << "pod_load: " << created.failed << " requests failed\n";
  const absl::StatusOr<absl::Time> end = load.WaitFor(created.pods, options.timeout);
  if (!end.ok()) {
    std::cerr << "pod_load: " << end.status().message() << "\n";
    return 1;
  }
  const auto total = static_cast<double>(created.pods);
  const double making = absl::ToDoubleSeconds(created.end - created.begin);
  const double seconds = absl::ToDoubleSeconds(*end - created.begin);
  std::cout << absl::StrFormat(
      "%s pods=%d create_seconds=%.3f creates_per_second=%.0f bound_seconds=%.3f "
      "bound_per_second=%.0f bound_per_second_after_creation=%.0f\n",
      what, created.pods, making, total / making, seconds, total / seconds,
      total / (seconds - making));
  return created.failed > 0 ? 1 : 0;
}

int BindByScheduler(Load& load, const Options& options) {
  return Report(load, options, CreateGangs(load, options), "gangs");
}

http::Request Binding(const std::string& pod, const std::string& node) {
  Value binding = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Binding"}});
  binding.Ensure({"metadata"}).Set("name", pod);
  binding.Ensure({"target"}).Set("kind", "Node");
  binding.Ensure({"target"}).Set("name", node);
  return Post(absl::StrCat("/api/v1/namespaces/default/pods/", pod, "/binding"), binding);
}

// Whether all nodes are there, as far as the last one tells: pods on nodes that nobody runs would
// make the loop look faster than it is.
bool HasNodes(http::Transport& transport, const Options& options) {
  http::Request get;
  get.method = "GET";
  get.target = absl::StrCat("/api/v1/nodes/", options.node_prefix, options.nodes - 1);
  absl::Notification answered;
  bool there = false;
  transport.Send(std::move(get), absl::Seconds(60), [&](absl::StatusOr<http::Response> response) {
    there = response.ok() && response->status == 200;
    answered.Notify();
  });
  answered.WaitForNotification();
  return there;
}

// The bare loop that a scheduler is measured against.
int BindAll(Load& load, const Options& options) {
  if (!HasNodes(*load.transport, options)) {
    std::cerr << "pod_load: there is no node " << options.node_prefix << options.nodes - 1 << "\n";
    return 1;
  }
  std::vector<http::Request> bindings;
  for (int g = 0; g < options.gangs; ++g) {
    for (int i = 0; i < options.pods; ++i) {
      const size_t node = bindings.size() % static_cast<size_t>(options.nodes);
      bindings.push_back(
          Binding(absl::StrCat("gang-", g, "-", i), absl::StrCat(options.node_prefix, node)));
    }
  }
  Created created = CreateGangs(load, options);
  created.failed += SendAll(*load.transport, std::move(bindings), options.in_flight);
  return Report(load, options, created, "binds");
}

// One pod at a time, from the moment its creation is sent until the watch shows it bound.
int MeasureLatency(Load& load, const Options& options) {
  std::vector<http::Request> groups;
  for (int i = 0; i < options.pods; ++i) groups.push_back(PodGroup(absl::StrCat("one-", i), 1));
  int failed = SendAll(*load.transport, std::move(groups), options.in_flight);
  std::vector<double> millis;
  for (int i = 0; i < options.pods; ++i) {
    std::vector<http::Request> pod;
    pod.push_back(Pod(absl::StrCat("one-", i), 0, options));
    const absl::Time begin = absl::Now();
    failed += SendAll(*load.transport, std::move(pod), 1);
    const auto end = load.WaitFor(static_cast<size_t>(i) + 1, options.timeout);
    if (!end.ok()) {
      std::cerr << "pod_load: " << end.status().message() << "\n";
      return 1;
    }
    millis.push_back(absl::ToDoubleMilliseconds(*end - begin));
  }
  std::sort(millis.begin(), millis.end());
  const auto at = [&](double part) {
    return millis[static_cast<size_t>(part * static_cast<double>(millis.size() - 1))];
  };
  std::cout << absl::StrFormat("pods=%d p50_ms=%.2f p90_ms=%.2f p99_ms=%.2f max_ms=%.2f\n",
                               options.pods, at(0.5), at(0.9), at(0.99), millis.back());
  return failed > 0 ? 1 : 0;
}

// Sends everything with a token, if there is one.
class WithToken final : public http::Transport {
 public:
  WithToken(std::unique_ptr<http::Transport> next, std::string token)
      : next_(std::move(next)), token_(std::move(token)) {}

  void Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) override {
    next_->Send(Shown(std::move(request)), timeout, std::move(done));
  }
  std::unique_ptr<http::Stream> OpenStream(http::Request request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer) override {
    return next_->OpenStream(Shown(std::move(request)), idle_timeout, observer);
  }

 private:
  http::Request Shown(http::Request request) const {
    if (!token_.empty()) request.headers.Set("Authorization", absl::StrCat("Bearer ", token_));
    return request;
  }

  const std::unique_ptr<http::Transport> next_;
  const std::string token_;
};

// "" where no file is named.
absl::StatusOr<std::string> ReadText(const std::string& path) {
  if (path.empty()) return std::string();
  HEKLA_ASSIGN_OR_RETURN(const std::string text, kube::ReadFile(path));
  return std::string(absl::StripAsciiWhitespace(text));
}

absl::StatusOr<std::unique_ptr<http::Transport>> Connect(const Options& options) {
  http::BeastTransport::Options client;
  client.url = options.url;
  client.max_connections = static_cast<size_t>(options.in_flight);
  HEKLA_ASSIGN_OR_RETURN(client.tls.ca_pem, ReadText(options.ca_file));
  HEKLA_ASSIGN_OR_RETURN(std::string token, ReadText(options.token_file));
  HEKLA_ASSIGN_OR_RETURN(auto transport, http::BeastTransport::Create(std::move(client)));
  return std::make_unique<WithToken>(std::move(transport), std::move(token));
}

int Run(const Options& options) {
  auto transport = Connect(options);
  if (!transport.ok()) {
    std::cerr << "pod_load: " << transport.status().message() << "\n";
    return 2;
  }
  Load load;
  load.transport = *std::move(transport);
  load.Open();
  const int result = options.mode == "latency" ? MeasureLatency(load, options)
                     : options.mode == "binds" ? BindAll(load, options)
                                               : BindByScheduler(load, options);
  load.watch.reset();  // before what it reports to
  return result;
}

}  // namespace
}  // namespace hekla

int main(int argc, char** argv) {
  hekla::Options options;
  hekla::util::FlagSet flags;
  flags.String("url", &options.url, "URL of the API server.");
  flags.String("ca-file", &options.ca_file, "Certificates that the API server is trusted by.");
  flags.String("token-file", &options.token_file, "File with the bearer token to show.");
  flags.Int("gangs", &options.gangs, "Gangs to create.");
  flags.Int("pods", &options.pods, "Pods of each gang.");
  flags.Int("in-flight", &options.in_flight, "Requests at a time.");
  flags.String("cpu", &options.cpu, "CPU of each pod.");
  flags.String("memory", &options.memory, "Memory of each pod.");
  flags.Duration("timeout", &options.timeout, "Longest wait for the last binding.");
  flags.String("mode", &options.mode, "gangs, binds or latency.");
  flags.Int("nodes", &options.nodes, "Nodes to bind to in mode binds.");
  flags.String("node-prefix", &options.node_prefix, "What their names begin with.");
  const auto rest = flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  const bool known =
      options.mode == "gangs" || options.mode == "binds" || options.mode == "latency";
  if (!rest.ok() || !rest->empty() || flags.help() || !known || options.nodes < 1) {
    std::cerr << (rest.ok() ? "" : std::string(rest.status().message()) + "\n")
              << "Usage: pod_load [flags]\n"
              << flags.Usage();
    return flags.help() ? 0 : 2;
  }
  hekla::util::StartLogging("pod_load", {});
  return hekla::Run(options);
}

// A big cluster that changes all the time, and clients that follow it.
//
//   heklactl playground --nodes 0 --no-scheduler --port 8001 &
//   watch_load --url http://127.0.0.1:8001 --server-pid $! --time 10m
//
// Creates nodes and pods, lets each follower list and watch both kinds, then sends changes at an
// even rate: patches of pods and nodes, and pods that go and come again. Every version of the API
// server must reach every follower once and in order. The lag of a change counts from when it was
// due to be sent, whatever kept it from being sent then, until a follower has it. Nobody else may
// write to the server meanwhile.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "bench/watch_load/follower.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/beast_transport.h"
#include "pkg/util/flag_set.h"
#include "pkg/util/random.h"
#include "pkg/util/status_macros.h"

namespace hekla {
namespace {

using apis::json::Value;

constexpr char kNodes[] = "/api/v1/nodes";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";

struct Options {
  std::string url = "http://127.0.0.1:8001";
  int server_pid = 0;
  int nodes = 10000;
  int pods = 100000;
  int followers = 4;
  int rate = 2000;
  absl::Duration time = absl::Minutes(10);
  absl::Duration warm_up = absl::Minutes(1);
  int in_flight = 32;
};

http::Request Write(const std::string& method, const std::string& target, const Value& body) {
  http::Request request;
  request.method = method;
  request.target = target;
  request.headers.Set("Content-Type",
                      method == "PATCH" ? "application/merge-patch+json" : "application/json");
  request.headers.Set("Accept", "application/json");
  request.body = apis::json::Dump(body);
  return request;
}

Value Metadata(const std::string& name, absl::Time due) {
  Value metadata = Value::MakeObject({{"name", name}});
  metadata.Ensure({"annotations"}).Set(kDueAnnotation, absl::StrCat(absl::ToUnixNanos(due)));
  return metadata;
}

http::Request MakeNode(int i, absl::Time due) {
  Value node = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}});
  node.Set("metadata", Metadata(absl::StrCat("node-", i), due));
  Value& capacity = node.Ensure({"status", "capacity"});
  capacity.Set("cpu", "64");
  capacity.Set("memory", "256Gi");
  capacity.Set("pods", "110");
  return Write("POST", kNodes, node);
}

http::Request MakePod(int i, absl::Time due) {
  Value pod = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
  pod.Set("metadata", Metadata(absl::StrCat("pod-", i), due));
  pod.Ensure({"metadata", "labels"}).Set("app", absl::StrCat("app-", i % 100));
  Value& spec = pod.Ensure({"spec"});
  spec.Set("schedulerName", "nobody");
  Value container = Value::MakeObject({{"name", "main"}, {"image", "busybox"}});
  container.Ensure({"resources", "requests"}).Set("cpu", "1");
  container.Ensure({"resources", "requests"}).Set("memory", "1Gi");
  spec["containers"].Append(std::move(container));
  return Write("POST", kPods, pod);
}

http::Request Touch(const std::string& target, absl::Time due) {
  Value patch = Value::MakeObject();
  patch.Ensure({"metadata", "annotations"})
      .Set(kDueAnnotation, absl::StrCat(absl::ToUnixNanos(due)));
  return Write("PATCH", target, patch);
}

// Sends without waiting, and counts.
class Sender {
 public:
  explicit Sender(http::Transport* transport) : transport_(transport) {}
  ~Sender() { WaitUntilAtMost(0); }

  void Send(http::Request request) {
    {
      absl::MutexLock lock(&mutex_);
      ++open_;
      ++sent_;
    }
    transport_->Send(std::move(request), absl::Minutes(1),
                     [this](const absl::StatusOr<http::Response>& response) {
                       absl::MutexLock lock(&mutex_);
                       --open_;
                       if (!response.ok() || response->status >= 300) ++failed_;
                     });
  }
  void WaitUntilAtMost(int open) {
    absl::MutexLock lock(&mutex_);
    const auto few = [this, open]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return open_ <= open; };
    mutex_.Await(absl::Condition(&few));
  }
  int64_t failed() {
    absl::MutexLock lock(&mutex_);
    return failed_;
  }
  int64_t sent() {
    absl::MutexLock lock(&mutex_);
    return sent_;
  }

 private:
  http::Transport* const transport_;
  absl::Mutex mutex_;
  int open_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Resident memory of a process in MB; 0 where it is not known.
double MemoryMb(int pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    int64_t kb = 0;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    if (words.size() > 1 && words[0] == "VmRSS" && absl::SimpleAtoi(words[1], &kb)) {
      return static_cast<double>(kb) / 1024;
    }
  }
  return 0;
}

absl::StatusOr<int64_t> Version(http::Transport& transport) {
  http::Request request;
  request.method = "GET";
  request.target = absl::StrCat(kNodes, "?limit=1");
  HEKLA_ASSIGN_OR_RETURN(const http::Response page,
                         http::SendAndWait(transport, std::move(request), absl::Minutes(1)));
  HEKLA_ASSIGN_OR_RETURN(const Value list, apis::json::Parse(page.body));
  int64_t version = 0;
  if (!absl::SimpleAtoi(list.At("metadata").GetString("resourceVersion"), &version)) {
    return absl::InternalError("a list without a version");
  }
  return version;
}

// Sends the changes of the run and watches the server's memory meanwhile.
class Load {
 public:
  Load(const Options& options, Sender* sender) : options_(options), sender_(*sender) {}

  void Run() {
    const absl::Duration step = absl::Seconds(1) / options_.rate;
    const absl::Time begin = absl::Now();
    const int64_t total = absl::ToInt64Seconds(options_.time) * options_.rate;
    absl::Time next_look = begin + options_.warm_up;
    for (int64_t i = 0; i < total; ++i) {
      const absl::Time due = begin + step * i;
      if (due > absl::Now()) absl::SleepFor(due - absl::Now());
      One(i, due);
      if (due < next_look) continue;
      memory_mb_.push_back(MemoryMb(options_.server_pid));
      next_look += absl::Seconds(10);
    }
    sender_.WaitUntilAtMost(0);
    seconds_ = absl::ToDoubleSeconds(absl::Now() - begin);
    memory_mb_.push_back(MemoryMb(options_.server_pid));
  }
  double seconds() const { return seconds_; }
  // From the end of the warm-up on.
  const std::vector<double>& memory_mb() const { return memory_mb_; }

 private:
  void One(int64_t i, absl::Time due) {
    const int pod = static_cast<int>(random_.Below(static_cast<uint64_t>(options_.pods)));
    const std::string target = absl::StrCat(kPods, "/pod-", pod);
    if (i % 10 == 0) {
      sender_.Send(Touch(absl::StrCat(kNodes, "/node-", pod % options_.nodes), due));
    } else if (i % 100 == 1) {
      // Two changes of the same pod, one after the other.
      sender_.WaitUntilAtMost(0);
      sender_.Send(Write("DELETE", target, Value::MakeObject()));
      sender_.WaitUntilAtMost(0);
    } else if (i % 100 == 2) {
      sender_.Send(MakePod(last_deleted_, due));
      sender_.WaitUntilAtMost(0);
    } else {
      sender_.Send(Touch(target, due));
    }
    if (i % 100 == 1) last_deleted_ = pod;
  }

  const Options& options_;
  Sender& sender_;
  util::Random random_{1};
  int last_deleted_ = 0;
  double seconds_ = 0;
  std::vector<double> memory_mb_;
};

int Report(const Options& options, const Load& load, Sender& sender, int64_t from, int64_t to,
           const std::vector<std::unique_ptr<Follower>>& followers) {
  int64_t lost = 0, disorder = 0;
  std::vector<float> lags;
  absl::Duration list_time;
  for (const auto& follower : followers) {
    lost += follower->WaitForAll(from, to, absl::Seconds(30));
    disorder += follower->disorder();
    list_time = std::max(list_time, follower->list_time());
    const std::vector<float> own = follower->TakeLagsMs();
    lags.insert(lags.end(), own.begin(), own.end());
    if (!follower->status().ok()) std::cerr << "watch_load: " << follower->status() << "\n";
  }
  std::sort(lags.begin(), lags.end());
  const auto at = [&](double part) {
    return lags.empty() ? 0.0
                        : lags[static_cast<size_t>(part * static_cast<double>(lags.size() - 1))];
  };
  const std::vector<double>& memory = load.memory_mb();
  std::cout << absl::StrFormat(
      "nodes=%d pods=%d followers=%d list_seconds=%.2f changes=%d failed=%d seconds=%.1f "
      "events_per_second=%.0f lost=%d disorder=%d lag_p50_ms=%.2f lag_p99_ms=%.2f lag_max_ms=%.1f "
      "server_mb_warm=%.1f server_mb_end=%.1f server_mb_max=%.1f\n",
      options.nodes, options.pods, options.followers, absl::ToDoubleSeconds(list_time),
      sender.sent(), sender.failed(), load.seconds(),
      static_cast<double>(to - from) / load.seconds(), lost, disorder, at(0.5), at(0.99), at(1),
      memory.front(), memory.back(), *std::max_element(memory.begin(), memory.end()));
  return lost + disorder + sender.failed() > 0 ? 1 : 0;
}

absl::StatusOr<int> Run(const Options& options) {
  const auto connect = [&](const std::string& name) {
    http::BeastTransport::Options client;
    client.url = options.url;
    client.max_connections = static_cast<size_t>(options.in_flight);
    client.thread_name = name;
    return http::BeastTransport::Create(std::move(client));
  };
  HEKLA_ASSIGN_OR_RETURN(const std::unique_ptr<http::BeastTransport> writer, connect("writer"));
  Sender sender(writer.get());
  const absl::Time begin = absl::Now();
  for (int i = 0; i < options.nodes + options.pods; ++i) {
    sender.WaitUntilAtMost(options.in_flight - 1);
    sender.Send(i < options.nodes ? MakeNode(i, begin) : MakePod(i - options.nodes, begin));
  }
  sender.WaitUntilAtMost(0);
  if (sender.failed() > 0) return absl::UnavailableError("not all objects could be created");
  std::cout << absl::StrFormat("created=%d seconds=%.1f server_mb=%.1f\n", sender.sent(),
                               absl::ToDoubleSeconds(absl::Now() - begin),
                               MemoryMb(options.server_pid))
            << std::flush;
  HEKLA_ASSIGN_OR_RETURN(const int64_t from, Version(*writer));
  HEKLA_ASSIGN_OR_RETURN(const std::unique_ptr<http::BeastTransport> reader, connect("reader"));
  std::vector<std::unique_ptr<Follower>> followers;
  for (int i = 0; i < options.followers; ++i) {
    followers.push_back(std::make_unique<Follower>(reader.get()));
    HEKLA_RETURN_IF_ERROR(followers.back()->Start({kNodes, "/api/v1/pods"}));
    if (followers.back()->listed() != static_cast<size_t>(options.nodes + options.pods)) {
      return absl::InternalError(absl::StrCat("a list has ", followers.back()->listed()));
    }
  }
  for (const auto& follower : followers) follower->BeginMeasuring();
  Sender changes(writer.get());
  Load load(options, &changes);
  load.Run();
  HEKLA_ASSIGN_OR_RETURN(const int64_t to, Version(*writer));
  return Report(options, load, changes, from, to, followers);
}

}  // namespace
}  // namespace hekla

int main(int argc, char** argv) {
  hekla::Options options;
  hekla::util::FlagSet flags;
  flags.String("url", &options.url, "URL of the API server.");
  flags.Int("server-pid", &options.server_pid, "Process whose memory is looked at.");
  flags.Int("nodes", &options.nodes, "Nodes to create.");
  flags.Int("pods", &options.pods, "Pods to create.");
  flags.Int("followers", &options.followers, "Clients that list and watch.");
  flags.Int("rate", &options.rate, "Changes per second.");
  flags.Duration("time", &options.time, "How long changes are sent.");
  flags.Duration("warm-up", &options.warm_up, "From when on memory is looked at.");
  flags.Int("in-flight", &options.in_flight, "Requests at a time.");
  const auto rest = flags.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!rest.ok() || !rest->empty() || flags.help()) {
    std::cerr << (rest.ok() ? "" : std::string(rest.status().message()) + "\n")
              << "Usage: watch_load [flags]\n"
              << flags.Usage();
    return flags.help() ? 0 : 2;
  }
  const absl::StatusOr<int> result = hekla::Run(options);
  if (!result.ok()) std::cerr << "watch_load: " << result.status().message() << "\n";
  return result.value_or(2);
}

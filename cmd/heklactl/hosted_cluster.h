#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "pkg/apiserver/hollow/hollow_cluster.h"
#include "pkg/apiserver/kubelet/kubelet.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/storage/journal.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/server.h"
#include "pkg/util/clock.h"
#include "pkg/util/thread_executor.h"

namespace hekla::cmd::heklactl {

// An embedded API server with hollow nodes, with threads around it: a listener on 127.0.0.1, the
// server's own timers and the kubelet. For the playground and for integration tests.
// Threads: the owner's, unless said otherwise.
class HostedCluster {
 public:
  struct Options {
    uint16_t port = 0;  // 0: any free one
    std::string token = {};
    uint64_t seed = 1;
    int http_threads = 1;
    apiserver::kubelet::Options kubelet = {};
    // Stands before the server: tests let requests fail here. Null: the server itself. Is told by
    // `server()` where to pass requests on; must outlive the cluster.
    http::Handler* front = nullptr;
    // Further users, and whether roles decide what they may do.
    std::vector<apiserver::Options::User> users = {};
    bool enforce_rbac = false;
    // Where the server keeps its objects for the next start; "": nowhere.
    std::string data_dir = {};
    absl::Duration data_sync = absl::Seconds(1);
  };

  explicit HostedCluster(Options options);
  // As Stop.
  ~HostedCluster();

  // Loads the shipped kinds and starts listening. Errors: also those of storage::Journal::Open.
  absl::Status Start();
  // Ends watches and connections in order and joins all threads.
  void Stop();

  // The listener alone: a server that is away, and one that comes back on the same port.
  void StopListening();
  absl::Status StartListening();

  // Registers hollow nodes "<prefix>0" and so on, each as `node` describes (its name is replaced);
  // those that were kept from the last start stay as they are.
  absl::Status AddNodes(apiserver::kubelet::NodeTemplate node, const std::string& prefix,
                        int count);

  apiserver::ApiServer& server() { return server_; }
  const util::Clock& clock() const { return clock_; }
  uint16_t port() const { return port_; }
  std::string url() const;

 private:
  void PumpHollow();
  void TickServer();
  void TendJournal();

  const Options options_;
  util::SystemClock clock_;
  const absl::StatusOr<std::unique_ptr<apiserver::storage::Journal>> journal_;  // may be null
  const absl::StatusOr<std::string> token_key_;  // empty without a data_dir
  apiserver::ApiServer server_;
  std::unique_ptr<http::BeastServer> listener_;
  uint16_t port_ = 0;
  int nodes_ = 0;
  // Last, so that its thread has ended before anything it uses goes.
  std::unique_ptr<apiserver::hollow::HollowCluster> hollow_;
  std::atomic<bool> pump_posted_ = false;
  util::Executor::TimerId pump_timer_ = 0;  // of the background thread
  std::unique_ptr<util::ThreadExecutor> background_;
  std::unique_ptr<util::ThreadExecutor> journal_keeper_;  // waits for the disk
};

}  // namespace hekla::cmd::heklactl

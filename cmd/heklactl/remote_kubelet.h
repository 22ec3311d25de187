#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/kubelet/kubelet.h"
#include "pkg/kube/config/client.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/kube/informer.h"
#include "pkg/util/thread_executor.h"

namespace hekla::cmd::heklactl {

// The hollow kubelet against any API server: follows its nodes and pods and runs those of nodes
// annotated `kwok.x-k8s.io/node: fake`, whoever registered them. Others are never touched.
// Threads: the owner's; it brings its own for the work.
class RemoteKubelet {
 public:
  struct Options {
    kube::ClientConfig api = {};
    apiserver::kubelet::Options kubelet = {};  // all_nodes does not count
  };

  explicit RemoteKubelet(Options options);
  // As Stop.
  ~RemoteKubelet();

  absl::Status Start();
  // Waits for the write under way and joins all threads. Nodes and pods stay as they are.
  void Stop();

  // Registers nodes "<prefix>0" and so on, each as `node` describes (its name is replaced); those
  // that exist stay as they are. After Start.
  absl::Status AddNodes(apiserver::kubelet::NodeTemplate node, const std::string& prefix,
                        int count);

 private:
  class RestApi;
  using Watched = kube::Informer<apis::json::Value>;
  using Tell = void (apiserver::kubelet::HollowKubelet::*)(const apis::json::Value&, bool);

  // Follows all objects of a kind and tells the kubelet.
  std::unique_ptr<Watched> Follow(const std::string& plural, const std::string& kind,
                                  bool namespaced, Tell tell);
  void WakeUp();
  void Pump();

  const Options options_;
  util::ThreadExecutor background_{"background"};  // what may block: credentials
  util::ThreadExecutor io_{"io"};
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<RestApi> api_;
  std::unique_ptr<apiserver::kubelet::HollowKubelet> kubelet_;
  std::unique_ptr<Watched> nodes_;
  std::unique_ptr<Watched> pods_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> pump_posted_ = false;
  util::Executor::TimerId pump_timer_ = 0;  // of the pump's thread
  util::ThreadExecutor pump_{"hollow"};
};

}  // namespace hekla::cmd::heklactl

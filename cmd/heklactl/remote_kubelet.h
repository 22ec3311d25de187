#pragma once

#include <memory>
#include <string>
#include <vector>

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
  class Shard;
  using Watched = kube::Informer<apis::json::Value>;
  using Tell = void (Shard::*)(const apis::json::Value&, bool);

  // Follows all objects of a kind; `node_of` says to which node one belongs, "" if to none yet.
  std::unique_ptr<Watched> Follow(const std::string& plural, const std::string& kind,
                                  bool namespaced, std::string (*node_of)(const apis::json::Value&),
                                  Tell tell);
  Shard& ShardOf(const std::string& node) const;

  const Options options_;
  util::ThreadExecutor background_{"background"};  // what may block: credentials
  util::ThreadExecutor io_{"io"};
  std::unique_ptr<kube::Client> client_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Watched> nodes_;
  std::unique_ptr<Watched> pods_;
  bool stopped_ = false;
};

}  // namespace hekla::cmd::heklactl

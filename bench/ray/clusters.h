#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/hollow/local_watch.h"

namespace hekla::bench {

// RayCluster `ray-<index>` of one head and `workers` workers. Its pods are born on a hollow node:
// what is measured is the operator, not a scheduler.
apis::json::Value MakeCluster(int index, int workers);

// Enough hollow nodes for so many of them.
absl::Status AddNodesFor(cmd::heklactl::HostedCluster& cluster, int clusters, int workers);

// Counts pods and ready clusters as they change.
class Progress {
 public:
  // `server` must outlive this.
  explicit Progress(apiserver::ApiServer& server);
  void Pump();
  size_t pods() const { return pod_names_.size(); }
  size_t ready() const { return ready_names_.size(); }

 private:
  absl::flat_hash_set<std::string> pod_names_;
  absl::flat_hash_set<std::string> ready_names_;
  apiserver::hollow::LocalWatch pods_;
  apiserver::hollow::LocalWatch clusters_;
};

}  // namespace hekla::bench

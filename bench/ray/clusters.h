#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "bench/ray/operator_process.h"
#include "cmd/heklactl/hosted_cluster.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/util/flag_set.h"

namespace hekla::bench {

// RayCluster `ray-<index>` of one head and `workers` workers. Its pods are born on a hollow node:
// what is measured is the operator, not a scheduler.
apis::json::Value MakeCluster(int index, int workers);

// What is created at once, and for whom.
struct Load {
  int clusters = 1000;
  int workers = 2;
  int concurrency = 10;  // of the operator
  absl::Duration timeout = absl::Minutes(5);
};

void AddLoadFlags(util::FlagSet& flags, Load* load);
// Prints the usage where that is asked for or a flag cannot be read; false then.
bool ParseLoadFlags(util::FlagSet& flags, absl::string_view program,
                    const std::vector<std::string>& arguments);

// Enough hollow nodes for the load.
absl::Status AddNodesFor(cmd::heklactl::HostedCluster& cluster, const Load& load);
// Creates them all, and how the operator is to be started for them: its kubeconfig and log lie in
// `folder`.
absl::Status CreateClusters(apiserver::ApiServer& server, const Load& load);
absl::StatusOr<OperatorProcess::Options> OperatorFor(cmd::heklactl::HostedCluster& cluster,
                                                     const Load& load, const std::string& folder);

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

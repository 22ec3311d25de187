#pragma once

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/apiserver/kubelet/kubelet.h"
#include "pkg/apiserver/server.h"

namespace hekla::apiserver::hollow {

// An embedded API server with the hollow kubelet that runs the pods of its nodes. Passive: Pump
// does what is due and says when it wants to be called again. Threads: as LocalWatch.
class HollowCluster {
 public:
  HollowCluster(ApiServer& server, kubelet::Options options);
  ~HollowCluster();

  // Delivers changes to the kubelet and lets it act, until nothing is due at `now`. Returns the
  // number of events and writes.
  int Pump(absl::Time now);
  absl::Time NextDue() const;
  bool HasWork() const { return pods_.HasWork() || nodes_.HasWork(); }
  void SetWakeUp(std::function<void()> wake_up);
  kubelet::HollowKubelet& kubelet() { return kubelet_; }

 private:
  class EmbeddedApi;
  std::unique_ptr<EmbeddedApi> api_;
  kubelet::HollowKubelet kubelet_;
  LocalWatch nodes_;
  LocalWatch pods_;
};

}  // namespace hekla::apiserver::hollow

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::kubelet {

// What the hollow kubelet needs from an API server, embedded in this process or reached over HTTP.
// Errors: kNotFound and kAborted (conflict) are ordinary answers, others are tried again.
class Api {
 public:
  virtual ~Api() = default;
  // Strategic merge patch on pods/status.
  virtual absl::Status PatchPodStatus(absl::string_view ns, absl::string_view name,
                                      const apis::json::Value& patch) = 0;
  // DELETE with gracePeriodSeconds 0 and the UID as precondition.
  virtual absl::Status DeletePodNow(absl::string_view ns, absl::string_view name,
                                    absl::string_view uid) = 0;
  // Strategic merge patch on nodes/status.
  virtual absl::Status PatchNodeStatus(absl::string_view name, const apis::json::Value& patch) = 0;
  // Creates or updates the node's Lease in kube-node-lease.
  virtual absl::Status PutNodeLease(const apis::json::Value& lease) = 0;
};

struct NodeTemplate {
  std::string name;
  std::string cpu = "32", memory = "128Gi", pods = "110";
  int gpus = 0;
  std::string gpu_resource = "nvidia.com/gpu";
  std::map<std::string, std::string> extra_resources;  // name -> quantity
  std::map<std::string, std::string> labels;           // added to the standard ones
  std::string zone;                                    // topology.kubernetes.io/zone if not empty
};
// A Node object as a kubelet registers it: capacity, allocatable, Ready condition, addresses,
// nodeInfo, standard labels, annotation `kwok.x-k8s.io/node: fake`.
// `index` makes its internal address (10.0.0.0/8).
apis::json::Value MakeNode(const NodeTemplate& node, int index, absl::Time now);

struct Options {
  // Run every node; else only those annotated `kwok.x-k8s.io/node: fake`.
  bool all_nodes = true;
  absl::Duration start_delay = absl::ZeroDuration();  // bound -> Running
  // Terminating -> gone, at most; the pod's own grace period where that is shorter.
  absl::Duration stop_delay = absl::ZeroDuration();
  // Pods owned by a Job complete at once when they carry no run time (KWOK's fast profile).
  bool complete_job_pods = false;
  absl::Duration heartbeat = absl::Minutes(5);       // node status; zero = never
  absl::Duration lease_renewal = absl::Seconds(10);  // zero = no leases
  int max_writes_per_pump = 0;                       // 0 = all that is due
  // The addresses it gives to nodes and pods: the first and every `address_step`-th after it, so
  // that several kubelets of one cluster give different ones.
  uint32_t first_address = 0;
  uint32_t address_step = 1;
};

// Runs the pods of hollow nodes: bound ones become Running, end after `hekla.dev/run-seconds`
// (Succeeded; Failed with `hekla.dev/exit-code` other than 0), honour activeDeadlineSeconds and
// leave when they are deleted. Passive: the owner feeds it changes and calls Pump.
// Cost:    O(log pods) per change or due action; nothing per idle pod or node.
// Threads: OnPod/OnNode may be called from any thread, Pump from one at a time; Api is called
//          without a lock held.
// Source:  spec kube-machinery 3.20.
class HollowKubelet {
 public:
  HollowKubelet(Api& api, Options options);
  ~HollowKubelet();
  HollowKubelet(const HollowKubelet&) = delete;
  HollowKubelet& operator=(const HollowKubelet&) = delete;

  // Tells of a pod or node that was added, changed, or (deleted = true) is gone. The value is read
  // during the call only.
  void OnPod(const apis::json::Value& pod, bool deleted);
  void OnNode(const apis::json::Value& node, bool deleted);

  // Does everything that is due at `now` and returns how many writes it made.
  int Pump(absl::Time now);
  // When Pump next has something to do; InfiniteFuture if nothing is waiting.
  absl::Time NextDue() const;

  // Node outage switch: no heartbeats, pods on it neither start nor end.
  void SetNodeDown(absl::string_view node, bool down);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::apiserver::kubelet

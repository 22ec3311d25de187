#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::kubelet {

inline constexpr absl::string_view kFakeNodeAnnotation = "kwok.x-k8s.io/node";

// The address of the n-th node (172.16.0.0/12) and of the n-th pod (10.0.0.0/8).
std::string NodeAddress(uint32_t index);
std::string PodAddress(uint32_t index);
std::string InternalAddressOf(const apis::json::Value& node);
bool IsReady(const apis::json::Value& node);

std::string TimeText(absl::Time time);
std::string MicroTimeText(absl::Time time);

// Patches of nodes/status. `InitPatch` keeps what the node has of capacity and addresses.
apis::json::Value InitPatch(const apis::json::Value& node, uint32_t index, absl::Time now);
apis::json::Value HeartbeatPatch(absl::Time now);
apis::json::Value LostPatch(absl::Time now);
// The Lease of a node in kube-node-lease.
apis::json::Value NodeLease(absl::string_view node, absl::string_view uid, absl::Time now);

}  // namespace hekla::apiserver::kubelet

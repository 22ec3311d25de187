#include "pkg/ray/batchscheduler/none/none.h"

namespace hekla::ray::batchscheduler {

using apis::json::Value;
using apis::ray::RayCluster;

absl::StatusOr<std::optional<Value>> NoScheduler::BuildPodGroup(const RayCluster&) const {
  return std::nullopt;
}

std::optional<Value> NoScheduler::UpdatedPodGroup(const Value&, const Value&) const {
  return std::nullopt;
}

void NoScheduler::DecoratePod(const RayCluster&, absl::string_view, Value&) const {}

}  // namespace hekla::ray::batchscheduler

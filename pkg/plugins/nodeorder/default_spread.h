#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/plugins/nodeorder/scorer_context.h"

namespace hekla::plugins {

// The selector of the system's default spread constraints: what every Service that selects the pod
// and the pod's controlling ReplicationController, ReplicaSet or StatefulSet select, all at once.
// Empty where there are none. Source: spec 2.8.
class DefaultSpread {
 public:
  explicit DefaultSpread(const ScorerContext& context) : context_(&context) {}

  // Reads the owners again where they changed; true if they did.
  bool Refresh();
  model::Selector SelectorFor(model::TaskId task) const;
  bool empty() const { return empty_; }

 private:
  using Owner = std::shared_ptr<const model::PodOwnerSpec>;
  const Owner* FindController(const model::TaskSpec& spec) const;

  const ScorerContext* context_;
  uint64_t generation_ = UINT64_MAX;
  bool empty_ = true;
  absl::flat_hash_map<std::string, std::vector<Owner>> services_;  // by namespace, by name inside
};

}  // namespace hekla::plugins

#pragma once

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::plugins {

// Pods of the system are never victims: priority class system-cluster-critical or
// system-node-critical, or namespace kube-system.
// Source: Volcano plugins/conformance; spec scheduler-actions 3.4.
class ConformancePlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "conformance";

  void OnSessionOpen(framework::SessionBuilder& session) override;

  framework::VictimAnswer Evictable(model::TaskId preemptor, framework::TaskSpan candidates);
  framework::VictimAnswer UnifiedEvictable(const framework::EvictContext& context,
                                           framework::TaskSpan candidates);

 private:
  framework::VictimAnswer Ordinary(framework::TaskSpan candidates) const;

  const model::Tables* view_ = nullptr;
  // Invalid where no object has used the name yet.
  model::Symbol cluster_critical_, node_critical_, kube_system_;
};

}  // namespace hekla::plugins

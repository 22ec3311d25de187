#pragma once

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/plugins/predicates/filter_context.h"
#include "pkg/plugins/predicates/volume_binding.h"

namespace hekla::plugins {

// The filters of Kubernetes that Volcano runs, written natively: unschedulable nodes, node
// affinity, taints, host ports, inter-pod affinity, volume limits, zones and bindings, topology
// spread, and the number of pods. Each has a switch except the first.
//
// The equivalence cache (`predicate.CacheEnable`) is accepted and without effect: answers are kept
// per task class anyway, and with their true reasons.
// Source: Volcano plugins/predicates; spec scheduler-node-plugins 1, 2.
class PredicatesPlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "predicates";

  PredicatesPlugin(const framework::Arguments& arguments, const framework::PluginDeps& deps);
  ~PredicatesPlugin() override;

  void OnSessionOpen(framework::SessionBuilder& session) override;
  void AddVolumeWrites(model::TaskId task, ports::BindRequest& request);

 private:
  FilterContext context_;
  VolumeView volumes_{context_};
  VolumeBindingFilter* binding_ = nullptr;
  std::vector<std::unique_ptr<PredicateFilter>> filters_;  // in the order they run
};

}  // namespace hekla::plugins

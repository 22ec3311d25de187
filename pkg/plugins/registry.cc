#include "pkg/plugins/registry.h"

#include <memory>

#include "pkg/plugins/binpack/binpack_plugin.h"
#include "pkg/plugins/capacity/capacity_plugin.h"
#include "pkg/plugins/conformance/conformance_plugin.h"
#include "pkg/plugins/drf/drf_plugin.h"
#include "pkg/plugins/gang/gang_plugin.h"
#include "pkg/plugins/nodeorder/nodeorder_plugin.h"
#include "pkg/plugins/overcommit/overcommit_plugin.h"
#include "pkg/plugins/predicates/predicates_plugin.h"
#include "pkg/plugins/priority/priority_plugin.h"
#include "pkg/plugins/proportion/proportion_plugin.h"
#include "pkg/plugins/sla/sla_plugin.h"

namespace hekla::plugins {
namespace {

using framework::Plugin;
using framework::PluginDeps;
using framework::PluginOption;

template <typename T>
std::unique_ptr<Plugin> MakePlain(const PluginOption&, const PluginDeps&) {
  return std::make_unique<T>();
}

template <typename T>
std::unique_ptr<Plugin> MakeWithArguments(const PluginOption& option, const PluginDeps&) {
  return std::make_unique<T>(option.arguments);
}

template <typename T>
std::unique_ptr<Plugin> MakeWithDeps(const PluginOption& option, const PluginDeps& deps) {
  return std::make_unique<T>(option.arguments, deps);
}

}  // namespace

framework::PluginRegistry AllPlugins() {
  return {
      {PriorityPlugin::kName, MakePlain<PriorityPlugin>},
      {GangPlugin::kName, MakePlain<GangPlugin>},
      {ConformancePlugin::kName, MakePlain<ConformancePlugin>},
      {OvercommitPlugin::kName, MakeWithArguments<OvercommitPlugin>},
      {DrfPlugin::kName, MakePlain<DrfPlugin>},
      {PredicatesPlugin::kName, MakeWithDeps<PredicatesPlugin>},
      {ProportionPlugin::kName, MakePlain<ProportionPlugin>},
      {CapacityPlugin::kName, MakeWithArguments<CapacityPlugin>},
      {SlaPlugin::kName, MakeWithArguments<SlaPlugin>},
      {NodeorderPlugin::kName, MakeWithArguments<NodeorderPlugin>},
      {BinpackPlugin::kName, MakeWithArguments<BinpackPlugin>},
  };
}

}  // namespace hekla::plugins

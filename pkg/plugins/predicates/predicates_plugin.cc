#include "pkg/plugins/predicates/predicates_plugin.h"

#include <utility>

#include "glog/logging.h"
#include "pkg/plugins/predicates/inter_pod_affinity.h"
#include "pkg/plugins/predicates/simple_filters.h"
#include "pkg/plugins/predicates/topology_spread.h"
#include "pkg/plugins/predicates/volume_limits.h"

namespace hekla::plugins {

namespace {

bool Enabled(const framework::Arguments& arguments, absl::string_view key) {
  bool on = true;
  arguments.GetBool(key, on);
  return on;
}

VolumeBindingOptions OptionsOf(const framework::Arguments& arguments,
                               const framework::PluginDeps& deps) {
  VolumeBindingOptions options;
  options.check_capacity = deps.csi_storage;
  int64_t seconds = 600;
  if (arguments.GetInt("volumebinding.bindTimeoutSeconds", seconds) && seconds < 0) {
    LOG(WARNING) << "negative time limit ignored plugin=predicates"
                 << " key=volumebinding.bindTimeoutSeconds value=" << seconds;
    seconds = 600;
  }
  options.bind_timeout = absl::Seconds(seconds);
  return options;
}

}  // namespace

PredicatesPlugin::PredicatesPlugin(const framework::Arguments& arguments,
                                   const framework::PluginDeps& deps) {
  filters_.push_back(std::make_unique<PodNumberFilter>(context_));
  filters_.push_back(std::make_unique<NodeUnschedulableFilter>(context_));
  if (Enabled(arguments, "predicate.NodeAffinityEnable")) {
    filters_.push_back(std::make_unique<NodeAffinityFilter>(context_));
  }
  if (Enabled(arguments, "predicate.TaintTolerationEnable")) {
    filters_.push_back(std::make_unique<TaintTolerationFilter>(context_));
  }
  if (Enabled(arguments, "predicate.NodePortsEnable")) {
    filters_.push_back(std::make_unique<NodePortsFilter>(context_));
  }
  bool forwarded = false;
  if (Enabled(arguments, "predicate.PodAffinityEnable")) {
    auto filter = std::make_unique<InterPodAffinityFilter>(context_);
    filter->ForwardMoves(true);
    forwarded = true;
    filters_.push_back(std::move(filter));
  }
  const bool binding = Enabled(arguments, "predicate.VolumeBindingEnable");
  if (Enabled(arguments, "predicate.NodeVolumeLimitsEnable")) {
    filters_.push_back(std::make_unique<NodeVolumeLimitsFilter>(context_, volumes_));
  }
  if (Enabled(arguments, "predicate.VolumeZoneEnable")) {
    filters_.push_back(std::make_unique<VolumeZoneFilter>(context_, volumes_, binding));
  }
  if (Enabled(arguments, "predicate.PodTopologySpreadEnable")) {
    auto filter = std::make_unique<PodTopologySpreadFilter>(context_);
    filter->ForwardMoves(!forwarded);
    filters_.push_back(std::move(filter));
  }
  if (binding) {
    auto filter =
        std::make_unique<VolumeBindingFilter>(context_, volumes_, OptionsOf(arguments, deps));
    binding_ = filter.get();
    filters_.push_back(std::move(filter));
  }
  if (Enabled(arguments, "predicate.DynamicResourceAllocationEnable")) {
    filters_.push_back(std::make_unique<DynamicResourcesFilter>(context_));
  }
}

PredicatesPlugin::~PredicatesPlugin() = default;

void PredicatesPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  context_.nodes.Attach(session.session().cluster());
  context_.reasons = &session.session().reasons();
  context_.counts.Sync();
  for (const auto& filter : filters_) {
    filter->Open(*context_.reasons);
    session.AddFilter(*filter);
  }
  if (binding_ != nullptr) {
    session.At(session.session().points().bind_context, true)
        .Add<&PredicatesPlugin::AddVolumeWrites>(*this);
  }
}

void PredicatesPlugin::AddVolumeWrites(model::TaskId task, ports::BindRequest& request) {
  binding_->AddWrites(task, request.volumes);
}

}  // namespace hekla::plugins

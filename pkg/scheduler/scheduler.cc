#include "pkg/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "glog/logging.h"
#include "pkg/framework/explain/explainer.h"
#include "pkg/framework/scheduler_metrics.h"

namespace hekla::scheduler {

Scheduler::Scheduler(Deps deps) : deps_(std::move(deps)), random_(deps_.seed) {}

Scheduler::~Scheduler() {
  // The session and the search refer to plugins.
  session_.reset();
  search_.reset();
}

conf::Known Scheduler::known() const {
  conf::Known known;
  for (const framework::ActionEntry& entry : *deps_.actions) known.actions.emplace_back(entry.name);
  for (const framework::PluginEntry& entry : *deps_.plugins) known.plugins.emplace_back(entry.name);
  return known;
}

void Scheduler::SetConfig(conf::Config config) {
  config_ = std::move(config);
  config_changed_ = true;
}

framework::Action& Scheduler::ActionOf(const std::string& name) {
  std::unique_ptr<framework::Action>& action = actions_[name];
  if (action == nullptr) {
    const auto entry =
        std::find_if(deps_.actions->begin(), deps_.actions->end(),
                     [&](const framework::ActionEntry& e) { return e.name == name; });
    CHECK(entry != deps_.actions->end()) << "configuration was not checked: action " << name;
    action = entry->make();
  }
  return *action;
}

// Makes plugins and session for a new configuration.
void Scheduler::Rebuild() {
  session_.reset();
  plugins_.clear();
  if (search_ == nullptr) search_ = std::make_unique<framework::NodeSearch>(*cluster_);
  std::vector<framework::PluginSlot> slots;
  for (size_t tier = 0; tier < config_.tiers.size(); ++tier) {
    for (const framework::PluginOption& option : config_.tiers[tier]) {
      const auto entry =
          std::find_if(deps_.plugins->begin(), deps_.plugins->end(),
                       [&](const framework::PluginEntry& e) { return e.name == option.name; });
      CHECK(entry != deps_.plugins->end()) << "configuration was not checked: " << option.name;
      plugins_.push_back(entry->make(option, deps_.plugin_deps));
      slots.push_back({&option, plugins_.back().get(), static_cast<int32_t>(tier)});
    }
  }
  session_ = std::make_unique<framework::Session>(
      framework::SessionDeps{.cluster = cluster_,
                             .sink = deps_.sink,
                             .clock = deps_.clock,
                             .reasons = &reasons_,
                             .search = search_.get(),
                             .metrics = deps_.metrics,
                             .observer = deps_.observer,
                             .queue_admission_gates = deps_.queue_admission_gates,
                             .scheduler_name = deps_.plugin_deps.scheduler_name},
      std::move(slots), config_.actions);
  config_changed_ = false;
}

// A random UUID (version 4) from the injected seed.
std::string Scheduler::NextUid() {
  const uint64_t a = random_.Next(), b = random_.Next();
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                         0x8000 | (b >> 50), b & 0xffffffffffff);
}

double Scheduler::Elapsed(absl::Duration since) const {
  return absl::ToDoubleMilliseconds(deps_.clock->Uptime() - since);
}

bool Scheduler::RunOnce() {
  if (!deps_.source->Synced()) return false;
  const absl::Duration start = deps_.clock->Uptime();
  model::Cluster& cluster = deps_.source->Snapshot();
  cluster_ = &cluster;
  if (config_changed_) Rebuild();
  CHECK(session_ != nullptr) << "no configuration";

  framework::SchedulerMetrics* const metrics = deps_.metrics;
  session_->Open(NextUid());
  for (const std::string& name : config_.actions) {
    const absl::Duration before = deps_.clock->Uptime();
    ActionOf(name).Execute(*session_, config_.ArgumentsOf(name));
    if (metrics != nullptr) metrics->action_latency.With({name})->Observe(Elapsed(before));
  }
  session_->Close();

  stats_.last = deps_.clock->Uptime() - start;
  if (metrics != nullptr) metrics->e2e_latency.Observe(absl::ToDoubleMilliseconds(stats_.last));
  stats_.longest = std::max(stats_.longest, stats_.last);
  ++stats_.cycles;
  VLOG(4) << "cycle ended cycle=" << stats_.cycles << " seconds=" << stats_.last;
  return true;
}

absl::StatusOr<framework::explain::Explanation> Scheduler::Explain(
    framework::explain::Subject subject, absl::string_view key) {
  // The session refers to its configuration, which is gone once a new one has been set.
  if (session_ == nullptr || config_changed_ || stats_.cycles == 0) {
    return absl::UnavailableError("the scheduler has not run a cycle yet");
  }
  return framework::explain::Explainer(*session_).Ask(subject, key);
}

}  // namespace hekla::scheduler

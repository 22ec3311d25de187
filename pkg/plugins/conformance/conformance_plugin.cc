#include "pkg/plugins/conformance/conformance_plugin.h"

namespace hekla::plugins {

using framework::TaskSpan;
using framework::VictimAnswer;
using framework::Vote;

void ConformancePlugin::OnSessionOpen(framework::SessionBuilder& session) {
  view_ = &session.view();
  const model::SymbolTable& symbols = session.session().dictionary().symbols;
  cluster_critical_ = symbols.Find("system-cluster-critical");
  node_critical_ = symbols.Find("system-node-critical");
  kube_system_ = symbols.Find("kube-system");
  framework::Points& points = session.session().points();
  const framework::EnableFlags& on = session.enabled();
  session.At(points.preemptable, on.preemptable).Add<&ConformancePlugin::Evictable>(*this);
  session.At(points.reclaimable, on.reclaimable).Add<&ConformancePlugin::Evictable>(*this);
  session.At(points.unified_evictable, true).Add<&ConformancePlugin::UnifiedEvictable>(*this);
}

VictimAnswer ConformancePlugin::Ordinary(TaskSpan candidates) const {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  for (model::TaskId candidate : candidates) {
    const model::Symbol priority_class = view_->tasks.spec[candidate]->priority_class;
    const model::NamespaceId space = view_->tasks.namespace_id[candidate];
    const bool critical = priority_class.valid() &&
                          (priority_class == cluster_critical_ || priority_class == node_critical_);
    const bool system_space =
        space.valid() && kube_system_.valid() && view_->namespaces.name[space] == kube_system_;
    if (!critical && !system_space) answer.victims.push_back(candidate);
  }
  return answer;
}

VictimAnswer ConformancePlugin::Evictable(model::TaskId preemptor, TaskSpan candidates) {
  (void)preemptor;
  return Ordinary(candidates);
}

VictimAnswer ConformancePlugin::UnifiedEvictable(const framework::EvictContext& context,
                                                 TaskSpan candidates) {
  (void)context;
  return Ordinary(candidates);
}

}  // namespace hekla::plugins

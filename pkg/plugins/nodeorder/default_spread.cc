#include "pkg/plugins/nodeorder/default_spread.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hekla::plugins {

using model::PodOwnerSpec;

bool DefaultSpread::Refresh() {
  const model::VolumeTable& table = context_->tables().volumes;
  if (generation_ == table.generation) return false;
  generation_ = table.generation;
  empty_ = table.pod_owners.empty();
  services_.clear();
  for (const auto& [key, owner] : table.pod_owners) {
    if (owner->kind != PodOwnerSpec::Kind::kService) continue;
    if (owner->selector.empty() || owner->selector.nothing) continue;
    services_[owner->namespace_name].push_back(owner);
  }
  for (auto& [where, services] : services_) {
    std::sort(services.begin(), services.end(),
              [](const Owner& a, const Owner& b) { return a->name < b->name; });
  }
  return true;
}

const DefaultSpread::Owner* DefaultSpread::FindController(const model::TaskSpec& spec) const {
  if (!spec.controller_kind.valid() || !spec.controller_name.valid()) return nullptr;
  const model::SymbolTable& symbols = context_->cluster().dictionary().symbols;
  const auto& owners = context_->tables().volumes.pod_owners;
  const auto it =
      owners.find(absl::StrCat(symbols.Text(spec.controller_kind), "/", spec.namespace_name, "/",
                               symbols.Text(spec.controller_name)));
  if (it == owners.end() || it->second->kind == PodOwnerSpec::Kind::kService) return nullptr;
  return &it->second;
}

model::Selector DefaultSpread::SelectorFor(model::TaskId task) const {
  model::Selector all;
  if (empty_) return all;
  const model::TaskSpec& spec = *context_->tables().tasks.spec[task];
  const model::SymbolTable& symbols = context_->cluster().dictionary().symbols;
  const auto add = [&all](const model::Selector& selector) {
    all.nothing = all.nothing || selector.nothing;
    for (const model::Requirement& r : selector.requirements) {
      if (std::find(all.requirements.begin(), all.requirements.end(), r) ==
          all.requirements.end()) {
        all.requirements.push_back(r);
      }
    }
  };
  if (const auto it = services_.find(spec.namespace_name); it != services_.end()) {
    for (const Owner& service : it->second) {
      if (model::Matches(service->selector, *spec.labels, symbols)) add(service->selector);
    }
  }
  if (const Owner* owner = FindController(spec)) add((*owner)->selector);
  return all;
}

}  // namespace hekla::plugins

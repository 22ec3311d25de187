#include "pkg/plugins/binpack/binpack_plugin.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hekla::plugins {

using model::NodeId;

namespace {

// A configured weight of one resource; negative ones count as 1.
int64_t ResourceWeight(const framework::Arguments& arguments, absl::string_view key) {
  int64_t weight = 1;
  arguments.GetInt(key, weight);
  return weight < 0 ? 1 : weight;
}

}  // namespace

BinpackPlugin::BinpackPlugin(const framework::Arguments& arguments) {
  arguments.GetInt("binpack.weight", weight_);
  resources_.emplace_back("cpu", ResourceWeight(arguments, "binpack.cpu"));
  resources_.emplace_back("memory", ResourceWeight(arguments, "binpack.memory"));
  std::string list;
  arguments.GetString("binpack.resources", list);
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    const std::string name(absl::StripAsciiWhitespace(part));
    if (name.empty() || name == "cpu" || name == "memory") continue;
    resources_.emplace_back(name,
                            ResourceWeight(arguments, absl::StrCat("binpack.resources.", name)));
  }
}

void BinpackPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  if (weight_ == 0) return;
  view_ = &session.view();
  const model::ResourceLayout& layout = session.session().dictionary().resources;
  weights_.assign(layout.size(), kNone);
  for (const auto& [name, weight] : resources_) {
    if (const int dim = layout.Find(name); dim >= 0) weights_[static_cast<size_t>(dim)] = weight;
  }
  session.AddScorer(*this, false);
}

void BinpackPlugin::Score(model::TaskId task, absl::Span<const NodeId> nodes,
                          absl::Span<double> raw) {
  const model::NodeTable& table = view_->nodes;
  const model::Resource& request = view_->tasks.pod[task]->request;
  parts_.clear();
  int64_t weight_sum = 0;
  for (size_t d = 0; d < request.size() && d < weights_.size(); ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    if (request[dim] <= 0 || weights_[d] == kNone) continue;
    weight_sum += weights_[d];
    if (weights_[d] != 0) parts_.push_back({dim, request[dim], weights_[d]});
  }
  const double factor = static_cast<double>(100 * weight_);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t row = nodes[i].index();
    double sum = 0;
    for (const Part& part : parts_) {
      const int64_t capacity = table.allocatable.at(row, part.dim);
      if (capacity == 0) continue;
      const int64_t used = table.used.at(row, part.dim) + part.request;
      if (used > capacity) {
        sum = 0;
        break;
      }
      sum += static_cast<double>(used) * static_cast<double>(part.weight) /
             static_cast<double>(capacity);
    }
    if (weight_sum > 0) sum /= static_cast<double>(weight_sum);
    raw[i] = sum * factor;
  }
}

}  // namespace hekla::plugins

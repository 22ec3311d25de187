#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::plugins {

// Prefers nodes that the pod fills up: the weighted mean of (used + request) / allocatable over the
// requested resources that have a weight. A node that lacks room in one of them scores 0.
// Source: Volcano plugins/binpack; spec scheduler-node-plugins 4.
class BinpackPlugin final : public framework::Plugin, public framework::NodeScorer {
 public:
  static constexpr absl::string_view kName = "binpack";

  explicit BinpackPlugin(const framework::Arguments& arguments);

  void OnSessionOpen(framework::SessionBuilder& session) override;

  absl::string_view name() const override { return kName; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kNodeLocal; }
  framework::RowUse row_use() const override { return framework::RowUse::kAccounts; }
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;

 private:
  struct Part {  // one requested resource
    model::ResourceDim dim;
    int64_t request;
    int64_t weight;
  };

  int64_t weight_ = 1;
  std::vector<std::pair<std::string, int64_t>> resources_;  // by name
  const model::Tables* view_ = nullptr;
  std::vector<int64_t> weights_;  // by dimension; kNone where there is none
  static constexpr int64_t kNone = -1;
  std::vector<Part> parts_;  // scratch
};

}  // namespace hekla::plugins

#pragma once

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/plugins/nodeorder/scorer_context.h"

namespace hekla::plugins {

// The scorers of Kubernetes that Volcano runs, written natively, each with a weight; weight 0 turns
// one off, a negative weight subtracts.
// Source: Volcano plugins/nodeorder; spec scheduler-node-plugins 3.
class NodeorderPlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "nodeorder";

  explicit NodeorderPlugin(const framework::Arguments& arguments);
  ~NodeorderPlugin() override;

  void OnSessionOpen(framework::SessionBuilder& session) override;

 private:
  struct Entry {
    std::unique_ptr<WeightedScorer> scorer;
    bool batch;
  };
  template <typename T>
  T* Add(const framework::Arguments& arguments, absl::string_view key, int64_t default_weight,
         bool batch = true);

  ScorerContext context_;
  std::vector<Entry> scorers_;
};

}  // namespace hekla::plugins

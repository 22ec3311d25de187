#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/model/ids.h"

namespace hekla::actions {

// Admits pending jobs to their queues: phase Pending becomes Inqueue, one job of the first queue
// at a time, where the plugins say that its minResources have a chance.
// Source: Volcano actions/enqueue; spec scheduler-actions 2.1.
class EnqueueAction final : public framework::Action {
 public:
  static constexpr absl::string_view kName = "enqueue";
  absl::string_view name() const override { return kName; }
  void Execute(framework::Session& session, const framework::Arguments& arguments) override;

 private:
  std::vector<model::JobId> jobs_;
};

}  // namespace hekla::actions

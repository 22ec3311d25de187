#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/model/ids.h"

namespace hekla::actions {

// Places tasks that ask for nothing, wherever the filters allow, full nodes included.
// Source: Volcano actions/backfill; spec scheduler-actions 2.3.
class BackfillAction final : public framework::Action {
 public:
  static constexpr absl::string_view kName = "backfill";
  absl::string_view name() const override { return kName; }
  void Execute(framework::Session& session, const framework::Arguments& arguments) override;

 private:
  void Collect(framework::Session& session);
  std::vector<model::TaskId> tasks_;
};

}  // namespace hekla::actions

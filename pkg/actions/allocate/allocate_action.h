#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/model/ids.h"

namespace hekla::actions {

// Places tasks that ask for something: the first queue's first job gets its turn, then both orders
// are looked at again. A job below its minimum tries all of it in one turn, and nothing of it stays
// unless it becomes ready (or could, on room that is being freed); a ready one gets one task per
// turn.
// Source: Volcano actions/allocate; spec scheduler-actions 2.2, example 5.7.
class AllocateAction final : public framework::Action {
 public:
  static constexpr absl::string_view kName = "allocate";
  absl::string_view name() const override { return kName; }
  void Execute(framework::Session& session, const framework::Arguments& arguments) override;

 private:
  std::vector<model::JobId> jobs_;
};

}  // namespace hekla::actions

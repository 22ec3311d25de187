#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/evidence.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/framework/touch_cursor.h"
#include "pkg/plugins/common/amounts.h"
#include "pkg/plugins/common/job_ledger.h"

namespace hekla::plugins {

// Lets only so many jobs become Inqueue that their minimum resources fit into the cluster's room,
// widened by a factor: inqueue + minimum <= allocatable * factor - used.
//
// Quirk: a job in phase Inqueue counts with its whole minimum even if part of its pods is bound
// already and so counts in `used` as well.
// Source:  Volcano plugins/overcommit; spec scheduler-actions 3.5, example 5.5.
class OvercommitPlugin final : public framework::Plugin, public framework::Witness {
 public:
  static constexpr absl::string_view kName = "overcommit";
  static constexpr double kDefaultFactor = 1.2;

  // Argument overcommit-factor; below 1 the default is taken, with a warning.
  explicit OvercommitPlugin(const framework::Arguments& arguments);

  void OnSessionOpen(framework::SessionBuilder& session) override;

  framework::Vote JobEnqueueable(model::JobId job);
  void JobEnqueued(model::JobId job);

  void ExplainEnqueue(model::JobId job, std::vector<framework::LimitCheck>& out) override;

  double factor() const { return factor_; }

 private:
  void ComputeIdle();
  model::Resource PromisedMinimum(model::JobId job) const;

  double factor_ = kDefaultFactor;
  framework::Session* session_ = nullptr;
  const model::Tables* view_ = nullptr;
  UnitScale scale_;
  JobLedger<1> promised_;
  framework::TouchCursor cursor_;
  std::vector<int64_t> used_;     // sum over nodes by dimension
  std::vector<int64_t> counted_;  // what of it is each leaf's, by leaf and dimension
  Amounts idle_, inqueue_;        // of this session
  Amounts minimum_, together_;    // scratch
};

}  // namespace hekla::plugins

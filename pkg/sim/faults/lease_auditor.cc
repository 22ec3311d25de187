#include "pkg/sim/faults/lease_auditor.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::sim {

using apis::json::Value;

void LeaseAuditor::Observe(absl::string_view type, const Value& lease, absl::Time now) {
  const Value& spec = lease.At("spec");
  std::string holder(type == "DELETED" ? "" : spec.GetString("holderIdentity"));
  if (holder == holder_ && spec == spec_) return;
  if (holder != holder_) {
    ++changes_;
    if (!holder_.empty() && !holder.empty() && now < free_) {
      violations_.push_back({now, "lease-taken-early",
                             absl::StrCat(holder, " takes the lease of ", holder_, " ",
                                          absl::FormatDuration(free_ - now), " too early")});
    }
  }
  holder_ = std::move(holder);
  spec_ = spec;
  const absl::Duration duration = absl::Seconds(spec.GetInt("leaseDurationSeconds"));
  free_ = now + duration * 1000 / fastest_permille_;
}

}  // namespace hekla::sim

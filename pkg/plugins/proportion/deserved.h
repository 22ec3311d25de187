#pragma once

#include "absl/types/span.h"
#include "pkg/plugins/common/amounts.h"

namespace hekla::plugins {

// What one queue brings into the division of the cluster.
struct QueueDemand {
  int32_t weight = 1;
  Amounts request;          // allocated + pending
  Amounts guarantee;        // lower limit; wins over everything else
  Amounts real_capability;  // upper limit
};

// Divides `total` among queues by weight: in rounds, each queue that still wants something gets its
// weighted part of what remains, cut to its limits; what a cut leaves goes into the next round.
//
// A queue limited in one dimension goes on receiving the others, so contested dimensions converge
// geometrically. All rounds are in doubles and in the order of `queues`.
// Cost:   O(rounds * queues * dimensions); rounds are bounded (a very small weight beside very
//         large ones could otherwise keep the loop going for minutes).
// Source: spec scheduler-actions 3.7.2, examples 5.2.
void DivideByWeight(absl::Span<const QueueDemand> queues, const Amounts& total,
                    std::vector<Amounts>& deserved);

}  // namespace hekla::plugins

#pragma once

#include <string>
#include <vector>

#include "pkg/model/cluster.h"

namespace hekla::cache {

// The tables for people who look for a fault. Everything is in order of names.
// Threads: the session thread, between cycles.
// Cost:    all nodes, jobs and tasks; a second for a very large cluster.

// Six JSON documents, one per line: nodes; hypernode names by tier; tier names; nodes per
// hypernode; hypernodes; jobs. Those about hypernodes are empty.
// Source: spec scheduler-core 1.4.
std::string DumpJson(const model::Cluster& cluster);

// One line per node, one per job, one of sizes.
std::vector<std::string> DumpText(const model::Cluster& cluster);

}  // namespace hekla::cache

#pragma once

#include "pkg/model/cluster.h"

namespace hekla::ports {

// Opens cycles: applies what has been queued since the last one and hands out the tables.
// Threads: the session thread.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  // True once every initial list of a needed kind has been applied. Nothing may be decided before.
  virtual bool Synced() const = 0;
  // O(changes). The reference stays valid for the life of the source.
  virtual model::Cluster& Snapshot() = 0;
};

}  // namespace hekla::ports

#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/status/latest_writes.h"
#include "pkg/cache/status/message_throttle.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Writes PodGroups whole (their kind has no status subresource): the object as the watch last
// brought it, with the new status. Nothing is written that equals what the server has, times and
// transition ids aside. After a conflict the write is tried again once the watch has caught up.
// Threads: the io executor.
// Source:  spec scheduler-core 4.4, E14.
class PodGroupWriter {
 public:
  explicit PodGroupWriter(const WriteContext* context)
      : context_(context), writes_(context, Lane::kStatus, "podgroup/") {}

  void Write(ports::PodGroupStatus status);
  void Forget(const std::string& key) {
    throttle_.Forget(key);
    deferred_.erase(key);
    wanted_.erase(key);
    writes_.Forget(key);
  }
  // Whether this status is what we are writing, or wrote last: the echo of a write.
  bool IsOwnWrite(const model::JobSpec& group) const;
  size_t deferred() const { return deferred_.size(); }

 private:
  struct Item {
    ports::PodGroupStatus status;
    LatestWrites::Serial serial = 0;
    int tries = 0;
    int64_t refused_version = 0;  // the server has a newer one
  };
  using ItemPtr = std::shared_ptr<Item>;

  WriteChannel::Call CallOf(const ItemPtr& item);
  void Submit(const ItemPtr& item);
  void Begin(const ItemPtr& item, WriteChannel::Done done);
  void Answered(const ItemPtr& item, const absl::StatusOr<apis::json::Value>& answer);

  const WriteContext* const context_;
  MessageThrottle throttle_;
  LatestWrites writes_;
  absl::flat_hash_map<std::string, ports::PodGroupStatus> deferred_;
  // What was last sent for each group that is still there.
  absl::flat_hash_map<std::string, ports::PodGroupStatus> wanted_;
};

// Whether a status differs from what the server has, times and transition ids aside.
bool StatusDiffers(const model::JobSpec& have, const ports::PodGroupStatus& want);

}  // namespace hekla::cache

#pragma once

#include <memory>
#include <string>

#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/status/latest_writes.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Writes status.allocated of queues where it differs, and makes queues that have to exist.
// Threads: the io executor.
// Source:  spec scheduler-core 1.3, 4.7.
class QueueWriter {
 public:
  explicit QueueWriter(const WriteContext* context)
      : context_(context), writes_(context, Lane::kStatus, "queue/") {}

  void Write(ports::QueueStatus status);
  void Forget(const std::string& name) { writes_.Forget(name); }
  // Makes `root`, then `default_queue`, where they are missing; tries again, 60 times a second
  // apart.
  void CreateMissing(const std::string& default_queue);

 private:
  struct Item {
    ports::QueueStatus status;
    LatestWrites::Serial serial = 0;
    int conflicts = 0;
    int tries = 0;
  };
  using ItemPtr = std::shared_ptr<Item>;

  WriteChannel::Call CallOf(const ItemPtr& item);
  // Settles a write that failed, or has it repeated.
  void Failed(const ItemPtr& item, const absl::Status& status);
  void Begin(const ItemPtr& item, WriteChannel::Done done);
  void Put(const ItemPtr& item, apis::json::Value queue, WriteChannel::Done done);
  void ReadAgain(const ItemPtr& item, WriteChannel::Done done);
  void Create(const std::string& name, bool reclaimable, int tries, std::function<void()> next);

  const WriteContext* const context_;
  LatestWrites writes_;
};

}  // namespace hekla::cache

#pragma once

#include <memory>
#include <string>

#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Writes status.allocated of queues where it differs, and makes queues that have to exist.
// Threads: the io executor.
// Source:  spec scheduler-core 1.3, 4.7.
class QueueWriter {
 public:
  explicit QueueWriter(const WriteContext* context) : context_(context) {}

  void Write(ports::QueueStatus status);
  // Makes `root`, then `default_queue`, where they are missing; tries again, 60 times a second
  // apart.
  void CreateMissing(const std::string& default_queue);

 private:
  struct Item {
    ports::QueueStatus status;
    int conflicts = 0;
  };
  using ItemPtr = std::shared_ptr<Item>;

  void Begin(const ItemPtr& item, WriteChannel::Done done);
  void Put(const ItemPtr& item, apis::json::Value queue, WriteChannel::Done done);
  void Create(const std::string& name, bool reclaimable, int tries, std::function<void()> next);

  const WriteContext* const context_;
};

}  // namespace hekla::cache

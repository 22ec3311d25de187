#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/bind/item_backoff.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Carries evictions out: events on PodGroup and pod, conditions Ready and DisruptionTarget, DELETE
// with the pod's own grace period. A failure is settled by reading the pod again and comes back as
// EvictFailed. Other than upstream, a pod that already carries the conditions is deleted all the
// same.
// Threads: the io executor.
// Source:  spec scheduler-core 9.6, E23.
class Evictor {
 public:
  // `scheduler_name` stands in the DisruptionTarget condition.
  Evictor(const WriteContext* context, std::string scheduler_name)
      : context_(context), scheduler_name_(std::move(scheduler_name)) {}

  void Evict(ports::EvictRequest request);
  void Forget(absl::string_view uid) { backoff_.Forget(uid); }

 private:
  struct Item;
  using ItemPtr = std::shared_ptr<Item>;

  void Read(const ItemPtr& item, WriteChannel::Done done);
  void WriteStatus(const ItemPtr& item, apis::json::Value pod, WriteChannel::Done done);
  void Delete(const ItemPtr& item, WriteChannel::Done done);
  void Failed(const ItemPtr& item, const absl::Status& status);
  // Reads the pod after a pause and tells the tables how it is.
  void Settle(const ItemPtr& item, absl::Duration delay);

  const WriteContext* const context_;
  const std::string scheduler_name_;
  ItemBackoff backoff_;
};

}  // namespace hekla::cache

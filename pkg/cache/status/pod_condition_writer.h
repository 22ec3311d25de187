#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/status/latest_writes.h"
#include "pkg/cache/status/message_throttle.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Writes PodScheduled=False and the nominated node into pods where that changes something, and
// tells of it by an event `FailedScheduling`, as upstream does: what is never written, or is there
// already, gets none. The pod is read first: what is written is the whole status, and other
// writers' changes must stay. A write that the server could not take is repeated until it succeeds
// or a newer one takes its place; its event is not. Threads: the io executor. Source:  spec
// scheduler-core 4.6.
class PodConditionWriter {
 public:
  explicit PodConditionWriter(const WriteContext* context)
      : context_(context), writes_(context, Lane::kCondition, "") {}

  void Write(ports::PodConditionWrite write);
  void Forget(const std::string& key) {
    throttle_.Forget(key);
    deferred_.erase(key);
    writes_.Forget(key);
  }
  size_t deferred() const { return deferred_.size(); }

 private:
  struct Item;
  using ItemPtr = std::shared_ptr<Item>;

  // What is known of the pod, if it still is that pod, waits for a node, and the write would change
  // something; else null.
  const model::TaskSpec* ToChange(const ports::PodConditionWrite& write);
  WriteChannel::Call CallOf(const ItemPtr& item);
  void Settled(const ItemPtr& item);
  void Submit(ports::PodConditionWrite write);
  void SubmitDeferred(const std::string& key, uint64_t turn);
  void Tell(Item& item);
  void Begin(const ItemPtr& item, WriteChannel::Done done);
  void Read(const ItemPtr& item, WriteChannel::Done done);
  void Update(const ItemPtr& item, apis::json::Value pod, WriteChannel::Done done);
  void Failed(const ItemPtr& item, const absl::Status& status);

  const WriteContext* const context_;
  MessageThrottle throttle_;
  LatestWrites writes_;
  struct Deferred {
    ports::PodConditionWrite write;
    uint64_t turn = 0;
  };
  // The newest write of each pod whose turn has not come.
  absl::flat_hash_map<std::string, Deferred> deferred_;
  uint64_t last_turn_ = 0;
};

}  // namespace hekla::cache

#pragma once

#include <memory>
#include <string>

#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/status/latest_writes.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Writes PodScheduled=False and the nominated node into pods where that changes something, and
// tells of it by an event `FailedScheduling`, as upstream does: what is never written, or is there
// already, gets none. The pod is read first: what is written is the whole status, and other
// writers' changes must stay. A write that the server could not take is repeated until it succeeds
// or a newer one takes its place; its event is not. How often wording may change is up to whoever
// decides (framework/pod_conditions.cc). Threads: the io executor. Source: spec scheduler-core 4.6.
class PodConditionWriter {
 public:
  explicit PodConditionWriter(const WriteContext* context)
      : context_(context), writes_(context, Lane::kCondition, "") {}

  void Write(ports::PodConditionWrite write);
  void Forget(const std::string& key) { writes_.Forget(key); }

 private:
  struct Item;
  using ItemPtr = std::shared_ptr<Item>;

  // Whether the pod is known and still that pod, waits for a node, and would change by the write.
  bool Changes(const ports::PodConditionWrite& write);
  WriteChannel::Call CallOf(const ItemPtr& item);
  void Settled(const ItemPtr& item);
  void Tell(Item& item);
  void Begin(const ItemPtr& item, WriteChannel::Done done);
  void Read(const ItemPtr& item, WriteChannel::Done done);
  void Update(const ItemPtr& item, apis::json::Value pod, WriteChannel::Done done);
  void Failed(const ItemPtr& item, const absl::Status& status);

  const WriteContext* const context_;
  LatestWrites writes_;
};

}  // namespace hekla::cache

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/bind/item_backoff.h"
#include "pkg/cache/bind/volume_binder.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::cache {

// Sends bindings. A binding that failed, or of which nobody knows whether it took effect, is
// settled by reading the pod:
//   it stands on our node        success after all
//   it stands elsewhere          BindFailed with what was read
//   it has no node               condition SchedulerError with its event, then BindFailed
//   it is gone, or another pod   BindFailed without a pod
// 429 did not take effect and is sent again after a pause.
// Threads: the io executor.
// Source:  spec scheduler-core 9.5, 9.6; design.md section 5.
class Binder {
 public:
  // Writes the pod's PodScheduled condition: reason, message.
  using WriteCondition = std::function<void(ports::PodConditionWrite)>;

  Binder(const WriteContext* context, WriteCondition write_condition);

  void Bind(ports::BindRequest request);
  // The pod is gone; its failures need not be remembered.
  void Forget(absl::string_view uid) { backoff_.Forget(uid); }

 private:
  struct Item {
    ports::BindRequest request;
    int throttled = 0;  // 429 in a row
    absl::Status error;
    std::string message;  // for the condition
  };
  using ItemPtr = std::shared_ptr<Item>;

  void Prepare(const ItemPtr& item);
  void Send(const ItemPtr& item, absl::Duration delay);
  void Post(const ItemPtr& item, WriteChannel::Done done);
  // Before the pod is read: none after the first failure, then growing.
  absl::Duration NextDelay(const ItemPtr& item);
  void Succeeded(const ItemPtr& item);
  // Reads the pod after `delay` and decides what became of the binding.
  void Settle(const ItemPtr& item, absl::Duration delay);
  void Decide(const ItemPtr& item, absl::StatusOr<apis::json::Value> pod);
  void Fail(const ItemPtr& item, std::shared_ptr<const model::TaskSpec> now);

  const WriteContext* const context_;
  const WriteCondition write_condition_;
  VolumeBinder volumes_;
  ItemBackoff backoff_;
};

// The body of POST pods/<name>/binding.
std::string BindingBody(const ports::BindRequest& request);

}  // namespace hekla::cache

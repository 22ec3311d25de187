#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace hekla::model {

// Life of a task as the scheduler sees it. Allocated, Pipelined and Binding never come from a pod:
// they are decisions. Source: spec scheduler-core 8.1.
enum class TaskStatus : uint8_t {
  kPending,
  kAllocated,  // placed by the open session, not committed
  kPipelined,  // waits for room that is being freed; ends with the session
  kBinding,    // committed; the API server has not confirmed it yet
  kBound,
  kRunning,
  kReleasing,  // terminating, or evicted by us
  kSucceeded,
  kFailed,
  kUnknown,
};
inline constexpr int kTaskStatusCount = 10;

constexpr uint32_t StatusBit(TaskStatus s) { return 1u << static_cast<int>(s); }
inline constexpr uint32_t kAllocatedStatuses =
    StatusBit(TaskStatus::kBound) | StatusBit(TaskStatus::kBinding) |
    StatusBit(TaskStatus::kRunning) | StatusBit(TaskStatus::kAllocated);
inline constexpr uint32_t kScheduledStatuses =
    StatusBit(TaskStatus::kRunning) | StatusBit(TaskStatus::kBound) |
    StatusBit(TaskStatus::kSucceeded) | StatusBit(TaskStatus::kFailed);
inline constexpr uint32_t kReadyStatuses = kAllocatedStatuses | StatusBit(TaskStatus::kSucceeded);
inline constexpr uint32_t kValidStatuses =
    kReadyStatuses | StatusBit(TaskStatus::kPipelined) | StatusBit(TaskStatus::kPending);

constexpr bool IsOneOf(TaskStatus s, uint32_t set) { return (StatusBit(s) & set) != 0; }

// "Pending", "Binding", …: the words used in fit errors.
absl::string_view StatusName(TaskStatus s);

}  // namespace hekla::model

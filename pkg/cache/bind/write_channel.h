#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/util/clock.h"
#include "pkg/util/executor.h"

namespace hekla::cache {

// How urgent a write is; a smaller one goes first while calls are scarce. Source: design.md 5.
enum class Lane : uint8_t { kBind, kEvict, kStatus, kCondition };
inline constexpr int kLaneCount = 4;

// Lets a bounded number of calls be in flight, the most urgent first. The bound follows the server:
// it grows by one per round of successes and is halved when the server is overloaded (429,
// time-out, 5xx, no connection), at most once per `cut_interval`.
// Threads: the io executor; pending() from any thread.
class WriteChannel {
 public:
  struct Options {
    double initial_window = 64;
    double min_window = 4;
    double max_window = 256;
    absl::Duration cut_interval = absl::Milliseconds(100);
  };
  // Ends a call: exactly once, on the io executor. The status only steers the window.
  using Done = std::function<void(const absl::Status&)>;
  using Call = std::function<void(Done)>;

  // `executor` must outlive the channel. Timers of a channel that is gone do nothing.
  WriteChannel(util::Executor* executor, Options options);

  void Submit(Lane lane, Call call);
  // Replaces what is queued under the same key, keeping its place; waits for the call of this key
  // that is in flight.
  void SubmitLatest(Lane lane, const std::string& key, Call call);
  // As SubmitLatest, but what is already queued under the key stays.
  void SubmitIfAbsent(Lane lane, const std::string& key, Call call);
  // Submit after a pause; counts as pending meanwhile.
  void SubmitAfter(absl::Duration delay, Lane lane, Call call);

  // Something under way outside the window that counts as pending until Release.
  void Hold() { pending_.fetch_add(1, std::memory_order_acq_rel); }
  void Release() { Drop(1); }

  // Drops what has not begun; what is in flight ends as usual. Later submissions are dropped too.
  void Close();
  // Calls `done` once nothing is pending; at once if that is so.
  void WhenIdle(std::function<void()> done);
  // Called whenever the last call has ended and none is queued; on the io executor.
  void OnQuiet(std::function<void()> quiet) { on_quiet_ = std::move(quiet); }
  // Calls it now if that is so.
  void TellIfQuiet() {
    if (on_quiet_ != nullptr && !busy()) on_quiet_();
  }
  // Whether calls are in flight or queued. What waits for its pause to end or is held may be so for
  // long, and is not.
  bool busy() const;

  size_t pending() const { return pending_.load(std::memory_order_acquire); }
  size_t in_flight() const { return in_flight_; }
  double window() const { return window_; }

 private:
  struct Queued {
    std::string key;  // "": see call
    Call call;
  };
  struct Keyed {
    Call waiting;  // null: nothing is queued
    bool in_flight = false;
    bool queued = false;  // stands in its lane
  };
  struct LaneState {
    std::deque<Queued> queue;
    absl::flat_hash_map<std::string, Keyed> keyed;
  };

  void Pump();
  void Begin(Lane lane, Queued item);
  void Ended(Lane lane, const std::string& key, const absl::Status& status);
  void Adapt(const absl::Status& status);
  void Finished();
  void Drop(size_t n);

  util::Executor* const executor_;
  const Options options_;
  std::array<LaneState, kLaneCount> lanes_;
  std::atomic<size_t> pending_{0};
  size_t in_flight_ = 0;
  size_t delayed_ = 0;  // wait for their pause to end
  double window_;
  absl::Duration last_cut_ = util::kNotYet;
  bool pumping_ = false;
  bool closed_ = false;
  std::function<void()> when_idle_;
  std::function<void()> on_quiet_;
  // Dies with the channel; timers look at it.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Whether a failure says that the server has too much to do or is away.
bool IsOverload(const absl::Status& status);

}  // namespace hekla::cache

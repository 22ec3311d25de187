#pragma once

#include <map>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "pkg/util/clock.h"
#include "pkg/util/executor.h"

namespace hekla::util {

// An executor that somebody drives: tests, and the simulation with its virtual time. Tasks run
// inside the Run… calls, on the caller's thread.
class ManualExecutor final : public Executor {
 public:
  // `clock`, the true time, must outlive the executor; AdvanceTo moves it. Where there is an `own`,
  // tasks see that one's time and their delays are counted by it.
  explicit ManualExecutor(FakeClock* clock, const SkewedClock* own = nullptr)
      : clock_(clock), own_(own) {}

  void Post(Task task) override { PostAfter(absl::ZeroDuration(), std::move(task)); }
  TimerId PostAfter(absl::Duration delay, Task task) override;
  bool Cancel(TimerId id) override;
  absl::Time Now() const override { return own().Now(); }
  absl::Duration Uptime() const override { return own().Uptime(); }

  // --- for who drives it, in true time ---
  // Runs the first task that is due; false when none is.
  bool RunOne();
  // Runs what is due now, including what the tasks post meanwhile. Returns the number of tasks.
  size_t RunReady();
  // Moves the clock from task to task up to `time`, running each at its own time.
  void AdvanceTo(absl::Time time);
  void Advance(absl::Duration d) { AdvanceTo(clock_->Now() + d); }
  // When the next task is due; InfiniteFuture when there is none.
  absl::Time NextDue() const;
  size_t pending() const;

 private:
  using Key = std::pair<absl::Time, TimerId>;

  const Clock& own() const { return own_ != nullptr ? static_cast<const Clock&>(*own_) : *clock_; }

  FakeClock* const clock_;
  const SkewedClock* const own_;
  mutable absl::Mutex mutex_;
  TimerId next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<Key, Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::map<TimerId, absl::Time> due_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::util

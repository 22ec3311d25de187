#pragma once

#include <cstdint>
#include <functional>

#include "absl/time/time.h"

namespace hekla::util {

// The one way to get work done later. Components that are driven from outside (reflectors,
// recorders, electors, transports in the same process) take one in their constructor and start no
// thread of their own.
// Order:   tasks of one executor run one at a time: by due time, then in the order they were
//          posted. What runs on one executor only needs no lock.
// Threads: all calls from any thread; a task is never run from inside a call.
class Executor {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // never 0

  virtual ~Executor() = default;
  virtual void Post(Task task) = 0;
  // Runs `task` once `delay` has passed; a delay of zero or less is Post.
  virtual TimerId PostAfter(absl::Duration delay, Task task) = 0;
  // Returns true if the task will not run: it had not begun. Called from a task of the same
  // executor this settles it; from elsewhere, false can mean "is running now".
  virtual bool Cancel(TimerId id) = 0;
  // The time of day, for what is told to others: it may be set to anything at any moment. Nothing
  // is measured by it.
  virtual absl::Time Now() const = 0;
  // By which delays are counted; as Clock::Uptime.
  virtual absl::Duration Uptime() const = 0;
};

}  // namespace hekla::util

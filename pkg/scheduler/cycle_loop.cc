#include "pkg/scheduler/cycle_loop.h"

#include <algorithm>
#include <utility>

#include "pkg/util/clock.h"

namespace hekla::scheduler {

// Shared with the tasks that are posted, so that a late one finds out that the loop has gone.
struct CycleLoop::Core : std::enable_shared_from_this<CycleLoop::Core> {
  Core(util::Executor* e, Options o, std::function<void()> c)
      : executor(e), options(o), cycle(std::move(c)) {}

  util::Executor* const executor;
  const Options options;
  const std::function<void()> cycle;
  // Set by Wake, cleared when a cycle begins: many events post one task.
  std::atomic<bool> woken = false;
  std::atomic<bool> running = false;
  // In uptime.
  absl::Duration last_start = util::kNotYet;
  absl::Duration due = absl::InfiniteDuration();  // of the timer
  util::Executor::TimerId timer = 0;

  void RunAt(absl::Duration time) {
    if (timer != 0 && due <= time) return;
    if (timer != 0) executor->Cancel(timer);
    due = time;
    timer = executor->PostAfter(time - executor->Uptime(), [self = shared_from_this()] {
      self->timer = 0;
      self->Run();
    });
  }

  void Run() {
    if (!running) return;
    if (timer != 0) executor->Cancel(timer);
    timer = 0;
    woken = false;
    last_start = executor->Uptime();
    cycle();
    if (!running) return;
    const absl::Duration now = executor->Uptime();
    RunAt(woken ? std::max(now, last_start + options.min_gap) : now + options.period);
  }
};

CycleLoop::CycleLoop(util::Executor* executor, Options options, std::function<void()> cycle)
    : core_(std::make_shared<Core>(executor, options, std::move(cycle))) {}

CycleLoop::~CycleLoop() { Stop(); }

void CycleLoop::Start() {
  core_->running = true;
  core_->executor->Post([core = core_] { core->Run(); });
}

void CycleLoop::Wake() {
  if (core_->woken.exchange(true)) return;
  core_->executor->Post([core = core_] {
    if (!core->running || !core->woken) return;
    core->RunAt(std::max(core->executor->Uptime(), core->last_start + core->options.min_gap));
  });
}

void CycleLoop::Stop() { core_->running = false; }

}  // namespace hekla::scheduler

#include "pkg/controller/queue.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"

namespace hekla::controller {
namespace {

// One call that waits for the organiser.
struct Input {
  enum class Kind : uint8_t { kAdd, kDone, kForget, kAsk };
  Kind kind;
  Request key;
  AddOptions options;
  PriorityQueue::Take take;
};

// When a key is ready that is ready already; smaller than every moment.
constexpr absl::Duration kReady = -absl::InfiniteDuration();

struct Pending {
  Request key;
  int priority = 0;
  uint64_t order = 0;
  absl::Duration ready_at = kReady;  // in uptime
  absl::Duration ready_since = absl::ZeroDuration();

  bool ready() const { return ready_at == kReady; }
};

struct ReadyOrder {
  bool operator()(const Pending* a, const Pending* b) const {
    return a->priority != b->priority ? a->priority > b->priority : a->order < b->order;
  }
};
struct WaitingOrder {
  bool operator()(const Pending* a, const Pending* b) const {
    return a->ready_at != b->ready_at ? a->ready_at < b->ready_at : ReadyOrder()(a, b);
  }
};

}  // namespace

// The organiser and what it owns. Everything below `--- the organiser's` belongs to its thread.
class PriorityQueue::Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Deps deps) : deps_(std::move(deps)) {}

  void ReportRunning() {
    if (deps_.metrics == nullptr) return;
    deps_.metrics->SetRunning([weak = weak_from_this()] {
      auto core = weak.lock();
      return core == nullptr ? std::pair<double, double>() : core->Running();
    });
  }

  void Push(Input input) {
    absl::MutexLock lock(&mutex_);
    if (shut_down_ && input.kind == Input::Kind::kAdd) return;
    input_.push_back(std::move(input));
    PostStep();
  }
  void ShutDown() {
    absl::MutexLock lock(&mutex_);
    if (shut_down_.exchange(true)) return;
    PostStep();
  }
  // The executor and the other dependencies may go.
  void Close() {
    ShutDown();
    if (deps_.metrics != nullptr) deps_.metrics->SetRunning(nullptr);
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    if (due_timer_ != 0) deps_.executor->Cancel(due_timer_);
    due_timer_ = 0;
  }
  bool shut_down() const { return shut_down_; }
  int NumRequeues(const Request& key) const { return deps_.limiter->NumRequeues(key); }
  Counts counts() const {
    absl::MutexLock lock(&mutex_);
    return counts_;
  }

  // --- the organiser's ---
  void Organise() {
    TakeInput();
    if (shut_down_) {
      DropAll();
    } else {
      MoveDue();
      while (!asking_.empty()) {
        std::optional<Item> item = TakeReady();
        if (!item.has_value()) break;
        Take take = std::move(asking_.front());
        asking_.pop_front();
        take(std::move(item));
      }
    }
    ArmTimer();
    Publish();
  }
  std::optional<Item> TryTake() {
    Organise();
    if (shut_down_) return std::nullopt;
    std::optional<Item> item = TakeReady();
    Publish();
    return item;
  }
  absl::Duration NextDue() const {
    return waiting_.empty() ? absl::InfiniteDuration() : (*waiting_.begin())->ready_at;
  }

 private:
  void PostStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (step_posted_ || closed_) return;
    step_posted_ = true;
    deps_.executor->Post([weak = weak_from_this()] {
      if (auto core = weak.lock()) core->Step(/*by_timer=*/false);
    });
  }
  // As a task of the executor.
  void Step(bool by_timer) {
    {
      absl::MutexLock lock(&mutex_);
      if (by_timer) {
        due_timer_ = 0;
      } else {
        step_posted_ = false;
      }
      if (closed_) return;
    }
    Organise();
  }

  void TakeInput() {
    {
      absl::MutexLock lock(&mutex_);
      taken_.swap(input_);
    }
    const absl::Duration now = deps_.executor->Uptime();
    for (Input& input : taken_) {
      switch (input.kind) {
        case Input::Kind::kAdd:
          Merge(input.key, input.options, now);
          break;
        case Input::Kind::kDone:
          Unlock(input.key, now);
          break;
        case Input::Kind::kForget:
          deps_.limiter->Forget(input.key);
          break;
        case Input::Kind::kAsk:
          asking_.push_back(std::move(input.take));
          break;
      }
    }
    taken_.clear();
  }

  void Merge(const Request& key, const AddOptions& options, absl::Duration now) {
    if (shut_down_) return;
    absl::Duration after = std::max(options.after, absl::ZeroDuration());
    if (options.rate_limited) {
      // Counts a failure even where the other delay is the shorter one.
      const absl::Duration limited = deps_.limiter->When(key, now);
      if (after == absl::ZeroDuration() || limited < after) after = limited;
    }
    const bool delayed = after > absl::ZeroDuration();
    if (delayed && deps_.metrics != nullptr) deps_.metrics->Retried();
    const absl::Duration ready_at = delayed ? now + after : kReady;
    const int priority = options.priority.value_or(0);

    const auto [it, is_new] = items_.try_emplace(key);
    if (is_new) {
      it->second = std::make_unique<Pending>();
      it->second->key = key;
      it->second->priority = priority;
      it->second->order = next_order_++;
      it->second->ready_at = ready_at;
      Insert(*it->second, now);
      return;
    }
    Pending& item = *it->second;
    // The earliest time wins.
    const absl::Duration earliest = std::min(item.ready_at, ready_at);
    if (earliest == item.ready_at && priority <= item.priority) return;
    Remove(item);
    const bool was_ready = item.ready();
    const int old_priority = item.priority;
    item.ready_at = earliest;
    if (priority > item.priority) {
      item.priority = priority;
      item.order = next_order_++;
    }
    if (was_ready) {
      ready_.insert(&item);
      if (deps_.metrics != nullptr) deps_.metrics->Moved(old_priority, item.priority);
    } else {
      Insert(item, now);
    }
  }

  // An item that was in neither set goes into the right one.
  void Insert(Pending& item, absl::Duration now) {
    if (!item.ready()) {
      waiting_.insert(&item);
      return;
    }
    item.ready_since = now;
    ready_.insert(&item);
    if (deps_.metrics != nullptr) deps_.metrics->BecameReady(item.priority);
  }
  void Remove(Pending& item) {
    if (item.ready()) {
      ready_.erase(&item);
    } else {
      waiting_.erase(&item);
    }
  }

  void MoveDue() {
    const absl::Duration now = deps_.executor->Uptime();
    while (!waiting_.empty() && (*waiting_.begin())->ready_at <= now) {
      Pending& item = **waiting_.begin();
      waiting_.erase(waiting_.begin());
      item.ready_at = kReady;
      item.order = next_order_++;  // in the order of becoming ready
      Insert(item, now);
    }
  }

  std::optional<Item> TakeReady() {
    for (auto it = ready_.begin(); it != ready_.end(); ++it) {
      Pending& pending = **it;
      if (locked_.contains(pending.key)) continue;
      const absl::Duration now = deps_.executor->Uptime();
      Item item{.key = std::move(pending.key),
                .priority = pending.priority,
                .waited = now - pending.ready_since};
      ready_.erase(it);
      items_.erase(item.key);
      locked_.emplace(item.key, now);
      if (deps_.metrics != nullptr) {
        deps_.metrics->LeftReady(item.priority);
        deps_.metrics->Dispatched(item.waited);
      }
      if (deps_.on_dispatch) deps_.on_dispatch(item.key, item.waited);
      return item;
    }
    return std::nullopt;
  }

  void Unlock(const Request& key, absl::Duration now) {
    const auto it = locked_.find(key);
    if (it == locked_.end()) return;
    const absl::Duration worked = now - it->second;
    locked_.erase(it);
    if (deps_.metrics != nullptr) deps_.metrics->Finished(worked);
    if (deps_.on_done) deps_.on_done(key, worked);
  }

  void DropAll() {
    for (const Pending* item : ready_) {
      if (deps_.metrics != nullptr) deps_.metrics->LeftReady(item->priority);
    }
    ready_.clear();
    waiting_.clear();
    items_.clear();
    for (Take& take : std::exchange(asking_, {})) take(std::nullopt);
  }

  void ArmTimer() {
    const absl::Duration due = NextDue();
    absl::MutexLock lock(&mutex_);
    if (due == due_at_ && due_timer_ != 0) return;
    if (due_timer_ != 0) deps_.executor->Cancel(due_timer_);
    due_timer_ = 0;
    due_at_ = due;
    if (due == absl::InfiniteDuration() || closed_) return;
    due_timer_ =
        deps_.executor->PostAfter(due - deps_.executor->Uptime(), [weak = weak_from_this()] {
          if (auto core = weak.lock()) core->Step(/*by_timer=*/true);
        });
  }

  // For readers on other threads.
  void Publish() {
    absl::MutexLock lock(&mutex_);
    counts_ = {.ready = ready_.size(),
               .waiting = waiting_.size(),
               .locked = locked_.size(),
               .asking = asking_.size()};
    running_since_.clear();
    for (const auto& [key, since] : locked_) running_since_.push_back(since);
  }
  std::pair<double, double> Running() const {
    absl::MutexLock lock(&mutex_);
    if (closed_) return {};
    const absl::Duration now = deps_.executor->Uptime();
    std::pair<double, double> sum_and_longest;
    for (absl::Duration since : running_since_) {
      const double seconds = absl::ToDoubleSeconds(now - since);
      sum_and_longest.first += seconds;
      sum_and_longest.second = std::max(sum_and_longest.second, seconds);
    }
    return sum_and_longest;
  }

  const Deps deps_;
  std::atomic<bool> shut_down_ = false;

  mutable absl::Mutex mutex_;
  std::vector<Input> input_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool step_posted_ ABSL_GUARDED_BY(mutex_) = false;
  util::Executor::TimerId due_timer_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration due_at_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Duration> running_since_ ABSL_GUARDED_BY(mutex_);

  // The organiser's.
  std::vector<Input> taken_;
  absl::flat_hash_map<Request, std::unique_ptr<Pending>> items_;
  std::set<Pending*, ReadyOrder> ready_;
  std::set<Pending*, WaitingOrder> waiting_;
  absl::flat_hash_map<Request, absl::Duration> locked_;  // since when
  std::deque<Take> asking_;
  uint64_t next_order_ = 0;
};

PriorityQueue::PriorityQueue(Deps deps) : core_(std::make_shared<Core>(std::move(deps))) {
  core_->ReportRunning();
}
PriorityQueue::~PriorityQueue() { core_->Close(); }

void PriorityQueue::Add(Request key, const AddOptions& options) {
  core_->Push(
      {.kind = Input::Kind::kAdd, .key = std::move(key), .options = options, .take = nullptr});
}
void PriorityQueue::Ask(Take take) {
  core_->Push({.kind = Input::Kind::kAsk, .key = {}, .options = {}, .take = std::move(take)});
}
void PriorityQueue::Done(const Request& key) {
  core_->Push({.kind = Input::Kind::kDone, .key = key, .options = {}, .take = nullptr});
}
void PriorityQueue::Forget(const Request& key) {
  core_->Push({.kind = Input::Kind::kForget, .key = key, .options = {}, .take = nullptr});
}
int PriorityQueue::NumRequeues(const Request& key) const { return core_->NumRequeues(key); }
void PriorityQueue::ShutDown() { core_->ShutDown(); }
bool PriorityQueue::shutting_down() const { return core_->shut_down(); }
void PriorityQueue::Organise() { core_->Organise(); }
std::optional<PriorityQueue::Item> PriorityQueue::TryTake() { return core_->TryTake(); }
absl::Duration PriorityQueue::NextDue() const { return core_->NextDue(); }
PriorityQueue::Counts PriorityQueue::counts() const { return core_->counts(); }

std::optional<PriorityQueue::Item> PriorityQueue::AskAndWait() {
  // The last step after a shutdown may be over: nobody would answer.
  if (shutting_down()) return std::nullopt;
  struct Answer {
    absl::Mutex mutex;
    bool there ABSL_GUARDED_BY(mutex) = false;
    std::optional<Item> item ABSL_GUARDED_BY(mutex);
  };
  auto answer = std::make_shared<Answer>();
  Ask([answer](std::optional<Item> item) {
    absl::MutexLock lock(&answer->mutex);
    answer->item = std::move(item);
    answer->there = true;
  });
  absl::MutexLock lock(&answer->mutex);
  answer->mutex.Await(absl::Condition(&answer->there));
  return std::move(answer->item);
}

}  // namespace hekla::controller

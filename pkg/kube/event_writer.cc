#include "pkg/kube/event_writer.h"

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/kube/api_status.h"
#include "pkg/kube/resource_client.h"
#include "pkg/util/random.h"

namespace hekla::kube {
namespace {

constexpr size_t kMaxName = 253;
// How long events wait for other writes at most.
constexpr absl::Duration kPatience = absl::Seconds(10);

bool IsDnsSubdomain(absl::string_view name) {
  if (name.empty() || name.size() > kMaxName) return false;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool at_start = true;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool at_end = i + 1 == name.size() || name[i + 1] == '.';
    if (c == '.') {
      if (at_start) return false;
      at_start = true;
      continue;
    }
    if (!alphanumeric(c) && (c != '-' || at_start || at_end)) return false;
    at_start = false;
  }
  return !at_start;
}

}  // namespace

std::string EventName(absl::string_view object_name, int64_t unix_nanos, uint64_t random1,
                      uint64_t random2) {
  std::string name = absl::StrFormat("%s.%x", object_name, unix_nanos);
  if (IsDnsSubdomain(name)) return name;
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", random1 >> 32, (random1 >> 16) & 0xffff,
                         random1 & 0xfff, 0x8000 | (random2 >> 50), random2 & 0xffffffffffff);
}

class EventWriter::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient* client, Executor* executor, Options options)
      : client_(client, options.resource),
        executor_(executor),
        options_(std::move(options)),
        random_(options_.seed) {}

  void Write(Event event) {
    std::string key = absl::StrCat(event.ns, "/", event.name);
    auto it = slots_.find(key);
    if (it == slots_.end()) {
      if (slots_.size() >= options_.queue_limit + static_cast<size_t>(options_.max_in_flight)) {
        Count(&Counters::dropped);
        if (options_.drops != nullptr) options_.drops->queue_full->Add();
        drop_log_.Add(executor_->Uptime(), absl::StrCat("name=", event.name));
        return;
      }
      slots_.emplace(key, Slot()).first->second.next = std::move(event);
      Enqueue(std::move(key));
      UpdatePending();
      SendReady();
      return;
    }
    Slot& slot = it->second;
    if (slot.next.has_value() && slot.next->patch.is_null()) {
      event.patch = apis::json::Value();  // not yet created: it is created in its newest state
    }
    slot.next = std::move(event);
  }

  void YieldWhile(std::function<bool()> busy) { busy_ = std::move(busy); }

  void LookAgain() {
    if (ready_.empty() || std::exchange(looks_again_, true)) return;
    executor_->Post([weak = weak_from_this()] {
      auto core = weak.lock();
      if (core == nullptr || core->stopped_) return;
      core->looks_again_ = false;
      core->SendReady();
    });
  }

  void WhenSent(std::function<void()> sent) {
    when_sent_ = std::move(sent);
    TellIfSent();
  }

  void Stop() {
    stopped_ = true;
    for (auto& [key, slot] : slots_) {
      if (slot.timer != 0) executor_->Cancel(slot.timer);
    }
    if (patience_ != 0) executor_->Cancel(std::exchange(patience_, 0));
    slots_.clear();
    ready_.clear();
    when_sent_ = nullptr;
    UpdatePending();
  }

  size_t pending() const {
    absl::MutexLock lock(&mutex_);
    return pending_;
  }
  Counters counters() const {
    absl::MutexLock lock(&mutex_);
    return counters_;
  }

 private:
  // The writes of one event. While one is under way, `next` holds what came after it.
  struct Slot {
    std::optional<Event> next;
    int tries = 0;
    Executor::TimerId timer = 0;
  };

  struct Waiting {
    std::string key;
    absl::Duration since;  // in uptime
  };

  void Enqueue(std::string key) { ready_.push_back({std::move(key), executor_->Uptime()}); }

  // While others write what matters more, events wait, and after kPatience go one at a time.
  bool MaySend() const {
    if (in_flight_ >= options_.max_in_flight) return false;
    if (!busy_ || !busy_()) return true;
    return in_flight_ == 0 && executor_->Uptime() - ready_.front().since >= kPatience;
  }

  void SendReady() {
    while (!ready_.empty() && MaySend()) {
      const std::string key = std::move(ready_.front().key);
      ready_.pop_front();
      Send(key);
    }
    TellIfSent();
    // A write of our own looks again when it ends.
    if (ready_.empty() || in_flight_ > 0 || patience_ != 0) return;
    const absl::Duration left = ready_.front().since + kPatience - executor_->Uptime();
    patience_ = executor_->PostAfter(left, [weak = weak_from_this()] {
      auto core = weak.lock();
      if (core == nullptr || core->stopped_) return;
      core->patience_ = 0;
      core->SendReady();
    });
  }

  void TellIfSent() {
    if (when_sent_ != nullptr && ready_.empty() && in_flight_ == 0) {
      executor_->Post(std::exchange(when_sent_, nullptr));
    }
  }

  void Send(const std::string& key) {
    Slot& slot = slots_.at(key);
    ++slot.tries;
    ++in_flight_;
    auto sent = std::make_shared<Event>(*std::exchange(slot.next, std::nullopt));
    auto done = [weak = weak_from_this(), executor = executor_, key,
                 sent](absl::StatusOr<apis::json::Value> answer) {
      executor->Post([weak, key, sent, status = answer.status()] {
        auto core = weak.lock();
        if (core != nullptr && !core->stopped_) core->OnSent(key, sent, status);
      });
    };
    if (sent->patch.is_null()) {
      client_.CreateForMetadata(sent->ns, sent->whole, std::move(done));
    } else {
      client_.Patch({.ns = sent->ns, .name = sent->name}, PatchType::kStrategicMerge, sent->patch,
                    std::move(done));
    }
  }

  void OnSent(const std::string& key, const std::shared_ptr<Event>& sent,
              const absl::Status& status) {
    --in_flight_;
    Slot& slot = slots_.at(key);
    const bool was_patch = !sent->patch.is_null();
    if (status.ok()) {
      Count(was_patch ? &Counters::patched : &Counters::created);
    } else if (was_patch && kube::IsNotFound(status)) {
      // It expired on the server: its whole is written anew, in its newest state.
      if (!slot.next.has_value()) slot.next = std::move(*sent);
      slot.next->patch = apis::json::Value();
    } else if (!GetApiStatus(status).has_value() && slot.tries < options_.tries) {
      if (!slot.next.has_value()) {
        slot.next = std::move(*sent);
      } else if (!was_patch) {
        slot.next->patch = apis::json::Value();
      }
      slot.timer = executor_->PostAfter(Wait(slot.tries), [weak = weak_from_this(), key] {
        auto core = weak.lock();
        if (core == nullptr || core->stopped_) return;
        core->slots_.at(key).timer = 0;
        core->Enqueue(key);
        core->SendReady();
      });
      SendReady();
      return;
    } else {
      Count(&Counters::failed);
      if (options_.drops != nullptr) options_.drops->not_written->Add();
      LOG_EVERY_N(WARNING, 100) << "event not written name=" << key
                                << " error=" << status.message();
    }
    slot.tries = 0;
    if (slot.next.has_value()) {
      Enqueue(key);
    } else {
      slots_.erase(key);
      UpdatePending();
    }
    SendReady();
  }

  absl::Duration Wait(int tries) {
    if (options_.first_wait_random && tries == 1) return options_.try_interval * random_.Unit();
    return options_.try_interval * (1 + options_.jitter * random_.Unit());
  }

  void Count(int64_t Counters::*counter) {
    absl::MutexLock lock(&mutex_);
    ++(counters_.*counter);
  }
  void UpdatePending() {
    absl::MutexLock lock(&mutex_);
    pending_ = slots_.size();
  }

  const ResourceClient client_;
  Executor* const executor_;
  const Options options_;
  util::Random random_;
  bool stopped_ = false;
  std::map<std::string, Slot> slots_;  // by namespace/name
  std::deque<Waiting> ready_;
  int in_flight_ = 0;
  bool looks_again_ = false;         // LookAgain is posted
  Executor::TimerId patience_ = 0;   // of the first that waits
  std::function<bool()> busy_;       // may be null
  std::function<void()> when_sent_;  // may be null
  DropLog drop_log_;
  mutable absl::Mutex mutex_;
  size_t pending_ ABSL_GUARDED_BY(mutex_) = 0;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
};

EventWriter::EventWriter(RestClient* client, Executor* executor, Options options)
    : core_(std::make_shared<Core>(client, executor, std::move(options))) {}
EventWriter::~EventWriter() { core_->Stop(); }
void EventWriter::Write(Event event) { core_->Write(std::move(event)); }
void EventWriter::YieldWhile(std::function<bool()> busy) { core_->YieldWhile(std::move(busy)); }
void EventWriter::LookAgain() { core_->LookAgain(); }
void EventWriter::WhenSent(std::function<void()> sent) { core_->WhenSent(std::move(sent)); }
size_t EventWriter::pending() const { return core_->pending(); }
EventWriter::Counters EventWriter::counters() const { return core_->counters(); }

}  // namespace hekla::kube

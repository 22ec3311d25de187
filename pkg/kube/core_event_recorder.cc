#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/meta/time.h"
#include "pkg/kube/api_status.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/resource_client.h"
#include "pkg/util/random.h"
#include "pkg/util/rate_limiter.h"

namespace hekla::kube {
namespace {

using apis::core::ObjectReference;
using apis::json::Value;

constexpr size_t kMaxSimilar = 10;
constexpr absl::Duration kAggregationWindow = absl::Seconds(600);
constexpr absl::string_view kCombined = "(combined from similar events): ";

// The `limit` most recently used values by key.
template <typename T>
class Lru {
 public:
  explicit Lru(size_t limit) : limit_(limit) {}
  T* Find(const std::string& key) {
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return &it->second->second;
  }
  T& Insert(const std::string& key, T value) {
    order_.emplace_front(key, std::move(value));
    index_[key] = order_.begin();
    if (order_.size() > limit_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

 private:
  using Order = std::list<std::pair<std::string, T>>;
  const size_t limit_;
  Order order_;
  absl::flat_hash_map<std::string, typename Order::iterator> index_;
};

// One Event object as it stands at the server, or will.
struct Entry {
  ObjectReference object;
  std::string type, reason, message;
  apis::meta::StringMap annotations;
  std::string name;
  absl::Time first, last;
  int64_t count = 1;
  bool created = false;    // the server has it
  bool in_flight = false;  // a write is under way; changes meanwhile set `dirty`
  bool dirty = false;
  int tries = 0;
};
using EntryPtr = std::shared_ptr<Entry>;

std::string NamespaceOf(const ObjectReference& object) {
  return object.ns.empty() ? "default" : object.ns;
}

Value ToJson(const Entry& entry, const std::string& component, const std::string& host) {
  Value event = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Event"}});
  Value& metadata = event["metadata"];
  metadata.Set("name", entry.name);
  metadata.Set("namespace", NamespaceOf(entry.object));
  for (const auto& [key, value] : entry.annotations) metadata["annotations"].Set(key, value);
  Value& about = event["involvedObject"];
  about = Value::MakeObject();
  const auto set = [&about](absl::string_view key, const std::string& value) {
    if (!value.empty()) about.Set(key, value);
  };
  set("kind", entry.object.kind);
  set("namespace", entry.object.ns);
  set("name", entry.object.name);
  set("uid", entry.object.uid);
  set("apiVersion", entry.object.api_version);
  set("resourceVersion", entry.object.resource_version);
  set("fieldPath", entry.object.field_path);
  event.Set("reason", entry.reason);
  event.Set("message", entry.message);
  event["source"].Set("component", component);
  if (!host.empty()) event["source"].Set("host", host);
  event.Set("firstTimestamp", apis::meta::TimeToString(entry.first));
  event.Set("lastTimestamp", apis::meta::TimeToString(entry.last));
  event.Set("count", static_cast<long>(entry.count));
  event.Set("type", entry.type);
  event.Set("reportingComponent", component);
  event.Set("reportingInstance", host);
  return event;
}

}  // namespace

class CoreEventRecorder::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient* client, Executor* executor, Options options)
      : events_(client, Resource{"", "v1", "events", "Event", true}),
        executor_(executor),
        options_(std::move(options)),
        random_(options_.seed),
        similar_(options_.cache_keys),
        known_(options_.cache_keys),
        budgets_(options_.cache_keys) {}

  struct Item {
    ObjectReference object;
    std::string type, reason, message;
    apis::meta::StringMap annotations;
  };

  void Record(Item item) {
    {
      absl::MutexLock lock(&mutex_);
      ++counters_.recorded;
      if (closed_) return;
      if (queued_ >= options_.queue_limit) {
        ++counters_.dropped_queue_full;
        LOG_EVERY_N(ERROR, 1000)
            << "Unable to record event: too many queued events, dropped event reason="
            << item.reason << " object=" << item.object.name;
        return;
      }
      ++queued_;
    }
    executor_->Post([self = shared_from_this(), item = std::move(item)]() mutable {
      self->Process(std::move(item));
    });
  }

  void Close() {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  size_t pending() const {
    absl::MutexLock lock(&mutex_);
    return queued_ + unfinished_;
  }
  Counters counters() const {
    absl::MutexLock lock(&mutex_);
    return counters_;
  }

 private:
  struct Similar {
    absl::Time last;
    std::deque<std::string> messages;
  };

  void Process(Item item) {
    const absl::Time now = executor_->Now();
    {
      absl::MutexLock lock(&mutex_);
      --queued_;
      if (closed_) return;
    }
    const std::string about =
        absl::StrJoin({options_.component, options_.host, item.object.kind, item.object.ns,
                       item.object.name, item.object.uid, item.object.api_version},
                      "\x1f");
    const std::string similar_key = absl::StrCat(about, "\x1f", item.type, "\x1f", item.reason);
    std::string key =
        absl::StrCat(similar_key, "\x1f", item.object.field_path, "\x1f", item.message);
    if (Combine(similar_key, item.message, now)) {
      item.message = absl::StrCat(kCombined, item.message);
      item.annotations = {};
      key = absl::StrCat(similar_key, "\x1f", "combined");
    }
    EntryPtr* found = known_.Find(key);
    EntryPtr entry;
    if (found != nullptr) {
      entry = *found;
      ++entry->count;
      entry->last = now;
      entry->message = item.message;
    } else {
      entry = NewEntry(std::move(item), now);
      known_.Insert(key, entry);
    }
    if (!Afford(absl::StrCat(about, "\x1f", entry->type), now)) {
      absl::MutexLock lock(&mutex_);
      ++counters_.dropped_spam;
      return;
    }
    Enqueue(std::move(entry));
  }

  // True from the tenth distinct message within the window on.
  bool Combine(const std::string& key, const std::string& message, absl::Time now) {
    Similar* similar = similar_.Find(key);
    if (similar == nullptr) similar = &similar_.Insert(key, Similar{now, {}});
    if (now - similar->last > kAggregationWindow) similar->messages.clear();
    similar->last = now;
    std::deque<std::string>& messages = similar->messages;
    if (std::find(messages.begin(), messages.end(), message) == messages.end()) {
      messages.push_back(message);
    }
    if (messages.size() < kMaxSimilar) return false;
    messages.pop_front();
    return true;
  }

  bool Afford(const std::string& key, absl::Time now) {
    std::shared_ptr<util::TokenBucket>* bucket = budgets_.Find(key);
    if (bucket == nullptr) {
      const double per_second = 1 / absl::ToDoubleSeconds(options_.spam_refill);
      bucket = &budgets_.Insert(
          key, std::make_shared<util::TokenBucket>(per_second, options_.spam_burst));
    }
    return (*bucket)->TryTake(now);
  }

  EntryPtr NewEntry(Item item, absl::Time now) {
    auto entry = std::make_shared<Entry>();
    // Names must differ even where the clock stands still.
    last_name_ = std::max(absl::ToUnixNanos(now), last_name_ + 1);
    entry->name = absl::StrCat(item.object.name, ".", absl::Hex(last_name_));
    entry->object = std::move(item.object);
    entry->type = std::move(item.type);
    entry->reason = std::move(item.reason);
    entry->message = std::move(item.message);
    entry->annotations = std::move(item.annotations);
    entry->first = entry->last = now;
    return entry;
  }

  void Enqueue(EntryPtr entry) {
    if (entry->in_flight) {
      entry->dirty = true;
      return;
    }
    entry->in_flight = true;
    entry->tries = 0;
    {
      absl::MutexLock lock(&mutex_);
      ++unfinished_;
    }
    waiting_.push_back(std::move(entry));
    SendWaiting();
  }

  void SendWaiting() {
    while (!waiting_.empty() && sending_ < options_.max_in_flight) {
      EntryPtr entry = std::move(waiting_.front());
      waiting_.pop_front();
      ++sending_;
      Send(entry);
    }
  }

  void Send(const EntryPtr& entry) {
    ++entry->tries;
    const bool patch = entry->created;
    auto done = [self = shared_from_this(), entry, patch](absl::StatusOr<Value> answer) {
      self->executor_->Post(
          [self, entry, patch, status = answer.status()] { self->OnSent(entry, patch, status); });
    };
    if (patch) {
      const Value body =
          Value::MakeObject({{"count", static_cast<long>(entry->count)},
                             {"lastTimestamp", apis::meta::TimeToString(entry->last)},
                             {"message", entry->message}});
      events_.Patch({NamespaceOf(entry->object), entry->name, ""}, PatchType::kStrategicMerge, body,
                    std::move(done));
    } else {
      events_.Create(NamespaceOf(entry->object), ToJson(*entry, options_.component, options_.host),
                     std::move(done));
    }
  }

  void OnSent(const EntryPtr& entry, bool patch, const absl::Status& status) {
    if (status.ok()) {
      entry->created = true;
      Count(patch ? &Counters::patched : &Counters::created);
      return Finish(entry);
    }
    if (patch && kube::IsNotFound(status)) {
      entry->created = false;  // expired at the server: made anew with the whole count
      return Send(entry);
    }
    const bool answered = GetApiStatus(status).has_value();
    if (answered || entry->tries >= options_.tries || absl::IsCancelled(status)) {
      LOG_EVERY_N(WARNING, 100) << "event not written reason=" << entry->reason
                                << " object=" << entry->object.name << " error=" << status;
      Count(&Counters::failed);
      return Finish(entry);
    }
    const absl::Duration wait =
        entry->tries == 1 ? options_.try_interval * random_.Unit() : options_.try_interval;
    executor_->PostAfter(wait, [weak = weak_from_this(), entry] {
      if (auto self = weak.lock()) self->Send(entry);
    });
  }

  void Finish(const EntryPtr& entry) {
    entry->in_flight = false;
    --sending_;
    {
      absl::MutexLock lock(&mutex_);
      --unfinished_;
    }
    if (std::exchange(entry->dirty, false)) {
      Enqueue(entry);
    } else {
      SendWaiting();
    }
  }

  void Count(int64_t Counters::*counter) {
    absl::MutexLock lock(&mutex_);
    ++(counters_.*counter);
  }

  const ResourceClient events_;
  Executor* const executor_;
  const Options options_;

  mutable absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;
  Counters counters_ ABSL_GUARDED_BY(mutex_);

  // On the executor only.
  util::Random random_;
  Lru<Similar> similar_;
  Lru<EntryPtr> known_;
  Lru<std::shared_ptr<util::TokenBucket>> budgets_;
  std::deque<EntryPtr> waiting_;
  int sending_ = 0;
  int64_t last_name_ = 0;
};

CoreEventRecorder::CoreEventRecorder(RestClient* client, Executor* executor, Options options)
    : core_(std::make_shared<Core>(client, executor, std::move(options))) {}

CoreEventRecorder::~CoreEventRecorder() { core_->Close(); }

void CoreEventRecorder::Record(const ObjectReference& object, absl::string_view type,
                               absl::string_view reason, absl::string_view message,
                               const apis::meta::StringMap& annotations) {
  if (type != "Normal" && type != "Warning") {
    LOG(ERROR) << "event of unknown type dropped type=" << type << " reason=" << reason;
    return;
  }
  core_->Record(
      {object, std::string(type), std::string(reason), std::string(message), annotations});
}

size_t CoreEventRecorder::pending() const { return core_->pending(); }
CoreEventRecorder::Counters CoreEventRecorder::counters() const { return core_->counters(); }

}  // namespace hekla::kube

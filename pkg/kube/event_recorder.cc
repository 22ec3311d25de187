#include "pkg/kube/event_recorder.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/meta/time.h"
#include "pkg/kube/event_writer.h"
#include "pkg/util/clock.h"
#include "pkg/util/lru_map.h"
#include "pkg/util/random.h"
#include "pkg/util/rate_limiter.h"

namespace hekla::kube {
namespace {

using apis::core::Event;
using apis::core::ObjectReference;
using apis::json::Value;

constexpr size_t kSimilarMessages = 10;  // from this many distinct messages on, they are combined
constexpr absl::Duration kSimilarWithin = absl::Seconds(600);
constexpr absl::string_view kCombinedPrefix = "(combined from similar events): ";

Resource CoreEvents() {
  return {.group = "", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
}

// Parts of a key are kept apart by a character that no part contains.
std::string Key(std::initializer_list<absl::string_view> parts) {
  return absl::StrJoin(parts, "\x1f");
}

}  // namespace

class CoreEventRecorder::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient* client, Executor* executor, Options options)
      : executor_(executor),
        options_(std::move(options)),
        random_(options_.seed),
        writer_(client, executor,
                {.resource = CoreEvents(),
                 .queue_limit = options_.queue_limit,
                 .max_in_flight = options_.max_in_flight,
                 .tries = options_.tries,
                 .try_interval = options_.try_interval,
                 .first_wait_random = true,
                 .seed = options_.seed,
                 .drops = options_.drops}),
        similar_(options_.cache_keys),
        logged_(options_.cache_keys),
        budgets_(options_.cache_keys) {}

  void Record(const ObjectReference& object, absl::string_view type, absl::string_view reason,
              absl::string_view message, const apis::meta::StringMap& annotations) {
    if (type != "Normal" && type != "Warning") {
      LOG(ERROR) << "Unsupported event type: '" << type << "'";
      return;
    }
    Event event;
    event.metadata.ns = object.ns.empty() ? "default" : object.ns;
    event.metadata.annotations = annotations;
    event.involved_object = object;
    event.type = std::string(type);
    event.reason = std::string(reason);
    event.message = std::string(message);
    event.source_component = options_.component;
    event.source_host = options_.host;
    event.reporting_component = options_.component;
    event.reporting_instance = options_.host;
    event.count = 1;
    event.first_timestamp = event.last_timestamp = executor_->Now();
    const absl::Duration at = executor_->Uptime();
    absl::MutexLock lock(&mutex_);
    ++counters_.recorded;
    if (queue_.size() >= options_.queue_limit) {
      ++counters_.dropped_queue_full;
      if (options_.drops != nullptr) options_.drops->queue_full->Add();
      drop_log_.Add(at, absl::StrCat("reason=", reason));
      return;
    }
    queue_.push_back({std::move(event), at});
    if (std::exchange(scheduled_, true)) return;
    executor_->Post([weak = weak_from_this()] {
      if (auto core = weak.lock()) core->TakeUp();
    });
  }

  void YieldWhile(std::function<bool()> busy) { writer_.YieldWhile(std::move(busy)); }

  void LookAgain() { writer_.LookAgain(); }

  void WhenSent(std::function<void()> sent) {
    TakeUp();
    writer_.WhenSent(std::move(sent));
  }

  size_t pending() const {
    absl::MutexLock lock(&mutex_);
    return queue_.size() + writer_.pending();
  }
  Counters counters() const {
    const EventWriter::Counters written = writer_.counters();
    absl::MutexLock lock(&mutex_);
    Counters out = counters_;
    out.created = written.created;
    out.patched = written.patched;
    out.failed = written.failed;
    out.dropped_queue_full += written.dropped;
    return out;
  }

 private:
  struct Occurrence {
    Event event;
    absl::Duration at;  // in uptime
  };
  // Messages of similar events.
  struct Similar {
    std::vector<std::string> messages;  // distinct, oldest first
    absl::Duration last = util::kNotYet;
  };
  // An event that was written before.
  struct Logged {
    int32_t count = 0;
    std::string name;
    absl::Time first;
  };

  void TakeUp() {
    std::deque<Occurrence> events;
    {
      absl::MutexLock lock(&mutex_);
      scheduled_ = false;
      events.swap(queue_);
    }
    for (Occurrence& o : events) Correlate(std::move(o.event), o.at);
  }

  std::string SourceAndObject(const Event& event) const {
    const ObjectReference& object = event.involved_object;
    return Key({event.source_component, event.source_host, object.kind, object.ns, object.name,
                object.uid, object.api_version});
  }

  void Correlate(Event event, absl::Duration at) {
    const std::string dedup_key = Aggregate(event, at);
    Logged& logged = logged_[dedup_key];
    ++logged.count;
    if (logged.count == 1) {
      const int64_t nanos = std::max(absl::ToUnixNanos(event.first_timestamp), last_nanos_ + 1);
      last_nanos_ = nanos;  // no two events of one object at one time get one name
      logged.name = EventName(event.involved_object.name, nanos, random_.Next(), random_.Next());
      logged.first = event.first_timestamp;
    }
    event.metadata.name = logged.name;
    event.count = logged.count;
    event.first_timestamp = logged.first;
    if (!WithinBudget(event, at)) {
      if (options_.drops != nullptr) options_.drops->rate_limited->Add();
      absl::MutexLock lock(&mutex_);
      ++counters_.dropped_spam;
      return;
    }
    Value patch;
    if (event.count > 1) {
      patch.Set("count", event.count);
      patch.Set("lastTimestamp", apis::meta::TimeToString(event.last_timestamp));
      patch.Set("message", event.message);
    }
    writer_.Write({.ns = event.metadata.ns,
                   .name = event.metadata.name,
                   .whole = EncodeEvent(event),
                   .patch = std::move(patch)});
  }

  // Combines the event with similar ones if there are many; returns the key under which equal
  // events are counted.
  std::string Aggregate(Event& event, absl::Duration at) {
    const std::string key = Key({SourceAndObject(event), event.type, event.reason,
                                 event.reporting_component, event.reporting_instance});
    Similar& similar = similar_[key];
    if (at - similar.last > kSimilarWithin) similar.messages.clear();
    similar.last = at;
    if (std::find(similar.messages.begin(), similar.messages.end(), event.message) ==
        similar.messages.end()) {
      similar.messages.push_back(event.message);
    }
    if (similar.messages.size() < kSimilarMessages) {
      return Key({SourceAndObject(event), event.involved_object.field_path, event.type,
                  event.reason, event.message});
    }
    similar.messages.erase(similar.messages.begin());
    event.message = absl::StrCat(kCombinedPrefix, event.message);
    event.metadata.annotations = {};
    event.reporting_component.clear();
    event.reporting_instance.clear();
    return key;
  }

  bool WithinBudget(const Event& event, absl::Duration at) {
    auto& budget = budgets_[Key({SourceAndObject(event), event.type})];
    if (budget == nullptr) {
      budget = std::make_unique<util::TokenBucket>(1 / absl::ToDoubleSeconds(options_.spam_refill),
                                                   options_.spam_burst);
    }
    return budget->TryTake(at);
  }

  Executor* const executor_;
  const Options options_;
  // On the executor.
  util::Random random_;
  int64_t last_nanos_ = 0;
  EventWriter writer_;
  util::LruMap<Similar> similar_;
  util::LruMap<Logged> logged_;
  util::LruMap<std::unique_ptr<util::TokenBucket>> budgets_;

  mutable absl::Mutex mutex_;
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Occurrence> queue_ ABSL_GUARDED_BY(mutex_);
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  DropLog drop_log_ ABSL_GUARDED_BY(mutex_);
};

CoreEventRecorder::CoreEventRecorder(RestClient* client, Executor* executor, Options options)
    : core_(std::make_shared<Core>(client, executor, std::move(options))) {}

CoreEventRecorder::~CoreEventRecorder() = default;

void CoreEventRecorder::Record(const ObjectReference& object, absl::string_view type,
                               absl::string_view reason, absl::string_view message,
                               const apis::meta::StringMap& annotations) {
  core_->Record(object, type, reason, message, annotations);
}

void CoreEventRecorder::YieldWhile(std::function<bool()> busy) {
  core_->YieldWhile(std::move(busy));
}
void CoreEventRecorder::LookAgain() { core_->LookAgain(); }
void CoreEventRecorder::WhenSent(std::function<void()> sent) { core_->WhenSent(std::move(sent)); }
size_t CoreEventRecorder::pending() const { return core_->pending(); }
CoreEventRecorder::Counters CoreEventRecorder::counters() const { return core_->counters(); }

}  // namespace hekla::kube

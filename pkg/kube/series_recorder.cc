#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/time.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/event_writer.h"
#include "pkg/util/random.h"

namespace hekla::kube {
namespace {

using apis::core::ObjectReference;
using apis::json::Value;

constexpr absl::Duration kSweepEvery = absl::Minutes(6);  // also how long a series may be silent
constexpr absl::Duration kRefreshEvery = absl::Minutes(30);
constexpr size_t kMaxInstance = 128;
constexpr size_t kMaxNote = 1024;

Resource SeriesEvents() {
  return {.group = "events.k8s.io",
          .version = "v1",
          .plural = "events",
          .kind = "Event",
          .namespaced = true};
}

std::string ReferenceKey(const ObjectReference& r) {
  return absl::StrJoin(
      {r.api_version, r.kind, r.ns, r.name, r.uid, r.resource_version, r.field_path}, "\x1f");
}

}  // namespace

class SeriesEventRecorder::Core : public std::enable_shared_from_this<Core> {
 public:
  struct Item : Occurrence {
    apis::meta::StringMap annotations;
    absl::Time time;
    absl::Duration at = absl::ZeroDuration();  // in uptime
  };

  Core(RestClient* client, Executor* executor, Options options)
      : executor_(executor),
        options_(std::move(options)),
        instance_(absl::StrCat(options_.controller, "-", options_.host).substr(0, kMaxInstance)),
        random_(options_.seed),
        writer_(client, executor,
                {.resource = SeriesEvents(),
                 .queue_limit = options_.queue_limit,
                 .max_in_flight = options_.max_in_flight,
                 .tries = options_.tries,
                 .try_interval = options_.try_interval,
                 .jitter = 0.25,
                 .seed = options_.seed,
                 .drops = options_.drops}) {}

  void Record(Item item) {
    if (item.type != "Normal" && item.type != "Warning") {
      LOG(ERROR) << "Unsupported event type: '" << item.type << "'";
      return;
    }
    if (item.note.size() > kMaxNote) item.note.resize(kMaxNote);
    item.time = executor_->Now();
    item.at = executor_->Uptime();
    absl::MutexLock lock(&mutex_);
    if (queue_.size() >= options_.queue_limit) {
      ++dropped_;
      if (options_.drops != nullptr) options_.drops->queue_full->Add();
      drop_log_.Add(item.at, absl::StrCat("reason=", item.reason));
      return;
    }
    queue_.push_back(std::move(item));
    if (std::exchange(scheduled_, true)) return;
    executor_->Post([weak = weak_from_this()] {
      if (auto core = weak.lock()) core->TakeUp();
    });
  }

  void Stop() {
    executor_->Cancel(sweep_timer_);
    executor_->Cancel(refresh_timer_);
  }
  size_t pending() const {
    absl::MutexLock lock(&mutex_);
    return queue_.size() + writer_.pending();
  }
  int64_t dropped() const {
    const int64_t by_writer = writer_.counters().dropped;
    absl::MutexLock lock(&mutex_);
    return dropped_ + by_writer;
  }

 private:
  // An event of which repeats are counted. `count` 0: it came once.
  struct Series {
    std::string ns;
    std::string name;
    Value whole;
    int32_t count = 0;
    int32_t written = 0;  // the count that the server was told
    absl::Time last;
    absl::Duration last_at;  // in uptime
  };

  void TakeUp() {
    std::deque<Item> items;
    {
      absl::MutexLock lock(&mutex_);
      scheduled_ = false;
      items.swap(queue_);
    }
    for (const Item& item : items) Take(item);
    ArmTimers();
  }

  void Take(const Item& item) {
    const std::string key =
        absl::StrJoin({item.action, item.reason, item.type, ReferenceKey(item.regarding),
                       item.related.has_value() ? ReferenceKey(*item.related) : std::string()},
                      "\x1e");
    auto [it, is_new] = series_.try_emplace(key);
    Series& series = it->second;
    series.last = item.time;
    series.last_at = item.at;
    if (is_new) {
      Begin(item, series);
    } else if (series.count == 0) {
      series.count = 1 + item.count;
      WriteSeries(series);
    } else {
      series.count += item.count;
    }
  }

  void Begin(const Item& item, Series& series) {
    const int64_t nanos = std::max(absl::ToUnixNanos(item.time), last_nanos_ + 1);
    last_nanos_ = nanos;
    series.ns = item.regarding.ns.empty() ? "default" : item.regarding.ns;
    series.name = EventName(item.regarding.name, nanos, random_.Next(), random_.Next());
    Value& whole = series.whole;
    whole.Set("apiVersion", "events.k8s.io/v1");
    whole.Set("kind", "Event");
    Value& metadata = whole["metadata"];
    metadata.Set("name", series.name);
    metadata.Set("namespace", series.ns);
    if (!item.annotations.empty()) {
      metadata.Set("annotations", apis::meta::EncodeStringMap(item.annotations));
    }
    whole.Set("eventTime", apis::meta::MicroTimeToString(item.time));
    whole.Set("reportingController", options_.controller);
    whole.Set("reportingInstance", instance_);
    whole.Set("action", item.action);
    whole.Set("reason", item.reason);
    whole.Set("regarding", apis::core::EncodeObjectReference(item.regarding));
    if (item.related.has_value()) {
      whole.Set("related", apis::core::EncodeObjectReference(*item.related));
    }
    whole.Set("note", item.note);
    whole.Set("type", item.type);
    if (item.count > 1) {
      series.count = item.count;
      CountInWhole(series);
    }
    writer_.Write({.ns = series.ns, .name = series.name, .whole = whole, .patch = Value()});
  }

  static void CountInWhole(Series& series) {
    series.written = series.count;
    Value& told = series.whole["series"];
    told = Value::MakeObject();
    told.Set("count", series.count);
    told.Set("lastObservedTime", apis::meta::MicroTimeToString(series.last));
  }

  void WriteSeries(Series& series) {
    CountInWhole(series);
    Value patch;
    patch.Set("series", series.whole.At("series"));
    writer_.Write(
        {.ns = series.ns, .name = series.name, .whole = series.whole, .patch = std::move(patch)});
  }

  // Timers run only while there is something to look after.
  void ArmTimers() {
    if (series_.empty()) return;
    if (sweep_timer_ == 0) {
      sweep_timer_ = executor_->PostAfter(kSweepEvery, [weak = weak_from_this()] {
        if (auto core = weak.lock()) core->Sweep();
      });
    }
    if (refresh_timer_ == 0) {
      refresh_timer_ = executor_->PostAfter(kRefreshEvery, [weak = weak_from_this()] {
        if (auto core = weak.lock()) core->Refresh();
      });
    }
  }

  void Sweep() {
    sweep_timer_ = 0;
    const absl::Duration now = executor_->Uptime();
    for (auto it = series_.begin(); it != series_.end();) {
      if (now - it->second.last_at < kSweepEvery) {
        ++it;
        continue;
      }
      if (it->second.count > it->second.written) WriteSeries(it->second);
      it = series_.erase(it);
    }
    ArmTimers();
  }

  void Refresh() {
    refresh_timer_ = 0;
    for (auto& [key, series] : series_) {
      if (series.count > 0) WriteSeries(series);
    }
    ArmTimers();
  }

  Executor* const executor_;
  const Options options_;
  const std::string instance_;
  // On the executor.
  util::Random random_;
  int64_t last_nanos_ = 0;
  EventWriter writer_;
  std::map<std::string, Series> series_;
  Executor::TimerId sweep_timer_ = 0;
  Executor::TimerId refresh_timer_ = 0;

  mutable absl::Mutex mutex_;
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  DropLog drop_log_ ABSL_GUARDED_BY(mutex_);
  std::deque<Item> queue_ ABSL_GUARDED_BY(mutex_);
};

SeriesEventRecorder::SeriesEventRecorder(RestClient* client, Executor* executor, Options options)
    : core_(std::make_shared<Core>(client, executor, std::move(options))) {}

SeriesEventRecorder::~SeriesEventRecorder() { core_->Stop(); }

void SeriesEventRecorder::Record(const ObjectReference& object, absl::string_view type,
                                 absl::string_view reason, absl::string_view message,
                                 const apis::meta::StringMap& annotations) {
  Core::Item item;
  item.regarding = object;
  item.type = std::string(type);
  item.reason = std::string(reason);
  item.action = std::string(reason);  // a server insists on an action
  item.note = std::string(message);
  item.annotations = annotations;
  core_->Record(std::move(item));
}

void SeriesEventRecorder::RecordAction(Occurrence occurrence) {
  core_->Record({std::move(occurrence), {}, absl::InfinitePast()});
}

size_t SeriesEventRecorder::pending() const { return core_->pending(); }
int64_t SeriesEventRecorder::dropped() const { return core_->dropped(); }

}  // namespace hekla::kube

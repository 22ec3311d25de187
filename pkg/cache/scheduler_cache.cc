#include "pkg/cache/scheduler_cache.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/cache/bind/binder.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/bind/write_channel.h"
#include "pkg/cache/delta_queue.h"
#include "pkg/cache/evict/evictor.h"
#include "pkg/cache/status/pod_condition_writer.h"
#include "pkg/cache/status/pod_group_writer.h"
#include "pkg/cache/status/queue_writer.h"
#include "pkg/cache/stores/stores.h"
#include "pkg/kube/reflector.h"

namespace hekla::cache {
namespace {

using Decision = std::variant<ports::BindRequest, ports::EvictRequest, ports::PodGroupStatus,
                              ports::QueueStatus, ports::PodConditionWrite, ports::GateRemoval>;

// The name under which the scheduler speaks of itself.
std::string SpeakerName(const std::vector<std::string>& scheduler_names) {
  return scheduler_names.size() == 1 ? scheduler_names[0] : "volcano";
}

}  // namespace

class SchedulerCache::Core : public std::enable_shared_from_this<SchedulerCache::Core> {
 public:
  Core(Deps deps, Options options);

  void AddMetrics();
  void Start();
  void Stop(std::function<void()> done);
  void Shut();

  Stores& stores() { return stores_; }
  const Stores& stores() const { return stores_; }
  const DeltaQueue& deltas() const { return deltas_; }
  model::Cluster& Snapshot();
  void Emit(const ports::EventWrite& event) const;

  // From the session thread: carried over to the io executor in order.
  template <typename T>
  void Accept(std::vector<T> batch) {
    if (deps_.client == nullptr || batch.empty()) return;
    bool post = false;
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_) return;
      post = inbox_.empty();
      for (T& item : batch) inbox_.emplace_back(std::move(item));
    }
    if (!post) return;
    deps_.io->Post([self = weak_from_this()] {
      if (auto core = self.lock()) core->DrainInbox();
    });
  }
  size_t PendingWrites() const {
    absl::MutexLock lock(&mutex_);
    return inbox_.size() + channel_.pending();
  }
  bool IsWriting() const {
    if (channel_.busy()) return true;
    absl::MutexLock lock(&mutex_);
    return !inbox_.empty();
  }
  void OnQuiet(std::function<void()> quiet) { channel_.OnQuiet(std::move(quiet)); }

 private:
  Stores::Options StoreOptions();
  void DrainInbox();
  void RemoveGate(const ports::GateRemoval& removal);

  struct Perform;

  const Deps deps_;
  const Options options_;
  const std::shared_ptr<model::Dictionary> dictionary_ = std::make_shared<model::Dictionary>();
  // Session thread.
  model::Cluster cluster_;
  std::vector<model::Delta> taken_;
  // The io executor.
  DeltaQueue deltas_;
  Stores stores_;
  WriteChannel channel_;
  WriteContext context_;
  PodConditionWriter conditions_;
  Binder binder_;
  Evictor evictor_;
  PodGroupWriter groups_;
  QueueWriter queues_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;

  mutable absl::Mutex mutex_;
  std::vector<Decision> inbox_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

// What becomes of each kind of decision.
struct SchedulerCache::Core::Perform {
  Core& core;
  void operator()(ports::BindRequest& r) { core.binder_.Bind(std::move(r)); }
  void operator()(ports::EvictRequest& r) { core.evictor_.Evict(std::move(r)); }
  void operator()(ports::PodGroupStatus& s) { core.groups_.Write(std::move(s)); }
  void operator()(ports::QueueStatus& s) { core.queues_.Write(std::move(s)); }
  void operator()(ports::PodConditionWrite& w) { core.conditions_.Write(std::move(w)); }
  void operator()(ports::GateRemoval& r) { core.RemoveGate(r); }
};

SchedulerCache::Core::Core(Deps deps, Options options)
    : deps_(std::move(deps)),
      options_(std::move(options)),
      cluster_(dictionary_, {options_.default_queue, options_.seed}),
      deltas_(deps_.wake),
      stores_(dictionary_, &deltas_, StoreOptions()),
      channel_(deps_.io, {.max_window = static_cast<double>(options_.max_in_flight)}),
      context_{deps_.client,
               deps_.io,
               deps_.events,
               &deltas_,
               &stores_,
               &channel_,
               std::make_shared<bool>(true)},
      conditions_(&context_),
      binder_(&context_,
              [this](ports::PodConditionWrite write) { conditions_.Write(std::move(write)); }),
      evictor_(&context_, SpeakerName(options_.scheduler_names)),
      groups_(&context_),
      queues_(&context_) {}

Stores::Options SchedulerCache::Core::StoreOptions() {
  Stores::Options out;
  out.pods.scheduler_names = options_.scheduler_names;
  out.pods.default_queue = options_.default_queue;
  out.pods.features = options_.features;
  out.node_selector = options_.node_selector;
  out.priority_class = options_.priority_class;
  out.csi_storage = options_.csi_storage;
  out.is_own_write = [this](const model::JobSpec& group) { return groups_.IsOwnWrite(group); };
  out.pod_removed = [this](const std::string& key, const model::TaskSpec& pod) {
    binder_.Forget(pod.uid);
    evictor_.Forget(pod.uid);
    conditions_.Forget(key);
  };
  out.queue_removed = [this](const std::string& name, const model::QueueSpec&) {
    queues_.Forget(name);
  };
  out.group_removed = [this](const std::string& key, const model::JobSpec&) {
    groups_.Forget(key);
  };
  return out;
}

void SchedulerCache::Core::AddMetrics() {
  if (deps_.metrics == nullptr) return;
  // The registry may outlive this cache.
  deps_.metrics->AddCollector(
      "hekla_cache", [weak = weak_from_this()](metrics::TextWriter& writer) {
        const std::shared_ptr<Core> core = weak.lock();
        if (core == nullptr) return;
        const auto sample = [&](absl::string_view name, absl::string_view type, size_t value,
                                absl::string_view help) {
          writer.Family(name, type, help);
          writer.Sample(name, {}, static_cast<double>(value));
        };
        sample("hekla_cache_pending_deltas", "gauge", core->deltas_.size(),
               "Rows that wait for a snapshot.");
        sample("hekla_cache_pending_writes", "gauge", core->PendingWrites(),
               "API writes that are queued or in flight.");
        sample("hekla_cache_rejected_objects_total", "counter",
               static_cast<size_t>(core->stores_.rejected()),
               "Objects left out because they could not be decoded.");
      });
}

void SchedulerCache::Core::Start() {
  CHECK(deps_.client != nullptr) << "nothing to watch without a client";
  if (options_.create_queues) queues_.CreateMissing(options_.default_queue);
  uint64_t seed = options_.seed;
  for (const WatchedKind& kind : stores_.kinds()) {
    // The first cycle should not wait for its period.
    kind.store->SetOnSynced([this] { deltas_.Wake(); });
    kube::Reflector::Options options;
    options.resource = kind.resource;
    options.unread = kind.unread;
    options.min_watch_time = options_.min_watch_time;
    options.seed = ++seed;
    reflectors_.push_back(
        std::make_unique<kube::Reflector>(deps_.client, deps_.io, kind.store, options));
    reflectors_.back()->Start();
  }
}

void SchedulerCache::Core::Stop(std::function<void()> done) {
  for (const auto& reflector : reflectors_) reflector->Stop();
  DrainInbox();
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  channel_.WhenIdle(std::move(done));
}

void SchedulerCache::Core::Shut() {
  context_.alive.reset();
  OnQuiet(nullptr);
  reflectors_.clear();
}

model::Cluster& SchedulerCache::Core::Snapshot() {
  deltas_.TakeAll(taken_);
  for (const model::Delta& delta : taken_) cluster_.Apply(delta);
  return cluster_;
}

void SchedulerCache::Core::DrainInbox() {
  std::vector<Decision> batch;
  {
    absl::MutexLock lock(&mutex_);
    batch.swap(inbox_);
  }
  for (Decision& decision : batch) std::visit(Perform{*this}, decision);
  channel_.TellIfQuiet();  // nothing had to be written
}

void SchedulerCache::Core::RemoveGate(const ports::GateRemoval& removal) {
  const std::string key = absl::StrCat("gate/", removal.namespace_name, "/", removal.name);
  channel_.SubmitLatest(Lane::kStatus, key, [this, removal](WriteChannel::Done done) {
    const apis::json::Value gate = apis::json::Value::MakeObject(
        {{"$patch", "delete"}, {"name", apis::meta::kQueueAllocationGate}});
    apis::json::Value patch = apis::json::Value::MakeObject();
    patch.Ensure({"metadata"}).Set("uid", removal.uid);
    patch.Ensure({"spec"})["schedulingGates"].Append(gate);
    const kube::ResourceClient pods(deps_.client, PodResource());
    pods.Patch({removal.namespace_name, removal.name, ""}, kube::PatchType::kStrategicMerge, patch,
               context_.OnIo<absl::StatusOr<apis::json::Value>>(
                   [removal, done](const absl::StatusOr<apis::json::Value>& answer) {
                     LOG_IF(ERROR, !answer.ok())
                         << "scheduling gate not removed pod=" << removal.namespace_name << "/"
                         << removal.name << " error=" << answer.status().message();
                     done(answer.status());
                   }));
  });
}

void SchedulerCache::Core::Emit(const ports::EventWrite& event) const {
  apis::core::ObjectReference object;
  switch (event.object) {
    case ports::EventWrite::Object::kPod:
      object = PodReference(event.namespace_name, event.name, event.uid);
      break;
    case ports::EventWrite::Object::kPodGroup:
      object = PodGroupReference(event.namespace_name, event.name, event.uid);
      break;
    case ports::EventWrite::Object::kQueue:
      object = PodGroupReference("", event.name, event.uid);
      object.kind = "Queue";
      break;
  }
  context_.Event(object, event.warning, event.reason, event.message);
}

SchedulerCache::SchedulerCache(Deps deps, Options options)
    : core_(std::make_shared<Core>(std::move(deps), std::move(options))) {
  core_->AddMetrics();
}
SchedulerCache::~SchedulerCache() { core_->Shut(); }

void SchedulerCache::Start() { core_->Start(); }
void SchedulerCache::Stop(std::function<void()> done) { core_->Stop(std::move(done)); }
absl::Status SchedulerCache::Ingest(const apis::json::Value& object) {
  return core_->stores().Put(object);
}
void SchedulerCache::MarkSynced() { core_->stores().MarkSynced(); }
bool SchedulerCache::Synced() const { return core_->stores().Synced(); }
model::Cluster& SchedulerCache::Snapshot() { return core_->Snapshot(); }

void SchedulerCache::Bind(std::vector<ports::BindRequest> batch) {
  core_->Accept(std::move(batch));
}
void SchedulerCache::Evict(std::vector<ports::EvictRequest> batch) {
  core_->Accept(std::move(batch));
}
void SchedulerCache::WritePodGroup(ports::PodGroupStatus status) {
  core_->Accept(std::vector<ports::PodGroupStatus>{std::move(status)});
}
void SchedulerCache::WriteQueue(ports::QueueStatus status) {
  core_->Accept(std::vector<ports::QueueStatus>{std::move(status)});
}
void SchedulerCache::WritePodCondition(ports::PodConditionWrite write) {
  core_->Accept(std::vector<ports::PodConditionWrite>{std::move(write)});
}
void SchedulerCache::Emit(ports::EventWrite event) { core_->Emit(event); }
void SchedulerCache::RemoveGate(ports::GateRemoval removal) {
  core_->Accept(std::vector<ports::GateRemoval>{std::move(removal)});
}

size_t SchedulerCache::PendingWrites() const { return core_->PendingWrites(); }

std::function<bool()> SchedulerCache::IsWriting() const {
  return [weak = std::weak_ptr<const Core>(core_)] {
    const std::shared_ptr<const Core> core = weak.lock();
    return core != nullptr && core->IsWriting();
  };
}
void SchedulerCache::OnQuiet(std::function<void()> quiet) { core_->OnQuiet(std::move(quiet)); }

size_t SchedulerCache::PendingDeltas() const { return core_->deltas().size(); }
std::vector<std::string> SchedulerCache::Missing() const { return core_->stores().Missing(); }

}  // namespace hekla::cache

#include "pkg/apiserver/kubelet/kubelet.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apiserver/kubelet/node_objects.h"
#include "pkg/apiserver/kubelet/pod_state.h"

namespace hekla::apiserver::kubelet {
namespace {

using apis::json::Value;

// Wait before a failed write is tried again.
constexpr absl::Duration kRetry = absl::Seconds(1);
constexpr uint32_t kLeaseSlots = 32;

enum class Action : uint8_t {
  kStart,
  kEnd,
  kRemove,
  kInitNode,
  kLoseNode,
  kHeartbeat,
  kLease,
};

struct Timer {
  absl::Time due;
  uint64_t order;  // among equal times: first come, first served
  Action action;
  uint32_t id;     // of the pod or node
  uint32_t stamp;  // of the pod or node when it was set; stale ones are passed over
};
struct Later {
  bool operator()(const Timer& a, const Timer& b) const {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
  }
};

struct Pod {
  bool used = false;
  uint32_t stamp = 0;
  uint32_t node = 0;
  bool dirty = false;
  PodFacts facts;
  std::unique_ptr<PodPlan> plan;
  absl::Time running_since = absl::InfinitePast();
  absl::Time deleted_since = absl::InfinitePast();
};

struct Node {
  std::string name, uid, ip;
  bool exists = false;
  bool managed = false;
  bool ready = false;
  bool down = false;
  bool lost_told = false;
  bool dirty = false;
  uint32_t stamp = 0;
  Value init_from;  // the parts of the node that its first status needs
  absl::flat_hash_set<uint32_t> pods;

  bool works() const { return exists && managed && !down; }
};

}  // namespace

class HollowKubelet::Impl {
 public:
  Impl(Api& api, Options options) : api_(api), options_(std::move(options)) {}

  void OnPod(const Value& pod, bool deleted) {
    PodFacts facts = PodFacts::Of(pod);
    const std::string key = absl::StrCat(facts.ns, "/", facts.name);
    absl::MutexLock lock(&mutex_);
    const auto it = pod_ids_.find(key);
    if (deleted) {
      if (it != pod_ids_.end()) Forget(it->second, key);
      return;
    }
    if (facts.node.empty() && it == pod_ids_.end()) return;
    if (it != pod_ids_.end() && pods_[it->second].facts.uid != facts.uid) {
      Forget(it->second, key);
      Add(pod, std::move(facts), key);
      return;
    }
    if (it == pod_ids_.end()) {
      Add(pod, std::move(facts), key);
      return;
    }
    Pod& known = pods_[it->second];
    // A status older than our own last write does not take the pod back.
    if (facts.stage < known.facts.stage) facts.stage = known.facts.stage;
    if (known.facts.SameAs(facts)) return;
    const bool ends = facts.run_seconds >= 0 || facts.deadline_seconds >= 0;
    if (known.plan == nullptr && ends && facts.stage != Stage::kEnded) known.plan = PlanOf(pod);
    known.facts = std::move(facts);
    MarkPod(it->second);
  }

  void OnNode(const Value& node, bool deleted) {
    const std::string name(node.At("metadata").GetString("name"));
    absl::MutexLock lock(&mutex_);
    const uint32_t id = NodeId(name);
    Node& known = nodes_[id];
    if (deleted) {
      known.exists = false;
      ++known.stamp;
      return;
    }
    const std::string uid(node.At("metadata").GetString("uid"));
    const bool managed =
        options_.all_nodes ||
        node.At("metadata").At("annotations").GetString(kFakeNodeAnnotation) == "fake";
    const bool ready = IsReady(node);
    const bool fresh = !known.exists || known.uid != uid || known.managed != managed;
    known.ip = InternalAddressOf(node);
    if (!fresh && (ready || !known.ready)) {
      known.ready = ready;  // as it should be, or already being seen to
      return;
    }
    known.exists = true;
    known.uid = uid;
    known.managed = managed;
    known.ready = ready;
    if (managed && !ready && !known.down) {
      known.init_from = Value::MakeObject(
          {{"metadata", Value::MakeObject({{"name", name}})}, {"status", node.At("status")}});
    }
    MarkNode(id, fresh);
  }

  int Pump(absl::Time now) {
    int writes = 0;
    while (options_.max_writes_per_pump == 0 || writes < options_.max_writes_per_pump) {
      Timer timer;
      {
        absl::MutexLock lock(&mutex_);
        PlanDirty(now);
        if (timers_.empty() || timers_.top().due > now) break;
        timer = timers_.top();
        timers_.pop();
      }
      if (timer.action <= Action::kRemove) {
        writes += RunPod(timer, now);
      } else {
        writes += RunNode(timer, now);
      }
    }
    return writes;
  }

  absl::Time NextDue() const {
    absl::MutexLock lock(&mutex_);
    if (!dirty_pods_.empty() || !dirty_nodes_.empty()) return absl::InfinitePast();
    return timers_.empty() ? absl::InfiniteFuture() : timers_.top().due;
  }

  void SetNodeDown(absl::string_view name, bool down) {
    absl::MutexLock lock(&mutex_);
    const uint32_t id = NodeId(std::string(name));
    Node& node = nodes_[id];
    if (node.down == down) return;
    node.down = down;
    node.lost_told = false;
    // Back again: its status says Unknown until the first write.
    if (!down) node.ready = false;
    if (!down && node.init_from.is_null()) {
      node.init_from = Value::MakeObject({{"metadata", Value::MakeObject({{"name", name}})}});
      node.init_from.Ensure({"status"}) = KeepsAll(node);
    }
    MarkNode(id, true);
  }

 private:
  // A status that makes InitPatch touch nothing but the conditions.
  static Value KeepsAll(const Node& node) {
    const Value some = Value::MakeObject({{"cpu", "0"}});
    return Value::MakeObject(
        {{"capacity", some},
         {"allocatable", some},
         {"nodeInfo", Value::MakeObject({{"kubeletVersion", "known"}})},
         {"addresses",
          Value::MakeArray({Value::MakeObject({{"type", "InternalIP"}, {"address", node.ip}})})}});
  }

  uint32_t AddressIndex(uint32_t n) const {
    return options_.first_address + n * options_.address_step;
  }

  uint32_t NodeId(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto [it, is_new] = node_ids_.try_emplace(name, static_cast<uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_.emplace_back();
      nodes_.back().name = name;
    }
    return it->second;
  }

  void Add(const Value& object, PodFacts facts, const std::string& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    uint32_t id = 0;
    if (free_pods_.empty()) {
      id = static_cast<uint32_t>(pods_.size());
      pods_.emplace_back();
    } else {
      id = free_pods_.back();
      free_pods_.pop_back();
    }
    Pod& pod = pods_[id];
    const uint32_t stamp = pod.stamp;
    pod = Pod();
    pod.stamp = stamp + 1;
    pod.used = true;
    pod.facts = std::move(facts);
    pod.node = NodeId(pod.facts.node);
    // Pods that only wait to be deleted need no plan.
    if (pod.facts.stage != Stage::kEnded) {
      pod.plan = PlanOf(object);
      if (pod.plan->pod_ip.empty()) pod.plan->pod_ip = PodAddress(AddressIndex(next_address_++));
    }
    nodes_[pod.node].pods.insert(id);
    pod_ids_[key] = id;
    MarkPod(id);
  }

  void Forget(uint32_t id, const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Pod& pod = pods_[id];
    nodes_[pod.node].pods.erase(id);
    pod.used = false;
    ++pod.stamp;
    pod.plan.reset();
    pod_ids_.erase(key);
    free_pods_.push_back(id);
  }

  void MarkPod(uint32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (pods_[id].dirty) return;
    pods_[id].dirty = true;
    dirty_pods_.push_back(id);
  }

  void MarkNode(uint32_t id, bool with_pods) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Node& node = nodes_[id];
    if (!node.dirty) {
      node.dirty = true;
      dirty_nodes_.push_back(id);
    }
    if (!with_pods) return;
    std::vector<uint32_t> pods(node.pods.begin(), node.pods.end());
    std::sort(pods.begin(), pods.end());
    for (const uint32_t pod : pods) MarkPod(pod);
  }

  void Push(absl::Time due, Action action, uint32_t id, uint32_t stamp)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    timers_.push({due, next_order_++, action, id, stamp});
  }

  // Gives everything that changed its next timer.
  void PlanDirty(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (size_t i = 0; i < dirty_nodes_.size(); ++i) PlanNode(dirty_nodes_[i], now);
    dirty_nodes_.clear();
    for (size_t i = 0; i < dirty_pods_.size(); ++i) PlanPod(dirty_pods_[i], now);
    dirty_pods_.clear();
  }

  void PlanPod(uint32_t id, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Pod& pod = pods_[id];
    pod.dirty = false;
    if (!pod.used) return;
    ++pod.stamp;
    if (!nodes_[pod.node].works()) return;
    if (pod.facts.deleted) {
      if (pod.deleted_since == absl::InfinitePast()) pod.deleted_since = now;
      const absl::Duration wait =
          std::min(options_.stop_delay, absl::Seconds(pod.facts.grace_seconds));
      Push(pod.deleted_since + wait, Action::kRemove, id, pod.stamp);
      return;
    }
    if (pod.facts.stage == Stage::kPending) {
      Push(now + options_.start_delay, Action::kStart, id, pod.stamp);
      return;
    }
    if (pod.facts.stage == Stage::kEnded) {
      pod.plan.reset();
      return;
    }
    if (pod.running_since == absl::InfinitePast()) {
      pod.running_since = pod.facts.started == absl::InfinitePast() ? now : pod.facts.started;
    }
    const absl::Time due = std::min(RunEnd(pod), DeadlineEnd(pod));
    if (due == absl::InfiniteFuture()) {
      pod.plan.reset();  // runs for ever
      return;
    }
    Push(due, Action::kEnd, id, pod.stamp);
  }

  absl::Time RunEnd(const Pod& pod) const {
    if (pod.facts.run_seconds >= 0) {
      return pod.running_since + absl::Seconds(pod.facts.run_seconds);
    }
    return options_.complete_job_pods && pod.facts.job ? pod.running_since : absl::InfiniteFuture();
  }
  static absl::Time DeadlineEnd(const Pod& pod) {
    return pod.facts.deadline_seconds < 0
               ? absl::InfiniteFuture()
               : pod.running_since + absl::Seconds(pod.facts.deadline_seconds);
  }

  void PlanNode(uint32_t id, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Node& node = nodes_[id];
    node.dirty = false;
    ++node.stamp;
    if (!node.exists || !node.managed) return;
    if (node.down) {
      if (!node.lost_told) Push(now, Action::kLoseNode, id, node.stamp);
      return;
    }
    if (!node.ready) Push(now, Action::kInitNode, id, node.stamp);
    if (options_.lease_renewal > absl::ZeroDuration()) {
      // Spread over the period, so that thousands of nodes do not write at once.
      Push(now + options_.lease_renewal * (id % kLeaseSlots) / kLeaseSlots, Action::kLease, id,
           node.stamp);
    }
    if (options_.heartbeat > absl::ZeroDuration()) {
      Push(now + options_.heartbeat, Action::kHeartbeat, id, node.stamp);
    }
  }

  // Carries out one timer of a pod; returns the number of writes.
  int RunPod(const Timer& timer, absl::Time now) {
    std::string ns, name, uid;
    Value patch;
    {
      absl::MutexLock lock(&mutex_);
      Pod& pod = pods_[timer.id];
      if (!pod.used || pod.stamp != timer.stamp) return 0;
      ns = pod.facts.ns, name = pod.facts.name, uid = pod.facts.uid;
      if (timer.action == Action::kStart) {
        patch = StartPatch(*pod.plan, nodes_[pod.node].ip, now);
      } else if (timer.action == Action::kEnd) {
        if (pod.plan == nullptr) return 0;
        const bool late = DeadlineEnd(pod) < RunEnd(pod);
        const int code = late ? 137 : pod.facts.exit_code;
        const End end = late ? End::kDeadline : code == 0 ? End::kSucceeded : End::kFailed;
        patch = EndPatch(*pod.plan, end, code, pod.running_since, now);
      }
    }
    const absl::Status status = timer.action == Action::kRemove
                                    ? api_.DeletePodNow(ns, name, uid)
                                    : api_.PatchPodStatus(ns, name, patch);
    absl::MutexLock lock(&mutex_);
    Pod& pod = pods_[timer.id];
    if (!pod.used || pod.facts.uid != uid) return 1;  // gone in the meantime
    if (absl::IsNotFound(status)) return 1;           // its deletion is on the way to us
    if (!status.ok()) {
      LOG_EVERY_N(WARNING, 100) << "hollow kubelet write failed pod=" << ns << "/" << name
                                << " error=" << status;
      Push(now + kRetry, timer.action, timer.id, pod.stamp);
      return 1;
    }
    if (timer.action == Action::kStart) {
      pod.running_since = now;
      pod.facts.stage = std::max(pod.facts.stage, Stage::kRunning);
      MarkPod(timer.id);
    } else if (timer.action == Action::kEnd) {
      pod.facts.stage = Stage::kEnded;
      MarkPod(timer.id);
    }
    return 1;
  }

  int RunNode(const Timer& timer, absl::Time now) {
    std::string name, uid;
    Value body;
    {
      absl::MutexLock lock(&mutex_);
      Node& node = nodes_[timer.id];
      if (node.stamp != timer.stamp) return 0;
      name = node.name, uid = node.uid;
      if (timer.action == Action::kInitNode) {
        body = InitPatch(node.init_from, AddressIndex(timer.id), now);
      }
      if (timer.action == Action::kLoseNode) body = LostPatch(now);
      if (timer.action == Action::kHeartbeat) body = HeartbeatPatch(now);
      if (timer.action == Action::kLease) body = NodeLease(name, uid, now);
    }
    const absl::Status status =
        timer.action == Action::kLease ? api_.PutNodeLease(body) : api_.PatchNodeStatus(name, body);
    absl::MutexLock lock(&mutex_);
    Node& node = nodes_[timer.id];
    if (!status.ok() && !absl::IsNotFound(status)) {
      LOG_EVERY_N(WARNING, 100) << "hollow kubelet write failed node=" << name
                                << " error=" << status;
    }
    const bool repeat = timer.action == Action::kLease || timer.action == Action::kHeartbeat;
    if (node.stamp != timer.stamp) return 1;
    if (repeat) {
      const absl::Duration period =
          timer.action == Action::kLease ? options_.lease_renewal : options_.heartbeat;
      Push(timer.due + period > now ? timer.due + period : now + period, timer.action, timer.id,
           timer.stamp);
    } else if (!status.ok()) {
      if (!absl::IsNotFound(status)) Push(now + kRetry, timer.action, timer.id, timer.stamp);
    } else if (timer.action == Action::kInitNode) {
      node.ready = true;
      node.init_from = Value();
    } else {
      node.lost_told = true;
      node.ready = false;
    }
    return 1;
  }

  Api& api_;
  const Options options_;
  mutable absl::Mutex mutex_;
  std::vector<Pod> pods_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> free_pods_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> pod_ids_ ABSL_GUARDED_BY(mutex_);
  std::vector<Node> nodes_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> node_ids_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> dirty_pods_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> dirty_nodes_ ABSL_GUARDED_BY(mutex_);
  std::priority_queue<Timer, std::vector<Timer>, Later> timers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_order_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t next_address_ ABSL_GUARDED_BY(mutex_) = 0;
};

HollowKubelet::HollowKubelet(Api& api, Options options)
    : impl_(std::make_unique<Impl>(api, std::move(options))) {}
HollowKubelet::~HollowKubelet() = default;

void HollowKubelet::OnPod(const Value& pod, bool deleted) { impl_->OnPod(pod, deleted); }
void HollowKubelet::OnNode(const Value& node, bool deleted) { impl_->OnNode(node, deleted); }
int HollowKubelet::Pump(absl::Time now) { return impl_->Pump(now); }
absl::Time HollowKubelet::NextDue() const { return impl_->NextDue(); }
void HollowKubelet::SetNodeDown(absl::string_view node, bool down) {
  impl_->SetNodeDown(node, down);
}

}  // namespace hekla::apiserver::kubelet

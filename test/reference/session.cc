#include "test/reference/session.h"

#include <algorithm>
#include <cmath>

// Counting, gangs, shares.
namespace hekla::reference {

bool Allocated(Status s) {
  return s == Status::kBound || s == Status::kBinding || s == Status::kRunning ||
         s == Status::kAllocated;
}

namespace {

void Add(Amounts& to, const Amounts& what, double times = 1) {
  for (size_t d = 0; d < to.size(); ++d) to[d] += what[d] * times;
}

bool LessEqual(const Amounts& a, const Amounts& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (!(a[d] < b[d] || std::abs(a[d] - b[d]) < 0.1)) return false;
  }
  return true;
}

// The dimensions that are asked for stay within the limit.
bool Within(const Amounts& left, const Amounts& right, const Amounts& request) {
  for (size_t d = 0; d < left.size(); ++d) {
    if (d != kPods && request[d] > 0 && left[d] > right[d]) return false;
  }
  return true;
}

double Share(const Amounts& part, const Amounts& whole) {
  double largest = 0;
  for (size_t d = 0; d < part.size(); ++d) {
    if (whole[d] >= 0.1) largest = std::max(largest, part[d] / whole[d]);
  }
  return largest;
}

bool Empty(const Amounts& a) { return a[kCpu] < 0.1 && a[kMemory] < 0.1 && a[kGpu] < 0.1; }

Amounts DownToZero(Amounts a, const Amounts& b) {
  for (size_t d = 0; d < a.size(); ++d) a[d] = std::max(a[d] - b[d], 0.0);
  return a;
}

// "a-b-12" → 12; nothing for other forms.
std::optional<int> IndexOf(const std::string& name) {
  if (std::count(name.begin(), name.end(), '-') < 2) return std::nullopt;
  const std::string text = name.substr(name.rfind('-') + 1);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoi(text);
}

}  // namespace

Session::Session(const Cluster& from, uint64_t seed) : cluster(from), seed_(seed) {
  for (Pod& pod : cluster.pods) {
    if (!pod.node.empty()) on_node_[pod.node].push_back(&pod);
    if (!pod.group.empty()) of_group_[pod.group].push_back(&pod);
  }
  OpenQueues();
}

Group* Session::FindGroup(const std::string& name) {
  for (Group& group : cluster.groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

Queue* Session::QueueOf(const Group& group) {
  for (Queue& queue : cluster.queues) {
    if (queue.name == group.queue) return &queue;
  }
  return nullptr;
}

void Session::Move(Pod& pod, Status status, const std::string& node) {
  if (!pod.node.empty()) std::erase(on_node_[pod.node], &pod);
  pod.status = status;
  pod.node = node;
  if (!node.empty()) on_node_[node].push_back(&pod);
}

Amounts Session::Idle(const Node& node) {
  Amounts idle = node.allocatable;
  for (Pod* pod : PodsOn(node)) {
    if (pod->status != Status::kPipelined) Add(idle, pod->request, -1);
  }
  return idle;
}

Amounts Session::FutureIdle(const Node& node) {
  Amounts idle = Idle(node);
  for (Pod* pod : PodsOn(node)) {
    if (pod->status == Status::kReleasing) Add(idle, pod->request);
    if (pod->status == Status::kPipelined) Add(idle, pod->request, -1);
  }
  return idle;
}

int Session::Count(const Group& group, Status status) {
  int n = 0;
  for (Pod* pod : PodsOf(group)) n += pod->status == status ? 1 : 0;
  return n;
}

int Session::Ready(const Group& group) {
  int n = 0;
  for (Pod* pod : PodsOf(group)) n += Allocated(pod->status) ? 1 : 0;
  return n;
}

int Session::PendingBestEffort(const Group& group) {
  int n = 0;
  for (Pod* pod : PodsOf(group)) n += pod->status == Status::kPending && pod->BestEffort() ? 1 : 0;
  return n;
}

bool Session::CountReady(const Group& group) {
  return Ready(group) + PendingBestEffort(group) >= group.min_member;
}

bool Session::RolesPass(const Group& group, bool valid, bool pipelined) {
  int sum = 0;
  for (const auto& [role, minimum] : group.role_minimums) sum += minimum;
  if (group.min_member < sum) return true;
  for (const auto& [role, minimum] : group.role_minimums) {
    int n = 0;
    for (Pod* pod : PodsOf(group)) {
      if (pod->role != role) continue;
      const bool pending = pod->status == Status::kPending && (valid || pod->BestEffort());
      const bool waiting = pod->status == Status::kPipelined && (valid || pipelined);
      n += Allocated(pod->status) || pending || waiting ? 1 : 0;
    }
    if (n < minimum) return false;
  }
  return true;
}

bool Session::Valid(const Group& group) {
  const int valid =
      Ready(group) + Count(group, Status::kPending) + Count(group, Status::kPipelined);
  return RolesPass(group, true, true) && valid >= group.min_member;
}

bool Session::JobReady(const Group& group) {
  return CountReady(group) && RolesPass(group, false, false);
}

bool Session::JobPipelined(const Group& group) {
  return Ready(group) + PendingBestEffort(group) + Count(group, Status::kPipelined) >=
             group.min_member &&
         RolesPass(group, false, true);
}

Amounts Session::Held(const Group& group) {
  Amounts held = {};
  for (Pod* pod : PodsOf(group)) {
    if (Allocated(pod->status) || pod->status == Status::kPipelined) Add(held, pod->request);
  }
  return held;
}

Amounts Session::HeldBy(const Queue& queue) {
  Amounts held = {};
  for (Group& group : cluster.groups) {
    if (group.queue == queue.name) Add(held, Held(group));
  }
  return held;
}

Amounts Session::Total() {
  Amounts total = {};
  for (Node& node : cluster.nodes) Add(total, node.allocatable);
  return total;
}

double Session::JobShare(const Group& group) { return Share(Held(group), Total()); }

double Session::QueueShare(const Queue& queue) {
  return Share(HeldBy(queue), deserved_[queue.name]);
}

bool Session::JobBefore(const Group& a, const Group& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (CountReady(a) != CountReady(b)) return CountReady(b);
  const double left = JobShare(a), right = JobShare(b);
  if (left != right) return left < right;
  if (a.created != b.created) return a.created < b.created;
  return a.name < b.name;
}

bool Session::QueueBefore(const Queue& a, const Queue& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const double left = QueueShare(a), right = QueueShare(b);
  if (left != right) return left < right;
  if (a.created != b.created) return a.created < b.created;
  return a.name < b.name;
}

// By priority and age; those with an index in its order, in the places that are theirs by age.
void Session::Sort(std::vector<Pod*>& pods) {
  const auto before = [](Pod* a, Pod* b) {
    if (a->priority != b->priority) return a->priority > b->priority;
    return a->created != b->created ? a->created < b->created : a->Uid() < b->Uid();
  };
  std::sort(pods.begin(), pods.end(), before);
  std::vector<Pod*> indexed;
  for (Pod* pod : pods) {
    if (IndexOf(pod->name).has_value()) indexed.push_back(pod);
  }
  std::sort(indexed.begin(), indexed.end(), [&](Pod* a, Pod* b) {
    const int left = *IndexOf(a->name), right = *IndexOf(b->name);
    return a->priority == b->priority && left != right ? left < right : before(a, b);
  });
  size_t next = 0;
  for (Pod*& pod : pods) {
    if (IndexOf(pod->name).has_value()) pod = indexed[next++];
  }
}

// What a group was promised and does not hold. Overcommit counts the whole minimum of Inqueue
// groups.
Amounts Session::Promised(const Group& group, bool whole_when_inqueue) {
  if (!group.min_resources.has_value()) return {};
  const bool inqueue = group.phase == "Inqueue";
  if (!inqueue && !(group.phase == "Running" && Ready(group) >= group.min_member)) return {};
  Amounts promised = *group.min_resources;
  if (!(inqueue && whole_when_inqueue)) {
    Amounts allocated = {};
    for (Pod* pod : PodsOf(group)) {
      if (Allocated(pod->status)) Add(allocated, pod->request);
    }
    promised = DownToZero(promised, allocated);
  }
  Amounts gated = {};
  for (Pod* pod : PodsOf(group)) {
    if (pod->gated) Add(gated, pod->request);
  }
  return DownToZero(promised, gated);
}

void Session::OpenQueues() {
  const Amounts total = Total();
  Amounts guarantees = {};
  std::vector<Queue*> unmet;
  for (Queue& queue : cluster.queues) Add(guarantees, queue.guarantee);
  for (Queue& queue : cluster.queues) {
    bool any = false;
    for (Group& group : cluster.groups) {
      if (group.queue != queue.name) continue;
      any = true;
      Add(inqueue_[queue.name], Promised(group, false));
      Add(elastic_[queue.name], DownToZero(Held(group), group.min_resources.value_or(Amounts{})));
      for (Pod* pod : PodsOf(group)) {
        if (Allocated(pod->status) || pod->status == Status::kPending) {
          Add(request_[queue.name], pod->request);
        }
      }
    }
    if (!any) continue;
    unmet.push_back(&queue);
    Amounts& real = real_capability_[queue.name];
    real = DownToZero(total, guarantees);
    Add(real, queue.guarantee);
    for (size_t d = 0; d < real.size(); ++d) {
      if (queue.capability[d].has_value()) real[d] = std::min(real[d], *queue.capability[d]);
    }
    deserved_[queue.name] = {};
  }
  std::sort(unmet.begin(), unmet.end(), [](Queue* a, Queue* b) {
    return a->created != b->created ? a->created < b->created : a->name < b->name;
  });
  for (Amounts remaining = total;;) {
    int weights = 0;
    for (Queue* queue : unmet) weights += queue->weight;
    if (weights == 0) break;
    Amounts increased = {}, decreased = {};
    std::vector<Queue*> left;
    for (Queue* queue : unmet) {
      Amounts& deserved = deserved_[queue->name];
      const Amounts old = deserved;
      const double part = static_cast<double>(queue->weight) / static_cast<double>(weights);
      for (size_t d = 0; d < deserved.size(); ++d) {
        deserved[d] = std::min(old[d] + remaining[d] * part, real_capability_[queue->name][d]);
        deserved[d] = std::min(deserved[d], request_[queue->name][d]);
        deserved[d] = std::max(deserved[d], queue->guarantee[d]);
        (deserved[d] > old[d] ? increased : decreased)[d] += std::abs(deserved[d] - old[d]);
      }
      if (!LessEqual(request_[queue->name], deserved) && deserved != old) left.push_back(queue);
    }
    unmet = left;
    const Amounts before = remaining;
    Add(remaining, decreased);
    remaining = DownToZero(remaining, increased);
    if (Empty(remaining) || remaining == before) break;
  }
  for (size_t d = 0; d < total.size(); ++d) idle_for_enqueue_[d] = total[d] * 1.2;
  for (Node& node : cluster.nodes) {
    for (Pod* pod : PodsOn(node)) Add(idle_for_enqueue_, pod->request, -1);
  }
  for (Group& group : cluster.groups) {
    if (QueueOf(group) != nullptr) Add(inqueue_all_, Promised(group, true));
  }
}

bool Session::Overused(const Queue& queue) {
  return LessEqual(deserved_[queue.name], HeldBy(queue));
}

bool Session::Allocatable(const Queue& queue, const Pod& pod) {
  Amounts held = HeldBy(queue);
  Add(held, pod.request);
  return queue.open && Within(held, deserved_[queue.name], pod.request);
}

bool Session::Enqueueable(const Group& group) {
  Queue& queue = *QueueOf(group);
  const Amounts minimum = *group.min_resources;
  Amounts together = inqueue_all_;
  Add(together, minimum);
  if (!Within(together, idle_for_enqueue_, minimum)) return false;
  if (!queue.open) return false;
  Amounts held = HeldBy(queue);
  Add(held, minimum);
  Add(held, inqueue_[queue.name]);
  Add(held, elastic_[queue.name], -1);
  return Within(held, real_capability_[queue.name], minimum);
}

void Session::Enqueued(const Group& group) {
  if (!group.min_resources.has_value()) return;
  Amounts gated = {};
  for (Pod* pod : PodsOf(group)) {
    if (pod->gated) Add(gated, pod->request);
  }
  const Amounts promised = DownToZero(*group.min_resources, gated);
  Add(inqueue_all_, promised);
  Add(inqueue_[group.queue], promised);
}

}  // namespace hekla::reference

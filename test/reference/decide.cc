#include <algorithm>
#include <set>

#include "test/reference/session.h"

// The three actions.
namespace hekla::reference {
namespace {

bool Within(const Amounts& request, const Amounts& room) {
  for (size_t d = 0; d < request.size(); ++d) {
    if (request[d] > room[d]) return false;
  }
  return true;
}

class Cycle {
 public:
  Cycle(const Cluster& cluster, uint64_t seed) : s_(cluster, seed) {}

  Decision Run() {
    Enqueue();
    Allocate();
    Backfill();
    return Close();
  }

 private:
  using Jobs = std::map<Queue*, std::vector<Group*>>;

  Queue* BestQueue(const std::set<Queue*>& queues) {
    return *std::min_element(queues.begin(), queues.end(),
                             [&](Queue* a, Queue* b) { return s_.QueueBefore(*a, *b); });
  }
  Group* PopJob(std::vector<Group*>& jobs) {
    const auto it = std::min_element(jobs.begin(), jobs.end(),
                                     [&](Group* a, Group* b) { return s_.JobBefore(*a, *b); });
    Group* job = *it;
    jobs.erase(it);
    return job;
  }
  static bool PendingPhase(const Group& g) { return g.phase.empty() || g.phase == "Pending"; }

  void Enqueue() {
    std::set<Queue*> queues;
    Jobs jobs;
    for (Group& group : s_.cluster.groups) {
      Queue* queue = s_.QueueOf(group);
      if (queue == nullptr || !PendingPhase(group)) continue;
      queues.insert(queue);
      jobs[queue].push_back(&group);
    }
    while (!queues.empty()) {
      Queue* queue = BestQueue(queues);
      if (jobs[queue].empty()) {
        queues.erase(queue);
        continue;
      }
      Group* job = PopJob(jobs[queue]);
      if (job->min_resources.has_value() && !s_.Enqueueable(*job)) continue;
      s_.Enqueued(*job);
      job->phase = "Inqueue";
    }
  }

  void Allocate() {
    std::set<Queue*> queues;
    Jobs jobs;
    for (Group& group : s_.cluster.groups) {
      Queue* queue = s_.QueueOf(group);
      if (queue == nullptr || PendingPhase(group) || !s_.Valid(group)) continue;
      std::vector<Pod*>& tasks = tasks_[&group];
      for (Pod* pod : s_.PodsOf(group)) {
        if (pod->status == Status::kPending && !pod->gated && !pod->BestEffort()) {
          tasks.push_back(pod);
        }
      }
      if (tasks.empty()) continue;
      Session::Sort(tasks);
      queues.insert(queue);
      jobs[queue].push_back(&group);
    }
    while (!queues.empty()) {
      Queue* queue = BestQueue(queues);
      if (s_.Overused(*queue) || jobs[queue].empty()) {
        queues.erase(queue);
        continue;
      }
      Group* job = PopJob(jobs[queue]);
      const std::vector<Pod*> placed = TakeTurn(*queue, *job);
      if (placed.empty() || !s_.JobReady(*job)) continue;
      for (Pod* pod : placed) {
        if (pod->status == Status::kAllocated) s_.Move(*pod, Status::kBinding, pod->node);
      }
      if (!tasks_[job].empty()) jobs[queue].push_back(job);
    }
  }

  // Places tasks until the job is ready; gives everything back where it is not even pipelined.
  std::vector<Pod*> TakeTurn(Queue& queue, Group& job) {
    std::vector<Pod*>& tasks = tasks_[&job];
    std::vector<Pod*> placed;
    while (!tasks.empty()) {
      Pod* pod = tasks.front();
      tasks.erase(tasks.begin());
      if (!s_.Allocatable(queue, *pod)) continue;
      if (!pod->role.empty() && failed_roles_[&job].count(pod->role) > 0) continue;
      std::vector<Node*> now, later;
      const Question question = s_.Ask(*pod);
      for (Node& node : s_.cluster.nodes) {
        if (!Within(pod->request, s_.FutureIdle(node)) || !s_.Fits(question, node)) continue;
        (Within(pod->request, s_.Idle(node)) ? now : later).push_back(&node);
      }
      if (now.empty() && later.empty()) {
        failed_roles_[&job].insert(pod->role);
        if (!NeedContinue(job)) break;
        continue;
      }
      Node* node = s_.Best(*pod, now.empty() ? later : now);
      s_.Move(*pod, now.empty() ? Status::kPipelined : Status::kAllocated, node->name);
      placed.push_back(pod);
      if (s_.JobReady(job)) break;
    }
    if (!s_.JobReady(job) && !s_.JobPipelined(job)) {
      for (Pod* pod : placed) s_.Move(*pod, Status::kPending, "");
      placed.clear();
    }
    return placed;
  }

  bool NeedContinue(const Group& job) {
    const std::vector<Pod*> pods = s_.PodsOf(job);
    if (job.min_member >= static_cast<int>(pods.size())) return false;
    const std::set<std::string>& failed = failed_roles_[&job];
    int minimums = 0, left = s_.Ready(job);
    for (const auto& [role, minimum] : job.role_minimums) minimums += minimum;
    if (job.min_member < minimums) {
      for (Pod* pod : pods) {
        left += pod->status == Status::kPending && failed.count(pod->role) == 0 ? 1 : 0;
      }
      return left >= job.min_member;
    }
    for (const std::string& role : failed) {
      const auto it = job.role_minimums.find(role);
      if (it == job.role_minimums.end() || it->second == 0) continue;
      int placed = 0;
      for (Pod* pod : pods) {
        const bool best_effort = pod->status == Status::kPending && pod->BestEffort();
        placed += pod->role == role && (Allocated(pod->status) || best_effort) ? 1 : 0;
      }
      if (placed < it->second) return false;
    }
    return true;
  }

  void Backfill() {
    std::set<Queue*> queues;
    Jobs jobs;
    for (Group& group : s_.cluster.groups) {
      Queue* queue = s_.QueueOf(group);
      if (queue == nullptr || PendingPhase(group) || !s_.Valid(group)) continue;
      queues.insert(queue);
      jobs[queue].push_back(&group);
    }
    std::vector<Pod*> tasks;
    while (!queues.empty()) {
      Queue* queue = BestQueue(queues);
      queues.erase(queue);
      while (!jobs[queue].empty()) {
        std::vector<Pod*> pods;
        for (Pod* pod : s_.PodsOf(*PopJob(jobs[queue]))) {
          if (pod->BestEffort() && pod->status == Status::kPending && !pod->gated) {
            pods.push_back(pod);
          }
        }
        Session::Sort(pods);
        tasks.insert(tasks.end(), pods.begin(), pods.end());
      }
    }
    for (Pod* pod : tasks) {
      std::vector<Node*> candidates;
      const Question question = s_.Ask(*pod);
      for (Node& node : s_.cluster.nodes) {
        if (s_.Fits(question, node)) candidates.push_back(&node);
      }
      Node* node = s_.Best(*pod, candidates);
      if (node == nullptr) continue;
      s_.Move(*pod, Status::kAllocated, node->name);
      Group& job = *s_.FindGroup(pod->group);
      if (!s_.JobReady(job)) continue;
      for (Pod* other : s_.PodsOf(job)) {
        if (other->status == Status::kAllocated) s_.Move(*other, Status::kBinding, other->node);
      }
    }
  }

  Decision Close() {
    Decision decision;
    for (Pod& pod : s_.cluster.pods) {
      if (pod.status == Status::kBinding) decision.binds[pod.name] = pod.node;
      if (pod.status == Status::kPipelined) decision.pipelined[pod.name] = pod.node;
    }
    for (Group& group : s_.cluster.groups) {
      if (s_.QueueOf(group) != nullptr) decision.phases[group.name] = PhaseOf(group);
    }
    return decision;
  }

  // Source: spec scheduler-core 4.5, and the gang plugin's condition.
  std::string PhaseOf(const Group& group) {
    const int running = s_.Count(group, Status::kRunning);
    const int releasing = s_.Count(group, Status::kReleasing);
    const int scheduled = running + s_.Count(group, Status::kBound);
    const bool waits = s_.Count(group, Status::kPending) + s_.Count(group, Status::kPipelined) > 0;
    const bool ends = releasing > 0 && !waits && scheduled + releasing >= group.min_member;
    const bool unready = !s_.PodsOf(group).empty() && !s_.CountReady(group) && !ends;
    if (running > 0 && unready) return "Unknown";
    if (scheduled + releasing >= group.min_member) return "Running";
    return group.phase == "Inqueue" ? "Inqueue" : "Pending";
  }

  Session s_;
  std::map<const Group*, std::vector<Pod*>> tasks_;
  std::map<const Group*, std::set<std::string>> failed_roles_;
};

}  // namespace

Decision Decide(const Cluster& cluster, uint64_t seed) { return Cycle(cluster, seed).Run(); }

}  // namespace hekla::reference

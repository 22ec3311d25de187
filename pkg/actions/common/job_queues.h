#pragma once

#include <vector>

#include "pkg/actions/common/heap.h"
#include "pkg/framework/session.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::actions {

struct JobOrder {
  const framework::Session* session;
  bool operator()(model::JobId a, model::JobId b) const { return session->JobBefore(a, b); }
};
struct QueueOrder {
  const framework::Session* session;
  bool operator()(model::QueueId a, model::QueueId b) const { return session->QueueBefore(a, b); }
};

// Jobs of an action, per queue, both in the session's orders.
class JobQueues {
 public:
  JobQueues(const framework::Session& session, const std::vector<model::JobId>& jobs)
      : session_(&session), queues_(QueueOrder{&session}) {
    std::vector<std::vector<model::JobId>> members;
    std::vector<model::QueueId> found;
    const model::Tables& t = session.tables();
    slot_.assign(t.queues.size(), UINT32_MAX);
    for (model::JobId job : jobs) {
      const model::QueueId queue = t.jobs.queue[job];
      if (slot_[queue] == UINT32_MAX) {
        slot_[queue] = static_cast<uint32_t>(members.size());
        members.emplace_back();
        found.push_back(queue);
      }
      members[slot_[queue]].push_back(job);
    }
    for (auto& list : members) {
      jobs_.emplace_back(JobOrder{&session});
      jobs_.back().Fill(std::move(list));
    }
    queues_.Fill(std::move(found));
  }

  bool empty() const { return queues_.empty(); }
  model::QueueId PopQueue() { return queues_.Pop(); }
  void PushQueue(model::QueueId queue) { queues_.Push(queue); }
  Heap<model::JobId, JobOrder>& JobsOf(model::QueueId queue) { return jobs_[slot_[queue]]; }

 private:
  const framework::Session* session_;
  Heap<model::QueueId, QueueOrder> queues_;
  std::vector<Heap<model::JobId, JobOrder>> jobs_;
  util::IdVector<model::QueueId, uint32_t> slot_;
};

// Jobs that a scheduling action may look at: known queue, PodGroup there.
inline bool InSession(const model::JobTable& jobs, model::JobId job) {
  return jobs.live[job] && jobs.spec[job] != nullptr && jobs.queue[job].valid();
}

}  // namespace hekla::actions

#include "pkg/framework/victim_order.h"

#include <algorithm>

#include "pkg/framework/task_order.h"

namespace hekla::framework {
namespace {

using model::JobId;
using model::QueueId;
using model::TaskId;

// What queues and jobs say of two victims; tasks are compared only where they say nothing.
class VictimRank {
 public:
  VictimRank(Session& session, TaskId preemptor)
      : session_(session), tables_(session.tables()), own_(QueueOf(tables_.tasks.job[preemptor])) {}

  // Below 0: `l` is evicted first.
  int operator()(TaskId l, TaskId r) const {
    const JobId left = tables_.tasks.job[l], right = tables_.tasks.job[r];
    if (left == right) return 0;
    const QueueId left_queue = QueueOf(left), right_queue = QueueOf(right);
    if (left_queue.valid() != right_queue.valid()) return left_queue.valid() ? 1 : -1;
    if (!left_queue.valid()) return 0;
    if (!own_.valid() || left_queue == right_queue) {
      return -session_.points().job_order(left, right);
    }
    const int order = session_.points().victim_queue_order(left_queue, right_queue, own_);
    if (order != 0) return order;
    return session_.QueueBefore(right_queue, left_queue) ? -1 : 1;
  }

 private:
  QueueId QueueOf(JobId job) const { return job.valid() ? tables_.jobs.queue[job] : QueueId(); }

  Session& session_;
  const model::Tables& tables_;
  const QueueId own_;
};

}  // namespace

void SortVictims(Session& session, TaskId preemptor, absl::Span<TaskId> victims) {
  const VictimRank rank(session, preemptor);
  std::stable_sort(victims.begin(), victims.end(),
                   [&](TaskId l, TaskId r) { return rank(l, r) < 0; });
  for (size_t begin = 0; begin < victims.size();) {
    size_t end = begin + 1;
    while (end < victims.size() && rank(victims[begin], victims[end]) == 0) ++end;
    const absl::Span<TaskId> equals = victims.subspan(begin, end - begin);
    SortTasks(session, equals);
    std::reverse(equals.begin(), equals.end());
    begin = end;
  }
}

}  // namespace hekla::framework

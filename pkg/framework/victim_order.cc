#include "pkg/framework/victim_order.h"

namespace hekla::framework {

bool VictimBefore(Session& session, model::TaskId preemptor, model::TaskId l, model::TaskId r) {
  const model::Tables& t = session.tables();
  const model::JobId left = t.tasks.job[l], right = t.tasks.job[r];
  const auto queue_of = [&](model::JobId job) {
    return job.valid() ? t.jobs.queue[job] : model::QueueId();
  };
  const model::QueueId left_queue = queue_of(left), right_queue = queue_of(right);
  if (left == right) return session.TaskBefore(r, l);
  if (left_queue.valid() != right_queue.valid()) return !left_queue.valid();
  if (!left_queue.valid()) return session.TaskBefore(r, l);
  const model::QueueId own = queue_of(t.tasks.job[preemptor]);
  if (!own.valid() || left_queue == right_queue) {
    const int order = session.points().job_order(left, right);
    return order != 0 ? order > 0 : session.TaskBefore(r, l);
  }
  const int order = session.points().victim_queue_order(left_queue, right_queue, own);
  return order != 0 ? order < 0 : session.QueueBefore(right_queue, left_queue);
}

}  // namespace hekla::framework

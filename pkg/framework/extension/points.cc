#include "pkg/framework/extension/points.h"

namespace hekla::framework {

void Points::Clear() {
  job_order.Clear();
  queue_order.Clear();
  task_order.Clear();
  sub_job_order.Clear();
  victim_queue_order.Clear();
  job_valid.Clear();
  job_ready.Clear();
  sub_job_ready.Clear();
  job_pipelined.Clear();
  sub_job_pipelined.Clear();
  job_enqueueable.Clear();
  job_enqueued.Clear();
  job_starving.Clear();
  overused.Clear();
  allocatable.Clear();
  preemptive.Clear();
  preemptable.Clear();
  reclaimable.Clear();
  unified_evictable.Clear();
  victim_tasks.Clear();
  pre_predicate.Clear();
  allocate_event.Clear();
  deallocate_event.Clear();
  bind_context.Clear();
  gradient_for_job.Clear();
  gradient_for_sub_job.Clear();
  filters.clear();
  scorers.clear();
}

}  // namespace hekla::framework

#include "pkg/framework/scheduler_metrics.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hekla::framework {
namespace {

using metrics::ExponentialRange;
using metrics::Registry;

const std::vector<std::string> kJobLabels = {"job_name", "queue", "job_namespace"};

SchedulerMetrics::QueueAmount Amount(Registry& registry, absl::string_view kind) {
  const auto name = [kind](absl::string_view end) {
    return absl::StrCat("volcano_queue_", kind, "_", end);
  };
  return {.milli_cpu = registry.NewGaugeFamily(
              name("milli_cpu"),
              absl::StrCat("CPU count (", kind, ") of one queue, in milli-cores"), {"queue_name"}),
          .memory_bytes = registry.NewGaugeFamily(
              name("memory_bytes"), absl::StrCat("Memory (", kind, ") of one queue, in bytes"),
              {"queue_name"}),
          .scalar_resources = registry.NewGaugeFamily(
              name("scalar_resources"), absl::StrCat("Further resources (", kind, ") of one queue"),
              {"queue_name", "resource"})};
}

void Forget(SchedulerMetrics::QueueAmount& amount, const std::string& queue) {
  amount.milli_cpu.Remove({queue});
  amount.memory_bytes.Remove({queue});
  amount.scalar_resources.RemoveWhere(0, queue);
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(Registry& r)
    : e2e_latency(r.NewHistogram("volcano_e2e_scheduling_latency_milliseconds",
                                 "Time of one scheduling cycle", ExponentialRange(1, 5000, 20))),
      open_session(r.NewHistogram("volcano_open_session_duration_milliseconds",
                                  "Time to open a session", ExponentialRange(1, 5000, 20))),
      action_latency(r.NewHistogramFamily("volcano_action_scheduling_latency_milliseconds",
                                          "Time of one action", {"action"},
                                          ExponentialRange(1, 2000, 20))),
      plugin_latency(r.NewHistogramFamily("volcano_plugin_scheduling_latency_milliseconds",
                                          "Time of a plugin's hook", {"plugin", "OnSession"},
                                          ExponentialRange(0.1, 100, 15))),
      task_latency(r.NewHistogramFamily("volcano_task_scheduling_latency_milliseconds",
                                        "Age of a pod when it reaches a stage", {"stage"},
                                        ExponentialRange(50, 60000, 30))),
      stage_duration(r.NewHistogramFamily("volcano_scheduling_stage_duration_milliseconds",
                                          "Time of one stage", {"stage"},
                                          ExponentialRange(0.1, 500, 20))),
      job_latency(r.NewHistogram("volcano_e2e_job_scheduling_latency_milliseconds",
                                 "Age of a PodGroup when one of its tasks is placed",
                                 ExponentialRange(100, 120000, 30))),
      job_duration(r.NewGaugeFamily("volcano_e2e_job_scheduling_duration",
                                    "Age of a PodGroup at its last placement, in milliseconds",
                                    kJobLabels)),
      job_start_time(r.NewGaugeFamily("volcano_e2e_job_scheduling_start_time",
                                      "Creation of a PodGroup, in unix seconds", kJobLabels)),
      job_last_time(r.NewGaugeFamily("volcano_e2e_job_scheduling_last_time",
                                     "Last placement in a PodGroup, in unix seconds", kJobLabels)),
      attempts(r.NewCounterFamily("volcano_schedule_attempts_total",
                                  "Attempts to schedule pods, by result", {"result"})),
      unscheduled_tasks(r.NewGaugeFamily("volcano_unschedule_task_count",
                                         "Tasks that a job lacks to be ready", {"job_id"})),
      unscheduled_jobs(r.NewGauge("volcano_unschedule_job_count", "Jobs that are not ready")),
      job_retries(r.NewCounterFamily("volcano_job_retry_counts",
                                     "Attempts at a job that was not ready", {"job_id"})),
      preemption_victims(
          r.NewGauge("volcano_pod_preemption_victims", "Victims of the last preemption")),
      preemption_attempts(
          r.NewCounter("volcano_total_preemption_attempts", "Preemption attempts so far")),
      eviction_transactions(r.NewCounterFamily("volcano_eviction_transactions_total",
                                               "Committed statements with evictions", {"action"})),
      job_share(
          r.NewGaugeFamily("volcano_job_share", "Dominant share of a job", {"job_ns", "job_id"})),
      namespace_share(
          r.NewGaugeFamily("volcano_namespace_share", "Share of a namespace", {"namespace_name"})),
      namespace_weight(r.NewGaugeFamily("volcano_namespace_weight", "Weight of a namespace",
                                        {"namespace_name"})),
      namespace_weighted_share(r.NewGaugeFamily(
          "volcano_namespace_weighted_share", "Weighted share of a namespace", {"namespace_name"})),
      queue_allocated(Amount(r, "allocated")),
      queue_request(Amount(r, "request")),
      queue_deserved(Amount(r, "deserved")),
      queue_inqueue(Amount(r, "inqueue")),
      queue_capacity(Amount(r, "capacity")),
      queue_real_capacity(Amount(r, "real_capacity")),
      queue_share(r.NewGaugeFamily("volcano_queue_share", "Share of a queue", {"queue_name"})),
      queue_weight(r.NewGaugeFamily("volcano_queue_weight", "Weight of a queue", {"queue_name"})),
      queue_overused(r.NewGaugeFamily("volcano_queue_overused",
                                      "Whether a queue is above its share", {"queue_name"})),
      config_reloads(r.NewCounterFamily("hekla_config_reloads_total",
                                        "Reloads of the configuration, by result", {"result"})) {}

void SchedulerMetrics::ForgetQueue(const std::string& name) {
  for (QueueAmount* amount : {&queue_allocated, &queue_request, &queue_deserved, &queue_inqueue,
                              &queue_capacity, &queue_real_capacity}) {
    Forget(*amount, name);
  }
  for (metrics::GaugeFamily* family : {&queue_share, &queue_weight, &queue_overused}) {
    family->Remove({name});
  }
}

void SchedulerMetrics::ForgetJob(const std::string& job_namespace, const std::string& name) {
  for (metrics::GaugeFamily* family : {&job_duration, &job_start_time, &job_last_time}) {
    for (const auto& [values, unused] : family->All()) {
      if (values[0] == name && values[2] == job_namespace) family->Remove(values);
    }
  }
  unscheduled_tasks.Remove({name});
  job_retries.Remove({name});
  job_share.Remove({job_namespace, name});
}

}  // namespace hekla::framework

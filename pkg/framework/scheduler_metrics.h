#pragma once

#include "pkg/metrics/registry.h"

namespace hekla::framework {

// Every metric that scheduling itself writes, under upstream's names, labels and buckets, so that
// dashboards keep working. The objects belong to the registry.
// Threads: any.
// Source:  spec scheduler-core 11.
class SchedulerMetrics {
 public:
  explicit SchedulerMetrics(metrics::Registry& registry);
  SchedulerMetrics(const SchedulerMetrics&) = delete;
  SchedulerMetrics& operator=(const SchedulerMetrics&) = delete;

  // Cycles, in milliseconds.
  metrics::Histogram& e2e_latency;
  metrics::Histogram& open_session;
  metrics::HistogramFamily& action_latency;  // action
  metrics::HistogramFamily& plugin_latency;  // plugin, OnSession

  // Tasks and jobs.
  metrics::HistogramFamily& task_latency;    // stage: Watched, Assumed, PreBound, Bound
  metrics::HistogramFamily& stage_duration;  // stage: Predicate, Scoring, PreBind, Bind
  metrics::Histogram& job_latency;
  metrics::GaugeFamily& job_duration;       // job_name, queue, job_namespace
  metrics::GaugeFamily& job_start_time;     // same
  metrics::GaugeFamily& job_last_time;      // same
  metrics::CounterFamily& attempts;         // result; declared, never incremented (as upstream)
  metrics::GaugeFamily& unscheduled_tasks;  // job_id = the job's name
  metrics::Gauge& unscheduled_jobs;
  metrics::CounterFamily& job_retries;  // job_id = the job's name

  // Evictions.
  metrics::Gauge& preemption_victims;
  metrics::Counter& preemption_attempts;
  metrics::CounterFamily& eviction_transactions;  // action

  // Shares.
  metrics::GaugeFamily& job_share;  // job_ns, job_id
  metrics::GaugeFamily& namespace_share;
  metrics::GaugeFamily& namespace_weight;
  metrics::GaugeFamily& namespace_weighted_share;

  // Queues. One set of gauges per kind of amount.
  struct QueueAmount {
    metrics::GaugeFamily& milli_cpu;         // queue_name
    metrics::GaugeFamily& memory_bytes;      // queue_name
    metrics::GaugeFamily& scalar_resources;  // queue_name, resource
  };
  QueueAmount queue_allocated;
  QueueAmount queue_request;
  QueueAmount queue_deserved;
  QueueAmount queue_inqueue;
  QueueAmount queue_capacity;
  QueueAmount queue_real_capacity;
  metrics::GaugeFamily& queue_share;     // queue_name
  metrics::GaugeFamily& queue_weight;    // queue_name
  metrics::GaugeFamily& queue_overused;  // queue_name; 0 or 1

  // Ours: how the configuration fared. result: ok, failed.
  metrics::CounterFamily& config_reloads;

  // Forgets the series of a queue that was deleted, or of a job that was cleaned up.
  void ForgetQueue(const std::string& name);
  void ForgetJob(const std::string& job_namespace, const std::string& name);
};

}  // namespace hekla::framework

#include "test/conformance/probe.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/task_order.h"

namespace hekla::conformance {
namespace {

using apis::json::Value;
using framework::Session;
using harness::World;

// Jobs that take part in the session, best first.
std::vector<model::JobId> JobsInOrder(Session& session) {
  const model::JobTable& jobs = session.tables().jobs;
  std::vector<model::JobId> order;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const model::JobId j(static_cast<uint32_t>(i));
    if (jobs.live[j] && jobs.queue[j].valid() && jobs.spec[j] != nullptr && !jobs.solo[j]) {
      order.push_back(j);
    }
  }
  std::sort(order.begin(), order.end(),
            [&](model::JobId a, model::JobId b) { return session.JobBefore(a, b); });
  return order;
}

JobProbe ProbeJob(Session& session, model::JobId job) {
  JobProbe probe;
  framework::Points& points = session.points();
  probe.valid = points.job_valid(job).pass;
  probe.enqueueable = points.job_enqueueable(job);
  probe.ready = points.job_ready(job);
  probe.pipelined = points.job_pipelined(job);
  probe.starving = points.job_starving(job);
  probe.min_available = session.tables().jobs.min_available[job];
  probe.priority = session.tables().jobs.priority[job];
  return probe;
}

TaskProbe ProbeTask(World& world, Session& session, model::TaskId task) {
  TaskProbe probe;
  const model::Tables& tables = session.tables();
  const model::JobId job = tables.tasks.job[task];
  probe.allocatable = session.points().allocatable(tables.jobs.queue[job], task);
  std::vector<model::NodeId> fitting;
  for (model::NodeId node : tables.nodes.in_cluster_order) {
    std::vector<framework::ReasonId> reasons;
    std::string& verdict = probe.predicate[world.NodeName(node)];
    if (session.search().Check(task, node, &reasons)) {
      verdict = "fit";
      fitting.push_back(node);
      continue;
    }
    verdict = absl::StrJoin(reasons, "; ", [&](std::string* out, framework::ReasonId id) {
      absl::StrAppend(out, static_cast<int>(session.reasons().code(id)), " ",
                      session.reasons().text(id));
    });
  }
  std::vector<double> scores(fitting.size());
  session.search().Scores(task, fitting, absl::MakeSpan(scores));
  for (size_t i = 0; i < fitting.size(); ++i) probe.score[world.NodeName(fitting[i])] = scores[i];
  return probe;
}

std::vector<std::string> TasksInOrder(World& world, Session& session, model::JobId job) {
  std::vector<model::TaskId> order = session.tables().jobs.tasks[job];
  framework::SortTasks(session, absl::MakeSpan(order));
  std::vector<std::string> names;
  for (model::TaskId task : order) names.push_back(world.TaskName(task));
  return names;
}

}  // namespace

Probe TakeProbe(World& world, Session& session, const Value& recorded) {
  Probe probe;
  const model::Tables& tables = session.tables();
  for (model::JobId job : JobsInOrder(session)) {
    probe.job_order.push_back(tables.jobs.key[job]);
    probe.jobs[tables.jobs.key[job]] = ProbeJob(session, job);
    probe.task_order[tables.jobs.key[job]] = TasksInOrder(world, session, job);
  }
  std::vector<model::QueueId> queues;
  for (size_t i = 0; i < tables.queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (!tables.queues.live[q]) continue;
    queues.push_back(q);
    probe.overused[tables.queues.name[q]] = session.points().overused(q);
  }
  std::sort(queues.begin(), queues.end(),
            [&](model::QueueId a, model::QueueId b) { return session.QueueBefore(a, b); });
  for (model::QueueId q : queues) probe.queue_order.push_back(tables.queues.name[q]);
  const Value& tasks = recorded.At("tasks");
  if (!tasks.is_object()) return probe;
  for (const auto& member : tasks.as_object()) {
    const model::TaskId task = world.FindTask(member.key);
    if (task.valid() && tables.tasks.job[task].valid()) {
      probe.tasks[member.key] = ProbeTask(world, session, task);
    }
  }
  return probe;
}

}  // namespace hekla::conformance

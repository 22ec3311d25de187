#include "pkg/cache/dump.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/quantity.h"

namespace hekla::cache {
namespace {

using apis::json::Value;
using apis::meta::Quantity;
using model::Cluster;
using model::JobId;
using model::NodeId;
using model::ResourceDim;
using model::TaskId;

std::string AmountText(ResourceDim dim, int64_t amount, const model::ResourceLayout& layout) {
  switch (layout.unit(dim)) {
    case model::ResourceUnit::kBytes:
      return Quantity::FromInt(amount, Quantity::Format::kBinarySi).ToString();
    case model::ResourceUnit::kCount:
      return absl::StrCat(amount);
    default:
      return Quantity::FromMilli(amount).ToString();
  }
}

Value AmountsOf(const model::ResourceMatrix& matrix, NodeId node,
                const model::ResourceLayout& layout) {
  Value out = Value::MakeObject();
  for (size_t d = 0; d < matrix.width(); ++d) {
    const auto dim = static_cast<ResourceDim>(d);
    const int64_t amount = matrix.at(node.index(), dim);
    if (amount != 0) out.Set(layout.Name(dim), AmountText(dim, amount, layout));
  }
  return out;
}

std::string PodName(const model::TaskTable& tasks, TaskId task) {
  return absl::StrCat(tasks.spec[task]->namespace_name, "/", tasks.spec[task]->name);
}

std::string NodeName(const Cluster& cluster, NodeId node) {
  return std::string(cluster.dictionary().symbols.Text(cluster.tables().nodes.name[node]));
}

std::string JobName(const model::JobTable& jobs, JobId job) {
  if (jobs.spec[job] == nullptr) return jobs.key[job];
  return absl::StrCat(jobs.spec[job]->namespace_name, "/", jobs.spec[job]->name);
}

std::vector<NodeId> NodesByName(const Cluster& cluster) {
  std::vector<NodeId> nodes = cluster.tables().nodes.leaves;
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeId a, NodeId b) { return NodeName(cluster, a) < NodeName(cluster, b); });
  return nodes;
}

std::vector<JobId> JobsByName(const Cluster& cluster) {
  const model::JobTable& table = cluster.tables().jobs;
  std::vector<JobId> jobs;
  for (size_t i = 0; i < table.size(); ++i) {
    const JobId job(static_cast<uint32_t>(i));
    if (table.live[job]) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(),
            [&](JobId a, JobId b) { return table.key[a] < table.key[b]; });
  return jobs;
}

std::vector<TaskId> ByName(const model::TaskTable& table, std::vector<TaskId> tasks) {
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const model::TaskSpec &x = *table.spec[a], &y = *table.spec[b];
    return std::tie(x.namespace_name, x.name, x.uid) < std::tie(y.namespace_name, y.name, y.uid);
  });
  return tasks;
}

Value NodeJson(const Cluster& cluster, NodeId node) {
  const model::Tables& t = cluster.tables();
  const model::ResourceLayout& layout = cluster.dictionary().resources;
  Value pods = Value::MakeArray();
  for (TaskId task : ByName(t.tasks, t.nodes.tasks[node])) pods.Append(PodName(t.tasks, task));
  return Value::MakeObject({{"name", NodeName(cluster, node)},
                            {"unschedulable", t.nodes.spec[node]->unschedulable},
                            {"allocatable", AmountsOf(t.nodes.allocatable, node, layout)},
                            {"idle", AmountsOf(t.nodes.idle, node, layout)},
                            {"used", AmountsOf(t.nodes.used, node, layout)},
                            {"releasing", AmountsOf(t.nodes.releasing, node, layout)},
                            {"pods", std::move(pods)}});
}

Value JobJson(const Cluster& cluster, JobId job) {
  const model::Tables& t = cluster.tables();
  Value tasks = Value::MakeArray();
  for (TaskId task : ByName(t.tasks, t.jobs.tasks[job])) {
    const NodeId node = t.tasks.node[task];
    tasks.Append(Value::MakeObject({{"name", PodName(t.tasks, task)},
                                    {"status", model::StatusName(t.tasks.status[task])},
                                    {"node", node.valid() ? NodeName(cluster, node) : ""},
                                    {"gated", t.tasks.gated[task] != 0}}));
  }
  const model::QueueId queue = t.jobs.queue[job];
  return Value::MakeObject({{"name", JobName(t.jobs, job)},
                            {"queue", queue.valid() ? t.queues.name[queue] : ""},
                            {"podGroup", t.jobs.spec[job] != nullptr && !t.jobs.solo[job]},
                            {"phase", model::PhaseName(t.jobs.phase[job])},
                            {"minMember", t.jobs.min_available[job]},
                            {"priority", t.jobs.priority[job]},
                            {"tasks", std::move(tasks)}});
}

}  // namespace

std::string DumpJson(const Cluster& cluster) {
  Value nodes = Value::MakeArray();
  for (NodeId node : NodesByName(cluster)) nodes.Append(NodeJson(cluster, node));
  Value jobs = Value::MakeArray();
  for (JobId job : JobsByName(cluster)) jobs.Append(JobJson(cluster, job));
  const std::string empty = "{}\n";
  return absl::StrCat(apis::json::Dump(nodes), "\n", empty, empty, empty, empty,
                      apis::json::Dump(jobs), "\n");
}

std::vector<std::string> DumpText(const Cluster& cluster) {
  const model::Tables& t = cluster.tables();
  const model::ResourceLayout& layout = cluster.dictionary().resources;
  std::vector<std::string> lines;
  for (NodeId node : NodesByName(cluster)) {
    lines.push_back(
        absl::StrCat("node ", NodeName(cluster, node), " pods=", t.nodes.pod_count[node],
                     " used=", apis::json::Dump(AmountsOf(t.nodes.used, node, layout)),
                     " idle=", apis::json::Dump(AmountsOf(t.nodes.idle, node, layout))));
  }
  for (JobId job : JobsByName(cluster)) {
    std::string counts;
    for (int s = 0; s < model::kTaskStatusCount; ++s) {
      const auto status = static_cast<model::TaskStatus>(s);
      if (t.jobs.counts[job][status] == 0) continue;
      absl::StrAppend(&counts, " ", model::StatusName(status), "=", t.jobs.counts[job][status]);
    }
    const model::QueueId queue = t.jobs.queue[job];
    lines.push_back(absl::StrCat("job ", JobName(t.jobs, job),
                                 " queue=", queue.valid() ? t.queues.name[queue] : "",
                                 " phase=", model::PhaseName(t.jobs.phase[job]),
                                 " minMember=", t.jobs.min_available[job], counts));
  }
  lines.push_back(absl::StrCat("sizes nodes=", t.nodes.size(), " tasks=", t.tasks.size(),
                               " jobs=", t.jobs.size(), " queues=", t.queues.size(),
                               " classes=", t.classes.size(), " dimensions=", layout.size()));
  return lines;
}

}  // namespace hekla::cache

#include "pkg/model/testing/world.h"

#include <algorithm>

namespace hekla::model::testing {

World::World(Cluster::Options options)
    : dictionary_(std::make_shared<Dictionary>()),
      cluster_(std::make_unique<Cluster>(dictionary_, std::move(options))) {}

absl::Time World::NextCreation() { return absl::FromUnixSeconds(1700000000 + created_++); }

Labels World::MakeLabels(const Pairs& pairs) {
  Labels labels;
  for (const auto& [key, value] : pairs) labels.emplace_back(Sym(key), Sym(value));
  std::sort(labels.begin(), labels.end());
  return labels;
}

Resource World::Amounts(const std::vector<std::pair<std::string, int64_t>>& amounts) {
  Resource r;
  for (const auto& [name, amount] : amounts) r.Set(dictionary_->resources.Intern(name), amount);
  return r;
}

NodeId World::AddNode(const NodeArgs& args) {
  auto spec = std::make_shared<NodeSpec>();
  spec->name = args.name;
  spec->uid = "uid-" + args.name;
  spec->creation = NextCreation();
  spec->allocatable = Amounts(args.more);
  spec->allocatable.Set(kCpu, args.cpu);
  spec->allocatable.Set(kMemory, args.memory);
  spec->allocatable.Set(kPods, args.pods);
  spec->capacity = spec->allocatable;
  Pairs labels = args.labels;
  labels.emplace_back("kubernetes.io/hostname", args.name);
  spec->labels = MakeLabels(labels);
  cluster_->Apply(Upsert<NodeSpec>{spec});
  return cluster_->FindNode(args.name);
}

QueueId World::AddQueue(const std::string& name, const std::string& parent, int32_t weight,
                        QueueState state) {
  auto spec = std::make_shared<QueueSpec>();
  spec->name = name;
  spec->uid = "uid-" + name;
  spec->creation = NextCreation();
  spec->parent = parent;
  spec->weight = weight;
  spec->state = state;
  spec->resource_version = ++version_;
  cluster_->Apply(Upsert<QueueSpec>{spec});
  return cluster_->FindQueue(name);
}

JobId World::AddJob(JobSpec spec) {
  if (spec.namespace_name.empty()) spec.namespace_name = "ns";
  if (spec.uid.empty()) spec.uid = "uid-" + spec.name;
  if (spec.creation == absl::Time()) spec.creation = NextCreation();
  spec.resource_version = ++version_;
  const std::string key = spec.namespace_name + "/" + spec.name;
  cluster_->Apply(Upsert<JobSpec>{std::make_shared<JobSpec>(std::move(spec))});
  return cluster_->FindJob(key);
}

JobId World::AddJob(const std::string& name, int32_t min_member, const std::string& queue,
                    PodGroupPhase phase) {
  JobSpec spec;
  spec.name = name;
  spec.min_member = min_member;
  spec.queue = queue;
  spec.phase = phase;
  return AddJob(std::move(spec));
}

std::shared_ptr<TaskSpec> World::MakePod(const PodArgs& args) {
  auto pod = std::make_shared<PodTemplate>();
  pod->request = Amounts(args.more);
  if (args.cpu > 0) pod->request.Set(kCpu, args.cpu);
  if (args.memory > 0) pod->request.Set(kMemory, args.memory);
  pod->request.Set(kPods, 1);
  pod->best_effort = pod->request.IsEmpty();
  pod->nonzero_cpu_milli = args.cpu > 0 ? args.cpu : 100;
  pod->nonzero_memory_bytes = args.memory > 0 ? args.memory : int64_t{200} << 20;
  pod->container_count = 1;
  auto spec = std::make_shared<TaskSpec>();
  spec->uid = args.uid.empty() ? "uid-" + args.name : args.uid;
  spec->namespace_name = "ns";
  spec->name = args.name;
  spec->resource_version = ++version_;
  spec->creation = NextCreation();
  spec->pod = std::move(pod);
  spec->labels = std::make_shared<Labels>(MakeLabels(args.labels));
  spec->job = args.job;
  spec->solo = args.solo;
  if (!args.role.empty()) spec->role = Sym(args.role);
  spec->priority = args.priority;
  spec->status = args.status;
  spec->node = args.node;
  return spec;
}

TaskId World::Apply(std::shared_ptr<const TaskSpec> spec) {
  const std::string uid = spec->uid;
  cluster_->Apply(Upsert<TaskSpec>{std::move(spec)});
  return cluster_->FindTask(uid);
}

void World::RemovePod(TaskId task) {
  cluster_->Apply(Remove<TaskSpec>{tables().tasks.spec[task]->uid});
}

void World::Update(TaskId task, TaskStatus status, const std::string& node, bool deleting) {
  auto spec = std::make_shared<TaskSpec>(*tables().tasks.spec[task]);
  spec->status = status;
  spec->node = node;
  spec->deleting = deleting;
  spec->resource_version = ++version_;
  cluster_->Apply(Upsert<TaskSpec>{std::move(spec)});
}

}  // namespace hekla::model::testing

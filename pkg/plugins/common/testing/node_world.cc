#include "pkg/plugins/common/testing/node_world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hekla::plugins::testing {

using model::NodeId;
using model::TaskId;

NodeWorld::NodeWorld()
    : dictionary_(std::make_shared<model::Dictionary>()),
      cluster_(std::make_unique<model::Cluster>(dictionary_, model::Cluster::Options())),
      search_(std::make_unique<framework::NodeSearch>(*cluster_)) {}

NodeWorld::~NodeWorld() {
  if (session_ != nullptr) session_->Close();
}

model::Labels NodeWorld::L(const Pairs& pairs) {
  model::Labels labels;
  for (const auto& [key, value] : pairs) labels.emplace_back(S(key), S(value));
  std::sort(labels.begin(), labels.end());
  return labels;
}

model::Requirement NodeWorld::Req(absl::string_view key, model::SelectorOp op,
                                  std::vector<std::string> values, int64_t number) {
  model::Requirement r;
  r.key = S(key);
  r.op = op;
  for (const std::string& value : values) r.values.push_back(S(value));
  std::sort(r.values.begin(), r.values.end());
  r.number = number;
  return r;
}

model::Selector NodeWorld::Sel(const Pairs& match_labels) {
  model::Selector selector;
  for (const auto& [key, value] : match_labels) {
    selector.requirements.push_back(Req(key, model::SelectorOp::kIn, {value}));
  }
  return selector;
}

model::Taint NodeWorld::T(absl::string_view key, absl::string_view value,
                          model::Taint::Effect effect) {
  return {S(key), S(value), effect};
}

NodeId NodeWorld::Node(const std::string& name, const Pairs& labels,
                       const std::function<void(model::NodeSpec&)>& edit) {
  model::NodeSpec spec;
  spec.name = name;
  spec.uid = absl::StrCat("uid-", name);
  spec.creation = absl::FromUnixSeconds(1000);
  spec.allocatable.Set(model::kCpu, 8000);
  spec.allocatable.Set(model::kMemory, int64_t{16} << 30);
  spec.allocatable.Set(model::kPods, 110);
  Pairs all = labels;
  all.emplace_back("kubernetes.io/hostname", name);
  spec.labels = L(all);
  if (edit) edit(spec);
  spec.capacity = spec.allocatable;
  Put(std::move(spec));
  return cluster_->FindNode(name);
}

void NodeWorld::RemoveNode(const std::string& name) {
  cluster_->Apply(model::Remove<model::NodeSpec>{name});
}

TaskId NodeWorld::Pod(const PodArgs& args) {
  auto pod = std::make_shared<model::PodTemplate>();
  pod->request.Set(model::kPods, 1);
  pod->container_count = 1;
  pod->nonzero_cpu_milli = 100;
  pod->nonzero_memory_bytes = int64_t{200} << 20;
  pod->best_effort = true;
  if (args.pod) args.pod(*pod);
  model::TaskSpec spec;
  spec.uid = absl::StrCat(args.namespace_name, "/", args.name);
  spec.namespace_name = args.namespace_name;
  spec.name = args.name;
  spec.resource_version = ++pods_made_;
  spec.creation = absl::FromUnixSeconds(2000 + pods_made_);
  spec.pod = std::move(pod);
  spec.labels = std::make_shared<const model::Labels>(L(args.labels));
  spec.node = args.node;
  spec.status = args.node.empty() ? model::TaskStatus::kPending : model::TaskStatus::kRunning;
  if (args.task) args.task(spec);
  const std::string uid = spec.uid;
  Put(std::move(spec));
  return cluster_->FindTask(uid);
}

void NodeWorld::RemovePod(const std::string& name, const std::string& namespace_name) {
  cluster_->Apply(model::Remove<model::TaskSpec>{absl::StrCat(namespace_name, "/", name)});
}

void NodeWorld::Namespace(const std::string& name, const Pairs& labels) {
  model::NamespaceSpec spec;
  spec.name = name;
  spec.labels = L(labels);
  Put(std::move(spec));
}

void NodeWorld::Use(std::unique_ptr<framework::Plugin> plugin) {
  std::vector<std::unique_ptr<framework::Plugin>> plugins;
  plugins.push_back(std::move(plugin));
  Use(std::move(plugins));
}

void NodeWorld::Use(std::vector<std::unique_ptr<framework::Plugin>> plugins) {
  if (session_ != nullptr) session_->Close();
  session_ = nullptr;
  search_->Forget();
  plugins_ = std::move(plugins);
  std::vector<framework::PluginSlot> slots;
  for (const auto& plugin : plugins_) slots.push_back({&option_, plugin.get(), 0});
  framework::SessionDeps deps;
  deps.cluster = cluster_.get();
  deps.sink = &sink_;
  deps.clock = &clock_;
  deps.reasons = &reasons_;
  deps.search = search_.get();
  session_ = std::make_unique<framework::Session>(deps, std::move(slots),
                                                  std::vector<std::string>{"allocate"});
  session_->Open(absl::StrCat("cycle-", ++cycles_));
}

void NodeWorld::NextCycle() {
  session_->Close();
  session_->Open(absl::StrCat("cycle-", ++cycles_));
}

std::vector<std::string> NodeWorld::Verdict(TaskId task, NodeId node) {
  std::vector<framework::ReasonId> reasons;
  search_->Check(task, node, &reasons);
  std::vector<std::string> texts;
  for (framework::ReasonId reason : reasons) texts.push_back(reasons_.text(reason));
  return texts;
}

std::vector<double> NodeWorld::Scores(TaskId task, const std::vector<NodeId>& nodes) {
  std::vector<double> scores(nodes.size());
  search_->Scores(task, nodes, absl::MakeSpan(scores));
  return scores;
}

}  // namespace hekla::plugins::testing

#include "test/integration/world.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cmd/heklactl/kubeconfig.h"
#include "gtest/gtest.h"
#include "test/integration/manifest.h"

namespace hekla::test {

using apis::json::Value;

namespace {

constexpr char kToken[] = "scheduler-token";
constexpr absl::string_view kGroupVersion = "scheduling.volcano.sh/v1beta1";

Value Object(absl::string_view api_version, absl::string_view kind, absl::string_view name) {
  Value object = Value::MakeObject();
  object.Set("apiVersion", api_version);
  object.Set("kind", kind);
  object.Ensure({"metadata"}).Set("name", name);
  return object;
}

}  // namespace

void FaultPoint::SetRule(Rule rule) {
  absl::MutexLock lock(&mutex_);
  rule_ = std::move(rule);
}

void FaultPoint::Handle(http::Request request, const http::Peer& peer,
                        std::shared_ptr<http::Responder> responder) {
  std::optional<http::Response> answer;
  {
    absl::MutexLock lock(&mutex_);
    seen_.emplace_back(request.method, request.target);
    if (rule_) answer = rule_(request);
  }
  if (answer.has_value()) {
    responder->Respond(*std::move(answer));
  } else {
    target_->Handle(std::move(request), peer, std::move(responder));
  }
}

int FaultPoint::Count(absl::string_view method, absl::string_view part) const {
  absl::MutexLock lock(&mutex_);
  int count = 0;
  for (const auto& [seen_method, target] : seen_) {
    if (seen_method == method && absl::StrContains(target, part)) ++count;
  }
  return count;
}

World::World() {
  cmd::heklactl::HostedCluster::Options options;
  options.front = &faults_;
  options.users = {{.token = kToken,
                    .name = "system:serviceaccount:volcano-system:hekla-scheduler",
                    .groups = {"system:serviceaccounts", "system:authenticated"}}};
  options.enforce_rbac = true;
  cluster_ = std::make_unique<cmd::heklactl::HostedCluster>(std::move(options));
  faults_.set_target(&cluster_->server());
  const absl::Status started = cluster_->Start();
  EXPECT_TRUE(started.ok()) << started;
  Create(Object("v1", "Namespace", "volcano-system"));
  for (const Value& object : ObjectsIn("config/rbac/scheduler.yaml")) Create(object);
  kubeconfig_ = folder_.path() + "/kubeconfig";
  EXPECT_TRUE(cmd::heklactl::WritePrivateFile(
                  kubeconfig_, cmd::heklactl::KubeconfigText(cluster_->url(), kToken))
                  .ok());
}

World::~World() {
  const std::string output = scheduler_.has_value() ? scheduler_->Output() : "";
  EXPECT_FALSE(absl::StrContains(output, " is forbidden: "));
  if (scheduler_.has_value() && ::testing::Test::HasFailure()) {
    ADD_FAILURE() << "scheduler's output:\n"
                  << output.substr(output.size() > 4000 ? output.size() - 4000 : 0);
  }
  scheduler_.reset();
  cluster_->Stop();
}

void World::Create(const Value& object) {
  const absl::StatusOr<Value> created = server().Create(object);
  EXPECT_TRUE(created.ok()) << created.status() << " " << apis::json::Dump(object);
}

void World::AddNodes(int count, const std::string& cpu, const std::string& prefix) {
  apiserver::kubelet::NodeTemplate node;
  node.cpu = cpu;
  const absl::Status added = cluster_->AddNodes(node, prefix, count);
  EXPECT_TRUE(added.ok()) << added;
}

void World::AddQueue(const std::string& name, int weight) {
  Value queue = Object(kGroupVersion, "Queue", name);
  queue.Ensure({"spec"}).Set("weight", weight);
  Create(queue);
}

void World::AddPriorityClass(const std::string& name, int value) {
  Value priority = Object("scheduling.k8s.io/v1", "PriorityClass", name);
  priority.Set("value", value);
  Create(priority);
}

void World::AddPodGroup(const std::string& name, int min_member, const std::string& queue,
                        const std::string& priority_class) {
  Value group = Object(kGroupVersion, "PodGroup", name);
  Value& spec = group.Ensure({"spec"});
  spec.Set("minMember", min_member);
  spec.Set("queue", queue);
  if (!priority_class.empty()) spec.Set("priorityClassName", priority_class);
  Create(group);
}

void World::AddPod(const PodSpec& pod) {
  Value object = Object("v1", "Pod", pod.name);
  if (!pod.group.empty()) {
    object.Ensure({"metadata", "annotations"}).Set("scheduling.k8s.io/group-name", pod.group);
  }
  Value& spec = object.Ensure({"spec"});
  spec.Set("schedulerName", "volcano");
  if (!pod.priority_class.empty()) spec.Set("priorityClassName", pod.priority_class);
  Value container = Value::MakeObject({{"name", "main"}, {"image", "busybox"}});
  Value& requests = container.Ensure({"resources", "requests"});
  requests.Set("cpu", pod.cpu);
  requests.Set("memory", pod.memory);
  spec["containers"].Append(std::move(container));
  Create(object);
}

void World::AddPods(const std::string& group, int count, const std::string& cpu) {
  for (int i = 0; i < count; ++i) {
    AddPod({.name = absl::StrCat(group, "-", i), .group = group, .cpu = cpu});
  }
}

void World::AddGang(const std::string& name, int members, const std::string& cpu) {
  AddPodGroup(name, members);
  AddPods(name, members, cpu);
}

void World::StartScheduler(const std::string& program, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {absl::StrCat("--kubeconfig=", kubeconfig_),
                                        "--leader-elect=false", "--debug-address=", "-v=3"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  scheduler_.reset();
  absl::StatusOr<Process> process = Process::Start(
      program, arguments, absl::StrCat(folder_.path(), "/scheduler-", starts_++, ".log"));
  ASSERT_TRUE(process.ok()) << process.status();
  scheduler_ = *std::move(process);
}

Process World::ReleaseScheduler() {
  Process released = *std::move(scheduler_);
  scheduler_.reset();
  return released;
}

bool World::Until(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  while (!condition()) {
    if (absl::Now() >= end) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

std::map<std::string, std::string> World::Bound() {
  std::map<std::string, std::string> out;
  const absl::StatusOr<std::vector<Value>> pods = server().List("v1", "Pod", "default");
  if (!pods.ok()) return out;
  for (const Value& pod : *pods) {
    const absl::string_view node = pod.At("spec").GetString("nodeName");
    if (!node.empty()) out[std::string(pod.At("metadata").GetString("name"))] = std::string(node);
  }
  return out;
}

int World::BoundOf(absl::string_view prefix) {
  int count = 0;
  for (const auto& [name, node] : Bound()) {
    if (absl::StartsWith(name, prefix)) ++count;
  }
  return count;
}

std::string World::PhaseOf(const std::string& pod_group) {
  const absl::StatusOr<Value> group = server().Get(kGroupVersion, "PodGroup", "default", pod_group);
  return group.ok() ? std::string(group->At("status").GetString("phase")) : "";
}

std::string World::ConditionOf(const std::string& pod_group, absl::string_view type) {
  const absl::StatusOr<Value> group = server().Get(kGroupVersion, "PodGroup", "default", pod_group);
  if (!group.ok()) return "";
  const Value* conditions = group->FindPath({"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return "";
  for (const Value& condition : conditions->as_array()) {
    if (condition.GetString("type") == type) return std::string(condition.GetString("message"));
  }
  return "";
}

std::vector<std::string> World::EventsOf(absl::string_view name, absl::string_view reason) {
  std::vector<std::string> out;
  const absl::StatusOr<std::vector<Value>> events = server().List("v1", "Event", "");
  if (!events.ok()) return out;
  for (const Value& event : *events) {
    if (event.At("involvedObject").GetString("name") == name &&
        event.GetString("reason") == reason) {
      out.emplace_back(event.GetString("message"));
    }
  }
  return out;
}

}  // namespace hekla::test

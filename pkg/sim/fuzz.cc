#include "pkg/sim/fuzz.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/sim/fuzz_world.h"
#include "pkg/util/random.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr absl::string_view kVolcano = "scheduling.volcano.sh/v1beta1";
constexpr absl::string_view kNamespace = "fuzz";

FaultPlan DrawPlan(util::Random& random, bool faults) {
  FaultPlan plan;
  if (!faults) return plan;
  plan.slow = DrawRate(random, 200);
  plan.refused = DrawRate(random, 60);
  plan.lost_answer = DrawRate(random, 80);
  plan.too_many = DrawRate(random, 80);
  plan.server_error = DrawRate(random, 80);
  plan.conflict = DrawRate(random, 50);
  plan.stream_refused = DrawRate(random, 100);
  plan.stream_gone = DrawRate(random, 100);
  plan.stream_broken = DrawRate(random, 30);
  plan.stream_lag = DrawRate(random, 100);
  plan.max_delay = absl::Milliseconds(100 + static_cast<int64_t>(random.Below(8000)));
  return plan;
}

// What can happen to the cluster, drawn from the seed.
class Storm {
 public:
  Storm(FuzzWorld& world, util::Random& random, std::vector<std::string>& trail, bool faults)
      : world_(world), random_(random), trail_(trail), faults_(faults) {}

  void Prepare() {
    const int64_t nodes = 2 + static_cast<int64_t>(random_.Below(6));
    for (int64_t i = 0; i < nodes; ++i) AddNode();
    const int64_t queues = static_cast<int64_t>(random_.Below(3));
    for (int64_t i = 0; i < queues; ++i) AddQueue();
  }

  void Step() {
    switch (random_.Below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        AddGang();
        break;
      case 5:
      case 6:
        AddPod("", 1);
        Note("bare pod");
        break;
      case 7:
        DeletePod();
        break;
      case 8:
        DeleteGang();
        break;
      case 9:
        GrowGang();
        break;
      case 10:
        AddNode();
        break;
      case 11:
        ChangeNode();
        break;
      case 12:
        RemoveNode();
        break;
      case 13:
        ChangeQueue();
        break;
      case 14:
        if (faults_) Disturb();
        break;
      default:
        break;  // only time passes
    }
    static constexpr int64_t kPauses[] = {1, 20, 300, 1100, 4000, 30000};
    world_.Advance(absl::Milliseconds(kPauses[random_.Below(std::size(kPauses))]));
  }

  // Makes every node usable again, so that what is left can be judged.
  void Calm() {
    for (Value& node : List("v1", "Node")) {
      if (!node.At("spec").GetBool("unschedulable")) continue;
      node["spec"].Remove("unschedulable");
      world_.server().Update(node).IgnoreError();
    }
  }

  std::vector<Value> List(absl::string_view version, absl::string_view kind) {
    return world_.server().List(version, kind, "").value_or(std::vector<Value>());
  }

 private:
  void Note(std::string text) {
    trail_.push_back(
        absl::StrCat(absl::FormatTime("%H:%M:%E3S", world_.now(), absl::UTCTimeZone()), " ", text));
  }
  const Value* Pick(std::vector<Value>& from) {
    return from.empty() ? nullptr : &from[random_.Below(from.size())];
  }

  void AddNode() {
    const std::string name = absl::StrCat("n", next_++);
    const std::string cpu = absl::StrCat(2 + random_.Below(7));
    Value node = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}});
    node["metadata"].Set("name", name);
    Value amounts = Value::MakeObject({{"cpu", cpu}, {"memory", "16Gi"}, {"pods", "20"}});
    node["status"].Set("capacity", amounts);
    node["status"].Set("allocatable", std::move(amounts));
    world_.server().Import(node).IgnoreError();
    Note(absl::StrCat("node ", name, " with ", cpu, " cpu"));
  }

  void ChangeNode() {
    auto nodes = List("v1", "Node");
    const Value* picked = Pick(nodes);
    if (picked == nullptr) return;
    Value node = *picked;
    const std::string name(node.At("metadata").GetString("name"));
    if (random_.Below(2) == 0) {
      const bool cordoned = node.At("spec").GetBool("unschedulable");
      node["spec"].Set("unschedulable", !cordoned);
      world_.server().Update(node).IgnoreError();
      Note(absl::StrCat(cordoned ? "uncordon " : "cordon ", name));
      return;
    }
    const std::string cpu = absl::StrCat(1 + random_.Below(8));
    node["status"]["allocatable"].Set("cpu", cpu);
    world_.server().UpdateStatus(node).IgnoreError();
    Note(absl::StrCat("node ", name, " now has ", cpu, " cpu"));
  }

  // As a cloud does it: the node vanishes, then its pods are collected.
  void RemoveNode() {
    auto nodes = List("v1", "Node");
    if (nodes.size() < 2) return;
    const std::string name(Pick(nodes)->At("metadata").GetString("name"));
    world_.server().Delete("v1", "Node", "", name).IgnoreError();
    for (const Value& pod : List("v1", "Pod")) {
      if (pod.At("spec").GetString("nodeName") != name) continue;
      world_.server()
          .Delete("v1", "Pod", kNamespace, pod.At("metadata").GetString("name"))
          .IgnoreError();
    }
    Note(absl::StrCat("node ", name, " lost"));
  }

  void AddQueue() {
    const std::string name = absl::StrCat("q", next_++);
    Value queue = Value::MakeObject({{"apiVersion", kVolcano}, {"kind", "Queue"}});
    queue["metadata"].Set("name", name);
    queue["spec"].Set("weight", static_cast<int>(1 + random_.Below(4)));
    if (world_.server().Create(queue).ok()) queues_.push_back(name);
    Note(absl::StrCat("queue ", name));
  }

  void ChangeQueue() {
    auto queues = List(kVolcano, "Queue");
    const Value* picked = Pick(queues);
    if (picked == nullptr || random_.Below(3) == 0) return AddQueue();
    Value queue = *picked;
    queue["spec"].Set("weight", static_cast<int>(1 + random_.Below(9)));
    world_.server().Update(queue).IgnoreError();
    Note(absl::StrCat("queue ", queue.At("metadata").GetString("name"), " re-weighted"));
  }

  void AddPod(const std::string& group, int64_t cpu) {
    Value pod = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
    pod["metadata"].Set("name", absl::StrCat("p", next_++));
    pod["metadata"].Set("namespace", kNamespace);
    if (!group.empty()) pod["metadata"]["annotations"].Set("scheduling.k8s.io/group-name", group);
    if (random_.Below(3) != 0) {
      pod["metadata"]["annotations"].Set("hekla.dev/run-seconds",
                                         absl::StrCat(1 + random_.Below(60)));
    }
    pod["spec"].Set("schedulerName", "volcano");
    pod["spec"].Set("restartPolicy", "Never");
    Value container = Value::MakeObject({{"name", "c"}, {"image", "i"}});
    container.Ensure({"resources", "requests"}).Set("cpu", absl::StrCat(cpu * 500, "m"));
    pod["spec"]["containers"].Append(std::move(container));
    EnsureNamespace();
    world_.server().Create(pod).IgnoreError();
  }

  void EnsureNamespace() {
    if (std::exchange(namespace_made_, true)) return;
    Value ns = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Namespace"}});
    ns["metadata"].Set("name", kNamespace);
    world_.server().Create(ns).IgnoreError();
  }

  void AddGang() {
    const std::string name = absl::StrCat("g", next_++);
    const int64_t size = 1 + static_cast<int64_t>(random_.Below(6));
    const int64_t min = 1 + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(size)));
    const int64_t cpu = 1 + static_cast<int64_t>(random_.Below(6));
    Value group = Value::MakeObject({{"apiVersion", kVolcano}, {"kind", "PodGroup"}});
    group["metadata"].Set("name", name);
    group["metadata"].Set("namespace", kNamespace);
    group["spec"].Set("minMember", static_cast<int>(min));
    if (!queues_.empty() && random_.Below(2) == 0) {
      group["spec"].Set("queue", queues_[random_.Below(queues_.size())]);
    }
    EnsureNamespace();
    const bool pods_first = random_.Below(3) == 0;
    if (!pods_first) world_.server().Create(group).IgnoreError();
    for (int64_t i = 0; i < size; ++i) AddPod(name, cpu);
    if (pods_first) world_.server().Create(group).IgnoreError();
    Note(absl::StrCat("gang ", name, " of ", size, ", minimum ", min, ", ", cpu * 500, "m each"));
  }

  void GrowGang() {
    auto groups = List(kVolcano, "PodGroup");
    const Value* group = Pick(groups);
    if (group == nullptr) return;
    AddPod(std::string(group->At("metadata").GetString("name")), 1);
    Note(absl::StrCat("gang ", group->At("metadata").GetString("name"), " grows"));
  }

  void DeletePod() {
    auto pods = List("v1", "Pod");
    const Value* pod = Pick(pods);
    if (pod == nullptr) return;
    const std::string name(pod->At("metadata").GetString("name"));
    world_.server().Delete("v1", "Pod", kNamespace, name).IgnoreError();
    Note(absl::StrCat("pod ", name, " deleted"));
  }

  void DeleteGang() {
    auto groups = List(kVolcano, "PodGroup");
    const Value* group = Pick(groups);
    if (group == nullptr) return;
    const std::string name(group->At("metadata").GetString("name"));
    world_.server().Delete(kVolcano, "PodGroup", kNamespace, name).IgnoreError();
    for (const Value& pod : List("v1", "Pod")) {
      const Value& metadata = pod.At("metadata");
      if (metadata.At("annotations").GetString("scheduling.k8s.io/group-name") != name) continue;
      world_.server().Delete("v1", "Pod", kNamespace, metadata.GetString("name")).IgnoreError();
    }
    Note(absl::StrCat("gang ", name, " deleted"));
  }

  void Disturb() {
    switch (random_.Below(3)) {
      case 0:
        world_.server().DropWatchHistory();
        Note("watch history lost");
        break;
      case 1:
        world_.life().connections().DropConnections();
        Note("connections broken");
        break;
      default:
        world_.Restart(random_.Next());
        Note("scheduler killed and restarted");
    }
  }

  FuzzWorld& world_;
  util::Random& random_;
  std::vector<std::string>& trail_;
  const bool faults_;
  bool namespace_made_ = false;
  int64_t next_ = 0;
  std::vector<std::string> queues_;
};

int64_t CpuMilli(const Value& quantity) {
  auto q = apis::meta::Quantity::Parse(quantity.is_string() ? quantity.as_string()
                                                            : apis::json::Dump(quantity));
  return q.ok() ? q->MilliValue() : 0;
}

int64_t CpuOf(const Value& pod) {
  return CpuMilli(
      pod.At("spec").At("containers").as_array()[0].At("resources").At("requests").At("cpu"));
}

// What should have been bound and was not: judged greedily, and only where no share of a queue can
// be in the way (everything asked for fits into the cluster).
std::vector<Violation> Liveness(Storm& storm, absl::Time now) {
  std::vector<Violation> findings;
  std::map<std::string, int64_t> free_cpu, free_pods;
  int64_t total = 0, asked = 0;
  for (const Value& node : storm.List("v1", "Node")) {
    const std::string name(node.At("metadata").GetString("name"));
    const int64_t cpu = CpuMilli(node.At("status").At("allocatable").At("cpu"));
    free_cpu[name] = cpu;
    free_pods[name] = 20;
    total += cpu;
  }
  std::map<std::string, std::vector<int64_t>> pending;  // group, or the pod's own name → requests
  std::map<std::string, int64_t> placed;
  for (const Value& pod : storm.List("v1", "Pod")) {
    const Value& metadata = pod.At("metadata");
    const std::string group(metadata.At("annotations").GetString("scheduling.k8s.io/group-name"));
    const std::string node(pod.At("spec").GetString("nodeName"));
    const absl::string_view phase = pod.At("status").GetString("phase");
    const bool ended = phase == "Succeeded" || phase == "Failed";
    if (!node.empty() && !ended) {
      free_cpu[node] -= CpuOf(pod);
      --free_pods[node];
      asked += CpuOf(pod);
    }
    if (!node.empty() && phase != "Failed") ++placed[group];
    if (!node.empty() || ended || metadata.Has("deletionTimestamp")) continue;
    asked += CpuOf(pod);
    pending[group.empty() ? absl::StrCat("pod ", metadata.GetString("name")) : group].push_back(
        CpuOf(pod));
  }
  if (asked > total) return findings;
  std::map<std::string, int64_t> minimum;
  for (const Value& group : storm.List(kVolcano, "PodGroup")) {
    minimum[std::string(group.At("metadata").GetString("name"))] =
        group.At("spec").GetInt("minMember");
  }
  for (const auto& [name, requests] : pending) {
    const bool solo = name.rfind("pod ", 0) == 0;
    if (!solo && !minimum.contains(name)) continue;  // its PodGroup is gone: rightly left alone
    const int64_t need = solo ? 1 : std::max<int64_t>(1, minimum[name] - placed[name]);
    auto cpu = free_cpu;
    auto slots = free_pods;
    int64_t found = 0;
    for (const int64_t request : requests) {
      for (auto& [node, room] : cpu) {
        if (room < request || slots[node] < 1) continue;
        room -= request;
        --slots[node];
        ++found;
        break;
      }
    }
    if (found >= need) {
      findings.push_back({now, "left-pending",
                          absl::StrCat(name, " has ", requests.size(), " pending pods; ", found,
                                       " would fit, ", need, " are needed")});
    }
  }
  return findings;
}

}  // namespace

std::string Reproduction(const FuzzOptions& options) {
  return absl::StrCat("heklactl fuzz --seeds ", options.seed, "..", options.seed, " --steps ",
                      options.steps, options.faults ? "" : " --no-faults");
}

FuzzOutcome RunFuzz(const FuzzOptions& options) {
  FuzzOutcome outcome;
  util::Random random(options.seed);
  FuzzWorld world(options.seed, options.faults, DrawPlan(random, options.faults));
  Storm storm(world, random, outcome.trail, options.faults);
  storm.Prepare();
  for (int i = 0; i < options.steps; ++i) {
    storm.Step();
    ++outcome.steps;
    if (!world.auditor().violations().empty() || !world.decision_findings().empty()) break;
  }
  world.life().faults().SetFaults(false);
  storm.Calm();
  // Long enough for the longest back-off, and for pods that end to make room.
  world.Advance(absl::Minutes(25));
  outcome.violations = world.auditor().violations();
  outcome.violations.insert(outcome.violations.end(), world.decision_findings().begin(),
                            world.decision_findings().end());
  if (outcome.violations.empty()) outcome.violations = Liveness(storm, world.now());
  outcome.faults = world.faults();
  outcome.bindings = world.auditor().bindings();
  outcome.cycles = world.cycles();
  return outcome;
}

}  // namespace hekla::sim

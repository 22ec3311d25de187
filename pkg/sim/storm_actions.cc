#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/apiserver/hollow/pod_calls.h"
#include "pkg/sim/storm.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr absl::string_view kVolcano = "scheduling.volcano.sh/v1beta1";
constexpr absl::string_view kNamespace = "fuzz";
constexpr absl::string_view kDown = "fuzz/down";

Value Named(absl::string_view version, absl::string_view kind, absl::string_view name,
            absl::string_view ns = "") {
  Value object = Value::MakeObject({{"apiVersion", version}, {"kind", kind}});
  object["metadata"].Set("name", name);
  if (!ns.empty()) object["metadata"].Set("namespace", ns);
  return object;
}

// The doing of one action.
class Hand {
 public:
  Hand(FuzzWorld& world, const Shape& shape, const Action& action)
      : world_(world), shape_(shape), action_(action) {}

  void Do() {
    static const auto* const kTable = new std::map<absl::string_view, void (Hand::*)()>{
        {"node", &Hand::AddNode},
        {"cordon", &Hand::Cordon},
        {"down", &Hand::Down},
        {"flap", &Hand::Flap},
        {"resize", &Hand::Resize},
        {"remove-node", &Hand::RemoveNode},
        {"queue", &Hand::AddQueue},
        {"weigh", &Hand::Weigh},
        {"cap", &Hand::Cap},
        {"move", &Hand::MoveQueue},
        {"delete-queue", &Hand::DeleteQueue},
        {"gang", &Hand::AddGang},
        {"grow", &Hand::Grow},
        {"delete-gang", &Hand::DeleteGang},
        {"pod", &Hand::AddBarePod},
        {"delete-pod", &Hand::DeletePod},
        {"recreate", &Hand::Recreate},
        {"fail-pod", &Hand::FailPod},
        {"collect", &Hand::Collect},
        {"bind", &Hand::Bind},
        {"config", &Hand::Config},
        {"history", &Hand::LoseHistory},
        {"connections", &Hand::BreakConnections},
        {"away", &Hand::TakeAway},
        {"kill", &Hand::Kill},
        {"freeze", &Hand::Freeze},
        {"clock", &Hand::StepClock},
    };
    const auto it = kTable->find(action_.GetString("do"));
    if (it != kTable->end()) (this->*it->second)();
  }

 private:
  std::string name() const { return std::string(action_.GetString("name")); }
  apiserver::ApiServer& server() { return world_.server(); }

  // Reads an object, changes it and writes it back; nothing where it is gone.
  void Change(absl::string_view version, absl::string_view kind, absl::string_view ns,
              const std::function<void(Value&)>& change, bool status = false) {
    absl::StatusOr<Value> object = server().Get(version, kind, ns, name());
    if (!object.ok()) return;
    change(*object);
    (status ? server().UpdateStatus(*object) : server().Update(*object)).IgnoreError();
  }
  void ChangeNode(const std::function<void(Value&)>& change) { Change("v1", "Node", "", change); }
  void ChangeQueue(const std::function<void(Value&)>& change) {
    Change(kVolcano, "Queue", "", change);
  }

  void AddNode() {
    const std::string cpu = absl::StrCat(action_.GetInt("cpu"));
    Value node = Named("v1", "Node", name());
    Value amounts = Value::MakeObject(
        {{"cpu", cpu}, {"memory", "16Gi"}, {"pods", action_.GetString("pods", "20")}});
    node["status"].Set("capacity", amounts);
    node["status"].Set("allocatable", std::move(amounts));
    server().Import(node).IgnoreError();
  }
  void Cordon() {
    ChangeNode([](Value& node) {
      const bool cordoned = node.At("spec").GetBool("unschedulable");
      node["spec"].Set("unschedulable", !cordoned);
    });
  }
  // The node is lost for new pods, or comes back. Not the taint of the node controller, which the
  // server takes off again where a node has no condition that says otherwise.
  void Down() {
    ChangeNode([](Value& node) {
      if (node.At("spec").Has("taints")) {
        node["spec"].Remove("taints");
        return;
      }
      node["spec"]["taints"].Append(Value::MakeObject({{"key", kDown}, {"effect", "NoSchedule"}}));
    });
  }
  void Flap() {
    for (int64_t i = action_.GetInt("times"); i > 0; --i) {
      Down();
      world_.Advance(absl::Milliseconds(5));
    }
  }
  void Resize() {
    Change(
        "v1", "Node", "",
        [this](Value& node) {
          node["status"]["allocatable"].Set("cpu", absl::StrCat(action_.GetInt("cpu")));
        },
        /*status=*/true);
  }
  // As a cloud does it: the node vanishes, then its pods are collected.
  void RemoveNode() {
    server().Delete("v1", "Node", "", name()).IgnoreError();
    DeletePods([this](const ClusterMirror::Pod& pod) { return pod.node == name(); });
  }

  void AddQueue() {
    Value queue = Named(kVolcano, "Queue", name());
    queue["spec"].Set("weight", action_.GetInt("weight", 1));
    if (action_.Has("cap")) SetCap(queue, action_.GetInt("cap"));
    Place(queue);
    server().Create(queue).IgnoreError();
  }
  // In the tree of capacity, or in that of drf.
  void Place(Value& queue) const {
    if (action_.Has("parent")) queue["spec"].Set("parent", action_.GetString("parent"));
    if (!action_.Has("path")) return;
    Value& annotations = queue["metadata"]["annotations"];
    annotations.Set(apis::meta::kHierarchyAnnotation, action_.GetString("path"));
    annotations.Set(apis::meta::kHierarchyWeightsAnnotation, action_.GetString("weights"));
  }
  static void SetCap(Value& queue, int64_t cpu) {
    if (cpu == 0) {
      queue["spec"].Remove("capability");
    } else {
      queue["spec"].Set("capability", Value::MakeObject({{"cpu", absl::StrCat(cpu)}}));
    }
  }
  void Weigh() {
    ChangeQueue([this](Value& queue) { queue["spec"].Set("weight", action_.GetInt("amount")); });
  }
  void Cap() {
    ChangeQueue([this](Value& queue) { SetCap(queue, action_.GetInt("amount")); });
  }
  void MoveQueue() {
    ChangeQueue([this](Value& queue) { Place(queue); });
  }
  void DeleteQueue() { server().Delete(kVolcano, "Queue", "", name()).IgnoreError(); }

  void AddPod(const std::string& pod_name, const std::string& group, int64_t run,
              absl::string_view role) {
    Value pod = Named("v1", "Pod", pod_name, kNamespace);
    if (!group.empty()) pod["metadata"]["annotations"].Set("scheduling.k8s.io/group-name", group);
    if (!role.empty()) pod["metadata"]["annotations"].Set("volcano.sh/task-spec", role);
    if (run > 0) pod["metadata"]["annotations"].Set("hekla.dev/run-seconds", absl::StrCat(run));
    pod["spec"].Set("schedulerName", "volcano");
    pod["spec"].Set("restartPolicy", "Never");
    Value container = Value::MakeObject({{"name", "c"}, {"image", "i"}});
    if (const int64_t milli = action_.GetInt("milli"); milli > 0) {
      container.Ensure({"resources", "requests"}).Set("cpu", absl::StrCat(milli, "m"));
    }
    pod["spec"]["containers"].Append(std::move(container));
    CreateIn(pod);
  }
  void CreateIn(const Value& object) {
    const auto created = server().Create(object);
    if (created.ok() || !absl::IsNotFound(created.status())) return;
    Value ns = Named("v1", "Namespace", kNamespace);
    server().Create(ns).IgnoreError();
    server().Create(object).IgnoreError();
  }

  void AddGang() {
    Value group = Named(kVolcano, "PodGroup", name(), kNamespace);
    const int64_t min = action_.GetInt("min", 1);
    const bool leaders = action_.GetInt("leaders") > 0;
    group["spec"].Set("minMember", min);
    if (leaders) group["spec"]["minTaskMember"].Set("leader", 1);
    if (action_.Has("queue")) group["spec"].Set("queue", action_.GetString("queue"));
    const bool pods_first = action_.GetBool("podsFirst");
    if (!pods_first) CreateIn(group);
    const Value& run = action_.At("run");
    for (size_t i = 0; i < run.size(); ++i) {
      const absl::string_view role = !leaders ? "" : i == 0 ? "leader" : "worker";
      AddPod(absl::StrCat(name(), "-", i), name(), run.as_array()[i].as_int(), role);
    }
    if (pods_first) CreateIn(group);
  }
  void Grow() {
    const std::string group(action_.GetString("group"));
    if (!group.empty()) AddPod(name(), group, action_.GetInt("run"), "");
  }
  void AddBarePod() { AddPod(name(), "", action_.GetInt("run"), ""); }

  void DeleteGang() {
    server().Delete(kVolcano, "PodGroup", kNamespace, name()).IgnoreError();
    const std::string key = absl::StrCat(kNamespace, "/", name());
    DeletePods([&key](const ClusterMirror::Pod& pod) { return pod.group == key; });
  }
  template <typename Which>
  void DeletePods(Which which) {
    std::vector<std::string> names;
    for (const auto& [uid, pod] : world_.mirror().pods()) {
      if (which(pod)) names.push_back(pod.key.substr(kNamespace.size() + 1));
    }
    for (const std::string& pod : names) DeleteOne(pod);
  }
  void DeleteOne(const std::string& pod) {
    server().Delete("v1", "Pod", kNamespace, pod).IgnoreError();
  }
  void DeletePod() { DeleteOne(name()); }
  // Another pod takes the name at once, as a StatefulSet's does.
  void Recreate() {
    const auto old = server().Get("v1", "Pod", kNamespace, name());
    if (!old.ok()) return;
    apiserver::hollow::DeletePodNow(server(), kNamespace, name());
    Value fresh = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Pod"}});
    for (const char* key : {"name", "namespace", "annotations"}) {
      fresh["metadata"].Set(key, old->At("metadata").At(key));
    }
    for (const char* key : {"schedulerName", "restartPolicy", "containers"}) {
      fresh["spec"].Set(key, old->At("spec").At(key));
    }
    server().Create(fresh).IgnoreError();
  }
  void FailPod() {
    Change(
        "v1", "Pod", kNamespace,
        [](Value& pod) {
          if (!pod.At("spec").GetString("nodeName").empty()) pod["status"].Set("phase", "Failed");
        },
        /*status=*/true);
  }
  // Somebody else binds the pod. No storm draws this: tests plant it.
  void Bind() {
    apiserver::hollow::BindPod(server(), kNamespace, name(), action_.GetString("node"));
  }
  // What has ended is cleared away, with its PodGroup where nothing is left of it.
  void Collect() {
    DeletePods([](const ClusterMirror::Pod& pod) { return pod.ended(); });
    std::vector<std::string> empty;
    for (const auto& [key, group] : world_.mirror().groups()) {
      bool left = !group.exists;
      for (const std::string& uid : world_.mirror().MembersOf(key)) {
        left = left || !world_.mirror().FindPod(uid)->ended();
      }
      if (!left) empty.push_back(key.substr(kNamespace.size() + 1));
    }
    for (const std::string& group : empty) {
      server().Delete(kVolcano, "PodGroup", kNamespace, group).IgnoreError();
    }
  }

  void Config() { world_.Reload(ConfigText(shape_.family, action_.GetInt("variant"))); }
  void LoseHistory() { server().DropWatchHistory(); }
  void BreakConnections() { world_.BreakConnections(); }
  // A restart of the API server: what it remembers of changes is gone, too.
  void TakeAway() {
    server().DropWatchHistory();
    world_.TakeServerAway(absl::Milliseconds(action_.GetInt("ms")));
  }
  void Kill() { world_.Kill(static_cast<size_t>(action_.GetInt("life"))); }
  void Freeze() {
    world_.Freeze(static_cast<size_t>(action_.GetInt("life")),
                  absl::Milliseconds(action_.GetInt("ms")));
    StepClock();
  }
  void StepClock() {
    world_.StepClock(static_cast<size_t>(action_.GetInt("life")),
                     absl::Milliseconds(action_.GetInt("clock")));
  }

  FuzzWorld& world_;
  const Shape& shape_;
  const Action& action_;
};

}  // namespace

void Perform(FuzzWorld& world, const Shape& shape, const Action& action) {
  Hand(world, shape, action).Do();
}

void Calm(FuzzWorld& world, const Shape& shape) {
  world.EndFaults();
  std::vector<std::string> cordoned;
  for (const auto& [name, node] : world.mirror().nodes()) {
    if (node.exists && !node.usable) cordoned.push_back(name);
  }
  for (const std::string& name : cordoned) {
    absl::StatusOr<Value> node = world.server().Get("v1", "Node", "", name);
    if (!node.ok()) continue;
    (*node)["spec"].Remove("unschedulable");
    (*node)["spec"].Remove("taints");
    world.server().Update(*node).IgnoreError();
  }
  if (!shape.last_node) return;
  Perform(world, shape,
          Action::MakeObject({{"do", "node"}, {"name", "last"}, {"cpu", 1000}, {"pods", "500"}}));
}

}  // namespace hekla::sim

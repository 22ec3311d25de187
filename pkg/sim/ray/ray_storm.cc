#include "pkg/sim/ray/ray_storm.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/time.h"
#include "pkg/apiserver/hollow/pod_calls.h"
#include "pkg/sim/ray/cert_manager.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr char kRay[] = "ray.io/v1";

std::string NameOf(const Value& object) {
  return std::string(object.At("metadata").GetString("name"));
}
std::string LabelOf(const Value& object, absl::string_view key) {
  return std::string(object.At("metadata").At("labels").GetString(key));
}

Value Template(const std::string& container, const std::string& image) {
  return Value::MakeObject(
      {{"spec",
        Value::MakeObject({{"containers", Value::MakeArray({Value::MakeObject(
                                              {{"name", container}, {"image", image}})})}})}});
}

}  // namespace

std::vector<Value> RayStorm::Clusters() const {
  const auto list = world_.server().List(kRay, "RayCluster", kNamespace);
  return list.ok() ? *list : std::vector<Value>();
}

std::vector<Value> RayStorm::Pods() const {
  const auto list = world_.server().List("v1", "Pod", kNamespace);
  return list.ok() ? *list : std::vector<Value>();
}

const Value* RayStorm::Pick(const std::vector<Value>& from) {
  return from.empty() ? nullptr : &from[random_.Below(from.size())];
}

Value RayStorm::NewGroup(int number) {
  Value group = Value::MakeObject({{"groupName", absl::StrCat("g", number)},
                                   {"replicas", static_cast<long long>(random_.Below(4))},
                                   {"minReplicas", 0},
                                   {"maxReplicas", 6},
                                   {"template", Template("ray-worker", "ray:1")}});
  if (random_.Below(4) == 0) group.Set("numOfHosts", 2);
  return group;
}

void RayStorm::CreateCluster() {
  const std::string name = absl::StrCat("c", ++made_);
  Value groups = Value::MakeArray();
  const int count = static_cast<int>(random_.Below(3));
  for (int i = 0; i < count; ++i) groups.Append(NewGroup(i));
  Value spec = Value::MakeObject(
      {{"headGroupSpec", Value::MakeObject({{"template", Template("ray-head", "ray:1")}})},
       {"workerGroupSpecs", std::move(groups)}});
  Value metadata = Value::MakeObject({{"name", name}, {"namespace", Value(kNamespace)}});
  if (random_.Below(4) == 0) {
    metadata.Set("annotations", Value::MakeObject({{"ray.io/ft-enabled", "true"}}));
  }
  if (random_.Below(4) == 0) {
    spec.Set("upgradeStrategy", Value::MakeObject({{"type", "Recreate"}}));
  }
  if (random_.Below(6) == 0) spec.Set("suspend", true);
  AddExtras(metadata, spec);
  const auto made = world_.server().Create(Value::MakeObject({{"apiVersion", kRay},
                                                              {"kind", "RayCluster"},
                                                              {"metadata", std::move(metadata)},
                                                              {"spec", std::move(spec)}}));
  Note(absl::StrCat("create ", name, made.ok() ? "" : made.status().ToString()));
}

void RayStorm::AddExtras(Value& metadata, Value& spec) {
  if (extras_ == nullptr) return;
  const auto one_in = [this](uint64_t n) { return extras_->Below(n) == 0; };
  if (one_in(4)) {
    spec.Set("enableInTreeAutoscaling", true);
    if (one_in(2)) spec["autoscalerOptions"].Set("version", one_in(2) ? "v2" : "v1");
  }
  if (one_in(4)) spec["tlsOptions"].Set("enabled", true);
  if (one_in(4)) {
    static constexpr const char* kModes[] = {"DenyAll", "DenyAllIngress", "DenyAllEgress"};
    spec["networkPolicy"].Set("mode", kModes[extras_->Below(std::size(kModes))]);
  }
  if (one_in(2)) metadata["labels"].Set("ray.io/gang-scheduling-enabled", "true");
}

void RayStorm::Change(const std::function<void(Value& spec)>& change, const char* what) {
  const std::vector<Value> clusters = Clusters();
  const Value* picked = Pick(clusters);
  if (picked == nullptr) return;
  Value cluster = *picked;
  change(cluster["spec"]);
  const auto written = world_.server().Update(cluster);
  Note(absl::StrCat(what, " ", NameOf(cluster), written.ok() ? "" : " refused"));
}

void RayStorm::Scale() {
  Change(
      [this](Value& spec) {
        Value* groups = spec.Find("workerGroupSpecs");
        if (groups == nullptr || groups->size() == 0) return;
        Value& group = groups->as_array()[random_.Below(groups->size())];
        group.Set("replicas", static_cast<long long>(random_.Below(5)));
      },
      "scale");
}

void RayStorm::Suspend() {
  Change([this](Value& spec) { spec.Set("suspend", random_.Below(2) == 0); }, "suspend or resume");
}

void RayStorm::SuspendGroup() {
  Change(
      [this](Value& spec) {
        Value* groups = spec.Find("workerGroupSpecs");
        if (groups == nullptr || groups->size() == 0) return;
        // Invalid; the cluster would be left alone from here on.
        if (spec.GetBool("enableInTreeAutoscaling")) return;
        groups->as_array()[random_.Below(groups->size())].Set("suspend", random_.Below(2) == 0);
      },
      "suspend or resume a group of");
}

void RayStorm::ChangeImage() {
  Change(
      [this](Value& spec) {
        Value& pod = spec["headGroupSpec"]["template"];
        pod["spec"]["containers"].as_array().front().Set("image",
                                                         absl::StrCat("ray:", random_.Below(9)));
      },
      "change the image of");
}

void RayStorm::NameWorkers() {
  const std::vector<Value> pods = Pods();
  const Value* pod = Pick(pods);
  if (pod == nullptr || LabelOf(*pod, "ray.io/node-type") != "worker") return;
  const auto cluster =
      world_.server().Get(kRay, "RayCluster", kNamespace, LabelOf(*pod, "ray.io/cluster"));
  if (!cluster.ok()) return;
  Value changed = *cluster;
  for (Value& group : changed["spec"]["workerGroupSpecs"].as_array()) {
    if (group.GetString("groupName") != LabelOf(*pod, "ray.io/group")) continue;
    const int64_t replicas = group.GetInt("replicas");
    group.Set("replicas", static_cast<long long>(replicas > 0 ? replicas - 1 : 0));
    group.Set("scaleStrategy",
              Value::MakeObject({{"workersToDelete", Value::MakeArray({Value(NameOf(*pod))})}}));
  }
  (void)world_.server().Update(changed);
  Note(absl::StrCat("name ", NameOf(*pod), " for deletion"));
}

void RayStorm::DropGroup() {
  Change(
      [this](Value& spec) {
        Value* groups = spec.Find("workerGroupSpecs");
        if (groups == nullptr || groups->size() == 0) {
          // Always of one host: pods of a former group of that name count then (a group of several
          // hosts looks away from pods without the labels of a replica).
          Value group = NewGroup(7);
          group.Remove("numOfHosts");
          spec["workerGroupSpecs"].Append(std::move(group));
        } else {
          groups->as_array().pop_back();
        }
      },
      "drop or add a group of");
}

void RayStorm::DeleteCluster() {
  const std::vector<Value> clusters = Clusters();
  const Value* cluster = Pick(clusters);
  if (cluster == nullptr) return;
  (void)world_.server().Delete(kRay, "RayCluster", kNamespace, NameOf(*cluster));
  Note(absl::StrCat("delete ", NameOf(*cluster)));
}

bool RayStorm::SetPodStatus(const Value& pod, const char* phase) {
  Value changed = pod;
  const bool running = absl::string_view(phase) == "Running";
  changed.Set(
      "status",
      Value::MakeObject(
          {{"phase", phase},
           {"podIP", absl::StrCat("10.1.1.", 1 + made_ % 250)},
           {"conditions",
            Value::MakeArray({Value::MakeObject(
                {{"type", "Ready"},
                 {"status", running ? "True" : "False"},
                 {"lastTransitionTime", Value(apis::meta::TimeToString(world_.now()))}})})}}));
  return world_.server().UpdateStatus(changed).ok();
}

void RayStorm::RunPods() {
  int count = 0;
  for (const Value& pod : Pods()) {
    if (pod.At("status").GetString("phase") == "Pending" && SetPodStatus(pod, "Running")) ++count;
  }
  Note(absl::StrCat("run ", count, " pods"));
  if (extras_ == nullptr) return;
  const int issued = IssueCertificates(world_.server(), kNamespace, world_.now());
  if (issued > 0) Note(absl::StrCat("issue ", issued, " certificates"));
}

void RayStorm::FailPod() {
  const std::vector<Value> pods = Pods();
  const Value* pod = Pick(pods);
  if (pod != nullptr && SetPodStatus(*pod, "Failed")) Note(absl::StrCat("evict ", NameOf(*pod)));
}

void RayStorm::DeletePod() {
  const std::vector<Value> pods = Pods();
  const Value* pod = Pick(pods);
  if (pod == nullptr) return;
  (void)world_.server().Delete("v1", "Pod", kNamespace, NameOf(*pod));
  Note(absl::StrCat("delete pod ", NameOf(*pod)));
}

// Its pods stay terminating until Heal.
void RayStorm::LoseNode() {
  int bound = 0;
  for (const Value& pod : Pods()) {
    if (pod.At("spec").Has("nodeName") || random_.Below(2) == 0) continue;
    apiserver::hollow::BindPod(world_.server(), kNamespace, NameOf(pod), "lost");
    if (random_.Below(2) == 0) {
      (void)world_.server().Delete("v1", "Pod", kNamespace, NameOf(pod));
    }
    ++bound;
  }
  Note(absl::StrCat("lose a node with ", bound, " pods"));
}

void RayStorm::DeleteService() {
  const auto services = world_.server().List("v1", "Service", kNamespace);
  if (!services.ok()) return;
  const Value* service = Pick(*services);
  if (service == nullptr) return;
  (void)world_.server().Delete("v1", "Service", kNamespace, NameOf(*service));
  Note(absl::StrCat("delete service ", NameOf(*service)));
}

void RayStorm::FinishJobs() {
  const auto jobs = world_.server().List("batch/v1", "Job", kNamespace);
  if (!jobs.ok()) return;
  for (Value job : *jobs) {
    if (job.At("status").At("conditions").size() > 0) continue;
    const std::string now = apis::meta::TimeToString(world_.now());
    Value conditions = Value::MakeArray();
    for (const char* type : {"SuccessCriteriaMet", "Complete"}) {
      conditions.Append(Value::MakeObject(
          {{"type", type}, {"status", "True"}, {"lastTransitionTime", Value(now)}}));
    }
    job.Set("status", Value::MakeObject({{"startTime", Value(now)},
                                         {"completionTime", Value(now)},
                                         {"succeeded", 1},
                                         {"conditions", std::move(conditions)}}));
    const auto written = world_.server().UpdateStatus(job);
    Note(absl::StrCat("finish job ", NameOf(job), written.ok() ? "" : " refused"));
  }
}

void RayStorm::Act() {
  static constexpr void (RayStorm::*kActs[])() = {
      &RayStorm::CreateCluster, &RayStorm::CreateCluster, &RayStorm::Scale,
      &RayStorm::Scale,         &RayStorm::Scale,         &RayStorm::Suspend,
      &RayStorm::SuspendGroup,  &RayStorm::ChangeImage,   &RayStorm::NameWorkers,
      &RayStorm::DropGroup,     &RayStorm::DeleteCluster, &RayStorm::RunPods,
      &RayStorm::RunPods,       &RayStorm::RunPods,       &RayStorm::FailPod,
      &RayStorm::DeletePod,     &RayStorm::LoseNode,      &RayStorm::DeleteService,
      &RayStorm::FinishJobs,
  };
  (this->*kActs[random_.Below(std::size(kActs))])();
}

void RayStorm::Heal() {
  for (const Value& pod : Pods()) {
    if (pod.At("metadata").Has("deletionTimestamp")) {
      apiserver::hollow::DeletePodNow(world_.server(), kNamespace, NameOf(pod));
    } else if (pod.At("status").GetString("phase") == "Pending") {
      (void)SetPodStatus(pod, "Running");
    }
  }
  FinishJobs();
  if (extras_ != nullptr) IssueCertificates(world_.server(), kNamespace, world_.now());
}

}  // namespace hekla::sim

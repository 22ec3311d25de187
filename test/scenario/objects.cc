#include "test/scenario/objects.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"
#include "test/harness/builders.h"

namespace hekla::scenario {
namespace {

using apis::json::Value;
using harness::Pairs;
using Fields = std::vector<absl::string_view>;

constexpr absl::string_view kDefaultNamespace = "default";

absl::Status CheckFields(const Value& item, absl::string_view what, const Fields& known) {
  if (!item.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(what, " must be a map"));
  }
  for (const auto& member : item.as_object()) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": unknown field ", member.key));
    }
  }
  return absl::OkStatus();
}

// Scalars as the text that Kubernetes would have.
std::string Text(const Value& value) {
  return value.is_string() ? value.as_string() : apis::json::Dump(value);
}

Pairs PairsOf(const Value& map) {
  Pairs pairs;
  if (map.is_object()) {
    for (const auto& member : map.as_object()) pairs.emplace_back(member.key, Text(member.value));
  }
  return pairs;
}

Value TextMap(const Value& map) { return harness::MapOf(PairsOf(map)); }

// cpu, memory, gpu, pods, and the free map `resources`.
Pairs Amounts(const Value& item) {
  Pairs amounts;
  const std::pair<const char*, const char*> kShort[] = {
      {"cpu", "cpu"}, {"memory", "memory"}, {"gpu", "nvidia.com/gpu"}, {"pods", "pods"}};
  for (const auto& [key, name] : kShort) {
    if (const Value* value = item.Find(key)) amounts.emplace_back(name, Text(*value));
  }
  for (auto& pair : PairsOf(item.At("resources"))) amounts.push_back(std::move(pair));
  return amounts;
}

void Overlay(const Value& item, Value& object) {
  if (const Value* over = item.Find("object")) harness::Merge(object, *over);
}

absl::StatusOr<Value> BuildNode(const Value& item) {
  HEKLA_RETURN_IF_ERROR(CheckFields(item, "nodes",
                                    {"name", "cpu", "memory", "gpu", "pods", "resources", "labels",
                                     "taints", "unschedulable", "object"}));
  Value node =
      harness::BuildNode(item.GetString("name"), Amounts(item), PairsOf(item.At("labels")));
  Value& spec = node.Ensure({"spec"});
  if (item.Has("taints")) spec.Set("taints", item.At("taints"));
  if (item.GetBool("unschedulable")) spec.Set("unschedulable", true);
  Overlay(item, node);
  return node;
}

absl::StatusOr<Value> BuildQueue(const Value& item, int created) {
  HEKLA_RETURN_IF_ERROR(
      CheckFields(item, "queues",
                  {"name", "weight", "priority", "capability", "guarantee", "deserved", "state",
                   "reclaimable", "hierarchy", "hierarchyWeights", "object"}));
  Value queue = harness::BuildQueue(item.GetString("name"),
                                    static_cast<int>(item.GetInt("weight", 1)), created);
  Value& spec = queue.Ensure({"spec"});
  for (const char* key : {"capability", "deserved"}) {
    if (item.Has(key)) spec.Set(key, TextMap(item.At(key)));
  }
  if (item.Has("guarantee")) {
    spec.Ensure({"guarantee"}).Set("resource", TextMap(item.At("guarantee")));
  }
  for (const char* key : {"priority", "reclaimable"}) {
    if (item.Has(key)) spec.Set(key, item.At(key));
  }
  if (item.Has("state")) queue.Ensure({"status"}).Set("state", item.At("state"));
  Value annotations = Value::MakeObject();
  if (item.Has("hierarchy")) annotations.Set("volcano.sh/hierarchy", item.At("hierarchy"));
  if (item.Has("hierarchyWeights")) {
    annotations.Set("volcano.sh/hierarchy-weights", Text(item.At("hierarchyWeights")));
  }
  queue.Ensure({"metadata"}).Set("annotations", annotations);
  Overlay(item, queue);
  return queue;
}

absl::StatusOr<Value> BuildPriorityClass(const Value& item) {
  HEKLA_RETURN_IF_ERROR(CheckFields(item, "priorityClasses", {"name", "value", "globalDefault"}));
  return harness::BuildPriorityClass(item.GetString("name"), static_cast<int>(item.GetInt("value")),
                                     item.GetBool("globalDefault"));
}

absl::StatusOr<Value> BuildPodGroup(const Value& item, int created) {
  HEKLA_RETURN_IF_ERROR(
      CheckFields(item, "podGroups",
                  {"name", "namespace", "queue", "minMember", "minTaskMember", "minResources",
                   "priorityClass", "phase", "subGroupPolicy", "annotations", "object"}));
  harness::PodGroupArgs args;
  args.name = std::string(item.GetString("name"));
  args.namespace_name = std::string(item.GetString("namespace", kDefaultNamespace));
  args.queue = std::string(item.GetString("queue", "default"));
  args.min_member = static_cast<int>(item.GetInt("minMember", 1));
  args.phase = std::string(item.GetString("phase", "Pending"));
  args.created = created;
  Value group = harness::BuildPodGroup(args);
  Value& spec = group.Ensure({"spec"});
  if (item.Has("minTaskMember")) spec.Set("minTaskMember", item.At("minTaskMember"));
  if (item.Has("minResources")) spec.Set("minResources", TextMap(item.At("minResources")));
  if (item.Has("priorityClass")) spec.Set("priorityClassName", item.At("priorityClass"));
  if (item.Has("subGroupPolicy")) spec.Set("subGroupPolicy", item.At("subGroupPolicy"));
  if (item.Has("annotations")) {
    group.Ensure({"metadata"}).Set("annotations", TextMap(item.At("annotations")));
  }
  Overlay(item, group);
  return group;
}

absl::StatusOr<Value> BuildPod(const Value& item, const std::string& name, int created) {
  harness::PodArgs args;
  args.name = name;
  args.namespace_name = std::string(item.GetString("namespace", kDefaultNamespace));
  args.node = std::string(item.GetString("node"));
  args.phase = std::string(item.GetString("phase", args.node.empty() ? "Pending" : "Running"));
  args.requests = Amounts(item);
  args.pod_group = std::string(item.GetString("podGroup"));
  args.labels = PairsOf(item.At("labels"));
  args.created = created;
  Value pod = harness::BuildPod(args);
  Value& annotations = pod.Ensure({"metadata", "annotations"});
  if (item.Has("role")) annotations.Set("volcano.sh/task-spec", item.At("role"));
  if (item.Has("annotations")) harness::Merge(annotations, TextMap(item.At("annotations")));
  Value& spec = pod.Ensure({"spec"});
  for (const char* key : {"priority", "tolerations", "affinity"}) {
    if (item.Has(key)) spec.Set(key, item.At(key));
  }
  if (item.Has("nodeSelector")) spec.Set("nodeSelector", TextMap(item.At("nodeSelector")));
  if (item.Has("gates")) {
    for (const Value& gate : item.At("gates").as_array()) {
      spec["schedulingGates"].Append(Value::MakeObject({{"name", gate}}));
    }
  }
  if (item.GetBool("terminating")) {
    pod.Ensure({"metadata"}).Set("deletionTimestamp", harness::TimeAt(created));
  }
  Overlay(item, pod);
  return pod;
}

absl::Status BuildPods(const Value& items, int& created, std::vector<Value>& out) {
  std::vector<std::pair<std::string, int>> next;  // index of the next pod per group
  for (const Value& item : items.as_array()) {
    HEKLA_RETURN_IF_ERROR(CheckFields(
        item, "pods",
        {"name",        "namespace",    "podGroup", "count", "cpu",         "memory", "gpu",
         "resources",   "node",         "phase",    "role",  "priority",    "labels", "annotations",
         "tolerations", "nodeSelector", "affinity", "gates", "terminating", "object"}));
    const std::string base(item.GetString("name", item.GetString("podGroup")));
    const bool single = item.Has("name") && !item.Has("count");
    auto known = std::find_if(next.begin(), next.end(),
                              [&](const auto& entry) { return entry.first == base; });
    if (known == next.end()) known = next.insert(next.end(), {base, 0});
    for (int64_t i = 0; i < item.GetInt("count", 1); ++i) {
      const std::string name = single ? base : absl::StrCat(base, "-", known->second++);
      HEKLA_ASSIGN_OR_RETURN(Value pod, BuildPod(item, name, ++created));
      out.push_back(std::move(pod));
    }
  }
  return absl::OkStatus();
}

// Calls `build` for each item of a list of the scenario.
absl::Status Each(const Value& scenario, absl::string_view list, std::vector<Value>& out,
                  const std::function<absl::StatusOr<Value>(const Value&)>& build) {
  const Value& items = scenario.At(list);
  if (items.is_null()) return absl::OkStatus();
  if (!items.is_array()) return absl::InvalidArgumentError(absl::StrCat(list, " must be a list"));
  for (const Value& item : items.as_array()) {
    HEKLA_ASSIGN_OR_RETURN(Value object, build(item));
    out.push_back(std::move(object));
  }
  return absl::OkStatus();
}

}  // namespace

std::string FullName(absl::string_view name) {
  return name.find('/') == absl::string_view::npos ? absl::StrCat(kDefaultNamespace, "/", name)
                                                   : std::string(name);
}

std::string ShortName(absl::string_view full) {
  absl::ConsumePrefix(&full, absl::StrCat(kDefaultNamespace, "/"));
  return std::string(full);
}

absl::StatusOr<std::vector<Value>> BuildObjects(const Value& scenario) {
  std::vector<Value> out;
  int created = 0;
  HEKLA_RETURN_IF_ERROR(Each(scenario, "priorityClasses", out, BuildPriorityClass));
  HEKLA_RETURN_IF_ERROR(Each(scenario, "queues", out,
                             [&](const Value& item) { return BuildQueue(item, ++created); }));
  HEKLA_RETURN_IF_ERROR(Each(scenario, "nodes", out, BuildNode));
  HEKLA_RETURN_IF_ERROR(Each(scenario, "objects", out,
                             [](const Value& item) -> absl::StatusOr<Value> { return item; }));
  HEKLA_RETURN_IF_ERROR(Each(scenario, "podGroups", out,
                             [&](const Value& item) { return BuildPodGroup(item, ++created); }));
  if (scenario.Has("pods")) HEKLA_RETURN_IF_ERROR(BuildPods(scenario.At("pods"), created, out));
  return out;
}

absl::StatusOr<std::string> BuildConfig(const Value& scenario) {
  const Value* config = scenario.Find("config");
  if (config == nullptr) return std::string();
  HEKLA_RETURN_IF_ERROR(CheckFields(*config, "config", {"actions", "tiers", "configurations"}));
  Value out = Value::MakeObject({{"actions", config->At("actions")}});
  Value tiers = Value::MakeArray();
  for (const Value& tier : config->At("tiers").as_array()) {
    Value plugins = Value::MakeArray();
    for (const Value& plugin : tier.as_array()) {
      plugins.Append(plugin.is_string() ? Value::MakeObject({{"name", plugin}}) : plugin);
    }
    tiers.Append(Value::MakeObject({{"plugins", plugins}}));
  }
  out.Set("tiers", tiers);
  if (config->Has("configurations")) out.Set("configurations", config->At("configurations"));
  return yaml::Dump(out);
}

}  // namespace hekla::scenario

#include "test/harness/builders.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace hekla::harness {

std::string TimeAt(int seconds) {
  const absl::Time start = absl::FromUnixSeconds(1767225600);  // 2026-01-01
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", start + absl::Seconds(seconds),
                          absl::UTCTimeZone());
}

Value MapOf(const Pairs& pairs) {
  Value map = Value::MakeObject();
  for (const auto& [key, value] : pairs) map.Set(key, value);
  return map;
}

void Merge(Value& base, const Value& over) {
  if (!base.is_object() || !over.is_object()) {
    base = over;
    return;
  }
  for (const auto& member : over.as_object()) {
    if (Value* known = base.Find(member.key)) {
      Merge(*known, member.value);
    } else {
      base.Set(member.key, member.value);
    }
  }
}

namespace {

Value Object(absl::string_view api_version, absl::string_view kind, absl::string_view space,
             absl::string_view name, int created) {
  Value object = Value::MakeObject({{"apiVersion", api_version}, {"kind", kind}});
  Value& meta = object.Ensure({"metadata"});
  meta.Set("name", name);
  if (!space.empty()) meta.Set("namespace", space);
  meta.Set("uid", space.empty() ? std::string(name) : absl::StrCat(space, "-", name));
  meta.Set("creationTimestamp", TimeAt(created));
  return object;
}

}  // namespace

Value BuildNode(absl::string_view name, const Pairs& resources, const Pairs& labels) {
  Value node = Object("v1", "Node", "", name, 0);
  Value amounts = MapOf(resources);
  if (!amounts.Has("pods")) amounts.Set("pods", "110");
  Value label_map = MapOf(labels);
  if (!label_map.Has("kubernetes.io/hostname")) label_map.Set("kubernetes.io/hostname", name);
  node.Ensure({"metadata"}).Set("labels", label_map);
  node.Ensure({"status"}).Set("capacity", amounts);
  node.Ensure({"status"}).Set("allocatable", amounts);
  Value& conditions = node.Ensure({"status"})["conditions"];
  conditions.Append(Value::MakeObject({{"type", "Ready"}, {"status", "True"}}));
  return node;
}

Value BuildPod(const PodArgs& args) {
  Value pod = Object("v1", "Pod", args.namespace_name, args.name, args.created);
  Value& meta = pod.Ensure({"metadata"});
  if (!args.labels.empty()) meta.Set("labels", MapOf(args.labels));
  if (!args.pod_group.empty()) {
    meta.Set("annotations", MapOf({{"scheduling.k8s.io/group-name", args.pod_group}}));
  }
  Value& spec = pod.Ensure({"spec"});
  spec.Set("schedulerName", "volcano");
  if (!args.node.empty()) spec.Set("nodeName", args.node);
  Value container = Value::MakeObject({{"name", "c"}, {"image", "busybox"}});
  container.Ensure({"resources"}).Set("requests", MapOf(args.requests));
  spec["containers"].Append(container);
  pod.Ensure({"status"}).Set("phase", args.phase);
  return pod;
}

Value BuildPodGroup(const PodGroupArgs& args) {
  Value group = Object("scheduling.volcano.sh/v1beta1", "PodGroup", args.namespace_name, args.name,
                       args.created);
  Value& spec = group.Ensure({"spec"});
  spec.Set("queue", args.queue);
  spec.Set("minMember", args.min_member);
  group.Ensure({"status"}).Set("phase", args.phase);
  return group;
}

Value BuildQueue(absl::string_view name, int weight, int created) {
  Value queue = Object("scheduling.volcano.sh/v1beta1", "Queue", "", name, created);
  queue.Ensure({"spec"}).Set("weight", weight);
  queue.Ensure({"status"}).Set("state", "Open");
  return queue;
}

Value BuildPriorityClass(absl::string_view name, int value, bool global_default) {
  Value object = Object("scheduling.k8s.io/v1", "PriorityClass", "", name, 0);
  object.Set("value", value);
  if (global_default) object.Set("globalDefault", true);
  return object;
}

}  // namespace hekla::harness

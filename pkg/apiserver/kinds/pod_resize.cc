#include "pkg/apiserver/kinds/pod_resize.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kinds/pod_spec.h"

namespace hekla::apiserver::kinds {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr const char* kLists[] = {"containers", "initContainers"};
constexpr const char* kSizes[] = {"requests", "limits"};

// The member as it is in `from`, or none.
void Take(Value& to, const Value& from, absl::string_view name) {
  if (const Value* const value = from.Find(name)) {
    to.Set(name, *value);
  } else {
    to.Remove(name);
  }
}

bool IsSidecar(const Value& container) { return container.GetString("restartPolicy") == "Always"; }

// Same containers in the same order.
bool SameContainers(const Value& now, const Value& before) {
  if (now.size() != before.size()) return false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now.as_array()[i].At("name") != before.as_array()[i].At("name")) return false;
  }
  return true;
}

// Findings about containers that are not the same.
void CheckContainers(const Value& spec, const Value& before, FieldErrors& errors) {
  for (const char* const list : kLists) {
    const Value& now = spec.At(list);
    const Value& was = before.At(list);
    if (now.size() != was.size()) {
      errors.Forbidden(Child("spec", list),
                       absl::StrCat(list, " may not be added or removed on resize"));
      continue;
    }
    for (size_t i = 0; i < now.size(); ++i) {
      if (now.as_array()[i].At("name") == was.as_array()[i].At("name")) continue;
      errors.Forbidden(Child(Index(Child("spec", list), i), "name"),
                       absl::StrCat(list, " may not be renamed or reordered on resize"));
    }
  }
}

// What cannot be resized at all; "" where the pod can.
absl::string_view Refusal(const Value& pod, const Value& old) {
  const auto has_own = [](const Value& p) {
    const Value& own = p.At("spec").At("resources");
    return own.At("requests").size() + own.At("limits").size() > 0;
  };
  if (has_own(pod) || has_own(old)) return "pods with pod-level resources cannot be resized";
  if (old.At("metadata").At("annotations").Has("kubernetes.io/config.mirror")) {
    return "static pods cannot be resized";
  }
  if (old.At("spec").At("os").GetString("name") == "windows") {
    return "windows pods cannot be resized";
  }
  return "";
}

void CheckRemoved(const Value& now, const Value& before, const std::string& path,
                  FieldErrors& errors) {
  for (const char* const size : kSizes) {
    const Value& was = before.At("resources").At(size);
    if (!was.is_object()) continue;
    for (const Member& amount : was.as_object()) {
      if (now.At("resources").At(size).Has(amount.key)) continue;
      errors.Forbidden(Child(Child(path, "resources"), size),
                       absl::StrCat("resource ", size, " cannot be removed"));
      break;
    }
  }
}

// The container with the cpu and memory that it had.
Value WithOldSizes(const Value& now, const Value& before) {
  Value out = now;
  Value& resources = out["resources"];
  if (!resources.is_object()) resources = Value::MakeObject();
  for (const char* const size : kSizes) {
    const Value& was = before.At("resources").At(size);
    if (!was.is_object()) {
      resources.Remove(size);
      continue;
    }
    Value amounts = was;
    for (const char* const name : {"cpu", "memory"}) amounts.Remove(name);
    Value given = resources.At(size).is_object() ? resources.At(size) : Value::MakeObject();
    for (const char* const name : {"cpu", "memory"}) given.Remove(name);
    // Equal amounts in another order are equal.
    resources.Set(size, given == amounts ? was : std::move(given));
  }
  if (resources.size() == 0 && !before.Has("resources")) out.Remove("resources");
  return out;
}

}  // namespace

void PrepareResize(Value& pod, const Value& old) {
  const Value& before = old.At("spec");
  const Value given = pod.At("spec");
  for (const char* const list : kLists) {
    if (!SameContainers(given.At(list), before.At(list))) return;
  }
  for (const char* const name : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    Take(pod["metadata"], old.At("metadata"), name);
  }
  Value spec = before;
  for (const char* const list : kLists) {
    Value* const containers = spec.Find(list);
    for (size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      for (const char* const name : {"resources", "resizePolicy"}) {
        Take(containers->as_array()[i], given.At(list).as_array()[i], name);
      }
    }
  }
  pod.Set("spec", std::move(spec));
}

void ValidateResize(const Value& pod, const Value& old, FieldErrors& errors) {
  const Value& spec = pod.At("spec");
  const Value& before = old.At("spec");
  FieldErrors alone;  // hides all others
  if (const absl::string_view refusal = Refusal(pod, old); !refusal.empty()) {
    alone.Forbidden("", refusal);
  } else {
    CheckContainers(spec, before, alone);
  }
  if (!alone.empty()) {
    errors = std::move(alone);
    return;
  }
  // Real servers name the class that the pod has.
  const absl::string_view quality = QosClassOf(before);
  if (quality != QosClassOf(spec)) {
    errors.Invalid("spec", Value(quality), "Pod QOS Class may not change as a result of resizing");
  }
  const Value& inits = spec.At("initContainers");
  for (size_t i = 0; i < inits.size(); ++i) {
    const Value& was = before.At("initContainers").as_array()[i];
    if (IsSidecar(was)) {
      CheckRemoved(inits.as_array()[i], was, Index("spec.initContainers", i), errors);
    }
  }
  const Value& containers = spec.At("containers");
  for (size_t i = 0; i < containers.size(); ++i) {
    CheckRemoved(containers.as_array()[i], before.At("containers").as_array()[i],
                 Index("spec.containers", i), errors);
  }
  for (size_t i = 0; i < containers.size(); ++i) {
    const Value& was = before.At("containers").as_array()[i];
    if (WithOldSizes(containers.as_array()[i], was) != was) {
      errors.Forbidden("spec", "only cpu and memory resources are mutable");
    }
  }
  for (size_t i = 0; i < inits.size(); ++i) {
    const Value& was = before.At("initContainers").as_array()[i];
    if (IsSidecar(was)) {
      if (WithOldSizes(inits.as_array()[i], was) != was) {
        errors.Forbidden("spec",
                         "only cpu and memory resources for sidecar containers are mutable");
      }
    } else if (inits.as_array()[i] != was) {
      errors.Forbidden("spec", "resources for non-sidecar init containers are immutable");
    }
  }
}

}  // namespace hekla::apiserver::kinds

#include "pkg/controller/predicate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/string_map.h"

namespace hekla::controller {
namespace {

using apis::json::Value;

Predicate MetadataChanged(std::string field) {
  return [field = std::move(field)](const Event& event) {
    if (event.type != Event::Type::kUpdate || event.before == nullptr) return true;
    const Value& before = event.before->At("metadata").At(field);
    const Value& now = event.object->At("metadata").At(field);
    const auto nothing = [](const Value& v) {  // an empty map is like none
      return v.is_null() || (v.is_object() && v.size() == 0);
    };
    return nothing(before) ? !nothing(now) : before != now;
  };
}

}  // namespace

Predicate ResourceVersionChanged() { return MetadataChanged("resourceVersion"); }
Predicate GenerationChanged() { return MetadataChanged("generation"); }
Predicate LabelChanged() { return MetadataChanged("labels"); }
Predicate AnnotationChanged() { return MetadataChanged("annotations"); }

Predicate LabelsMatch(std::vector<apis::meta::Requirement> requirements) {
  return [requirements = std::move(requirements)](const Event& event) {
    const Value& labels = event.object->At("metadata").At("labels");
    return std::all_of(requirements.begin(), requirements.end(),
                       [&labels](const apis::meta::Requirement& requirement) {
                         const Value* const value = labels.Find(requirement.key);
                         return requirement.Matches(value != nullptr && value->is_string()
                                                        ? &value->as_string()
                                                        : nullptr);
                       });
  };
}

Predicate And(std::vector<Predicate> all) {
  return [all = std::move(all)](const Event& event) {
    return std::all_of(all.begin(), all.end(), [&event](const Predicate& p) { return p(event); });
  };
}
Predicate Or(std::vector<Predicate> any) {
  return [any = std::move(any)](const Event& event) {
    return std::any_of(any.begin(), any.end(), [&event](const Predicate& p) { return p(event); });
  };
}
Predicate Not(Predicate inner) {
  return [inner = std::move(inner)](const Event& event) { return !inner(event); };
}

}  // namespace hekla::controller

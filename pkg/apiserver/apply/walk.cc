#include "pkg/apiserver/apply/walk.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace hekla::apiserver::apply {
namespace {

using apis::json::Member;
using apis::json::Value;
using schema::ListKind;
using Path = FieldSet::Path;

std::string FieldElement(absl::string_view name) { return absl::StrCat("f:", name); }

// Items of a list by their element; items that have none are passed over.
struct Indexed {
  std::vector<std::string> order;    // of the items, equal ones repeated
  std::vector<const Value*> values;  // in the same order
  absl::flat_hash_map<std::string, std::vector<const Value*>> items;
};
Indexed IndexList(const TypeRef& type, const Value* list) {
  Indexed out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Value& item : list->as_array()) {
    auto element = ElementOf(type, item);
    if (!element.ok()) continue;
    out.items[*element].push_back(&item);
    out.values.push_back(&item);
    out.order.push_back(*std::move(element));
  }
  return out;
}

bool IsEmpty(const Value* value) {
  return value == nullptr || value->is_null() ||
         ((value->is_array() || value->is_object()) && value->size() == 0);
}

class Comparer {
 public:
  explicit Comparer(Comparison& out) : out_(out) {}

  void Walk(const TypeRef& type, const Value* before, const Value* after) {
    const auto is = [](const Value* v, bool object) {
      return v != nullptr && (object ? v->is_object() : v->is_array());
    };
    // Null takes the form of the other side.
    const bool objects = (is(before, true) || is(after, true)) && !is(before, false) &&
                         !is(after, false) && NoScalar(before) && NoScalar(after);
    const bool lists = (is(before, false) || is(after, false)) && !is(before, true) &&
                       !is(after, true) && NoScalar(before) && NoScalar(after);
    const bool both_empty = IsEmpty(before) && IsEmpty(after);
    if (objects && !type.atomic_object() && !both_empty) {
      Members(type, before, after);
    } else if (lists && type.list_kind() != ListKind::kAtomic && !both_empty) {
      Items(type, before, after);
    } else {
      Leaf(before, after);
      return;
    }
    if (path_.empty()) return;
    if (before == nullptr) out_.added.Insert(path_);
    if (after == nullptr) out_.removed.Insert(path_);
  }

 private:
  static bool NoScalar(const Value* v) {
    return v == nullptr || v->is_null() || v->is_object() || v->is_array();
  }

  void Leaf(const Value* before, const Value* after) {
    if (before == nullptr) {
      out_.added.Insert(path_);
    } else if (after == nullptr) {
      out_.removed.Insert(path_);
    } else if (!(*before == *after)) {
      out_.modified.Insert(path_);
    }
  }

  void Descend(std::string element, const TypeRef& type, const Value* before, const Value* after) {
    path_.push_back(std::move(element));
    Walk(type, before, after);
    path_.pop_back();
  }

  void Members(const TypeRef& type, const Value* before, const Value* after) {
    if (before != nullptr && before->is_object()) {
      for (const Member& member : before->as_object()) {
        const Value* now = after == nullptr ? nullptr : after->Find(member.key);
        // Equal subtrees differ nowhere.
        if (now != nullptr && *now == member.value) continue;
        Descend(FieldElement(member.key), type.Member(member.key), &member.value, now);
      }
    }
    if (after == nullptr || !after->is_object()) return;
    for (const Member& member : after->as_object()) {
      if (before != nullptr && before->Has(member.key)) continue;
      Descend(FieldElement(member.key), type.Member(member.key), nullptr, &member.value);
    }
  }

  void Items(const TypeRef& type, const Value* before, const Value* after) {
    const Indexed was = IndexList(type, before);
    const Indexed now = IndexList(type, after);
    absl::flat_hash_set<std::string> done;
    for (const Indexed* side : {&was, &now}) {
      for (const std::string& element : side->order) {
        if (!done.insert(element).second) continue;
        OneItem(type, element, Values(was, element), Values(now, element));
      }
    }
  }

  static std::vector<const Value*> Values(const Indexed& side, const std::string& element) {
    const auto it = side.items.find(element);
    return it == side.items.end() ? std::vector<const Value*>() : it->second;
  }

  // Equal items are compared together: their element is owned as one.
  void OneItem(const TypeRef& type, const std::string& element,
               const std::vector<const Value*>& was, const std::vector<const Value*>& now) {
    if (was.size() <= 1 && now.size() <= 1) {
      Descend(element, type.Item(), was.empty() ? nullptr : was[0], now.empty() ? nullptr : now[0]);
      return;
    }
    Path path = path_;
    path.push_back(element);
    if (was.size() > 1 && now.size() > 1) {
      const bool equal = std::equal(was.begin(), was.end(), now.begin(), now.end(),
                                    [](const Value* a, const Value* b) { return *a == *b; });
      if (!equal) out_.modified.Insert(path);
      return;
    }
    if (was.size() > 1) {
      if (!now.empty()) Descend(element, type.Item(), nullptr, now[0]);
      out_.removed.Insert(path);
      return;
    }
    if (!was.empty()) Descend(element, type.Item(), was[0], nullptr);
    out_.added.Insert(path);
  }

  Comparison& out_;
  Path path_;
};

void AddPlaces(const TypeRef& type, const Value& value, Path& path, FieldSet& out) {
  if (value.is_object() && !type.atomic_object()) {
    for (const Member& member : value.as_object()) {
      path.push_back(FieldElement(member.key));
      AddPlaces(type.Member(member.key), member.value, path, out);
      if (member.value.is_null() || (member.value.is_object() && member.value.size() == 0) ||
          !type.Declares(member.key)) {
        out.Insert(path);
      }
      path.pop_back();
    }
    return;
  }
  if (value.is_array() && type.list_kind() != ListKind::kAtomic) {
    for (const Value& item : value.as_array()) {
      auto element = ElementOf(type, item);
      if (!element.ok()) continue;
      path.push_back(*std::move(element));
      AddPlaces(type.Item(), item, path, out);
      out.Insert(path);
      path.pop_back();
    }
    return;
  }
  if (!path.empty()) out.Insert(path);
}

Value MergeItems(const TypeRef& type, const Value& live, const Value& config) {
  const Indexed left = IndexList(type, &live);
  const Indexed right = IndexList(type, &config);
  std::vector<std::string> shared;
  for (const std::string& element : right.order) {
    if (left.items.contains(element)) shared.push_back(element);
  }
  Value out = Value::MakeArray();
  absl::flat_hash_set<std::string> merged;
  const auto take = [&](const std::string& element) {
    merged.insert(element);
    const Value& wanted = *right.items.at(element)[0];
    const auto it = left.items.find(element);
    // Items that stand twice are not merged into.
    const bool one = it != left.items.end() && it->second.size() == 1;
    out.Append(one ? Merge(type.Item(), *it->second[0], wanted) : wanted);
  };
  size_t l = 0, r = 0, next = 0;
  while (l < left.order.size() || r < right.order.size()) {
    if (l < left.order.size() && r < right.order.size()) {
      if (left.order[l] == right.order[r]) {
        take(left.order[l]);
        ++l, ++r, ++next;
        continue;
      }
      // A shared item, but not the one whose turn it is.
      if (right.items.contains(left.order[l]) && next < shared.size() &&
          shared[next] != left.order[l]) {
        ++l;
        continue;
      }
    }
    if (l < left.order.size()) {
      if (!right.items.contains(left.order[l])) {
        out.Append(*left.values[l]);
        ++l;
        continue;
      }
      if (merged.contains(left.order[l])) ++l;
    }
    if (r < right.order.size()) {
      const std::string element = right.order[r++];
      take(element);
      if (next < shared.size() && shared[next] == element) ++next;
    }
  }
  return out;
}

// A value as Go prints it with %v inside of the library's wrapper: &{x}, &{map[a:b]}.
std::string Wrapped(const Value& value) {
  if (value.is_string()) return absl::StrCat("&{", value.as_string(), "}");
  return absl::StrCat("&{", apis::json::Dump(value), "}");
}

// The finding about a value of the wrong kind; "" where it fits.
std::string WrongKind(const TypeRef& type, const Value& value) {
  if (value.is_null()) return "";
  if (type.wants_object()) {
    return value.is_object() ? "" : absl::StrCat("expected map, got ", Wrapped(value));
  }
  if (type.wants_list()) {
    return value.is_array() ? "" : absl::StrCat("expected list, got ", Wrapped(value));
  }
  switch (type.scalar()) {
    case Scalar::kString:
      return value.is_string()
                 ? ""
                 : absl::StrCat("expected string, got &value.valueUnstructured{Value:",
                                apis::json::Dump(value), "}");
    case Scalar::kNumeric:
      if (value.is_number()) return "";
      return absl::StrCat("expected numeric (int or float), got ", value.is_string() ? "string"
                                                                   : value.is_bool() ? "bool"
                                                                   : value.is_object()
                                                                       ? "map[string]interface {}"
                                                                       : "[]interface {}");
    case Scalar::kBoolean:
      return value.is_bool() ? "" : absl::StrCat("expected boolean, got ", Wrapped(value));
    case Scalar::kAny:
      if (!value.is_object() && !value.is_array()) return "";
      return absl::StrCat("expected any scalar, got ", Wrapped(value));
    case Scalar::kNone:
      return "";
  }
  return "";
}

void FindMisfits(const TypeRef& type, const Value& value, Path& path,
                 std::vector<std::string>& out) {
  if (std::string wrong = WrongKind(type, value); !wrong.empty()) {
    out.push_back(absl::StrCat(PathText(path), ": ", wrong));
    return;
  }
  if (value.is_object()) {
    for (const Member& member : value.as_object()) {
      path.push_back(FieldElement(member.key));
      if (!type.Declares(member.key) && !type.open()) {
        out.push_back(absl::StrCat(PathText(path), ": field not declared in schema"));
      } else {
        FindMisfits(type.Member(member.key), member.value, path, out);
      }
      path.pop_back();
    }
    return;
  }
  if (!value.is_array()) return;
  const bool by_element = type.list_kind() != ListKind::kAtomic;
  absl::flat_hash_set<std::string> seen;
  for (size_t i = 0; i < value.size(); ++i) {
    const Value& item = value.as_array()[i];
    std::string place = absl::StrCat("i:", i);
    if (by_element) {
      auto element = ElementOf(type, item);
      if (!element.ok()) {
        out.push_back(
            absl::StrCat(PathText(path), ": element ", i, ": ", element.status().message()));
        continue;
      }
      if (!seen.insert(*element).second) {
        out.push_back(
            absl::StrCat(PathText(path), ": duplicate entries for key ", PathText({*element})));
        continue;
      }
      place = *std::move(element);
    }
    path.push_back(std::move(place));
    FindMisfits(type.Item(), item, path, out);
    path.pop_back();
  }
}

}  // namespace

absl::StatusOr<std::string> ElementOf(const TypeRef& list, const Value& item) {
  if (list.list_kind() == ListKind::kSet) {
    if (item.is_array() || item.is_object()) {
      return absl::InvalidArgumentError(
          "associative list without keys has an element that's a "
          "map type");
    }
    if (item.is_null()) {
      return absl::InvalidArgumentError("associative list may not have null elements");
    }
    return absl::StrCat("v:", apis::json::Dump(item));
  }
  if (item.is_null()) {
    return absl::InvalidArgumentError("associative list with keys may not have null elements");
  }
  if (!item.is_object()) {
    return absl::InvalidArgumentError("associative list with keys may not have non-map elements");
  }
  std::vector<std::string> names = list.list_keys();
  std::sort(names.begin(), names.end());
  Value keys = Value::MakeObject();
  for (const std::string& name : names) {
    const Value* given = item.Find(name);
    if (given != nullptr && !given->is_null()) {
      keys.Set(name, *given);
      continue;
    }
    Value fallback = list.KeyDefault(name);
    if (fallback.is_null()) {
      return absl::InvalidArgumentError(
          absl::StrCat("associative list with keys has an element that omits key field ",
                       apis::json::Quote(name), " (and doesn't have default value)"));
    }
    keys.Set(name, std::move(fallback));
  }
  return absl::StrCat("k:", apis::json::Dump(keys));
}

Comparison Compare(const TypeRef& type, const Value& before, const Value& after) {
  Comparison out;
  Comparer(out).Walk(type, &before, &after);
  return out;
}

FieldSet PlacesOf(const TypeRef& type, const Value& value) {
  FieldSet out;
  Path path;
  AddPlaces(type, value, path, out);
  return out;
}

Value Merge(const TypeRef& type, const Value& live, const Value& config) {
  if (config.is_object() && (live.is_object() || live.is_null()) && !type.atomic_object()) {
    if (config.size() == 0 && live.size() == 0) return config;
    Value out = live.is_null() ? Value::MakeObject() : live;
    for (const Member& member : config.as_object()) {
      Value* had = out.Find(member.key);
      if (had == nullptr) {
        out.as_object().push_back(member);
      } else {
        *had = Merge(type.Member(member.key), *had, member.value);
      }
    }
    return out;
  }
  if (config.is_array() && live.is_array() && type.list_kind() != ListKind::kAtomic) {
    return MergeItems(type, live, config);
  }
  return config;
}

Value Without(const TypeRef& type, const Value& value, const FieldSet& places) {
  if (value.is_object() && !type.atomic_object()) {
    Value out = Value::MakeObject();
    for (const Member& member : value.as_object()) {
      const std::string element = FieldElement(member.key);
      if (places.HasMember(element)) continue;
      const FieldSet* below = places.Below(element);
      out.as_object().push_back(
          {member.key, below == nullptr ? member.value
                                        : Without(type.Member(member.key), member.value, *below)});
    }
    return out;
  }
  if (value.is_array() && type.list_kind() != ListKind::kAtomic) {
    Value out = Value::MakeArray();
    for (const Value& item : value.as_array()) {
      const auto element = ElementOf(type, item);
      if (element.ok() && places.HasMember(*element)) continue;
      const FieldSet* below = element.ok() ? places.Below(*element) : nullptr;
      out.Append(below == nullptr ? item : Without(type.Item(), item, *below));
    }
    return out;
  }
  return value;
}

std::vector<std::string> Misfits(const TypeRef& type, const Value& config) {
  std::vector<std::string> out;
  Path path;
  FindMisfits(type, config, path, out);
  return out;
}

}  // namespace hekla::apiserver::apply

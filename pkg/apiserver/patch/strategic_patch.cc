#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/patch/patch.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::patch {
namespace {

using apis::json::Member;
using apis::json::Value;
using schema::Field;
using schema::Message;

constexpr absl::string_view kDirective = "$patch";
constexpr absl::string_view kRetainKeys = "$retainKeys";
constexpr absl::string_view kDeleteFrom = "$deleteFromPrimitiveList/";
constexpr absl::string_view kSetOrder = "$setElementOrder/";

constexpr char kBadRetainKeys[] = "invalid patch format of retainKeys";
constexpr char kBadSetOrder[] = "invalid patch format of setElementOrder list";
constexpr char kBadPrimitives[] = "invalid patch format of primitive list";

// Real errors of this kind carry no type: the server answers 500 with the bare text.
absl::Status Untyped(absl::string_view text) { return absl::InternalError(text); }
absl::Status Bad(absl::string_view text) { return absl::InvalidArgumentError(text); }
// "lists of lists" and the like become the generic text of a 422.
absl::Status Refused() {
  return absl::FailedPreconditionError(
      "the server rejected our request due to an error in our request");
}

// A value as Go's %v prints it: map[a:1 b:[x y]].
std::string GoText(const Value& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.as_string();
  if (value.is_array()) {
    std::string out = "[";
    for (const Value& item : value.as_array()) {
      absl::StrAppend(&out, out.size() > 1 ? " " : "", GoText(item));
    }
    return out + "]";
  }
  if (!value.is_object()) return apis::json::Dump(value);
  std::vector<const Member*> members;
  for (const Member& member : value.as_object()) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const Member* a, const Member* b) { return a->key < b->key; });
  std::string out = "map[";
  for (const Member* member : members) {
    absl::StrAppend(&out, out.size() > 4 ? " " : "", member->key, ":", GoText(member->value));
  }
  return out + "]";
}

absl::Status NoMergeKey(const Value& item, absl::string_view key) {
  return Untyped(
      absl::StrCat("map: ", GoText(item), " does not contain declared merge key: ", key));
}

// Removes null members at any depth of a value that is new to the document.
void DiscardNulls(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.as_array()) DiscardNulls(item);
  }
  if (!value.is_object()) return;
  auto& members = value.as_object();
  members.erase(std::remove_if(members.begin(), members.end(),
                               [](const Member& m) { return m.value.is_null(); }),
                members.end());
  for (Member& member : members) DiscardNulls(member.value);
}

// Drops what only directs the merge. Returns false where the value itself does.
bool DropDirectives(Value& value) {
  if (value.is_array()) {
    Value::Array kept;
    for (Value& item : value.as_array()) {
      if (DropDirectives(item)) kept.push_back(std::move(item));
    }
    value.as_array() = std::move(kept);
    return true;
  }
  if (!value.is_object()) return true;
  if (value.Has(kDirective)) return false;
  Value::Object kept;
  for (Member& member : value.as_object()) {
    if (DropDirectives(member.value)) kept.push_back(std::move(member));
  }
  value.as_object() = std::move(kept);
  return true;
}

int64_t Position(const Value::Array& list, const Value& item, const std::string& key) {
  for (size_t i = 0; i < list.size(); ++i) {
    const bool same = key.empty() ? list[i] == item : list[i].At(key) == item.At(key);
    if (same) return static_cast<int64_t>(i);
  }
  return -1;
}

// Patched items in the order of `patch_order`, the others in that of `stored`, merged so that a
// stored item comes first only where both were stored and it stood in front.
Value::Array Ordered(Value::Array merged, const Value::Array& patch_order,
                     const Value::Array& stored, const std::string& key) {
  struct Placed {
    int64_t order;
    Value value;
  };
  std::vector<Placed> patched, others;
  for (Value& item : merged) {
    const int64_t at = Position(patch_order, item, key);
    if (at >= 0) {
      patched.push_back({at, std::move(item)});
    } else {
      const int64_t was = Position(stored, item, key);
      others.push_back({was, std::move(item)});
    }
  }
  const auto by_order = [](const Placed& a, const Placed& b) { return a.order < b.order; };
  std::stable_sort(patched.begin(), patched.end(), by_order);
  std::stable_sort(others.begin(), others.end(), by_order);
  Value::Array out;
  out.reserve(patched.size() + others.size());
  size_t i = 0, j = 0;
  while (i < others.size() || j < patched.size()) {
    bool other = j >= patched.size();
    if (!other && i < others.size()) {
      const int64_t was = Position(stored, patched[j].value, key);
      other = others[i].order >= 0 && was >= 0 && others[i].order < was;
    }
    out.push_back(other ? std::move(others[i++].value) : std::move(patched[j++].value));
  }
  return out;
}

absl::StatusOr<Value> MergeMap(Value original, Value patch, const Message* message);

// All items of one kind: maps or scalars.
absl::Status CheckItems(const Value::Array& a, const Value::Array& b, bool& maps) {
  bool first = true;
  for (const Value::Array* list : {&a, &b}) {
    for (const Value& item : *list) {
      if (item.is_array()) return Refused();
      if (first) maps = item.is_object();
      first = false;
      if (item.is_object() != maps) {
        return Untyped(absl::StrCat("list element types are not identical: ", GoText(item)));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> MergeKeyed(Value::Array original, Value::Array patch, const Field& field,
                                 const std::string& key) {
  Value::Array items;
  bool replace = false;
  for (Value& item : patch) {
    const Value* directive = item.Find(kDirective);
    if (directive == nullptr) {
      items.push_back(std::move(item));
      continue;
    }
    const std::string text = directive->is_string() ? directive->as_string() : "";
    if (text == "delete") {
      const Value* id = item.Find(key);
      if (id == nullptr) return NoMergeKey(item, key);
      original.erase(std::remove_if(original.begin(), original.end(),
                                    [&](const Value& o) { return o.At(key) == *id; }),
                     original.end());
    } else if (text == "replace") {
      replace = true;
    } else if (text == "merge") {
      return Untyped("merging lists cannot yet be specified in the patch");
    } else {
      return Untyped(
          absl::StrCat("unknown patch type: ", GoText(*directive), " in map: ", GoText(item)));
    }
  }
  if (replace) {
    for (const Value& item : items) {
      if (!item.Has(key)) return NoMergeKey(item, key);
    }
    return Value::MakeArray(std::move(items));
  }
  const Value::Array stored = original;
  for (const Value& item : items) {
    const Value* id = item.Find(key);
    if (id == nullptr) return NoMergeKey(item, key);
    const int64_t at = Position(original, item, key);
    if (at < 0) {
      original.push_back(item);
      continue;
    }
    HEKLA_ASSIGN_OR_RETURN(original[at], MergeMap(std::move(original[at]), item, field.message));
  }
  return Value::MakeArray(Ordered(std::move(original), items, stored, key));
}

Value MergeSet(const Value::Array& original, const Value::Array& patch) {
  Value::Array merged;
  for (const Value::Array* list : {&original, &patch}) {
    for (const Value& item : *list) {
      if (Position(merged, item, "") < 0) merged.push_back(item);
    }
  }
  return Value::MakeArray(Ordered(std::move(merged), patch, original, ""));
}

absl::StatusOr<Value> MergeList(Value original, Value patch, const Field* field) {
  if (field == nullptr || !field->merge || field->replace) return patch;
  bool maps = false;
  HEKLA_RETURN_IF_ERROR(CheckItems(original.as_array(), patch.as_array(), maps));
  if (original.size() + patch.size() == 0) return original;
  if (!maps) return MergeSet(original.as_array(), patch.as_array());
  if (field->merge_key.empty()) {
    return Untyped(absl::StrCat("cannot merge lists without merge key for ", field->name));
  }
  return MergeKeyed(std::move(original.as_array()), std::move(patch.as_array()), *field,
                    field->merge_key);
}

absl::Status RetainKeys(Value& original, Value& patch) {
  const Value* list = patch.Find(kRetainKeys);
  if (list == nullptr) return absl::OkStatus();
  if (!list->is_array()) return Bad(kBadRetainKeys);
  absl::flat_hash_set<std::string> keep;
  for (const Value& key : list->as_array()) {
    if (key.is_string()) keep.insert(key.as_string());
  }
  patch.Remove(kRetainKeys);
  for (const Member& member : patch.as_object()) {
    if (member.value.is_null() || absl::StartsWith(member.key, kDeleteFrom) ||
        absl::StartsWith(member.key, kSetOrder)) {
      continue;
    }
    if (!keep.contains(member.key)) return Bad(kBadRetainKeys);
  }
  auto& members = original.as_object();
  members.erase(std::remove_if(members.begin(), members.end(),
                               [&](const Member& m) { return !keep.contains(m.key); }),
                members.end());
  return absl::OkStatus();
}

// The patched items must stand in the order of the directive.
absl::Status CheckOrder(const Value& patch_list, const Value& order, const std::string& key) {
  size_t p = 0, o = 0;
  std::vector<const Value*> items;
  for (const Value& item : patch_list.as_array()) {
    if (key.empty() || item.GetString(kDirective) != "delete") items.push_back(&item);
  }
  if (order.size() == 0) return absl::OkStatus();
  while (p < items.size() && o < order.size()) {
    if (items[p]->Has(kDirective)) {
      ++p;
      continue;
    }
    const Value& other = order.as_array()[o];
    if (!key.empty() && !items[p]->Has(key)) return NoMergeKey(*items[p], key);
    if (!key.empty() && !other.Has(key)) return NoMergeKey(other, key);
    const bool same = key.empty() ? *items[p] == other : items[p]->At(key) == other.At(key);
    if (same) ++p;
    ++o;
  }
  if (p < items.size() && o >= order.size()) {
    return Untyped(absl::StrCat("The order in patch list:\n", GoText(patch_list),
                                "\n doesn't match $setElementOrder list:\n", GoText(order), "\n"));
  }
  return absl::OkStatus();
}

absl::Status SetOrder(Value& original, Value& patch, const std::string& directive,
                      const Message* message) {
  const Value order = patch.At(directive);
  patch.Remove(directive);
  const std::string name(absl::StripPrefix(directive, kSetOrder));
  if (!order.is_array()) return Bad(kBadSetOrder);
  const Field* field = message == nullptr ? nullptr : message->Find(name);
  const std::string key = field == nullptr ? "" : field->merge_key;
  const Value* had = original.Find(name);
  const Value* given = patch.Find(name);
  if (had == nullptr && given == nullptr) return absl::OkStatus();
  if ((had != nullptr && !had->is_array()) || (given != nullptr && !given->is_array())) {
    return Bad(kBadSetOrder);
  }
  if (given != nullptr) HEKLA_RETURN_IF_ERROR(CheckOrder(*given, order, key));
  if ((had == nullptr || had->size() == 0) && (given == nullptr || given->size() == 0)) {
    return Untyped("no elements in any of the given slices");
  }
  const Value stored = had != nullptr ? *had : Value::MakeArray();
  Value merged = stored;
  if (had == nullptr) {
    merged = *given;
    DropDirectives(merged);
  } else if (given != nullptr) {
    HEKLA_ASSIGN_OR_RETURN(merged, MergeList(stored, *given, field));
  }
  patch.Remove(name);
  original.Set(name, Value::MakeArray(Ordered(std::move(merged.as_array()), order.as_array(),
                                              stored.as_array(), key)));
  return absl::OkStatus();
}

absl::Status DeleteFrom(Value& original, const Member& directive) {
  if (!directive.value.is_array()) return Bad(kBadPrimitives);
  Value* list = original.Find(absl::StripPrefix(directive.key, kDeleteFrom));
  if (list == nullptr || !list->is_array()) return absl::OkStatus();
  auto& items = list->as_array();
  items.erase(std::remove_if(
                  items.begin(), items.end(),
                  [&](const Value& v) { return Position(directive.value.as_array(), v, "") >= 0; }),
              items.end());
  return absl::OkStatus();
}

absl::Status MergeMember(Value& original, Member& member, const Message* message) {
  if (member.value.is_null()) {
    original.Remove(member.key);
    return absl::OkStatus();
  }
  Value* had = original.Find(member.key);
  const bool both_maps = had != nullptr && had->is_object() && member.value.is_object();
  const bool both_lists = had != nullptr && had->is_array() && member.value.is_array();
  if (!both_maps && !both_lists) {
    DiscardNulls(member.value);
    if (DropDirectives(member.value)) {
      original.Set(member.key, std::move(member.value));
    } else {
      original.Remove(member.key);
    }
    return absl::OkStatus();
  }
  const Field* field = message == nullptr ? nullptr : message->Find(member.key);
  if (both_lists) {
    HEKLA_ASSIGN_OR_RETURN(*had, MergeList(std::move(*had), std::move(member.value), field));
    return absl::OkStatus();
  }
  if (field != nullptr && field->replace) {
    *had = std::move(member.value);
    return absl::OkStatus();
  }
  // Below a map of messages the keys are free and their values have the message's form; nothing in
  // the table merges deeper there.
  const Message* below =
      field != nullptr && field->shape == schema::Shape::kSingle ? field->message : nullptr;
  HEKLA_ASSIGN_OR_RETURN(*had, MergeMap(std::move(*had), std::move(member.value), below));
  return absl::OkStatus();
}

absl::StatusOr<Value> MergeMap(Value original, Value patch, const Message* message) {
  if (const Value* directive = patch.Find(kDirective); directive != nullptr) {
    const std::string text = directive->is_string() ? directive->as_string() : "";
    if (text == "delete") return Value::MakeObject();
    if (text != "replace") {
      return Untyped(
          absl::StrCat("unknown patch type: ", GoText(*directive), " in map: ", GoText(patch)));
    }
    patch.Remove(kDirective);
    return patch;
  }
  HEKLA_RETURN_IF_ERROR(RetainKeys(original, patch));
  std::vector<std::string> orders;
  for (const Member& member : patch.as_object()) {
    if (absl::StartsWith(member.key, kSetOrder)) orders.push_back(member.key);
  }
  for (const std::string& directive : orders) {
    HEKLA_RETURN_IF_ERROR(SetOrder(original, patch, directive, message));
  }
  for (Member& member : patch.as_object()) {
    if (absl::StartsWith(member.key, kDeleteFrom)) {
      HEKLA_RETURN_IF_ERROR(DeleteFrom(original, member));
    } else {
      HEKLA_RETURN_IF_ERROR(MergeMember(original, member, message));
    }
  }
  return original;
}

}  // namespace

absl::StatusOr<Value> ApplyStrategicMergePatch(const Message& message, const Value& document,
                                               const Value& patch) {
  if (!patch.is_object()) {
    if (patch.is_null()) return document;
    return Bad(absl::StrCat("json: cannot unmarshal ",
                            patch.is_array()    ? "array"
                            : patch.is_string() ? "string"
                            : patch.is_bool()   ? "bool"
                                                : "number",
                            " into Go value of type map[string]interface {}"));
  }
  Value original = document.is_object() ? document : Value::MakeObject();
  return MergeMap(std::move(original), patch, &message);
}

}  // namespace hekla::apiserver::patch

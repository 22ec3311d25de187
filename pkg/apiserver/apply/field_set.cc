#include "pkg/apiserver/apply/field_set.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hekla::apiserver::apply {

using apis::json::Member;
using apis::json::Value;

FieldSet FieldSet::FromJson(const Value& fields) {
  FieldSet out;
  if (!fields.is_object()) return out;
  for (const Member& member : fields.as_object()) {
    if (member.key.size() < 2 || member.key[1] != ':' || !member.value.is_object()) continue;
    Node& node = out.nodes_[member.key];
    node.below = FromJson(member.value);
    node.member = member.value.size() == 0 || member.value.Has(".");
  }
  return out;
}

Value FieldSet::ToJson() const {
  Value out = Value::MakeObject();
  for (const auto& [element, node] : nodes_) {
    Value below = Value::MakeObject();
    if (!node.below.empty()) {
      if (node.member) below.Set(".", Value::MakeObject());
      Value rest = node.below.ToJson();
      for (Member& member : rest.as_object()) below.as_object().push_back(std::move(member));
    } else if (!node.member) {
      continue;
    }
    out.as_object().push_back({element, std::move(below)});
  }
  return out;
}

bool FieldSet::empty() const {
  for (const auto& [element, node] : nodes_) {
    if (node.member || !node.below.empty()) return false;
  }
  return true;
}

void FieldSet::Insert(const Path& path) {
  FieldSet* at = this;
  for (size_t i = 0; i < path.size(); ++i) {
    Node& node = at->nodes_[path[i]];
    if (i + 1 == path.size()) node.member = true;
    at = &node.below;
  }
}

bool FieldSet::HasMember(const std::string& element) const {
  const auto it = nodes_.find(element);
  return it != nodes_.end() && it->second.member;
}

const FieldSet* FieldSet::Below(const std::string& element) const {
  const auto it = nodes_.find(element);
  return it == nodes_.end() || it->second.below.empty() ? nullptr : &it->second.below;
}

bool FieldSet::Has(const Path& path) const {
  const FieldSet* at = this;
  for (size_t i = 0; at != nullptr && i < path.size(); ++i) {
    if (i + 1 == path.size()) return at->HasMember(path[i]);
    at = at->Below(path[i]);
  }
  return false;
}

void FieldSet::UnionWith(const FieldSet& other) {
  for (const auto& [element, node] : other.nodes_) {
    Node& mine = nodes_[element];
    mine.member = mine.member || node.member;
    mine.below.UnionWith(node.below);
  }
}

FieldSet FieldSet::Minus(const FieldSet& other) const {
  FieldSet out;
  for (const auto& [element, node] : nodes_) {
    const auto it = other.nodes_.find(element);
    if (it == other.nodes_.end()) {
      out.nodes_.emplace(element, node);
      continue;
    }
    Node rest{node.member && !it->second.member, node.below.Minus(it->second.below)};
    if (rest.member || !rest.below.empty()) out.nodes_.emplace(element, std::move(rest));
  }
  return out;
}

FieldSet FieldSet::Intersect(const FieldSet& other) const {
  FieldSet out;
  for (const auto& [element, node] : nodes_) {
    const auto it = other.nodes_.find(element);
    if (it == other.nodes_.end()) continue;
    Node both{node.member && it->second.member, node.below.Intersect(it->second.below)};
    if (both.member || !both.below.empty()) out.nodes_.emplace(element, std::move(both));
  }
  return out;
}

void FieldSet::RemoveTree(const Path& path) {
  FieldSet* at = this;
  for (size_t i = 0; i < path.size(); ++i) {
    const auto it = at->nodes_.find(path[i]);
    if (it == at->nodes_.end()) return;
    if (i + 1 == path.size()) {
      at->nodes_.erase(it);
      return;
    }
    at = &it->second.below;
  }
}

FieldSet FieldSet::WithNamedFields(const TypeRef& type) const {
  FieldSet out;
  for (const auto& [element, node] : nodes_) {
    const bool is_field = absl::StartsWith(element, "f:");
    const std::string name = is_field ? element.substr(2) : "";
    Node& mine = out.nodes_[element];
    mine.below = node.below.WithNamedFields(is_field ? type.Member(name) : type.Item());
    mine.member = node.member || (is_field && !node.below.empty() && type.Declares(name));
  }
  return out;
}

void FieldSet::ForEach(const std::function<void(const Path&)>& visit) const {
  Path prefix;
  Visit(prefix, visit);
}

void FieldSet::Visit(Path& prefix, const std::function<void(const Path&)>& visit) const {
  for (const auto& [element, node] : nodes_) {
    if (!node.member) continue;
    prefix.push_back(element);
    visit(prefix);
    prefix.pop_back();
  }
  for (const auto& [element, node] : nodes_) {
    prefix.push_back(element);
    node.below.Visit(prefix, visit);
    prefix.pop_back();
  }
}

std::string PathText(const FieldSet::Path& path) {
  std::string out;
  for (const std::string& element : path) {
    const absl::string_view rest = absl::string_view(element).substr(2);
    if (absl::StartsWith(element, "f:")) {
      absl::StrAppend(&out, ".", rest);
    } else if (absl::StartsWith(element, "k:")) {
      const auto keys = apis::json::Parse(rest);
      absl::StrAppend(&out, "[");
      bool first = true;
      if (keys.ok() && keys->is_object()) {
        for (const Member& key : keys->as_object()) {
          absl::StrAppend(&out, first ? "" : ",", key.key, "=", apis::json::Dump(key.value));
          first = false;
        }
      }
      absl::StrAppend(&out, "]");
    } else {
      absl::StrAppend(&out, absl::StartsWith(element, "v:") ? "[=" : "[", rest, "]");
    }
  }
  return out;
}

}  // namespace hekla::apiserver::apply

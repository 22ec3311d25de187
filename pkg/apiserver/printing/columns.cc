#include "pkg/apiserver/printing/columns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace hekla::apiserver::printing::internal {
namespace {

using apis::json::Member;
using apis::json::Value;

struct Tables {
  absl::flat_hash_map<std::string, std::string> texts;
  absl::flat_hash_map<std::string, std::vector<Column>> kinds;  // "group/Kind"
};

std::string Unescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    out.push_back(c == 'n' ? '\n' : c == 's' ? ' ' : c);
  }
  return out;
}

void ReadLine(absl::string_view line, Tables& tables, std::vector<Column>*& current) {
  if (absl::StartsWith(line, "text ")) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    tables.texts.emplace(std::string(parts[1]), Unescape(parts[2]));
    return;
  }
  if (absl::StartsWith(line, "kind ")) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
    current = &tables.kinds[absl::StrCat(parts[1] == "-" ? "" : parts[1], "/", parts[2])];
    return;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('|', 4));
  CHECK_EQ(parts.size(), 5u) << line;
  Column column;
  column.name = std::string(parts[0]);
  column.type = std::string(parts[1]);
  column.format = std::string(parts[2]);
  CHECK(absl::SimpleAtoi(parts[3], &column.priority)) << line;
  column.description =
      absl::StartsWith(parts[4], "$") ? tables.texts.at(parts[4].substr(1)) : Unescape(parts[4]);
  current->push_back(std::move(column));
}

Tables ReadTables() {
  Tables tables;
  for (const char* text : {kCoreColumns, kGroupColumns}) {
    std::vector<Column>* current = nullptr;
    std::string line;
    for (absl::string_view part : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      if (absl::StartsWith(part, "  ")) {
        absl::StrAppend(&line, part.substr(part[2] == '&' ? 3 : 1));
        continue;
      }
      // The shared texts and kinds live in one map: `current` stays valid until the next kind.
      if (!line.empty()) ReadLine(line, tables, current);
      line = std::string(part);
    }
    ReadLine(line, tables, current);
  }
  return tables;
}

const Tables& Get() {
  static const Tables* const tables = new Tables(ReadTables());
  return *tables;
}

std::vector<const Member*> Sorted(const Value& object) {
  std::vector<const Member*> members;
  if (!object.is_object()) return members;
  for (const Member& member : object.as_object()) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const Member* a, const Member* b) { return a->key < b->key; });
  return members;
}

}  // namespace

const absl::flat_hash_map<std::string, std::vector<Column>>& AllColumns() { return Get().kinds; }

const std::string& SharedText(absl::string_view id) { return Get().texts.at(id); }

std::string NameOf(const Value& object) {
  return std::string(object.At("metadata").GetString("name"));
}

std::string Age(const Value& object, absl::Time now) {
  return AgeOf(object.At("metadata").GetString("creationTimestamp"), now);
}

std::string Or(absl::string_view text, absl::string_view fallback) {
  return std::string(text.empty() ? fallback : text);
}

std::string Join(const Value& list, absl::string_view separator) {
  std::string out;
  if (!list.is_array()) return out;
  bool first = true;
  for (const Value& item : list.as_array()) {
    if (!item.is_string()) continue;
    absl::StrAppend(&out, first ? "" : separator, item.as_string());
    first = false;
  }
  return out;
}

std::string Labels(const Value& labels) {
  std::vector<std::string> parts;
  for (const Member* member : Sorted(labels)) {
    parts.push_back(
        absl::StrCat(member->key, "=", member->value.is_string() ? member->value.as_string() : ""));
  }
  return Or(absl::StrJoin(parts, ","), "<none>");
}

std::string Selector(const Value& selector) {
  // Requirements stand in the order of their keys.
  std::vector<std::pair<std::string, std::string>> parts;
  for (const Member* member : Sorted(selector.At("matchLabels"))) {
    parts.emplace_back(member->key, absl::StrCat(member->key, "=", member->value.as_string()));
  }
  const Value& expressions = selector.At("matchExpressions");
  if (expressions.is_array()) {
    for (const Value& e : expressions.as_array()) {
      const std::string key(e.GetString("key"));
      const absl::string_view op = e.GetString("operator");
      std::string text;
      if (op == "Exists") text = key;
      if (op == "DoesNotExist") text = absl::StrCat("!", key);
      if (op == "In" || op == "NotIn") {
        std::vector<std::string> values = absl::StrSplit(Join(e.At("values")), ',');
        std::sort(values.begin(), values.end());
        text =
            absl::StrCat(key, op == "In" ? " in (" : " notin (", absl::StrJoin(values, ","), ")");
      }
      if (text.empty()) return "<error>";
      parts.emplace_back(key, std::move(text));
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out =
      absl::StrJoin(parts, ",", [](std::string* to, const auto& part) { to->append(part.second); });
  return Or(out, "<none>");
}

std::string ContainerNames(const Value& pod_spec) {
  std::vector<absl::string_view> names;
  const Value& containers = pod_spec.At("containers");
  if (containers.is_array()) {
    for (const Value& c : containers.as_array()) names.push_back(c.GetString("name"));
  }
  return absl::StrJoin(names, ",");
}

std::string ContainerImages(const Value& pod_spec) {
  std::vector<absl::string_view> images;
  const Value& containers = pod_spec.At("containers");
  if (containers.is_array()) {
    for (const Value& c : containers.as_array()) images.push_back(c.GetString("image"));
  }
  return absl::StrJoin(images, ",");
}

CellsFunction FindCells(absl::string_view group, absl::string_view kind) {
  if (group.empty() && kind == "Pod") return &PodCells;
  if (const CellsFunction cells = FindWorkloadCells(group, kind); cells != nullptr) return cells;
  return FindClusterCells(group, kind);
}

}  // namespace hekla::apiserver::printing::internal

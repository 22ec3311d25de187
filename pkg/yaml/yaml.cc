#include "pkg/yaml/yaml.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/yaml/scalar.h"

namespace hekla::yaml {
namespace {

using apis::json::Member;
using apis::json::Value;

// Longer keys stand behind a question mark, as Go's emitter has it: YAML limits the others to 1024.
constexpr size_t kSimpleKey = 128;

// A literal block keeps a text with line breaks readable; it cannot hold every text.
bool FitsLiteralBlock(absl::string_view text) {
  if (!absl::StrContains(text, '\n')) return false;
  if (text.front() == ' ' || text.front() == '\n' || text.back() == ' ') return false;
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if ((u < 0x20 && c != '\n' && c != '\t') || u == 0x7f) return false;
  }
  return !absl::StrContains(text, " \n");
}

void WriteLiteralBlock(absl::string_view text, size_t indent, std::string& out) {
  const bool ends_with_break = absl::EndsWith(text, "\n");
  const bool ends_with_two = absl::EndsWith(text, "\n\n");
  absl::StrAppend(&out, "|", ends_with_two ? "+" : ends_with_break ? "" : "-", "\n");
  if (ends_with_break) text.remove_suffix(1);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.empty()) out.append(indent, ' ');
    absl::StrAppend(&out, line, "\n");
  }
}

std::string ScalarText(const Value& value) {
  if (value.is_string()) {
    const std::string& text = value.as_string();
    return NeedsQuotes(text) ? apis::json::Quote(text) : text;
  }
  return apis::json::Dump(value);  // also {} and []
}

void Write(const Value& value, size_t indent, std::string& out);

// `value` behind "key:" or "- "; the cursor stands right behind it without a blank.
void WriteAfterKey(const Value& value, size_t indent, std::string& out) {
  if (value.is_object() && value.size() > 0) {
    out += '\n';
    Write(value, indent + 2, out);
  } else if (value.is_array() && value.size() > 0) {
    out += '\n';
    Write(value, indent, out);
  } else if (value.is_string() && FitsLiteralBlock(value.as_string())) {
    out += ' ';
    WriteLiteralBlock(value.as_string(), indent + 2, out);
  } else {
    absl::StrAppend(&out, " ", ScalarText(value), "\n");
  }
}

void WriteObject(const Value& value, size_t indent, bool first_inline, std::string& out) {
  std::vector<const Member*> members;
  members.reserve(value.size());
  for (const Member& member : value.as_object()) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const Member* a, const Member* b) { return a->key < b->key; });
  for (const Member* member : members) {
    if (!first_inline) out.append(indent, ' ');
    first_inline = false;
    const std::string key = ScalarText(Value(member->key));
    if (member->key.size() > kSimpleKey) {
      absl::StrAppend(&out, "? ", key, "\n", std::string(indent, ' '), ":");
    } else {
      absl::StrAppend(&out, key, ":");
    }
    WriteAfterKey(member->value, indent, out);
  }
}

void WriteArray(const Value& value, size_t indent, bool first_inline, std::string& out) {
  for (const Value& item : value.as_array()) {
    if (!first_inline) out.append(indent, ' ');
    first_inline = false;
    out += '-';
    if (item.is_object() && item.size() > 0) {
      out += ' ';
      WriteObject(item, indent + 2, true, out);
    } else if (item.is_array() && item.size() > 0) {
      out += ' ';
      WriteArray(item, indent + 2, true, out);
    } else {
      WriteAfterKey(item, indent, out);
    }
  }
}

void Write(const Value& value, size_t indent, std::string& out) {
  if (value.is_object() && value.size() > 0) {
    WriteObject(value, indent, false, out);
  } else if (value.is_array() && value.size() > 0) {
    WriteArray(value, indent, false, out);
  } else if (value.is_string() && FitsLiteralBlock(value.as_string())) {
    WriteLiteralBlock(value.as_string(), indent + 2, out);
  } else {
    absl::StrAppend(&out, ScalarText(value), "\n");
  }
}

}  // namespace

Path Path::Key(absl::string_view key) const {
  Path path = *this;
  path.steps_.emplace_back(std::string(key));
  return path;
}

Path Path::Index(size_t index) const {
  Path path = *this;
  path.steps_.emplace_back(index);
  return path;
}

std::string Path::ToString() const {
  std::string out;
  for (const Step& step : steps_) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      absl::StrAppend(&out, out.empty() ? "" : ".", *key);
    } else {
      absl::StrAppend(&out, "[", std::get<size_t>(step), "]");
    }
  }
  return out;
}

Position Document::Find(const Path& path) const {
  const Value* at = &value;
  const Marks* mark = &marks;
  for (const Path::Step& step : path.steps()) {
    size_t child = 0;
    if (const auto* key = std::get_if<std::string>(&step)) {
      if (!at->is_object()) break;
      const Value::Object& members = at->as_object();
      while (child < members.size() && members[child].key != *key) ++child;
      if (child == members.size() || child >= mark->children.size()) break;
      at = &members[child].value;
    } else {
      child = std::get<size_t>(step);
      if (!at->is_array() || child >= at->size() || child >= mark->children.size()) break;
      at = &at->as_array()[child];
    }
    mark = &mark->children[child];
  }
  return mark->key;
}

std::string Dump(const Value& value) {
  std::string out;
  Write(value, 0, out);
  return out;
}

}  // namespace hekla::yaml

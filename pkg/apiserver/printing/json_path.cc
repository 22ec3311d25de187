#include "pkg/apiserver/printing/json_path.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::printing {

using apis::json::Member;
using apis::json::Value;

// Turns the text of a path into steps.
class JsonPathParser {
 public:
  using Step = JsonPath::Step;
  explicit JsonPathParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Step>> Run() {
    std::vector<Step> steps;
    if (At() == '$' || At() == '@') ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '.') {
        HEKLA_RETURN_IF_ERROR(Dot(steps));
      } else if (c == '[') {
        HEKLA_RETURN_IF_ERROR(Bracket(steps));
      } else if (steps.empty()) {
        HEKLA_RETURN_IF_ERROR(Name(steps, Step::Kind::kMember));
      } else {
        return Bad("unexpected character");
      }
    }
    return steps;
  }

 private:
  char At() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  absl::Status Bad(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("JSONPath ", text_, ": ", what, " at position ", at_));
  }

  absl::Status Dot(std::vector<Step>& steps) {
    ++at_;
    if (At() == '.') {
      ++at_;
      return Name(steps, Step::Kind::kRecursive);
    }
    // The root alone, or `.[0]`.
    if (at_ == text_.size() || At() == '[') return absl::OkStatus();
    return Name(steps, Step::Kind::kMember);
  }

  absl::Status Name(std::vector<Step>& steps, Step::Kind kind) {
    Step step;
    step.kind = kind;
    if (At() == '*' && kind == Step::Kind::kMember) {
      ++at_;
      step.kind = Step::Kind::kWildcard;
      steps.push_back(std::move(step));
      return absl::OkStatus();
    }
    while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      if (absl::string_view(" ()=<>!'\"{}]").find(text_[at_]) != absl::string_view::npos) {
        return Bad("unexpected character");
      }
      step.name.push_back(text_[at_++]);
    }
    if (step.name.empty() && kind == Step::Kind::kMember) return Bad("missing name");
    steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  absl::Status Bracket(std::vector<Step>& steps) {
    const size_t end = Close();
    if (end == absl::string_view::npos) return Bad("unterminated bracket");
    const absl::string_view inner =
        absl::StripAsciiWhitespace(text_.substr(at_ + 1, end - at_ - 1));
    Step step;
    if (inner == "*") {
      step.kind = Step::Kind::kWildcard;
    } else if (inner.size() >= 2 && (inner[0] == '\'' || inner[0] == '"') &&
               inner.back() == inner[0]) {
      step.name = std::string(inner.substr(1, inner.size() - 2));
    } else if (inner.size() > 3 && inner.substr(0, 2) == "?(" && inner.back() == ')') {
      HEKLA_RETURN_IF_ERROR(Filter(inner.substr(2, inner.size() - 3), step));
    } else {
      HEKLA_RETURN_IF_ERROR(Positions(inner, step));
    }
    at_ = end + 1;
    steps.push_back(std::move(step));
    return absl::OkStatus();
  }

  // The bracket that closes the one at at_; quotes hide brackets.
  size_t Close() const {
    int depth = 0;
    char quote = '\0';
    for (size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']' && --depth == 0) {
        return i;
      }
    }
    return absl::string_view::npos;
  }

  absl::Status Positions(absl::string_view inner, Step& step) {
    const std::vector<absl::string_view> parts = absl::StrSplit(inner, ':');
    if (parts.size() == 1) {
      step.kind = Step::Kind::kIndex;
      if (!absl::SimpleAtoi(parts[0], &step.from)) return Bad("bad position");
      return absl::OkStatus();
    }
    if (parts.size() > 2) return Bad("steps of slices are not supported");
    step.kind = Step::Kind::kSlice;
    step.has_from = !parts[0].empty();
    step.has_to = !parts[1].empty();
    if (step.has_from && !absl::SimpleAtoi(parts[0], &step.from)) return Bad("bad slice");
    if (step.has_to && !absl::SimpleAtoi(parts[1], &step.to)) return Bad("bad slice");
    return absl::OkStatus();
  }

  absl::Status Filter(absl::string_view inner, Step& step) {
    step.kind = Step::Kind::kFilter;
    size_t at = absl::string_view::npos;
    for (const absl::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      const size_t found = inner.find(op);
      if (found == absl::string_view::npos || found >= at) continue;
      at = found;
      step.op = std::string(op);
    }
    const absl::string_view left = absl::StripAsciiWhitespace(inner.substr(0, at));
    HEKLA_ASSIGN_OR_RETURN(step.left, JsonPathParser(left).Run());
    if (step.op.empty()) return absl::OkStatus();
    const absl::string_view right = absl::StripAsciiWhitespace(inner.substr(at + step.op.size()));
    if (right.size() >= 2 && right[0] == '\'' && right.back() == '\'') {
      step.literal = Value(right.substr(1, right.size() - 2));
      return absl::OkStatus();
    }
    auto literal = apis::json::Parse(right);
    if (!literal.ok()) return Bad("bad literal in filter");
    step.literal = *std::move(literal);
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t at_ = 0;
};

namespace {

void Recurse(const Value& value, absl::string_view name, std::vector<const Value*>& out) {
  if (value.is_object()) {
    for (const Member& member : value.as_object()) {
      if (name.empty() || member.key == name) out.push_back(&member.value);
      Recurse(member.value, name, out);
    }
  } else if (value.is_array()) {
    for (const Value& item : value.as_array()) Recurse(item, name, out);
  }
}

bool Compare(const Value& left, absl::string_view op, const Value& right) {
  if (op == "==") return left == right;
  if (op == "!=") return !(left == right);
  int order = 0;
  if (left.is_number() && right.is_number()) {
    order = left.as_double() < right.as_double() ? -1 : left.as_double() > right.as_double();
  } else if (left.is_string() && right.is_string()) {
    order = left.as_string().compare(right.as_string());
  } else {
    return false;
  }
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  return op == ">" ? order > 0 : order >= 0;
}

}  // namespace

absl::StatusOr<JsonPath> JsonPath::Parse(absl::string_view text) {
  // kubectl's form with braces.
  absl::string_view inner = absl::StripAsciiWhitespace(text);
  if (inner.size() >= 2 && inner.front() == '{' && inner.back() == '}') {
    inner = inner.substr(1, inner.size() - 2);
  }
  if (inner.empty()) return absl::InvalidArgumentError("empty JSONPath");
  JsonPath path;
  HEKLA_ASSIGN_OR_RETURN(path.steps_, JsonPathParser(inner).Run());
  return path;
}

std::vector<const Value*> JsonPath::Find(const Value& root) const {
  std::vector<const Value*> out;
  if (!steps_.empty()) Walk(steps_, 0, root, out);
  return out;
}

bool JsonPath::Matches(const Step& filter, const Value& item) {
  std::vector<const Value*> found;
  Walk(filter.left, 0, item, found);
  if (found.empty()) return false;
  return filter.op.empty() || Compare(*found[0], filter.op, filter.literal);
}

void JsonPath::Walk(const std::vector<Step>& steps, size_t at, const Value& value,
                    std::vector<const Value*>& out) {
  if (at == steps.size()) {
    out.push_back(&value);
    return;
  }
  const Step& step = steps[at];
  const int64_t size = static_cast<int64_t>(value.size());
  switch (step.kind) {
    case Step::Kind::kMember:
      if (const Value* member = value.Find(step.name); member != nullptr) {
        Walk(steps, at + 1, *member, out);
      }
      return;
    case Step::Kind::kIndex: {
      const int64_t index = step.from < 0 ? step.from + size : step.from;
      if (!value.is_array() || index < 0 || index >= size) return;
      Walk(steps, at + 1, value.as_array()[index], out);
      return;
    }
    case Step::Kind::kSlice: {
      if (!value.is_array()) return;
      int64_t from = step.has_from ? step.from : 0;
      int64_t to = step.has_to ? step.to : size;
      if (from < 0) from += size;
      if (to < 0) to += size;
      for (int64_t i = std::max<int64_t>(from, 0); i < std::min(to, size); ++i) {
        Walk(steps, at + 1, value.as_array()[i], out);
      }
      return;
    }
    case Step::Kind::kWildcard:
      if (value.is_array()) {
        for (const Value& item : value.as_array()) Walk(steps, at + 1, item, out);
      } else if (value.is_object()) {
        for (const Member& member : value.as_object()) Walk(steps, at + 1, member.value, out);
      }
      return;
    case Step::Kind::kRecursive: {
      std::vector<const Value*> found;
      Recurse(value, step.name, found);
      for (const Value* item : found) Walk(steps, at + 1, *item, out);
      return;
    }
    case Step::Kind::kFilter:
      if (!value.is_array()) return;
      for (const Value& item : value.as_array()) {
        if (Matches(step, item)) Walk(steps, at + 1, item, out);
      }
      return;
  }
}

}  // namespace hekla::apiserver::printing

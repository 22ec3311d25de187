#include "pkg/apis/meta/selector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/status_macros.h"

namespace hekla::apis::meta {
namespace {

constexpr std::pair<absl::string_view, SelectorOperator> kOperators[] = {
    {"In", SelectorOperator::kIn},         {"NotIn", SelectorOperator::kNotIn},
    {"Exists", SelectorOperator::kExists}, {"DoesNotExist", SelectorOperator::kDoesNotExist},
    {"Gt", SelectorOperator::kGt},         {"Lt", SelectorOperator::kLt},
};

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Recursive descent over the text form; blanks are free between tokens.
class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Requirement>> Parse() {
    std::vector<Requirement> out;
    Blanks();
    while (at_ < text_.size()) {
      Requirement r;
      HEKLA_RETURN_IF_ERROR(One(r));
      out.push_back(std::move(r));
      Blanks();
      if (at_ == text_.size()) break;
      if (!Take(",")) return Error("expected ','");
      Blanks();
      if (at_ == text_.size()) return Error("expected a key after ','");
    }
    return out;
  }

 private:
  absl::Status One(Requirement& r) {
    const bool negated = Take("!");
    r.key = Word();
    if (r.key.empty()) return Error("expected a key");
    Blanks();
    if (negated || at_ == text_.size() || text_[at_] == ',') {
      r.op = negated ? SelectorOperator::kDoesNotExist : SelectorOperator::kExists;
      return absl::OkStatus();
    }
    if (Take("==") || Take("=")) {
      r.op = SelectorOperator::kIn;
      return SingleValue(r);
    }
    if (Take("!=")) {
      r.op = SelectorOperator::kNotIn;
      return SingleValue(r);
    }
    if (text_[at_] == '>' || text_[at_] == '<') {
      r.op = text_[at_++] == '>' ? SelectorOperator::kGt : SelectorOperator::kLt;
      HEKLA_RETURN_IF_ERROR(SingleValue(r));
      int64_t number = 0;
      if (!absl::SimpleAtoi(r.values[0], &number)) return Error("expected a whole number");
      return absl::OkStatus();
    }
    const std::string word = Word();
    if (word != "in" && word != "notin") return Error("expected an operator");
    r.op = word == "in" ? SelectorOperator::kIn : SelectorOperator::kNotIn;
    return ValueList(r);
  }

  absl::Status SingleValue(Requirement& r) {
    Blanks();
    r.values.push_back(Word());
    return absl::OkStatus();
  }

  absl::Status ValueList(Requirement& r) {
    Blanks();
    if (!Take("(")) return Error("expected '('");
    while (true) {
      Blanks();
      r.values.push_back(Word());
      Blanks();
      if (Take(")")) return absl::OkStatus();
      if (!Take(",")) return Error("expected ',' or ')'");
    }
  }

  std::string Word() {
    const size_t from = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '-' ||
                                  text_[at_] == '_' || text_[at_] == '.' || text_[at_] == '/')) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }
  void Blanks() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  bool Take(absl::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  absl::Status Error(absl::string_view problem) const {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid label selector \"", text_, "\" at ", at_, ": ", problem));
  }

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<SelectorOperator> ParseOperator(absl::string_view text) {
  for (const auto& [name, op] : kOperators) {
    if (name == text) return op;
  }
  return std::nullopt;
}

absl::string_view OperatorName(SelectorOperator op) {
  for (const auto& [name, candidate] : kOperators) {
    if (candidate == op) return name;
  }
  return "";
}

bool Requirement::Matches(const std::string* value) const {
  switch (op) {
    case SelectorOperator::kIn:
      return value != nullptr && Contains(values, *value);
    case SelectorOperator::kNotIn:
      return value == nullptr || !Contains(values, *value);
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt: {
      int64_t have = 0;
      int64_t want = 0;
      if (value == nullptr || values.size() != 1 || !absl::SimpleAtoi(*value, &have) ||
          !absl::SimpleAtoi(values[0], &want)) {
        return false;
      }
      return op == SelectorOperator::kGt ? have > want : have < want;
    }
  }
  return false;
}

bool LabelSelector::Matches(const StringMap& labels) const {
  for (const auto& [key, value] : match_labels) {
    const std::string* have = labels.Find(key);
    if (have == nullptr || *have != value) return false;
  }
  return MatchesAll(match_expressions, labels);
}

bool MatchesAll(const std::vector<Requirement>& requirements, const StringMap& labels) {
  for (const Requirement& r : requirements) {
    if (!r.Matches(labels.Find(r.key))) return false;
  }
  return true;
}

void ReadRequirements(const Reader& parent, absl::string_view key, std::vector<Requirement>& out) {
  parent.List(key, [&](Reader& item) {
    Requirement r;
    std::string op;
    item.String("key", r.key);
    item.String("operator", op);
    item.Strings("values", r.values);
    if (const std::optional<SelectorOperator> parsed = ParseOperator(op)) {
      r.op = *parsed;
    } else {
      item.Fail("operator", absl::StrCat("unknown operator \"", op, "\""));
    }
    out.push_back(std::move(r));
  });
}

void ReadLabelSelector(const Reader& parent, absl::string_view key,
                       std::optional<LabelSelector>& out) {
  parent.Object(key, [&](Reader& selector) {
    out.emplace();
    selector.Map("matchLabels", out->match_labels);
    ReadRequirements(selector, "matchExpressions", out->match_expressions);
  });
}

json::Value EncodeLabelSelector(const LabelSelector& selector) {
  json::Value out = json::Value::MakeObject();
  for (const auto& [key, value] : selector.match_labels) out["matchLabels"].Set(key, value);
  for (const Requirement& r : selector.match_expressions) {
    json::Value item = json::Value::MakeObject({{"key", r.key}, {"operator", OperatorName(r.op)}});
    for (const std::string& value : r.values) item["values"].Append(value);
    out["matchExpressions"].Append(std::move(item));
  }
  return out;
}

absl::StatusOr<std::vector<Requirement>> ParseLabelSelector(absl::string_view text) {
  return LabelSelectorParser(text).Parse();
}

absl::StatusOr<std::vector<FieldRequirement>> ParseFieldSelector(absl::string_view text) {
  std::vector<FieldRequirement> out;
  // Splits at commas that no backslash precedes; keeps the backslashes for the second step.
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      parts.back().append(text.substr(i++, 2).data(), 2);
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(text[i]);
    }
  }
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    FieldRequirement r;
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid field selector \"", text, "\": \"", part, "\" has no operator"));
    }
    r.equal = part[equals - 1] != '!';
    r.field = part.substr(0, r.equal ? equals : equals - 1);
    size_t from = equals + 1;
    if (from < part.size() && part[from] == '=' && r.equal) ++from;
    for (size_t i = from; i < part.size(); ++i) {
      if (part[i] == '\\' && i + 1 < part.size()) ++i;
      r.value.push_back(part[i]);
    }
    out.push_back(std::move(r));
  }
  return out;
}

bool MatchesFields(const std::vector<FieldRequirement>& requirements,
                   const std::function<std::string(absl::string_view)>& lookup) {
  for (const FieldRequirement& r : requirements) {
    if ((lookup(r.field) == r.value) != r.equal) return false;
  }
  return true;
}

}  // namespace hekla::apis::meta

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apiserver/selector/selector.h"
#include "pkg/apiserver/validation/names.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using Op = LabelSelector::Op;
using Requirement = LabelSelector::Requirement;

enum class Token { kEnd, kNot, kComma, kOpen, kClose, kOperator, kIn, kNotIn, kWord };

struct Lexeme {
  Token token;
  std::string text;
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsSpecial(char c) {
  return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

std::vector<Lexeme> Scan(absl::string_view text) {
  std::vector<Lexeme> out;
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (IsBlank(c)) {
      ++i;
    } else if (c == ',') {
      out.push_back({Token::kComma, ","}), ++i;
    } else if (c == '(') {
      out.push_back({Token::kOpen, "("}), ++i;
    } else if (c == ')') {
      out.push_back({Token::kClose, ")"}), ++i;
    } else if (c == '!' && i + 1 < text.size() && text[i + 1] == '=') {
      out.push_back({Token::kOperator, "!="}), i += 2;
    } else if (c == '!') {
      out.push_back({Token::kNot, "!"}), ++i;
    } else if (c == '=' && i + 1 < text.size() && text[i + 1] == '=') {
      out.push_back({Token::kOperator, "=="}), i += 2;
    } else if (IsSpecial(c)) {
      out.push_back({Token::kOperator, std::string(1, c)}), ++i;
    } else {
      size_t end = i;
      while (end < text.size() && !IsBlank(text[end]) && !IsSpecial(text[end])) ++end;
      std::string word(text.substr(i, end - i));
      const Token token = word == "in"      ? Token::kIn
                          : word == "notin" ? Token::kNotIn
                                            : Token::kWord;
      out.push_back({token, std::move(word)});
      i = end;
    }
  }
  out.push_back({Token::kEnd, ""});
  return out;
}

absl::Status Error(const std::string& text) { return absl::InvalidArgumentError(text); }

// A recursive-descent reader of the selector grammar; one look-ahead.
class Parser {
 public:
  explicit Parser(absl::string_view text) : tokens_(Scan(text)) {}

  absl::StatusOr<std::vector<Requirement>> Run() {
    std::vector<Requirement> out;
    while (true) {
      const Lexeme& next = PeekValue();
      if (next.token == Token::kEnd) return out;
      if (next.token != Token::kWord && next.token != Token::kNot) {
        return Error(
            absl::StrCat("found '", next.text, "', expected: !, identifier, or 'end of string'"));
      }
      auto requirement = One();
      if (!requirement.ok()) {
        return Error(absl::StrCat("unable to parse requirement: ", requirement.status().message()));
      }
      out.push_back(*std::move(requirement));
      const Lexeme& after = Take();
      if (after.token == Token::kEnd) return out;
      if (after.token != Token::kComma) {
        return Error(absl::StrCat("found '", after.text, "', expected: ',' or 'end of string'"));
      }
      const Lexeme& key = PeekValue();
      if (key.token != Token::kWord && key.token != Token::kNot) {
        return Error(absl::StrCat("found '", key.text, "', expected: identifier after ','"));
      }
    }
  }

 private:
  const Lexeme& Peek() const { return tokens_[at_]; }
  // Where a key or value stands, the words `in` and `notin` are ordinary.
  const Lexeme& PeekValue() {
    if (Peek().token == Token::kIn || Peek().token == Token::kNotIn) {
      tokens_[at_].token = Token::kWord;
    }
    return Peek();
  }
  const Lexeme& Take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }

  absl::StatusOr<Requirement> One() {
    const bool negated = PeekValue().token == Token::kNot;
    if (negated) Take();
    const Lexeme key = PeekValue();
    if (key.token != Token::kWord) {
      return Error(absl::StrCat("found '", key.text, "', expected: identifier"));
    }
    Take();
    HEKLA_RETURN_IF_ERROR(CheckKey(key.text));
    if (negated) return Requirement{key.text, Op::kAbsent, {}};
    if (Peek().token == Token::kEnd || Peek().token == Token::kComma) {
      return Requirement{key.text, Op::kExists, {}};
    }
    return WithOperator(key.text);
  }

  absl::StatusOr<Requirement> WithOperator(const std::string& key) {
    const Lexeme op = Take();
    if (op.token == Token::kIn || op.token == Token::kNotIn) {
      HEKLA_ASSIGN_OR_RETURN(std::vector<std::string> values, Set());
      HEKLA_RETURN_IF_ERROR(CheckValues(key, values));
      return Requirement{key, op.token == Token::kIn ? Op::kIn : Op::kNotIn, std::move(values)};
    }
    if (op.token != Token::kOperator) {
      return Error(absl::StrCat("found '", op.text, "', expected: in, notin, =, ==, !=, gt, lt"));
    }
    std::string value;
    if (PeekValue().token == Token::kWord) {
      value = Take().text;
    } else if (Peek().token != Token::kEnd && Peek().token != Token::kComma) {
      return Error(absl::StrCat("found '", Peek().text, "', expected: identifier"));
    }
    Requirement out{key, op.text == "!=" ? Op::kNotIn : Op::kIn, {value}};
    if (op.text == ">" || op.text == "<") {
      out.op = op.text == ">" ? Op::kGreater : Op::kLess;
      int64_t number;
      if (!absl::SimpleAtoi(value, &number)) {
        return Error(absl::StrCat("values[0]: Invalid value: ", apis::json::Quote(value),
                                  ": for 'Gt', 'Lt' operators, the value must be an integer"));
      }
    }
    HEKLA_RETURN_IF_ERROR(CheckValues(key, out.values));
    return out;
  }

  absl::StatusOr<std::vector<std::string>> Set() {
    const Lexeme open = Take();
    if (open.token != Token::kOpen) {
      return Error(absl::StrCat("found '", open.text, "' expected: '('"));
    }
    std::vector<std::string> values;
    std::string current;
    bool have = false;
    while (true) {
      const Lexeme item = PeekValue();
      if (item.token == Token::kWord && !have) {
        current = item.text;
        have = true;
      } else if (item.token == Token::kComma || item.token == Token::kClose) {
        values.push_back(current);
        current.clear();
        have = false;
      } else {
        return Error(absl::StrCat("found '", item.text,
                                  "', expected: ", have ? "',' or ')'" : "',', ')' or identifier"));
      }
      Take();
      if (item.token == Token::kClose) break;
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  static absl::Status CheckKey(const std::string& key) {
    const std::vector<std::string> problems = validation::QualifiedNameProblems(key);
    if (problems.empty()) return absl::OkStatus();
    return Error(absl::StrCat("<nil>: Invalid value: ", apis::json::Quote(key), ": ",
                              absl::StrJoin(problems, "; ")));
  }
  static absl::Status CheckValues(const std::string& key, const std::vector<std::string>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::vector<std::string> problems = validation::LabelValueProblems(values[i]);
      if (problems.empty()) continue;
      return Error(absl::StrCat("values[", i, "][", key, "]: Invalid value: ",
                                apis::json::Quote(values[i]), ": ", absl::StrJoin(problems, "; ")));
    }
    return absl::OkStatus();
  }

  std::vector<Lexeme> tokens_;
  size_t at_ = 0;
};

bool Holds(const Requirement& r, std::optional<absl::string_view> value) {
  const auto listed = [&] {
    return std::find(r.values.begin(), r.values.end(), *value) != r.values.end();
  };
  switch (r.op) {
    case Op::kIn:
      return value.has_value() && listed();
    case Op::kNotIn:
      return !value.has_value() || !listed();
    case Op::kExists:
      return value.has_value();
    case Op::kAbsent:
      return !value.has_value();
    case Op::kGreater:
    case Op::kLess: {
      int64_t have, want;
      if (!value.has_value() || !absl::SimpleAtoi(*value, &have)) return false;
      if (!absl::SimpleAtoi(r.values[0], &want)) return false;
      return r.op == Op::kGreater ? have > want : have < want;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<LabelSelector> LabelSelector::Parse(absl::string_view text) {
  HEKLA_ASSIGN_OR_RETURN(std::vector<Requirement> requirements, Parser(text).Run());
  LabelSelector out;
  out.requirements_ = std::move(requirements);
  return out;
}

absl::StatusOr<LabelSelector> LabelSelector::FromObject(const Value& selector) {
  LabelSelector out;
  if (selector.is_null()) {
    out.nothing_ = true;
    return out;
  }
  if (const Value& labels = selector.At("matchLabels"); labels.is_object()) {
    for (const apis::json::Member& m : labels.as_object()) {
      if (!m.value.is_string()) return Error("matchLabels: values must be strings");
      out.requirements_.push_back({m.key, Op::kIn, {m.value.as_string()}});
    }
  }
  if (const Value& list = selector.At("matchExpressions"); list.is_array()) {
    for (const Value& item : list.as_array()) {
      const absl::string_view op = item.GetString("operator");
      Requirement r{std::string(item.GetString("key")), Op::kIn, {}};
      if (op == "In") {
        r.op = Op::kIn;
      } else if (op == "NotIn") {
        r.op = Op::kNotIn;
      } else if (op == "Exists") {
        r.op = Op::kExists;
      } else if (op == "DoesNotExist") {
        r.op = Op::kAbsent;
      } else {
        return Error(absl::StrCat("\"", op, "\" is not a valid label selector operator"));
      }
      if (const Value& values = item.At("values"); values.is_array()) {
        for (const Value& v : values.as_array()) {
          if (v.is_string()) r.values.push_back(v.as_string());
        }
      }
      out.requirements_.push_back(std::move(r));
    }
  }
  return out;
}

bool LabelSelector::Matches(const LabelLookup& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& r) { return Holds(r, labels(r.key)); });
}

bool LabelSelector::Matches(const Value& labels) const {
  return Matches([&](absl::string_view key) -> std::optional<absl::string_view> {
    const Value* value = labels.Find(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return absl::string_view(value->as_string());
  });
}

}  // namespace hekla::apiserver

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/crd/cel_ast.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::crd {
namespace {

using apis::json::Value;
using Node = CelRule::Node;
using Kind = Node::Kind;

constexpr int kMaxDepth = 64;

CelNodePtr Make(Kind kind, std::string text, std::vector<CelNodePtr> args) {
  return std::make_shared<const Node>(Node{kind, std::move(text), Value(), std::move(args)});
}

CelNodePtr Literal(Value value) {
  return std::make_shared<const Node>(Node{Kind::kLiteral, "", std::move(value), {}});
}

// Recursive descent over CEL's precedence levels.
class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<CelNodePtr> Run() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr root, Choice());
    Blanks();
    if (at_ != text_.size()) return Fail("unexpected text");
    return root;
  }

 private:
  absl::Status Fail(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(what, " at ", at_));
  }
  void Blanks() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  bool Take(absl::string_view token) {
    Blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool TakeWord(absl::string_view word) {
    Blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && (absl::ascii_isalnum(text_[end]) || text_[end] == '_')) return false;
    at_ = end;
    return true;
  }

  absl::StatusOr<CelNodePtr> Choice() {
    if (++depth_ > kMaxDepth) return Fail("too deep");
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr test, Or());
    if (Take("?")) {
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr yes, Or());
      if (!Take(":")) return Fail("expected ':'");
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr no, Choice());
      test = Make(Kind::kChoice, "", {std::move(test), std::move(yes), std::move(no)});
    }
    --depth_;
    return test;
  }
  absl::StatusOr<CelNodePtr> Or() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr left, And());
    while (Take("||")) {
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr right, And());
      left = Make(Kind::kBinary, "||", {std::move(left), std::move(right)});
    }
    return left;
  }
  absl::StatusOr<CelNodePtr> And() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr left, Relation());
    while (Take("&&")) {
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr right, Relation());
      left = Make(Kind::kBinary, "&&", {std::move(left), std::move(right)});
    }
    return left;
  }
  absl::StatusOr<CelNodePtr> Relation() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr left, Sum());
    while (true) {
      std::string op;
      for (absl::string_view candidate : {"==", "!=", "<=", ">=", "<", ">"}) {
        if (op.empty() && Take(candidate)) op = std::string(candidate);
      }
      if (op.empty() && TakeWord("in")) op = "in";
      if (op.empty()) return left;
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr right, Sum());
      left = Make(Kind::kBinary, op, {std::move(left), std::move(right)});
    }
  }
  absl::StatusOr<CelNodePtr> Sum() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr left, Product());
    while (true) {
      const char* op = Take("+") ? "+" : Take("-") ? "-" : nullptr;
      if (op == nullptr) return left;
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr right, Product());
      left = Make(Kind::kBinary, op, {std::move(left), std::move(right)});
    }
  }
  absl::StatusOr<CelNodePtr> Product() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr left, Unary());
    while (true) {
      const char* op = Take("*") ? "*" : Take("/") ? "/" : Take("%") ? "%" : nullptr;
      if (op == nullptr) return left;
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr right, Unary());
      left = Make(Kind::kBinary, op, {std::move(left), std::move(right)});
    }
  }
  absl::StatusOr<CelNodePtr> Unary() {
    Blanks();
    const bool negation = text_.substr(at_, 1) == "!" && text_.substr(at_, 2) != "!=";
    if (negation || text_.substr(at_, 1) == "-") {
      if (++depth_ > kMaxDepth) return Fail("too deep");
      ++at_;
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr operand, Unary());
      --depth_;
      return Make(Kind::kUnary, negation ? "!" : "-", {std::move(operand)});
    }
    return Postfix();
  }
  absl::StatusOr<CelNodePtr> Postfix() {
    HEKLA_ASSIGN_OR_RETURN(CelNodePtr base, Primary());
    while (true) {
      if (Take("[")) {
        HEKLA_ASSIGN_OR_RETURN(CelNodePtr index, Choice());
        if (!Take("]")) return Fail("expected ']'");
        base = Make(Kind::kIndex, "", {std::move(base), std::move(index)});
      } else if (Take(".")) {
        HEKLA_ASSIGN_OR_RETURN(std::string name, Identifier());
        if (Take("(")) {
          std::vector<CelNodePtr> args = {std::move(base)};
          HEKLA_RETURN_IF_ERROR(Arguments(")", args));
          base = Make(Kind::kMethod, std::move(name), std::move(args));
        } else {
          base = Make(Kind::kMember, std::move(name), {std::move(base)});
        }
      } else {
        return base;
      }
    }
  }
  absl::Status Arguments(absl::string_view close, std::vector<CelNodePtr>& args) {
    if (Take(close)) return absl::OkStatus();
    while (true) {
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr arg, Choice());
      args.push_back(std::move(arg));
      if (Take(close)) return absl::OkStatus();
      if (!Take(",")) return Fail("expected ','");
    }
  }
  absl::StatusOr<std::string> Identifier() {
    Blanks();
    const size_t start = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) ++at_;
    if (start == at_ || absl::ascii_isdigit(text_[start])) return Fail("expected a name");
    return std::string(text_.substr(start, at_ - start));
  }
  absl::StatusOr<CelNodePtr> Primary() {
    Blanks();
    if (at_ >= text_.size()) return Fail("unexpected end");
    const char c = text_[at_];
    if (c == '(') {
      ++at_;
      HEKLA_ASSIGN_OR_RETURN(CelNodePtr inner, Choice());
      if (!Take(")")) return Fail("expected ')'");
      return inner;
    }
    if (c == '[') {
      ++at_;
      std::vector<CelNodePtr> items;
      HEKLA_RETURN_IF_ERROR(Arguments("]", items));
      return Make(Kind::kList, "", std::move(items));
    }
    if (c == '\'' || c == '"') return String(c, false);
    if (c == 'r' && at_ + 1 < text_.size() && (text_[at_ + 1] == '\'' || text_[at_ + 1] == '"')) {
      ++at_;
      return String(text_[at_], true);
    }
    if (absl::ascii_isdigit(c)) return Number();
    HEKLA_ASSIGN_OR_RETURN(std::string name, Identifier());
    if (name == "true" || name == "false") return Literal(Value(name == "true"));
    if (name == "null") return Literal(Value());
    if (!Take("(")) return Make(Kind::kName, std::move(name), {});
    std::vector<CelNodePtr> args;
    HEKLA_RETURN_IF_ERROR(Arguments(")", args));
    if (name == "has") {
      if (args.size() != 1 || args[0]->kind != Kind::kMember) return Fail("has() needs a field");
      return Make(Kind::kHas, "", std::move(args));
    }
    return Make(Kind::kCall, std::move(name), std::move(args));
  }
  absl::StatusOr<CelNodePtr> String(char quote, bool raw) {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\' || raw) {
        out += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) break;
      const char c = text_[at_];
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    if (at_ >= text_.size()) return Fail("unterminated string");
    ++at_;
    return Literal(Value(std::move(out)));
  }
  absl::StatusOr<CelNodePtr> Number() {
    const size_t start = at_;
    bool fraction = false;
    while (at_ < text_.size() && (absl::ascii_isdigit(text_[at_]) || text_[at_] == '.')) {
      fraction |= text_[at_++] == '.';
    }
    const absl::string_view digits = text_.substr(start, at_ - start);
    if (at_ < text_.size() && text_[at_] == 'u') ++at_;
    int64_t integer;
    double number;
    if (!fraction && absl::SimpleAtoi(digits, &integer))
      return Literal(Value(static_cast<long long>(integer)));
    if (absl::SimpleAtod(digits, &number)) return Literal(Value(number));
    return Fail("bad number");
  }

  absl::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<CelNodePtr> ParseCel(absl::string_view text) { return Parser(text).Run(); }

}  // namespace hekla::apiserver::crd

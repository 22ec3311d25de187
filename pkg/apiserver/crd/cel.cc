#include "pkg/apiserver/crd/cel.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/crd/cel_ast.h"
#include "pkg/apiserver/crd/regex.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::crd {
namespace {

using apis::json::Value;
using Node = CelRule::Node;
using Kind = Node::Kind;

absl::Status Error(absl::string_view what) { return absl::InvalidArgumentError(what); }

bool Mentions(const Node& node, absl::string_view name) {
  if (node.kind == Kind::kName && node.text == name) return true;
  return std::any_of(node.args.begin(), node.args.end(),
                     [&](const CelNodePtr& arg) { return Mentions(*arg, name); });
}

// Runs a tree over its variables. Values are copied: rules look at small things.
class Machine {
 public:
  Machine(const Value& self, const Value* old_self) {
    variables_.emplace_back("self", &self);
    if (old_self != nullptr) variables_.emplace_back("oldSelf", old_self);
  }

  absl::StatusOr<Value> Run(const Node& node) {
    switch (node.kind) {
      case Kind::kLiteral:
        return node.value;
      case Kind::kName:
      case Kind::kMember:
      case Kind::kIndex:
        return Lookup(node);
      case Kind::kHas: {
        HEKLA_ASSIGN_OR_RETURN(Value base, Run(*node.args[0]->args[0]));
        return Value(base.Has(node.args[0]->text));
      }
      case Kind::kList: {
        Value list = Value::MakeArray();
        for (const CelNodePtr& arg : node.args) {
          HEKLA_ASSIGN_OR_RETURN(Value item, Run(*arg));
          list.Append(std::move(item));
        }
        return list;
      }
      case Kind::kUnary:
        return Unary(node);
      case Kind::kBinary:
        return node.text == "||" || node.text == "&&" ? Logic(node) : Binary(node);
      case Kind::kChoice: {
        HEKLA_ASSIGN_OR_RETURN(bool test, Truth(*node.args[0]));
        return Run(*node.args[test ? 1 : 2]);
      }
      case Kind::kCall:
        return Call(node);
      case Kind::kMethod:
        return Method(node);
    }
    return Error("unknown node");
  }

 private:
  absl::StatusOr<bool> Truth(const Node& node) {
    HEKLA_ASSIGN_OR_RETURN(Value value, Run(node));
    if (!value.is_bool()) return Error("no such overload");
    return value.as_bool();
  }

  absl::StatusOr<Value> Lookup(const Node& node) {
    if (node.kind == Kind::kName) {
      for (auto it = variables_.rbegin(); it != variables_.rend(); ++it) {
        if (it->first == node.text) return *it->second;
      }
      return Error(absl::StrCat("undeclared reference to ", node.text));
    }
    HEKLA_ASSIGN_OR_RETURN(Value base, Run(*node.args[0]));
    Value key(node.text);
    if (node.kind == Kind::kIndex) {
      HEKLA_ASSIGN_OR_RETURN(key, Run(*node.args[1]));
    }
    if (base.is_array() && key.is_int()) {
      if (key.as_int() < 0 || key.as_int() >= static_cast<int64_t>(base.size())) {
        return Error("index out of bounds");
      }
      return base.as_array()[key.as_int()];
    }
    const Value* member = key.is_string() ? base.Find(key.as_string()) : nullptr;
    if (member == nullptr) return Error("no such key");
    return *member;
  }

  absl::StatusOr<Value> Unary(const Node& node) {
    HEKLA_ASSIGN_OR_RETURN(Value value, Run(*node.args[0]));
    if (node.text == "!" && value.is_bool()) return Value(!value.as_bool());
    if (node.text == "-" && value.is_int()) return Value(static_cast<long long>(-value.as_int()));
    if (node.text == "-" && value.is_number()) return Value(-value.as_double());
    return Error("no such overload");
  }

  // An error on one side does not matter where the other side decides.
  absl::StatusOr<Value> Logic(const Node& node) {
    const bool decides = node.text == "||";
    const absl::StatusOr<bool> left = Truth(*node.args[0]);
    if (left.ok() && *left == decides) return Value(decides);
    const absl::StatusOr<bool> right = Truth(*node.args[1]);
    if (right.ok() && *right == decides) return Value(decides);
    if (!left.ok()) return left.status();
    if (!right.ok()) return right.status();
    return Value(!decides);
  }

  absl::StatusOr<Value> Binary(const Node& node) {
    HEKLA_ASSIGN_OR_RETURN(Value a, Run(*node.args[0]));
    HEKLA_ASSIGN_OR_RETURN(Value b, Run(*node.args[1]));
    const std::string& op = node.text;
    if (op == "==") return Value(Equal(a, b));
    if (op == "!=") return Value(!Equal(a, b));
    if (op == "in") {
      if (b.is_object()) return Value(a.is_string() && b.Has(a.as_string()));
      if (!b.is_array()) return Error("no such overload");
      return Value(std::any_of(b.as_array().begin(), b.as_array().end(),
                               [&](const Value& item) { return Equal(a, item); }));
    }
    if (a.is_string() && b.is_string()) {
      if (op == "+") return Value(absl::StrCat(a.as_string(), b.as_string()));
      return Compare(op, a.as_string().compare(b.as_string()));
    }
    if (a.is_array() && b.is_array() && op == "+") {
      for (Value& item : b.as_array()) a.Append(std::move(item));
      return a;
    }
    if (a.is_int() && b.is_int()) return Integers(op, a.as_int(), b.as_int());
    if (a.is_number() && b.is_number()) return Doubles(op, a.as_double(), b.as_double());
    return Error("no such overload");
  }

  static bool Equal(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return a.as_double() == b.as_double();
    return a == b;
  }
  static absl::StatusOr<Value> Compare(const std::string& op, int sign) {
    if (op == "<") return Value(sign < 0);
    if (op == "<=") return Value(sign <= 0);
    if (op == ">") return Value(sign > 0);
    if (op == ">=") return Value(sign >= 0);
    return Error("no such overload");
  }
  static absl::StatusOr<Value> Integers(const std::string& op, int64_t a, int64_t b) {
    long long out = 0;
    if (op == "+") {
      if (__builtin_add_overflow(a, b, &out)) return Error("integer overflow");
    } else if (op == "-") {
      if (__builtin_sub_overflow(a, b, &out)) return Error("integer overflow");
    } else if (op == "*") {
      if (__builtin_mul_overflow(a, b, &out)) return Error("integer overflow");
    } else if (op == "/" || op == "%") {
      if (b == 0 || (b == -1 && a == INT64_MIN)) return Error("division by zero");
      out = op == "/" ? a / b : a % b;
    } else {
      return Compare(op, a < b ? -1 : a > b);
    }
    return Value(out);
  }
  static absl::StatusOr<Value> Doubles(const std::string& op, double a, double b) {
    if (op == "+") return Value(a + b);
    if (op == "-") return Value(a - b);
    if (op == "*") return Value(a * b);
    if (op == "/") return Value(a / b);
    return Compare(op, a < b ? -1 : a > b);
  }

  static absl::StatusOr<Value> Size(const Value& value) {
    if (value.is_string()) {
      const std::string& s = value.as_string();
      return Value(static_cast<long long>(
          std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; })));
    }
    if (value.is_array() || value.is_object()) return Value(static_cast<long long>(value.size()));
    return Error("no such overload");
  }

  absl::StatusOr<Value> Call(const Node& node) {
    if (node.args.size() != 1) return absl::UnimplementedError(node.text);
    HEKLA_ASSIGN_OR_RETURN(Value arg, Run(*node.args[0]));
    if (node.text == "size") return Size(arg);
    if (node.text == "string") {
      return arg.is_string() ? arg : Value(apis::json::Dump(arg));
    }
    if (node.text == "int") {
      int64_t number;
      if (arg.is_int()) return arg;
      if (arg.is_string() && absl::SimpleAtoi(arg.as_string(), &number)) {
        return Value(static_cast<long long>(number));
      }
      return Error("type conversion error");
    }
    return absl::UnimplementedError(node.text);
  }

  absl::StatusOr<Value> Method(const Node& node) {
    HEKLA_ASSIGN_OR_RETURN(Value base, Run(*node.args[0]));
    const std::string& name = node.text;
    if (name == "size" && node.args.size() == 1) return Size(base);
    if (node.args.size() == 3 && node.args[1]->kind == Kind::kName) return Macro(node, base);
    if (node.args.size() != 2) return absl::UnimplementedError(name);
    HEKLA_ASSIGN_OR_RETURN(Value arg, Run(*node.args[1]));
    if (!base.is_string() || !arg.is_string()) return Error("no such overload");
    const std::string& text = base.as_string();
    if (name == "startsWith") return Value(absl::StartsWith(text, arg.as_string()));
    if (name == "endsWith") return Value(absl::EndsWith(text, arg.as_string()));
    if (name == "contains") return Value(absl::StrContains(text, arg.as_string()));
    if (name == "matches") {
      const Regex regex(arg.as_string());
      if (!regex.valid()) return Error("bad regular expression");
      return Value(regex.Matches(text));
    }
    return absl::UnimplementedError(name);
  }

  absl::StatusOr<Value> Macro(const Node& node, const Value& base) {
    std::vector<Value> items;
    if (base.is_array()) items = base.as_array();
    if (base.is_object()) {
      for (const apis::json::Member& m : base.as_object()) items.emplace_back(m.key);
    }
    Value list = Value::MakeArray();
    int hits = 0;
    for (const Value& item : items) {
      variables_.emplace_back(node.args[1]->text, &item);
      absl::StatusOr<Value> result = Run(*node.args[2]);
      variables_.pop_back();
      if (!result.ok()) return result.status();
      if (node.text == "map") {
        list.Append(*std::move(result));
        continue;
      }
      if (!result->is_bool()) return Error("no such overload");
      if (!result->as_bool()) continue;
      ++hits;
      list.Append(item);
    }
    if (node.text == "map" || node.text == "filter") return list;
    if (node.text == "all") return Value(hits == static_cast<int>(items.size()));
    if (node.text == "exists") return Value(hits > 0);
    if (node.text == "exists_one") return Value(hits == 1);
    return absl::UnimplementedError(node.text);
  }

  std::vector<std::pair<std::string, const Value*>> variables_;
};

}  // namespace

absl::StatusOr<CelRule> CelRule::Compile(absl::string_view text) {
  CelRule rule;
  HEKLA_ASSIGN_OR_RETURN(rule.root_, ParseCel(text));
  rule.is_transition_ = Mentions(*rule.root_, "oldSelf");
  return rule;
}

absl::StatusOr<Value> CelRule::Evaluate(const Value& self, const Value* old_self) const {
  return Machine(self, old_self).Run(*root_);
}

}  // namespace hekla::apiserver::crd

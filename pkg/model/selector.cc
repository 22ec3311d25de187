#include "pkg/model/selector.h"

#include <algorithm>

#include "absl/strings/numbers.h"

namespace hekla::model {

Symbol FindLabel(const Labels& labels, Symbol key) {
  // Objects have few labels; a search from one end is quicker than halving.
  for (const Label& label : labels) {
    if (label.first == key) return label.second;
  }
  return {};
}

bool Matches(const Requirement& requirement, const Labels& labels, const SymbolTable& symbols) {
  const Symbol value = FindLabel(labels, requirement.key);
  switch (requirement.op) {
    case SelectorOp::kIn:
      return value.valid() &&
             std::binary_search(requirement.values.begin(), requirement.values.end(), value);
    case SelectorOp::kNotIn:
      return !value.valid() ||
             !std::binary_search(requirement.values.begin(), requirement.values.end(), value);
    case SelectorOp::kExists:
      return value.valid();
    case SelectorOp::kDoesNotExist:
      return !value.valid();
    case SelectorOp::kGt:
    case SelectorOp::kLt: {
      int64_t number = 0;
      if (!value.valid() || !absl::SimpleAtoi(symbols.Text(value), &number)) return false;
      return requirement.op == SelectorOp::kGt ? number > requirement.number
                                               : number < requirement.number;
    }
  }
  return false;
}

bool Matches(const Selector& selector, const Labels& labels, const SymbolTable& symbols) {
  if (selector.nothing) return false;
  for (const Requirement& r : selector.requirements) {
    if (!Matches(r, labels, symbols)) return false;
  }
  return true;
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.invalid) return false;
  if (toleration.effect.has_value() && *toleration.effect != taint.effect) return false;
  if (toleration.key.valid() && toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

}  // namespace hekla::model

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/ids.h"

// Selectors, tolerations and terms with every string interned, ready to be evaluated many times.
namespace hekla::model {

// Labels of one object, sorted by key symbol.
using Label = std::pair<Symbol, Symbol>;  // key, value
using Labels = std::vector<Label>;

// The value of a key; an invalid symbol where it is absent.
Symbol FindLabel(const Labels& labels, Symbol key);

enum class SelectorOp : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

struct Requirement {
  Symbol key;
  SelectorOp op = SelectorOp::kIn;
  std::vector<Symbol> values;  // sorted
  int64_t number = 0;          // kGt, kLt
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// All requirements hold. Empty: everything matches. `nothing`: nothing matches (a null selector, an
// unparsable one).
struct Selector {
  std::vector<Requirement> requirements;
  bool nothing = false;
  bool empty() const { return requirements.empty() && !nothing; }
  friend bool operator==(const Selector&, const Selector&) = default;
};

bool Matches(const Requirement& requirement, const Labels& labels, const SymbolTable& symbols);
bool Matches(const Selector& selector, const Labels& labels, const SymbolTable& symbols);

// One term of node affinity: expressions on labels and on the node's name, all of which must hold.
// A term that could not be parsed, and one without any requirement, matches nothing.
struct NodeTerm {
  std::vector<Requirement> expressions;
  std::vector<Requirement> fields;  // key is metadata.name
  bool invalid = false;
  int32_t weight = 0;  // preferred terms
  friend bool operator==(const NodeTerm&, const NodeTerm&) = default;
};

struct Taint {
  Symbol key;
  Symbol value;
  enum class Effect : uint8_t {
    kNoSchedule,
    kPreferNoSchedule,
    kNoExecute
  } effect = Effect::kNoSchedule;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  Symbol key;    // invalid: every key
  Symbol value;  // of operator Equal
  bool exists = false;
  bool invalid = false;                 // unknown operator: tolerates nothing
  std::optional<Taint::Effect> effect;  // absent: every effect
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

bool Tolerates(const Toleration& toleration, const Taint& taint);

// A term of inter-pod (anti-)affinity. Source: spec scheduler-node-plugins 2.7.
struct PodTerm {
  Selector selector;
  std::vector<Symbol> namespaces;  // sorted; the owner's namespace is filled in at compile time
  bool has_namespace_selector = false;
  Selector namespace_selector;
  Symbol topology_key;
  int32_t weight = 0;  // preferred terms
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

struct SpreadConstraint {
  Symbol topology_key;
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  bool hard = true;            // DoNotSchedule
  bool honor_affinity = true;  // nodeAffinityPolicy Honor
  bool honor_taints = false;   // nodeTaintsPolicy Honor
  Selector selector;           // matchLabelKeys folded in
  friend bool operator==(const SpreadConstraint&, const SpreadConstraint&) = default;
};

}  // namespace hekla::model

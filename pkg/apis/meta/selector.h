#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/meta/reader.h"
#include "pkg/apis/meta/string_map.h"

// Label and field selectors: their object form, their text form, and matching.
namespace hekla::apis::meta {

enum class SelectorOperator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

// `In`, `NotIn`, ...; nullopt for anything else.
std::optional<SelectorOperator> ParseOperator(absl::string_view text);
absl::string_view OperatorName(SelectorOperator op);

// One condition on one key. Gt and Lt compare whole numbers; a label that is no number fails.
struct Requirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kExists;
  std::vector<std::string> values;

  // `value` is nullptr where the key is absent. NotIn and DoesNotExist then hold.
  bool Matches(const std::string* value) const;
  friend bool operator==(const Requirement& a, const Requirement& b) {
    return a.key == b.key && a.op == b.op && a.values == b.values;
  }
};

// metav1.LabelSelector. Empty matches everything; what an absent one means is up to its field.
struct LabelSelector {
  StringMap match_labels;
  std::vector<Requirement> match_expressions;

  bool Matches(const StringMap& labels) const;
  bool empty() const { return match_labels.empty() && match_expressions.empty(); }
  friend bool operator==(const LabelSelector& a, const LabelSelector& b) {
    return a.match_labels == b.match_labels && a.match_expressions == b.match_expressions;
  }
};

// The member `key` of `parent` as a requirement list `{key, operator, values}`.
void ReadRequirements(const Reader& parent, absl::string_view key, std::vector<Requirement>& out);
// The member `key` of `parent`; stays nullopt where absent or null.
void ReadLabelSelector(const Reader& parent, absl::string_view key,
                       std::optional<LabelSelector>& out);
json::Value EncodeLabelSelector(const LabelSelector& selector);

// The text form of `-l` and `labelSelector=`: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1,j<2`.
// Errors: kInvalidArgument with the offending part.
absl::StatusOr<std::vector<Requirement>> ParseLabelSelector(absl::string_view text);
bool MatchesAll(const std::vector<Requirement>& requirements, const StringMap& labels);

// One `field=value` of `--field-selector`.
struct FieldRequirement {
  std::string field;
  std::string value;
  bool equal = true;
};

// `a.b=c,d!=e`; a comma, backslash or equals sign in a value is escaped by a backslash.
absl::StatusOr<std::vector<FieldRequirement>> ParseFieldSelector(absl::string_view text);
// `lookup` gives the text of a field ("" where it has none).
bool MatchesFields(const std::vector<FieldRequirement>& requirements,
                   const std::function<std::string(absl::string_view)>& lookup);

}  // namespace hekla::apis::meta

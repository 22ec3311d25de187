#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

// Selectors of list, watch and delete-collection requests.
// Source: spec kube-machinery 3.13.
namespace hekla::apiserver {

// Looks up the value of a label; nullopt where the object has none.
using LabelLookup = std::function<std::optional<absl::string_view>(absl::string_view)>;

class LabelSelector {
 public:
  enum class Op : uint8_t { kIn, kNotIn, kExists, kAbsent, kGreater, kLess };
  struct Requirement {
    std::string key;
    Op op;
    std::vector<std::string> values;
  };

  // Everything.
  LabelSelector() = default;
  // The text of `labelSelector=`. Errors: kInvalidArgument with the server's text.
  static absl::StatusOr<LabelSelector> Parse(absl::string_view text);
  // A `LabelSelector` object {matchLabels, matchExpressions}; null selects nothing, {} everything.
  static absl::StatusOr<LabelSelector> FromObject(const apis::json::Value& selector);

  bool empty() const { return requirements_.empty() && !nothing_; }
  bool Matches(const LabelLookup& labels) const;
  bool Matches(const apis::json::Value& labels) const;  // an object of strings, or null
  const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

class FieldSelector {
 public:
  struct Requirement {
    std::string field;
    bool equal;  // else: must differ
    std::string value;
  };

  FieldSelector() = default;
  // The text of `fieldSelector=`. Errors: kInvalidArgument with the server's text.
  static absl::StatusOr<FieldSelector> Parse(absl::string_view text);

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace hekla::apiserver

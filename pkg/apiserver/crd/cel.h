#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::crd {

// A validation rule of a CRD, in the part of CEL that such rules use: literals, lists, member and
// index access, has(), operators || && ! == != < <= > >= in + - * / % ?:, size, int, string, and
// the methods startsWith, endsWith, contains, matches, size, all, exists, exists_one, filter, map.
// Threads: immutable.
class CelRule {
 public:
  // Errors: kInvalidArgument for syntax, kUnimplemented for what is outside of that part.
  static absl::StatusOr<CelRule> Compile(absl::string_view text);

  // Whether the rule speaks of `oldSelf`.
  bool is_transition() const { return is_transition_; }
  // Errors: kInvalidArgument where CEL would fail (no such key, wrong types).
  absl::StatusOr<apis::json::Value> Evaluate(const apis::json::Value& self,
                                             const apis::json::Value* old_self) const;

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
  bool is_transition_ = false;
};

}  // namespace hekla::apiserver::crd

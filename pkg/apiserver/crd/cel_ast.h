#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/crd/cel.h"

namespace hekla::apiserver::crd {

// One node of a rule's syntax tree.
struct CelRule::Node {
  enum class Kind : uint8_t {
    kLiteral,  // value
    kName,     // text
    kMember,   // args[0].text
    kIndex,    // args[0][args[1]]
    kHas,      // has(args[0]), args[0] a kMember
    kList,     // args
    kUnary,    // text args[0]
    kBinary,   // args[0] text args[1]
    kChoice,   // args[0] ? args[1] : args[2]
    kCall,     // text(args...)
    kMethod,   // args[0].text(args[1...])
  };
  Kind kind;
  std::string text;
  apis::json::Value value;
  std::vector<std::shared_ptr<const Node>> args;
};
using CelNodePtr = std::shared_ptr<const CelRule::Node>;

// Errors: kInvalidArgument.
absl::StatusOr<CelNodePtr> ParseCel(absl::string_view text);

}  // namespace hekla::apiserver::crd

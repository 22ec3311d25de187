#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::printing {

// The JSONPath of CRDs (printer columns, selectable fields, scale): `.spec.replicas`, `['a.b']`,
// `[0]`, `[-1]`, `[1:3]`, `[*]`, `.*`, `..name`, filters `[?(@.type=="Ready")]` with
// == != < <= > >= and literals; `\.` escapes a dot in a name.
class JsonPath {
 public:
  // Errors: kInvalidArgument for what is not understood.
  static absl::StatusOr<JsonPath> Parse(absl::string_view text);
  // All matches in document order; a missing step matches nothing.
  std::vector<const apis::json::Value*> Find(const apis::json::Value& root) const;

 private:
  struct Step {
    enum class Kind : uint8_t { kMember, kIndex, kSlice, kWildcard, kRecursive, kFilter };
    Kind kind = Kind::kMember;
    std::string name;          // kMember, kRecursive
    int64_t from = 0, to = 0;  // kIndex (from), kSlice
    bool has_from = false, has_to = false;
    std::vector<Step> left;     // kFilter: path below the item
    std::string op;             // kFilter: "" = exists
    apis::json::Value literal;  // kFilter
  };
  static void Walk(const std::vector<Step>& steps, size_t at, const apis::json::Value& value,
                   std::vector<const apis::json::Value*>& out);
  static bool Matches(const Step& filter, const apis::json::Value& item);
  friend class JsonPathParser;
  std::vector<Step> steps_;
};

}  // namespace hekla::apiserver::printing

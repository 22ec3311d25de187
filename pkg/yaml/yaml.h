#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

// YAML text to JSON values and back. The only place that knows a YAML library.
//
// Scalars are read as the Go tools around Kubernetes read them (YAML 1.1): unquoted yes/no/on/off/
// y/n are booleans, 0x, 0b and leading-zero octal integers, underscores in numbers, timestamps stay
// strings, quoted scalars always are strings. Anchors, aliases and merge keys are resolved.
namespace hekla::yaml {

// Where something stands in its text; both count from 1, 0 = unknown.
struct Position {
  int line = 0;
  int column = 0;
};

// The way from the root of a document to one of its values.
class Path {
 public:
  Path() = default;
  Path Key(absl::string_view key) const;
  Path Index(size_t index) const;
  bool empty() const { return steps_.empty(); }
  // For messages: `tiers[0].plugins[1].arguments.binpack.weight`.
  std::string ToString() const;

  using Step = std::variant<std::string, size_t>;
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

// Positions of a value and of everything below it; children follow the order of the value's.
struct Marks {
  Position key;    // the member's name; same as `value` where there is none
  Position value;  // first character of the value
  std::vector<Marks> children;
};

struct Document {
  apis::json::Value value;  // null for an empty document
  Marks marks;

  // The member name (or list item) that `path` leads to; of the deepest existing value on the way
  // where the path leads nowhere.
  Position Find(const Path& path) const;
};

// All documents of `text`, in order, the empty ones included. No text at all: no document.
// Errors: kInvalidArgument with line and column: malformed YAML, a key given twice, an alias
//         without anchor, more than 200 levels, aliases that grow beyond 200,000 values, a number
//         JSON cannot hold (.inf, .nan), bytes that are neither UTF-8 nor marked as UTF-16 or
//         UTF-32.
absl::StatusOr<std::vector<Document>> ParseAll(absl::string_view text);

// The one document of `text` (the first that is not empty); null where there is none.
// Errors: as ParseAll; more than one document that is not empty.
absl::StatusOr<Document> ParseOne(absl::string_view text);

// Block style with sorted keys and list items at the indent of their key, as kubectl prints.
// Ends with a line break.
std::string Dump(const apis::json::Value& value);

}  // namespace hekla::yaml

#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::framework {

// Free arguments of a plugin or an action, as the configuration gives them. Accessors are as strict
// as upstream's: a value of another type keeps the default and is reported as a warning once.
// Source: spec scheduler-core 2.3, E22.
class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(apis::json::Value values) : values_(std::move(values)) {}

  // Each sets `target` only where the key exists and has the right type; returns whether it did.
  bool GetInt(absl::string_view key, int64_t& target) const;    // YAML integers only
  bool GetDouble(absl::string_view key, double& target) const;  // floats and integers
  bool GetBool(absl::string_view key, bool& target) const;  // booleans, or 1 t T TRUE true True 0 …
  bool GetString(absl::string_view key, std::string& target) const;
  // Structured values are decoded by their reader. nullptr where the key is absent.
  const apis::json::Value* Find(absl::string_view key) const { return values_.Find(key); }
  const apis::json::Value& values() const { return values_; }

 private:
  apis::json::Value values_;
};

}  // namespace hekla::framework

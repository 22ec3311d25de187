#include "pkg/framework/arguments.h"

#include "glog/logging.h"

namespace hekla::framework {
namespace {

using apis::json::Value;

// Plugins read their arguments once per configuration, so one line per reading is one line.
bool Refuse(absl::string_view key, const Value& value, absl::string_view wanted) {
  LOG(WARNING) << "Could not parse argument: " << apis::json::Dump(value) << " for key " << key
               << ", expected " << wanted;
  return false;
}

}  // namespace

bool Arguments::GetInt(absl::string_view key, int64_t& target) const {
  const Value* value = Find(key);
  if (value == nullptr) return false;
  if (!value->is_int()) return Refuse(key, *value, "an integer");
  target = value->as_int();
  return true;
}

bool Arguments::GetDouble(absl::string_view key, double& target) const {
  const Value* value = Find(key);
  if (value == nullptr) return false;
  if (!value->is_number()) return Refuse(key, *value, "a number");
  target = value->as_double();
  return true;
}

bool Arguments::GetBool(absl::string_view key, bool& target) const {
  static constexpr absl::string_view kTrue[] = {"1", "t", "T", "TRUE", "true", "True"};
  static constexpr absl::string_view kFalse[] = {"0", "f", "F", "FALSE", "false", "False"};
  const Value* value = Find(key);
  if (value == nullptr) return false;
  if (value->is_bool()) {
    target = value->as_bool();
    return true;
  }
  if (value->is_string()) {
    for (absl::string_view text : kTrue) {
      if (value->as_string() == text) return target = true;
    }
    for (absl::string_view text : kFalse) {
      if (value->as_string() != text) continue;
      target = false;
      return true;
    }
  }
  return Refuse(key, *value, "a boolean");
}

bool Arguments::GetString(absl::string_view key, std::string& target) const {
  const Value* value = Find(key);
  if (value == nullptr) return false;
  if (!value->is_string()) return Refuse(key, *value, "a string");
  target = value->as_string();
  return true;
}

}  // namespace hekla::framework

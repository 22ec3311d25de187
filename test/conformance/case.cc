#include "test/conformance/case.h"

#include <algorithm>

#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"

namespace hekla::conformance {

using apis::json::Value;

absl::StatusOr<Case> ParseCase(absl::string_view line) {
  HEKLA_ASSIGN_OR_RETURN(Value value, apis::json::Parse(line));
  if (!value.is_object()) return absl::InvalidArgumentError("a case is a JSON object");
  Case out;
  out.name = std::string(value.GetString("name"));
  out.conf = std::string(value.GetString("conf"));
  if (out.name.empty()) return absl::InvalidArgumentError("name is missing");
  if (const Value* actions = value.Find("actions"); actions != nullptr && actions->is_array()) {
    for (const Value& action : actions->as_array()) out.actions.push_back(action.as_string());
  }
  if (const Value* plugins = value.Find("plugins"); plugins != nullptr && plugins->is_array()) {
    out.all_plugins = false;
    for (const Value& plugin : plugins->as_array()) out.plugins.push_back(plugin.as_string());
  }
  out.special = value.At("special");
  out.objects = value.At("objects");
  out.decided = value.At("decided");
  return out;
}

absl::StatusOr<std::vector<std::string>> UsedPlugins(const Case& recorded) {
  HEKLA_ASSIGN_OR_RETURN(yaml::Document document, yaml::ParseOne(recorded.conf));
  std::vector<std::string> used;
  const Value& tiers = document.value.At("tiers");
  if (!tiers.is_array()) return used;
  for (const Value& tier : tiers.as_array()) {
    const Value& plugins = tier.At("plugins");
    if (!plugins.is_array()) continue;
    for (const Value& plugin : plugins.as_array()) {
      const std::string name(plugin.GetString("name"));
      const bool exists = recorded.all_plugins ||
                          std::find(recorded.plugins.begin(), recorded.plugins.end(), name) !=
                              recorded.plugins.end();
      if (exists) used.push_back(name);
    }
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

}  // namespace hekla::conformance

#include "pkg/conf/config.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "pkg/conf/enable_flags.h"
#include "pkg/util/status_macros.h"
#include "pkg/yaml/yaml.h"

namespace hekla::conf {
namespace {

using apis::json::Value;
using framework::EnableFlags;
using framework::PluginOption;

// Plugins and actions that upstream has; a file that uses one we lack gets a clearer answer.
constexpr absl::string_view kUpstreamNames[] = {
    "enqueue",       "allocate",    "backfill",    "preempt",
    "reclaim",       "gangpreempt", "gangreclaim", "shuffle",
    "drf",           "gang",        "deviceshare", "predicates",
    "priority",      "nodeorder",   "conformance", "binpack",
    "tdm",           "overcommit",  "sla",         "resource-strategy-fit",
    "task-topology", "numaaware",   "cdp",         "rescheduling",
    "usage",         "pdb",         "nodegroup",   "network-topology-aware",
    "proportion",    "capacity",    "extender",    "resourcequota"};

absl::string_view KindName(const Value& value) {
  static constexpr absl::string_view kNames[] = {"nothing",  "a boolean", "a number", "a number",
                                                 "a string", "a list",    "a map"};
  return kNames[static_cast<int>(value.kind())];
}

bool Holds(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Reads one document; the first problem ends it.
class Reader {
 public:
  Reader(const yaml::Document& document, absl::string_view file, const Known& known)
      : document_(document), file_(file), known_(known) {}

  absl::StatusOr<Config> Read();

 private:
  absl::Status ReadActions(const Value& value);
  absl::Status ReadTiers(const Value& value);
  absl::Status ReadPlugin(const Value& value, const yaml::Path& path, framework::Tier& tier);
  absl::Status ReadPluginKey(const std::string& key, const Value& value, const yaml::Path& path,
                             PluginOption& option);
  absl::Status ReadConfigurations(const Value& value);
  absl::Status ReadMetrics(const Value& value);
  absl::Status CheckConflicts();

  absl::StatusOr<std::string> Text(const Value& value, const yaml::Path& path) const;
  absl::Status WantKind(const Value& value, Value::Kind kind, const yaml::Path& path) const;
  absl::Status Error(const yaml::Path& path, absl::string_view text) const;
  std::string Where(const yaml::Path& path) const;
  void Warn(const yaml::Path& path, absl::string_view text);
  static absl::string_view Unsupported(absl::string_view name);

  const yaml::Document& document_;
  const absl::string_view file_;
  const Known& known_;
  Config config_;
};

std::string Reader::Where(const yaml::Path& path) const {
  const int line = std::max(1, document_.Find(path).line);
  return path.empty() ? absl::StrCat(file_, ":", line)
                      : absl::StrCat(file_, ":", line, ": ", path.ToString());
}

absl::Status Reader::Error(const yaml::Path& path, absl::string_view text) const {
  return absl::InvalidArgumentError(absl::StrCat(Where(path), ": ", text));
}

void Reader::Warn(const yaml::Path& path, absl::string_view text) {
  config_.warnings.push_back(absl::StrCat(Where(path), ": ", text));
}

absl::string_view Reader::Unsupported(absl::string_view name) {
  const bool upstream = std::find(std::begin(kUpstreamNames), std::end(kUpstreamNames), name) !=
                        std::end(kUpstreamNames);
  return upstream ? " (not supported yet)" : "";
}

absl::Status Reader::WantKind(const Value& value, Value::Kind kind, const yaml::Path& path) const {
  if (value.kind() == kind) return absl::OkStatus();
  const absl::string_view wanted = kind == Value::Kind::kArray    ? "a list"
                                   : kind == Value::Kind::kObject ? "a map"
                                   : kind == Value::Kind::kBool   ? "true or false"
                                                                  : "a string";
  return Error(path, absl::StrCat("is ", KindName(value), ", accepted: ", wanted));
}

// A scalar as text: numbers and booleans count as what is written, as upstream's decoder has it.
absl::StatusOr<std::string> Reader::Text(const Value& value, const yaml::Path& path) const {
  if (value.is_number() || value.is_bool()) return apis::json::Dump(value);
  HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kString, path));
  return value.as_string();
}

absl::Status Reader::ReadActions(const Value& value) {
  const yaml::Path path = yaml::Path().Key("actions");
  std::string text;
  if (!value.is_null()) {
    HEKLA_ASSIGN_OR_RETURN(text, Text(value, path));
  }
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    if (!Holds(known_.actions, name)) {
      return Error(path, absl::StrCat("failed to find Action ", name, Unsupported(name),
                                      "; accepted: ", absl::StrJoin(known_.actions, ", ")));
    }
    config_.actions.emplace_back(name);
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadTiers(const Value& value) {
  const yaml::Path path = yaml::Path().Key("tiers");
  if (value.is_null()) return absl::OkStatus();
  HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kArray, path));
  for (size_t i = 0; i < value.as_array().size(); ++i) {
    const Value& item = value.as_array()[i];
    const yaml::Path item_path = path.Index(i);
    framework::Tier& tier = config_.tiers.emplace_back();
    if (item.is_null()) continue;
    HEKLA_RETURN_IF_ERROR(WantKind(item, Value::Kind::kObject, item_path));
    for (const apis::json::Member& member : item.as_object()) {
      const yaml::Path member_path = item_path.Key(member.key);
      if (member.key != "plugins") {
        Warn(member_path, "unknown key, accepted: plugins");
        continue;
      }
      if (member.value.is_null()) continue;
      HEKLA_RETURN_IF_ERROR(WantKind(member.value, Value::Kind::kArray, member_path));
      for (size_t k = 0; k < member.value.as_array().size(); ++k) {
        HEKLA_RETURN_IF_ERROR(ReadPlugin(member.value.as_array()[k], member_path.Index(k), tier));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadPlugin(const Value& value, const yaml::Path& path, framework::Tier& tier) {
  HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kObject, path));
  PluginOption option;
  for (const apis::json::Member& member : value.as_object()) {
    HEKLA_RETURN_IF_ERROR(ReadPluginKey(member.key, member.value, path.Key(member.key), option));
  }
  if (!Holds(known_.plugins, option.name)) {
    return Error(path.Key("name"),
                 absl::StrCat("failed to find plugin ", option.name, Unsupported(option.name),
                              "; accepted: ", absl::StrJoin(known_.plugins, ", ")));
  }
  tier.push_back(std::move(option));
  return absl::OkStatus();
}

absl::Status Reader::ReadPluginKey(const std::string& key, const Value& value,
                                   const yaml::Path& path, PluginOption& option) {
  if (key == "name") {
    HEKLA_ASSIGN_OR_RETURN(option.name, Text(value, path));
  } else if (key == "arguments") {
    if (value.is_null()) return absl::OkStatus();
    HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kObject, path));
    option.arguments = framework::Arguments(value);
  } else if (bool EnableFlags::*flag = FindEnableFlag(key); flag != nullptr) {
    if (value.is_null()) return absl::OkStatus();
    HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kBool, path));
    option.enabled.*flag = value.as_bool();
  } else {
    const std::string right = RightlyPrefixed(key);
    Warn(path, right.empty() ? "unknown key, without effect"
                             : absl::StrCat("without effect, the key is ", right));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadConfigurations(const Value& value) {
  const yaml::Path path = yaml::Path().Key("configurations");
  if (value.is_null()) return absl::OkStatus();
  HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kArray, path));
  for (size_t i = 0; i < value.as_array().size(); ++i) {
    const Value& item = value.as_array()[i];
    const yaml::Path item_path = path.Index(i);
    HEKLA_RETURN_IF_ERROR(WantKind(item, Value::Kind::kObject, item_path));
    HEKLA_ASSIGN_OR_RETURN(const std::string name, Text(item.At("name"), item_path.Key("name")));
    const Value& arguments = item.At("arguments");
    if (!arguments.is_null()) {
      HEKLA_RETURN_IF_ERROR(WantKind(arguments, Value::Kind::kObject, item_path.Key("arguments")));
    }
    if (!Holds(known_.actions, name)) {
      Warn(item_path.Key("name"), absl::StrCat("no action has the name ", name));
    }
    config_.configurations.emplace_back(name, framework::Arguments(arguments));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadMetrics(const Value& value) {
  const yaml::Path path = yaml::Path().Key("metrics");
  if (value.is_null()) return absl::OkStatus();
  HEKLA_RETURN_IF_ERROR(WantKind(value, Value::Kind::kObject, path));
  for (const apis::json::Member& member : value.as_object()) {
    HEKLA_ASSIGN_OR_RETURN(config_.metrics[member.key], Text(member.value, path.Key(member.key)));
  }
  return absl::OkStatus();
}

// Upstream refuses the pair within one tier only; in different tiers it runs, so that is a warning.
absl::Status Reader::CheckConflicts() {
  static constexpr absl::string_view kText = "proportion and drf with hierarchy enabled conflicts";
  int drf = -1, proportion = -1;
  for (size_t i = 0; i < config_.tiers.size(); ++i) {
    for (const PluginOption& option : config_.tiers[i]) {
      if (option.name == "drf" && option.enabled.hierarchy) drf = static_cast<int>(i);
      if (option.name == "proportion") proportion = static_cast<int>(i);
    }
    if (drf == static_cast<int>(i) && proportion == static_cast<int>(i)) {
      return Error(yaml::Path().Key("tiers").Index(i), kText);
    }
  }
  if (drf >= 0 && proportion >= 0) Warn(yaml::Path().Key("tiers").Index(drf), kText);
  return absl::OkStatus();
}

absl::StatusOr<Config> Reader::Read() {
  const Value& root = document_.value;
  if (!root.is_null()) HEKLA_RETURN_IF_ERROR(WantKind(root, Value::Kind::kObject, yaml::Path()));
  HEKLA_RETURN_IF_ERROR(ReadActions(root.At("actions")));
  HEKLA_RETURN_IF_ERROR(ReadTiers(root.At("tiers")));
  HEKLA_RETURN_IF_ERROR(ReadConfigurations(root.At("configurations")));
  HEKLA_RETURN_IF_ERROR(ReadMetrics(root.At("metrics")));
  HEKLA_RETURN_IF_ERROR(CheckConflicts());
  for (const apis::json::Member& member : root.as_object()) {
    if (member.key != "actions" && member.key != "tiers" && member.key != "configurations" &&
        member.key != "metrics") {
      Warn(yaml::Path().Key(member.key),
           "unknown key, accepted: actions, tiers, configurations, metrics");
    }
  }
  return std::move(config_);
}

}  // namespace

const framework::Arguments& Config::ArgumentsOf(absl::string_view action) const {
  static const framework::Arguments* const kNone = new framework::Arguments();
  for (const auto& [name, arguments] : configurations) {
    if (name == action) return arguments;
  }
  return *kNone;
}

absl::StatusOr<Config> ParseConfig(absl::string_view text, absl::string_view file,
                                   const Known& known) {
  absl::StatusOr<yaml::Document> document = yaml::ParseOne(text);
  if (!document.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", document.status().message()));
  }
  return Reader(*document, file, known).Read();
}

absl::string_view BuiltInConfigText() {
  return R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";
}

}  // namespace hekla::conf

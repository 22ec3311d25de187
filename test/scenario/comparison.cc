#include "test/scenario/comparison.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/util/status_macros.h"
#include "test/scenario/objects.h"

namespace hekla::scenario {
namespace {

std::string Show(const std::map<std::string, std::string>& map) {
  return absl::StrCat("{", absl::StrJoin(map, ", ", absl::PairFormatter(": ")), "}");
}

std::string NameOf(const std::string& space, const std::string& name) {
  return ShortName(absl::StrCat(space, "/", name));
}

}  // namespace

absl::Status Comparison::Run(const Value& expect) {
  for (const auto& [field, value] : expect.as_object()) HEKLA_RETURN_IF_ERROR(One(field, value));
  return absl::OkStatus();
}

absl::Status Comparison::One(const std::string& field, const Value& value) {
  if (field == "binds") {
    Placements(field, value, outcome_.binds);
  } else if (field == "pipelined") {
    Placements(field, value, outcome_.pipelined);
  } else if (field == "bindCounts") {
    Counts(value);
  } else if (field == "evictions") {
    Evictions(value);
  } else if (field == "podGroupPhase") {
    for (const auto& [group, phase] : value.as_object()) {
      const auto it = outcome_.phases.find(group);
      const std::string found = it == outcome_.phases.end() ? "(no such PodGroup)" : it->second;
      Equal(absl::StrCat(field, ".", group), phase.as_string(), found);
    }
  } else if (field == "podGroupCondition") {
    for (const auto& [group, wanted] : value.as_object()) Condition(group, wanted);
  } else if (field == "podReason") {
    for (const auto& [pod, wanted] : value.as_object()) PodReason(pod, wanted);
  } else if (field == "explain") {
    return Explain(value);
  } else if (field == "writesInLastCycle") {
    Equal(field, absl::StrCat(value.as_int()), absl::StrCat(outcome_.last_writes));
  } else if (field == "events") {
    for (const Value& wanted : value.as_array()) Event(wanted);
  } else {
    return absl::InvalidArgumentError(absl::StrCat("expect: unknown field ", field));
  }
  return absl::OkStatus();
}

void Comparison::Add(std::string field, std::string text) {
  findings_.push_back({std::move(field), std::move(text)});
}

void Comparison::Equal(const std::string& field, absl::string_view wanted,
                       absl::string_view found) {
  if (wanted != found) Add(field, absl::StrCat("expected \"", wanted, "\", found \"", found, "\""));
}

// {} = none; a node name; "any"; "a|b" = one of these.
void Comparison::Placements(const std::string& field, const Value& wanted,
                            const std::map<std::string, std::string>& found) {
  bool same = wanted.size() == found.size();
  std::map<std::string, std::string> expected;
  if (wanted.is_object()) {
    for (const auto& [pod, node] : wanted.as_object()) {
      expected[pod] = node.as_string();
      const auto it = found.find(pod);
      same =
          same && it != found.end() &&
          (node.as_string() == "any" || absl::StrContains(absl::StrCat("|", node.as_string(), "|"),
                                                          absl::StrCat("|", it->second, "|")));
    }
  }
  if (!same) Add(field, absl::StrCat("expected ", Show(expected), ", found ", Show(found)));
}

void Comparison::Counts(const Value& wanted) {
  std::map<std::string, std::string> expected, found;
  for (const auto& [group, count] : wanted.as_object()) {
    expected[group] = absl::StrCat(count.as_int());
    if (count.as_int() == 0) found[group] = "0";
  }
  for (const auto& [group, count] : outcome_.bind_counts) found[group] = absl::StrCat(count);
  if (expected != found) {
    Add("bindCounts", absl::StrCat("expected ", Show(expected), ", found ", Show(found)));
  }
}

void Comparison::Evictions(const Value& wanted) {
  std::vector<std::string> expected, found = outcome_.evictions;
  for (const Value& pod : wanted.as_array()) expected.push_back(pod.as_string());
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  if (expected != found) {
    Add("evictions", absl::StrCat("expected [", absl::StrJoin(expected, ", "), "], found [",
                                  absl::StrJoin(found, ", "), "]"));
  }
}

// The PodGroup's condition of a type, as the tables have it (what is, or would be, in the API).
void Comparison::Condition(const std::string& group, const Value& wanted) {
  const std::string field = absl::StrCat("podGroupCondition.", group);
  const model::JobId job = world_.cluster().FindJob(FullName(group));
  if (!job.valid()) return Add(field, "no such PodGroup");
  for (const model::ConditionRow& row : world_.tables().jobs.conditions[job]) {
    if (row.type != wanted.GetString("type")) continue;
    if (wanted.Has("reason")) Equal(field + ".reason", wanted.GetString("reason"), row.reason);
    if (wanted.Has("message")) Equal(field + ".message", wanted.GetString("message"), row.message);
    return;
  }
  Add(field, absl::StrCat("no condition ", wanted.GetString("type")));
}

// null: nothing must have been written about the pod.
void Comparison::PodReason(const std::string& pod, const Value& wanted) {
  const std::string field = absl::StrCat("podReason.", pod);
  const ports::PodConditionWrite* last = nullptr;
  for (const ports::PodConditionWrite& write : world_.sink().pod_conditions) {
    if (NameOf(write.namespace_name, write.name) == pod) last = &write;
  }
  if (wanted.is_null()) {
    if (last != nullptr) Add(field, absl::StrCat("found \"", last->message, "\""));
    return;
  }
  if (last == nullptr) return Add(field, "nothing was written");
  if (wanted.Has("reason")) Equal(field + ".reason", wanted.GetString("reason"), last->reason);
  if (wanted.Has("message")) Equal(field + ".message", wanted.GetString("message"), last->message);
  if (wanted.Has("nominatedNode")) {
    Equal(field + ".nominatedNode", wanted.GetString("nominatedNode"), last->nominated_node);
  }
}

// Causes and parts of texts; asking changes nothing.
absl::Status Comparison::Explain(const Value& wanted) {
  using framework::explain::Subject;
  const uint64_t before = world_.cluster().Fingerprint();
  const size_t writes = world_.sink().writes();
  for (const auto& [kind, names] : wanted.as_object()) {
    if (kind != "pods" && kind != "podGroups") {
      return absl::InvalidArgumentError(absl::StrCat("expect.explain: unknown field ", kind));
    }
    for (const auto& [name, one] : names.as_object()) {
      ExplainOne(kind == "pods" ? Subject::kPod : Subject::kPodGroup, name, one);
    }
  }
  if (before != world_.cluster().Fingerprint() || writes != world_.sink().writes()) {
    Add("explain", "asking has changed something");
  }
  return absl::OkStatus();
}

void Comparison::ExplainOne(framework::explain::Subject subject, const std::string& name,
                            const Value& wanted) {
  const std::string field = absl::StrCat("explain.", name);
  const auto explained = world_.Explain(subject, FullName(name));
  if (!explained.ok()) {
    if (wanted.GetString("cause") == "none" &&
        absl::StrContains(explained.status().message(), wanted.GetString("message"))) {
      return;
    }
    return Add(field, std::string(explained.status().message()));
  }
  const Value json = framework::explain::ToJson(*explained);
  const size_t before = findings_.size();
  Equal(field + ".cause", wanted.GetString("cause"), json.GetString("cause"));
  const auto contains = [&](const char* key, absl::string_view found) {
    if (absl::StrContains(found, wanted.GetString(key))) return;
    Add(absl::StrCat(field, ".", key),
        absl::StrCat("\"", wanted.GetString(key), "\" is not in \"", found, "\""));
  };
  contains("message", json.GetString("message"));
  contains("nearestMiss", json.At("nodes").At("nearestMiss").GetString("text"));
  contains("blockedBy", json.GetString("blockedBy"));
  contains("text", framework::explain::RenderText(json));
  if (findings_.size() != before) {
    Add(field, absl::StrCat("\n", framework::explain::RenderText(json)));
  }
}

std::string Comparison::AllEvents() const {
  std::string text;
  for (const ports::EventWrite& e : world_.sink().events) {
    absl::StrAppend(&text, "[", NameOf(e.namespace_name, e.name), " ",
                    e.warning ? "Warning" : "Normal", " ", e.reason, ": ", e.message, "] ");
  }
  return text;
}

// Some event has all the given fields.
void Comparison::Event(const Value& wanted) {
  const auto same = [&](const char* key, absl::string_view found) {
    return !wanted.Has(key) || wanted.GetString(key) == found;
  };
  for (const ports::EventWrite& e : world_.sink().events) {
    if (same("object", NameOf(e.namespace_name, e.name)) &&
        same("type", e.warning ? "Warning" : "Normal") && same("reason", e.reason) &&
        same("message", e.message)) {
      return;
    }
  }
  Add("events", absl::StrCat("expected ", apis::json::Dump(wanted), ", found ", AllEvents()));
}

}  // namespace hekla::scenario

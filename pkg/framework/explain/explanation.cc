#include "pkg/framework/explain/explanation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace hekla::framework::explain {
namespace {

using apis::json::Value;

constexpr size_t kMaxLines = 6;  // of refusals, of pods

absl::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kNo:
      return "no";
    case Verdict::kNote:
      return "note";
  }
  return "";
}

Value List(const std::vector<std::string>& items) {
  Value list = Value::MakeArray();
  for (const std::string& item : items) list.Append(item);
  return list;
}

Value ToJson(const NearestMiss& nearest) {
  Value missing = Value::MakeObject();
  for (const auto& [resource, amount] : nearest.missing) missing.Set(resource, amount);
  return Value::MakeObject({{"text", nearest.text},
                            {"missing", std::move(missing)},
                            {"nodes", nearest.nodes},
                            {"label", nearest.label},
                            {"examples", List(nearest.examples)}});
}

Value ToJson(const NodeFacts& facts) {
  Value refusals = Value::MakeArray();
  for (const NodeRefusal& r : facts.refusals) {
    refusals.Append(Value::MakeObject({{"plugin", r.plugin},
                                       {"check", r.check},
                                       {"reason", r.reason},
                                       {"nodes", r.nodes},
                                       {"examples", List(r.examples)}}));
  }
  Value out = Value::MakeObject({{"total", facts.total},
                                 {"fitting", facts.fitting},
                                 {"summary", facts.summary},
                                 {"refusals", std::move(refusals)}});
  if (facts.nearest.has_value()) out.Set("nearestMiss", ToJson(*facts.nearest));
  return out;
}

std::string Examples(const Value& list) {
  std::vector<std::string> names;
  if (list.is_array()) {
    for (const Value& name : list.as_array()) {
      if (name.is_string()) names.push_back(name.as_string());
    }
  }
  return absl::StrJoin(names, ", ");
}

void AppendNodes(const Value& nodes, std::string& text) {
  const Value& refusals = nodes.At("refusals");
  if (!refusals.is_array()) return;
  size_t shown = 0;
  for (const Value& r : refusals.as_array()) {
    if (++shown > kMaxLines) {
      absl::StrAppend(&text, "            … ", refusals.size() - kMaxLines, " more\n");
      break;
    }
    absl::StrAppendFormat(&text, "  %9d  %s: %s (%s)\n", r.GetInt("nodes"), r.GetString("check"),
                          r.GetString("reason"), Examples(r.At("examples")));
  }
}

void AppendPods(const Value& pods, std::string& text) {
  if (!pods.is_array()) return;
  size_t shown = 0;
  for (const Value& p : pods.as_array()) {
    if (++shown > kMaxLines) {
      absl::StrAppend(&text, "            … ", pods.size() - kMaxLines, " more\n");
      break;
    }
    absl::StrAppendFormat(&text, "  %9d  pods such as %s: %s", p.GetInt("count"),
                          p.GetString("example"), p.GetString("cause"));
    // Who waits for others has nothing of its own to tell.
    if (p.GetString("cause") != CauseName(Cause::kWaitsForGang)) {
      absl::StrAppend(&text, ": ", p.GetString("message"));
    }
    text.push_back('\n');
  }
}

}  // namespace

Value ToJson(const Explanation& e) {
  Value chain = Value::MakeArray();
  for (const Step& step : e.chain) {
    Value one = Value::MakeObject(
        {{"step", step.name}, {"verdict", VerdictName(step.verdict)}, {"text", step.text}});
    if (!step.details.is_null()) one.Set("details", step.details);
    chain.Append(std::move(one));
  }
  Value out = Value::MakeObject({{"kind", e.pod_group ? "PodGroup" : "Pod"}, {"name", e.name}});
  if (!e.pod_group) out.Set("podGroup", e.group);
  out.Set("queue", e.queue);
  out.Set("state", e.state);
  out.Set("cause", CauseName(e.cause));
  out.Set("message", e.message);
  if (!e.blocked_by.empty()) out.Set("blockedBy", e.blocked_by);
  out.Set("chain", std::move(chain));
  if (e.nodes.has_value()) out.Set("nodes", ToJson(*e.nodes));
  if (e.pod_group) {
    Value pods = Value::MakeArray();
    for (const PodLine& line : e.pods) {
      pods.Append(Value::MakeObject({{"count", line.count},
                                     {"example", line.example},
                                     {"cause", CauseName(line.cause)},
                                     {"message", line.message}}));
    }
    out.Set("pods", std::move(pods));
  }
  return out;
}

std::string RenderText(const Value& e) {
  std::string text = absl::StrCat(e.GetString("cause"), ": ", e.GetString("message"), "\n");
  absl::StrAppend(&text, e.GetString("kind"), " ", e.GetString("name"), " is ",
                  e.GetString("state"));
  if (!e.GetString("podGroup").empty()) absl::StrAppend(&text, ", group ", e.GetString("podGroup"));
  if (!e.GetString("queue").empty()) absl::StrAppend(&text, ", queue ", e.GetString("queue"));
  absl::StrAppend(&text, "\n");
  bool nodes_shown = false;
  if (const Value& chain = e.At("chain"); chain.is_array()) {
    for (const Value& step : chain.as_array()) {
      const absl::string_view verdict = step.GetString("verdict");
      absl::StrAppendFormat(&text, "  %-9s %-3s %s\n", step.GetString("step"),
                            verdict == "note" ? absl::string_view("-") : verdict,
                            step.GetString("text"));
      if (step.GetString("step") != "nodes") continue;
      AppendNodes(e.At("nodes"), text);
      nodes_shown = true;
    }
  }
  if (!nodes_shown) AppendNodes(e.At("nodes"), text);
  const Value& pods = e.At("pods");
  if (pods.is_array() && pods.size() > 1) AppendPods(pods, text);
  return text;
}

}  // namespace hekla::framework::explain

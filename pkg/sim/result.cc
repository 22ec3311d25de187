#include "pkg/sim/result.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "pkg/apis/meta/quantity.h"

namespace hekla::sim {
namespace {

using apis::json::Value;
using apis::meta::Quantity;

constexpr absl::string_view kVolcano = "scheduling.volcano.sh/v1beta1";

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string Key(const Value& object) {
  const Value& metadata = object.At("metadata");
  return absl::StrCat(metadata.GetString("namespace"), "/", metadata.GetString("name"));
}

std::vector<Value> ListAll(apiserver::ApiServer& server, absl::string_view api_version,
                           absl::string_view kind) {
  return server.List(api_version, kind, "").value_or(std::vector<Value>());
}

Value RenderCycles(const CycleRecorder& recorder) {
  Value cycles = Value::MakeArray();
  const auto placements = [](const std::vector<std::pair<std::string, std::string>>& pairs) {
    Value list = Value::MakeArray();
    for (const auto& [pod, node] : pairs) {
      list.Append(Value::MakeObject({{"pod", pod}, {"node", node}}));
    }
    return list;
  };
  for (const CycleRecord& record : recorder.cycles()) {
    Value evictions = Value::MakeArray();
    for (const auto& e : record.evictions) {
      evictions.Append(Value::MakeObject({{"pod", e.pod}, {"by", e.by}, {"for", e.for_group}}));
    }
    cycles.Append(Value::MakeObject({{"cycle", static_cast<long>(record.cycle)},
                                     {"time", TimeText(record.time)},
                                     {"binds", placements(record.binds)},
                                     {"pipelined", placements(record.pipelined)},
                                     {"evictions", std::move(evictions)}}));
  }
  return cycles;
}

Value RenderPodGroups(apiserver::ApiServer& server) {
  Value groups = Value::MakeArray();
  for (const Value& object : ListAll(server, kVolcano, "PodGroup")) {
    Value conditions = Value::MakeArray();
    const Value& status = object.At("status");
    if (status.At("conditions").is_array()) {
      for (const Value& c : status.At("conditions").as_array()) {
        conditions.Append(Value::MakeObject({{"type", c.GetString("type")},
                                             {"status", c.GetString("status")},
                                             {"reason", c.GetString("reason")},
                                             {"message", c.GetString("message")}}));
      }
    }
    groups.Append(Value::MakeObject({{"name", Key(object)},
                                     {"phase", status.GetString("phase")},
                                     {"conditions", std::move(conditions)}}));
  }
  return groups;
}

// Amounts of the metrics' deserved gauges as quantities.
Value Deserved(const std::string& metrics, const std::string& queue) {
  const std::string label = absl::StrCat("{queue_name=\"", queue, "\"}");
  Value deserved = Value::MakeObject();
  const double cpu = MetricValue(metrics, absl::StrCat("volcano_queue_deserved_milli_cpu", label));
  const double memory =
      MetricValue(metrics, absl::StrCat("volcano_queue_deserved_memory_bytes", label));
  deserved.Set("cpu", Quantity::FromMilli(static_cast<int64_t>(std::llround(cpu))).ToString());
  deserved.Set("memory", Quantity::FromInt(static_cast<int64_t>(std::llround(memory)),
                                           Quantity::Format::kBinarySi)
                             .ToString());
  const std::string head = absl::StrCat("volcano_queue_deserved_scalar_resources{queue_name=\"",
                                        queue, "\",resource=\"");
  std::map<std::string, double> scalars;
  for (absl::string_view line : absl::StrSplit(metrics, '\n')) {
    if (!absl::StartsWith(line, head)) continue;
    const absl::string_view rest = line.substr(head.size());
    const size_t quote = rest.find('"');
    double value = 0;
    if (quote != rest.npos && absl::SimpleAtod(rest.substr(rest.rfind(' ') + 1), &value) &&
        value != 0) {
      scalars[std::string(rest.substr(0, quote))] = value;
    }
  }
  for (const auto& [name, value] : scalars) {
    deserved.Set(name, Quantity::FromMilli(static_cast<int64_t>(std::llround(value))).ToString());
  }
  return deserved;
}

Value RenderQueues(apiserver::ApiServer& server, const std::string& metrics) {
  Value queues = Value::MakeArray();
  for (const Value& object : ListAll(server, kVolcano, "Queue")) {
    const std::string name(object.At("metadata").GetString("name"));
    Value allocated = object.At("status").At("allocated");
    if (!allocated.is_object()) allocated = Value::MakeObject();
    queues.Append(Value::MakeObject(
        {{"name", name},
         {"weight", static_cast<long>(object.At("spec").GetInt("weight", 1))},
         {"deserved", Deserved(metrics, name)},
         {"allocated", std::move(allocated)},
         {"share",
          MetricValue(metrics, absl::StrCat("volcano_queue_share{queue_name=\"", name, "\"}"))}}));
  }
  return queues;
}

Value RenderPods(apiserver::ApiServer& server,
                 const std::function<Value(const std::string&)>& explain) {
  Value pods = Value::MakeArray();
  for (const Value& object : ListAll(server, "v1", "Pod")) {
    const Value& status = object.At("status");
    std::string reason, message;
    if (object.At("spec").GetString("nodeName").empty() && status.At("conditions").is_array()) {
      for (const Value& c : status.At("conditions").as_array()) {
        if (c.GetString("type") != "PodScheduled" || c.GetString("status") == "True") continue;
        reason = std::string(c.GetString("reason"));
        message = std::string(c.GetString("message"));
      }
    }
    Value pod = Value::MakeObject({{"name", Key(object)},
                                   {"phase", status.GetString("phase")},
                                   {"node", object.At("spec").GetString("nodeName")},
                                   {"reason", reason},
                                   {"message", message}});
    if (explain && status.GetString("phase") == "Pending" &&
        object.At("spec").GetString("nodeName").empty()) {
      pod.Set("explain", explain(Key(object)));
    }
    pods.Append(std::move(pod));
  }
  return pods;
}

Value RenderEvents(apiserver::ApiServer& server) {
  std::vector<Value> events;
  for (const Value& object : ListAll(server, "v1", "Event")) {
    const Value& about = object.At("involvedObject");
    std::string name(about.GetString("name"));
    if (!about.GetString("namespace").empty()) {
      name = absl::StrCat(about.GetString("namespace"), "/", name);
    }
    events.push_back(
        Value::MakeObject({{"object", absl::StrCat(about.GetString("kind"), " ", name)},
                           {"type", object.GetString("type")},
                           {"reason", object.GetString("reason")},
                           {"message", object.GetString("message")},
                           {"count", static_cast<long>(object.GetInt("count", 1))}}));
  }
  // Names of events hold hashes and times; people look for objects.
  std::stable_sort(events.begin(), events.end(), [](const Value& a, const Value& b) {
    for (const char* key : {"object", "reason", "message"}) {
      const int c = a.GetString(key).compare(b.GetString(key));
      if (c != 0) return c < 0;
    }
    return false;
  });
  return Value::MakeArray(std::move(events));
}

Value RenderAudit(const Auditor& auditor) {
  Value findings = Value::MakeArray();
  for (const Violation& v : auditor.violations()) {
    findings.Append(
        Value::MakeObject({{"time", TimeText(v.time)}, {"rule", v.rule}, {"text", v.text}}));
  }
  return Value::MakeObject(
      {{"bindings", static_cast<long>(auditor.bindings())}, {"findings", std::move(findings)}});
}

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      absl::StrAppendFormat(&line, "%-*s  ", widths[i], row[i]);
    absl::StrAppend(&text, absl::string_view(line).substr(0, line.find_last_not_of(' ') + 1), "\n");
  }
  return text;
}

std::string AmountsText(const Value& map) {
  std::string text;
  if (!map.is_object()) return text;
  for (const auto& member : map.as_object()) {
    if (!member.value.is_string()) continue;
    absl::StrAppend(&text, text.empty() ? "" : ",", member.key, "=", member.value.as_string());
  }
  return text;
}

std::string LastMessage(const Value& group) {
  std::string message;
  for (const Value& c : group.At("conditions").as_array()) {
    if (c.GetString("type") == "Unschedulable" && group.GetString("phase") != "Running") {
      message = std::string(c.GetString("message"));
    }
  }
  return message;
}

}  // namespace

double MetricValue(const std::string& text, const std::string& sample) {
  size_t at = 0;
  while ((at = text.find(sample, at)) != std::string::npos) {
    const size_t end = at + sample.size();
    if ((at == 0 || text[at - 1] == '\n') && end < text.size() && text[end] == ' ') {
      double value = 0;
      const size_t line_end = text.find('\n', end);
      if (absl::SimpleAtod(absl::string_view(text).substr(end + 1, line_end - end - 1), &value)) {
        return value;
      }
    }
    at = end;
  }
  return 0;
}

Value RenderResult(const ResultInput& input) {
  Value finished = Value::MakeArray();
  for (const auto& [pod, time] : *input.finished) {
    finished.Append(Value::MakeObject({{"pod", pod}, {"time", TimeText(time)}}));
  }
  return Value::MakeObject(
      {{"cycles", RenderCycles(*input.recorder)},
       {"finished", std::move(finished)},
       {"podGroups", RenderPodGroups(*input.server)},
       {"queues", RenderQueues(*input.server, input.metrics_text)},
       {"pods", RenderPods(*input.server, input.explain)},
       {"events", RenderEvents(*input.server)},
       {"audit", RenderAudit(*input.auditor)},
       {"stats", Value::MakeObject({{"cycles", static_cast<long>(input.recorder->cycle_count())},
                                    {"placements", static_cast<long>(input.recorder->placements())},
                                    {"decisionSeconds", input.decision_seconds},
                                    {"cycleSecondsMax", input.cycle_seconds_max}})}});
}

std::string RenderTable(const Value& result) {
  std::string text;
  std::vector<std::vector<std::string>> rows = {{"POD GROUP", "PHASE", "MESSAGE"}};
  for (const Value& g : result.At("podGroups").as_array()) {
    rows.push_back(
        {std::string(g.GetString("name")), std::string(g.GetString("phase")), LastMessage(g)});
  }
  if (rows.size() > 1) absl::StrAppend(&text, Columns(rows), "\n");
  rows = {{"QUEUE", "WEIGHT", "DESERVED", "ALLOCATED", "SHARE"}};
  for (const Value& q : result.At("queues").as_array()) {
    rows.push_back(
        {std::string(q.GetString("name")), absl::StrCat(q.GetInt("weight")),
         AmountsText(q.At("deserved")), AmountsText(q.At("allocated")),
         absl::StrFormat("%.3g", q.At("share").is_number() ? q.At("share").as_double() : 0)});
  }
  absl::StrAppend(&text, Columns(rows), "\n");
  rows = {{"POD WITHOUT NODE", "REASON", "MESSAGE"}};
  std::map<std::string, int64_t> phases;
  for (const Value& p : result.At("pods").as_array()) {
    ++phases[std::string(p.GetString("phase"))];
    if (!p.GetString("node").empty() || p.GetString("phase") != "Pending") continue;
    const Value& why = p.At("explain").Has("cause") ? p.At("explain") : p;
    rows.push_back({std::string(p.GetString("name")),
                    std::string(why.GetString("cause", p.GetString("reason"))),
                    std::string(why.GetString("message"))});
  }
  if (rows.size() > 1) absl::StrAppend(&text, Columns(rows), "\n");
  for (const Value& f : result.At("audit").At("findings").as_array()) {
    absl::StrAppend(&text, "AUDIT ", f.GetString("rule"), ": ", f.GetString("text"), "\n");
  }
  absl::StrAppend(&text, result.At("stats").GetInt("cycles"), " cycles, ",
                  result.At("stats").GetInt("placements"), " placements");
  for (const auto& [phase, count] : phases) absl::StrAppend(&text, ", ", count, " ", phase);
  return absl::StrCat(text, "\n");
}

}  // namespace hekla::sim

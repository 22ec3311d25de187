#include "test/conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hekla::conformance {
namespace {

using apis::json::Value;

class Comparer {
 public:
  Comparer(const Value& decided, const Result& result) : decided_(decided), result_(result) {}

  std::vector<std::string> Run() {
    const Outcome& outcome = result_.outcome;
    Counts("bindCounts", outcome.bind_counts);
    Counts("pipelinedCounts", outcome.pipelined_counts);
    Counts("evictionCounts", outcome.eviction_counts);
    Binds();
    BindSets();
    Evictions();
    Phases();
    if (decided_.At("probe").is_object()) ProbeAll(decided_.At("probe"));
    Extra();
    return std::move(findings_);
  }

 private:
  void Differ(const std::string& field, absl::string_view wanted, absl::string_view found) {
    findings_.push_back(absl::StrCat(field, ": expected ", wanted, ", found ", found));
  }
  static std::string Show(bool value) { return value ? "true" : "false"; }

  // A recorded value that is a list holds every value seen.
  static bool Allowed(const Value& wanted, const Value& found) {
    if (!wanted.is_array()) return wanted == found;
    return std::any_of(wanted.as_array().begin(), wanted.as_array().end(),
                       [&](const Value& one) { return one == found; });
  }

  void Counts(const char* field, const std::map<std::string, int64_t>& found) {
    const Value* wanted = decided_.Find(field);
    if (wanted == nullptr) return;
    std::set<std::string> groups;
    if (wanted->is_object()) {
      for (const auto& member : wanted->as_object()) groups.insert(member.key);
    }
    for (const auto& entry : found) groups.insert(entry.first);
    for (const std::string& group : groups) {
      const auto it = found.find(group);
      const Value ours = it == found.end() ? int64_t{0} : it->second;
      const Value* theirs = wanted->Find(group);
      const Value expected = theirs == nullptr ? Value(0) : *theirs;
      if (!Allowed(expected, ours)) {
        Differ(absl::StrCat(field, ".", group), Dump(expected), Dump(ours));
      }
    }
  }

  void Binds() {
    const Value& wanted = decided_.At("binds");
    if (!wanted.is_object()) return;
    for (const auto& [pod, node] : wanted.as_object()) {
      const auto it = result_.outcome.binds.find(pod);
      const std::string found = it == result_.outcome.binds.end() ? "nothing" : it->second;
      if (node.as_string() != found) Differ(absl::StrCat("binds.", pod), node.as_string(), found);
    }
  }

  void BindSets() {
    const Value& sets = decided_.At("bindSets");
    if (!sets.is_array() || sets.size() == 0) return;
    Value ours = Value::MakeObject();
    for (const auto& [pod, node] : result_.outcome.binds) ours.Set(pod, node);
    if (!Allowed(sets, ours)) Differ("bindSets", Dump(sets), Dump(ours));
  }

  void Evictions() {
    const Value& wanted = decided_.At("evictions");
    if (!wanted.is_array()) return;
    for (const Value& pod : wanted.as_array()) {
      const auto& found = result_.outcome.evictions;
      if (std::find(found.begin(), found.end(), pod.as_string()) == found.end()) {
        Differ("evictions", pod.as_string(), absl::StrCat("[", absl::StrJoin(found, ", "), "]"));
      }
    }
  }

  void Phases() {
    const Value& wanted = decided_.At("phases");
    if (!wanted.is_object()) return;
    for (const auto& [group, phase] : wanted.as_object()) {
      const auto it = result_.outcome.phases.find(group);
      const Value found = it == result_.outcome.phases.end() ? "(none)" : it->second;
      if (!Allowed(phase, found)) Differ(absl::StrCat("phases.", group), Dump(phase), Dump(found));
    }
  }

  // Of our order only the names that were recorded.
  void Order(const std::string& field, const Value& wanted, const std::vector<std::string>& found) {
    if (!wanted.is_array()) return;
    std::vector<std::string> expected, ours;
    for (const Value& name : wanted.as_array()) expected.push_back(name.as_string());
    for (const std::string& name : found) {
      if (std::find(expected.begin(), expected.end(), name) != expected.end()) ours.push_back(name);
    }
    if (expected != ours) Differ(field, absl::StrJoin(expected, " "), absl::StrJoin(ours, " "));
  }

  void ProbeAll(const Value& wanted) {
    const Probe& probe = result_.probe;
    Order("probe.jobOrder", wanted.At("jobOrder"), probe.job_order);
    Order("probe.queueOrder", wanted.At("queueOrder"), probe.queue_order);
    ForEach(wanted.At("taskOrder"), [&](const std::string& job, const Value& order) {
      const auto it = probe.task_order.find(job);
      if (it != probe.task_order.end()) {
        Order(absl::StrCat("probe.taskOrder.", job), order, it->second);
      }
    });
    ForEach(wanted.At("jobs"),
            [&](const std::string& name, const Value& job) { ProbeJob(name, job); });
    ForEach(wanted.At("queues"), [&](const std::string& name, const Value& queue) {
      const auto it = probe.overused.find(name);
      if (it == probe.overused.end()) {
        Differ(absl::StrCat("probe.queues.", name), "a queue", "none");
      } else if (const Value* overused = queue.Find("overused")) {
        Bool(absl::StrCat("probe.queues.", name, ".overused"), *overused, it->second);
      }
    });
    ForEach(wanted.At("tasks"),
            [&](const std::string& name, const Value& task) { ProbeTask(name, task); });
  }

  template <typename Body>
  static void ForEach(const Value& map, Body body) {
    if (!map.is_object()) return;
    for (const auto& member : map.as_object()) body(member.key, member.value);
  }

  void Bool(const std::string& field, const Value& wanted, bool found) {
    if (wanted.is_bool() && wanted.as_bool() != found) {
      Differ(field, Show(wanted.as_bool()), Show(found));
    }
  }

  void ProbeJob(const std::string& name, const Value& wanted) {
    const std::string field = absl::StrCat("probe.jobs.", name);
    const auto it = result_.probe.jobs.find(name);
    if (it == result_.probe.jobs.end()) return Differ(field, "a job", "none");
    const JobProbe& job = it->second;
    Bool(field + ".enqueueable", wanted.At("enqueueable"), job.enqueueable);
    Bool(field + ".ready", wanted.At("ready"), job.ready);
    Bool(field + ".pipelined", wanted.At("pipelined"), job.pipelined);
    Bool(field + ".starving", wanted.At("starving"), job.starving);
    Bool(field + ".valid", wanted.At("valid"), job.valid);
    const std::pair<const char*, int64_t> numbers[] = {{"minAvailable", job.min_available},
                                                       {"priority", job.priority}};
    for (const auto& [key, found] : numbers) {
      const Value& expected = wanted.At(key);
      if (expected.is_int() && expected.as_int() != found) {
        Differ(absl::StrCat(field, ".", key), Dump(expected), absl::StrCat(found));
      }
    }
  }

  // "fit", or "code reason; …".
  static std::string Verdict(const Value& wanted) {
    if (!wanted.is_array()) return wanted.is_string() ? wanted.as_string() : Dump(wanted);
    return absl::StrJoin(wanted.as_array(), "; ", [](std::string* out, const Value& status) {
      absl::StrAppend(out, status.GetInt("code"), " ", status.GetString("reason"));
    });
  }

  void ProbeTask(const std::string& name, const Value& wanted) {
    const std::string field = absl::StrCat("probe.tasks.", name);
    const auto it = result_.probe.tasks.find(name);
    if (it == result_.probe.tasks.end()) return Differ(field, "a task", "none");
    const TaskProbe& task = it->second;
    Bool(field + ".allocatable", wanted.At("allocatable"), task.allocatable);
    ForEach(wanted.At("predicate"), [&](const std::string& node, const Value& verdict) {
      const auto found = task.predicate.find(node);
      const std::string ours = found == task.predicate.end() ? "(no node)" : found->second;
      if (Verdict(verdict) != ours) {
        Differ(absl::StrCat(field, ".predicate.", node), Verdict(verdict), ours);
      }
    });
    for (const char* key : {"score", "total"}) {
      ForEach(wanted.At(key), [&](const std::string& node, const Value& score) {
        if (!score.is_number()) return;
        const auto found = task.score.find(node);
        if (found == task.score.end()) {
          Differ(absl::StrCat(field, ".score.", node), Dump(score), "(does not fit)");
        } else if (std::abs(found->second - score.as_double()) >
                   1e-9 * std::max(1.0, std::abs(score.as_double()))) {
          Differ(absl::StrCat(field, ".score.", node), Dump(score), Dump(Value(found->second)));
        }
      });
    }
  }

  void Extra() {
    const Value& extra = decided_.At("extra");
    if (!extra.is_object()) return;
    if (const Value* enqueueable = extra.Find("jobEnqueueable");
        enqueueable != nullptr && enqueueable->is_bool()) {
      for (const auto& [name, job] : result_.probe.jobs) {
        Bool(absl::StrCat("extra.jobEnqueueable.", name), *enqueueable, job.enqueueable);
      }
    }
  }

  const Value& decided_;
  const Result& result_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> Compare(const Value& decided, const Result& result) {
  return Comparer(decided, result).Run();
}

}  // namespace hekla::conformance

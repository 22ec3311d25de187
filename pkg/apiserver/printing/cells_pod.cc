#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "pkg/apiserver/printing/columns.h"

namespace hekla::apiserver::printing::internal {
namespace {

using apis::json::Value;

const Value::Array& Items(const Value& list) {
  static const Value::Array* const none = new Value::Array();
  return list.is_array() ? list.as_array() : *none;
}

bool HasCondition(const Value& status, absl::string_view type) {
  for (const Value& condition : Items(status.At("conditions"))) {
    if (condition.GetString("type") == type) return condition.GetString("status") == "True";
  }
  return false;
}

// "Signal:9", "ExitCode:1" or the reason itself.
std::string EndReason(const Value& terminated) {
  const absl::string_view reason = terminated.GetString("reason");
  if (!reason.empty()) return std::string(reason);
  const int64_t signal = terminated.GetInt("signal");
  return signal != 0 ? absl::StrCat("Signal:", signal)
                     : absl::StrCat("ExitCode:", terminated.GetInt("exitCode"));
}

// Counts restarts and remembers the last one.
struct Restarts {
  int64_t count = 0;
  std::string last;

  void Add(const Value& status) {
    count += status.GetInt("restartCount");
    const Value* terminated = status.FindPath({"lastState", "terminated"});
    if (terminated == nullptr) return;
    const absl::string_view finished = terminated->GetString("finishedAt");
    if (finished > absl::string_view(last)) last = std::string(finished);
  }
  std::string Text(absl::Time now) const {
    if (count == 0 || last.empty()) return absl::StrCat(count);
    return absl::StrCat(count, " (", AgeOf(last, now), " ago)");
  }
};

// Follows kubectl's columns: later findings override earlier ones (spec kube-machinery 3.5).
class PodSummary {
 public:
  explicit PodSummary(const Value& pod)
      : spec_(pod.At("spec")), status_(pod.At("status")), phase_(status_.GetString("phase")) {
    reason_ = std::string(status_.GetString("reason", phase_));
    if (reason_.empty()) reason_ = std::string(phase_);
    total_ = static_cast<int64_t>(Items(spec_.At("containers")).size());
    for (const Value& condition : Items(status_.At("conditions"))) {
      if (condition.GetString("type") == "PodScheduled" &&
          condition.GetString("reason") == "SchedulingGated") {
        reason_ = "SchedulingGated";
      }
    }
    for (const Value& container : Items(spec_.At("initContainers"))) {
      if (container.GetString("restartPolicy") == "Always") ++total_;
    }
    ReadInitContainers();
    if (!initializing_ || HasCondition(status_, "Initialized")) ReadContainers();
    const Value& deleted = pod.At("metadata").At("deletionTimestamp");
    if (deleted.is_null()) return;
    if (status_.GetString("reason") == "NodeLost") {
      reason_ = "Unknown";
    } else if (phase_ != "Succeeded" && phase_ != "Failed") {
      reason_ = "Terminating";
    }
  }

  std::string ready() const { return absl::StrCat(ready_, "/", total_); }
  const std::string& reason() const { return reason_; }
  const Restarts& restarts() const { return restarts_; }

 private:
  bool Restartable(absl::string_view name) const {
    for (const Value& container : Items(spec_.At("initContainers"))) {
      if (container.GetString("name") == name) {
        return container.GetString("restartPolicy") == "Always";
      }
    }
    return false;
  }

  void ReadInitContainers() {
    int64_t index = -1;
    for (const Value& status : Items(status_.At("initContainerStatuses"))) {
      ++index;
      restarts_.Add(status);
      const bool restartable = Restartable(status.GetString("name"));
      if (restartable) sidecar_restarts_.Add(status);
      const Value& terminated = status.At("state").At("terminated");
      const Value& waiting = status.At("state").At("waiting");
      if (terminated.is_object() && terminated.GetInt("exitCode") == 0) continue;
      if (restartable && status.GetBool("started")) {
        if (status.GetBool("ready")) ++ready_;
        continue;
      }
      const absl::string_view why = waiting.GetString("reason");
      if (terminated.is_object()) {
        reason_ = absl::StrCat("Init:", EndReason(terminated));
      } else if (!why.empty() && why != "PodInitializing") {
        reason_ = absl::StrCat("Init:", why);
      } else {
        reason_ = absl::StrCat("Init:", index, "/", Items(spec_.At("initContainers")).size());
      }
      initializing_ = true;
      return;
    }
  }

  void ReadContainers() {
    restarts_ = sidecar_restarts_;
    bool running = false;
    std::string failure;
    const Value::Array& statuses = Items(status_.At("containerStatuses"));
    for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
      restarts_.Add(*it);
      const Value& state = it->At("state");
      const absl::string_view why = state.At("waiting").GetString("reason");
      if (!why.empty()) {
        reason_ = std::string(why);
      } else if (state.At("terminated").is_object()) {
        reason_ = EndReason(state.At("terminated"));
        if (state.At("terminated").GetInt("exitCode") != 0) failure = reason_;
      } else if (it->GetBool("ready") && state.At("running").is_object()) {
        running = true;
        ++ready_;
      }
    }
    if (reason_ != "Completed") return;
    if (running && HasCondition(status_, "Ready")) {
      reason_ = "Running";
    } else if (!failure.empty()) {
      reason_ = failure;
    } else if (running) {
      reason_ = "NotReady";
    }
  }

  const Value& spec_;
  const Value& status_;
  absl::string_view phase_;
  std::string reason_;
  int64_t ready_ = 0;
  int64_t total_ = 0;
  bool initializing_ = false;
  Restarts restarts_;
  Restarts sidecar_restarts_;
};

std::string ReadinessGates(const Value& pod) {
  const Value::Array& gates = Items(pod.At("spec").At("readinessGates"));
  if (gates.empty()) return "<none>";
  int64_t met = 0;
  for (const Value& gate : gates) {
    if (HasCondition(pod.At("status"), gate.GetString("conditionType"))) ++met;
  }
  return absl::StrCat(met, "/", gates.size());
}

}  // namespace

Value PodCells(const Value& pod, absl::Time now) {
  const PodSummary summary(pod);
  const Value::Array& ips = Items(pod.At("status").At("podIPs"));
  const absl::string_view ip =
      ips.empty() ? pod.At("status").GetString("podIP") : ips[0].GetString("ip");
  return Value::MakeArray(
      {NameOf(pod), summary.ready(), summary.reason(), summary.restarts().Text(now), Age(pod, now),
       Or(ip, "<none>"), Or(pod.At("spec").GetString("nodeName"), "<none>"),
       Or(pod.At("status").GetString("nominatedNodeName"), "<none>"), ReadinessGates(pod)});
}

}  // namespace hekla::apiserver::printing::internal

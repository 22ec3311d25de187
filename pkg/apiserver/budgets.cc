#include "pkg/apiserver/budgets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "glog/logging.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apiserver/selector/selector.h"
#include "pkg/apiserver/writer.h"

namespace hekla::apiserver {
namespace {

using apis::json::Member;
using apis::json::Value;

// How long an eviction counts although its pod is still there.
constexpr absl::Duration kDisruptionTimeout = absl::Minutes(2);

// A number or a percentage of `total`, rounded up.
int64_t Scaled(const Value& value, int64_t total) {
  if (value.is_int()) return value.as_int();
  if (!value.is_string()) return 0;
  int64_t percent = 0;
  if (!absl::SimpleAtoi(absl::StripSuffix(value.as_string(), "%"), &percent)) return 0;
  return (total * percent + 99) / 100;
}

void SetAllowedCondition(Value& status, bool allowed, int64_t generation, const std::string& now) {
  Value wanted = Value::MakeObject({{"type", "DisruptionAllowed"},
                                    {"status", allowed ? "True" : "False"},
                                    {"observedGeneration", static_cast<long long>(generation)},
                                    {"lastTransitionTime", now},
                                    {"reason", allowed ? "SufficientPods" : "InsufficientPods"},
                                    {"message", ""}});
  Value& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Value::MakeArray();
  for (Value& c : conditions.as_array()) {
    if (c.GetString("type") != "DisruptionAllowed") continue;
    if (c.At("status") == wanted.At("status")) {
      wanted.Set("lastTransitionTime", c.At("lastTransitionTime"));
    }
    c = std::move(wanted);
    return;
  }
  conditions.Append(std::move(wanted));
}

}  // namespace

int64_t DesiredHealthy(const Value& budget_spec, int64_t expected) {
  if (budget_spec.Has("maxUnavailable")) {
    return std::max<int64_t>(0, expected - Scaled(budget_spec.At("maxUnavailable"), expected));
  }
  if (budget_spec.Has("minAvailable")) return Scaled(budget_spec.At("minAvailable"), expected);
  return std::max<int64_t>(0, expected - 1);
}

void Budgets::Touch(absl::string_view ns) {
  if (core_.store.last_change(*budgets_->table) == 0) return;
  absl::MutexLock lock(&mutex_);
  touched_.emplace(ns);
}

void Budgets::Recount() {
  std::vector<std::string> touched;
  {
    absl::MutexLock lock(&mutex_);
    touched.assign(touched_.begin(), touched_.end());
    touched_.clear();
  }
  std::sort(touched.begin(), touched.end());
  for (const std::string& ns : touched) RecountOne(ns);
}

void Budgets::RecountOne(const std::string& ns) {
  const ResourcePtr pods = core_.registry.Find("", "v1", "pods");
  storage::ListQuery query;
  query.filter.ns = ns;
  const auto list = core_.store.List(*budgets_->table, query);
  if (!list.ok() || list->objects.empty()) return;
  const auto pod_list = core_.store.List(*pods->table, query);
  if (!pod_list.ok()) return;
  const absl::Time now = core_.Now();
  for (const storage::ObjectPtr& object : list->objects) {
    const auto amended =
        writer_.Amend(*budgets_, object->key(), [&](const Value& present) -> absl::StatusOr<Value> {
          const auto selector = LabelSelector::FromObject(present.At("spec").At("selector"));
          if (!selector.ok()) return Value();
          Value out = present;
          Value& status = out.Ensure({"status"});
          Value disrupted = status.At("disruptedPods");
          int64_t expected = 0;
          int64_t healthy = 0;
          Value still = Value::MakeObject();
          for (const storage::ObjectPtr& stored : pod_list->objects) {
            if (!selector->Matches([&](absl::string_view k) { return stored->Label(k); })) continue;
            const Value pod = stored->Parse();
            const absl::string_view phase = pod.At("status").GetString("phase");
            if (phase == "Succeeded" || phase == "Failed") continue;
            ++expected;
            if (pod.At("metadata").Has("deletionTimestamp")) continue;
            const absl::string_view evicted = disrupted.GetString(stored->name());
            if (!evicted.empty() && ParseTimeText(evicted) + kDisruptionTimeout > now) {
              still.Set(stored->name(), evicted);
              continue;
            }
            if (apis::meta::ConditionIsTrue(pod, "Ready")) ++healthy;
          }
          const int64_t desired = DesiredHealthy(present.At("spec"), expected);
          const int64_t allowed = expected == 0 ? 0 : std::max<int64_t>(0, healthy - desired);
          const int64_t generation = present.At("metadata").GetInt("generation");
          if (still.size() > 0) {
            status.Set("disruptedPods", std::move(still));
          } else {
            status.Remove("disruptedPods");
          }
          status.Set("observedGeneration", static_cast<long long>(generation));
          status.Set("disruptionsAllowed", static_cast<long long>(allowed));
          status.Set("currentHealthy", static_cast<long long>(healthy));
          status.Set("desiredHealthy", static_cast<long long>(desired));
          status.Set("expectedPods", static_cast<long long>(expected));
          SetAllowedCondition(status, allowed > 0, generation, TimeText(now));
          return out;
        });
    LOG_IF(WARNING, !amended.ok() && !absl::IsNotFound(amended.status()))
        << "budget not recounted key=" << object->key() << " error=" << amended.status();
  }
}

}  // namespace hekla::apiserver

#include "pkg/apiserver/quota.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/writer.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Member;
using apis::json::Value;
using apis::meta::Quantity;

// Amounts by the names that quotas use, sorted.
using Usage = std::map<std::string, Quantity>;

void AddAll(const Value& amounts, absl::string_view prefix, Usage& out) {
  if (!amounts.is_object()) return;
  for (const Member& m : amounts.as_object()) {
    const auto amount = Quantity::Parse(m.value.is_string() ? m.value.as_string() : "");
    if (amount.ok()) out[absl::StrCat(prefix, m.key)] += *amount;
  }
}

// What one more object of that kind takes.
Usage UsageOf(const Resource& resource, const Value& object) {
  Usage out;
  const Quantity one = Quantity::FromInt(1);
  out[absl::StrCat("count/", resource.plural, resource.group.empty() ? "" : ".", resource.group)] =
      one;
  if (!resource.group.empty()) return out;
  out[resource.plural] = one;
  if (resource.plural == "persistentvolumeclaims") {
    AddAll(object.At("spec").At("resources").At("requests"), "requests.", out);
  }
  if (resource.plural != "pods") return out;
  Usage requests;
  const Value& containers = object.At("spec").At("containers");
  for (size_t i = 0; containers.is_array() && i < containers.size(); ++i) {
    const Value& resources = containers.as_array()[i].At("resources");
    AddAll(resources.At("requests"), "", requests);
    AddAll(resources.At("limits"), "limits.", out);
  }
  const Value& initial = object.At("spec").At("initContainers");
  for (size_t i = 0; initial.is_array() && i < initial.size(); ++i) {
    Usage alone, limits;
    AddAll(initial.as_array()[i].At("resources").At("requests"), "", alone);
    AddAll(initial.as_array()[i].At("resources").At("limits"), "limits.", limits);
    for (const auto& [name, amount] : alone) requests[name] = std::max(requests[name], amount);
    for (const auto& [name, amount] : limits) out[name] = std::max(out[name], amount);
  }
  for (const auto& [name, amount] : requests) {
    out[absl::StrCat("requests.", name)] = amount;
    out[name] = amount;
  }
  return out;
}

// Compute resources that a quota limits and a container does not name.
std::string Unspecified(const Value& hard, const Value& pod) {
  std::map<std::string, std::vector<std::string>> missing;
  for (const Member& m : hard.as_object()) {
    absl::string_view name = m.key;
    const char* side = absl::ConsumePrefix(&name, "limits.") ? "limits" : "requests";
    absl::ConsumePrefix(&name, "requests.");
    if (name != "cpu" && name != "memory") continue;
    const Value& containers = pod.At("spec").At("containers");
    for (size_t i = 0; containers.is_array() && i < containers.size(); ++i) {
      const Value& container = containers.as_array()[i];
      if (container.At("resources").At(side).Has(name)) continue;
      missing[m.key].emplace_back(container.GetString("name"));
    }
  }
  return absl::StrJoin(missing, "; ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, " for: ", absl::StrJoin(entry.second, ","));
  });
}

std::string Print(const Usage& usage) {
  return absl::StrJoin(usage, ",", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, "=", entry.second.ToString());
  });
}

Quantity Amount(const Value& amounts, const std::string& name) {
  const auto amount = Quantity::Parse(amounts.GetString(name, "0"));
  return amount.ok() ? *amount : Quantity();
}

// What the quota's use becomes; an error where the object does not fit.
absl::StatusOr<Usage> Charge(const Resource& resource, const Value& quota, const Value& object,
                             const Usage& usage) {
  const absl::string_view quota_name = quota.At("metadata").GetString("name");
  const absl::string_view name = object.At("metadata").GetString("name");
  const Value& hard = quota.At("status").At("hard");
  const Value& used = quota.At("status").At("used");
  if (resource.group.empty() && resource.plural == "pods") {
    const std::string missing = Unspecified(hard, object);
    if (!missing.empty()) {
      return Forbidden(resource.group_resource(), name,
                       absl::StrCat("failed quota: ", quota_name, ": must specify ", missing));
    }
  }
  Usage requested, before, limited, after;
  for (const auto& [key, amount] : usage) {
    if (!hard.Has(key) || amount.is_zero()) continue;
    const Quantity now = Amount(used, key);
    const Quantity sum = now + amount;
    after[key] = sum;
    if (!(Amount(hard, key) < sum)) continue;
    requested[key] = amount;
    before[key] = now;
    limited[key] = Amount(hard, key);
  }
  if (limited.empty()) return after;
  return Forbidden(resource.group_resource(), name,
                   absl::StrCat("exceeded quota: ", quota_name, ", requested: ", Print(requested),
                                ", used: ", Print(before), ", limited: ", Print(limited)));
}

}  // namespace

absl::Status ChargeQuotas(Core& core, Writer& writer, const Resource& resource,
                          absl::string_view ns, const Value& object) {
  if (!resource.namespaced || resource.plural == "events") return absl::OkStatus();
  const ResourcePtr quotas = core.registry.Find("", "v1", "resourcequotas");
  if (!core.store.HasObjectsIn(*quotas->table, ns)) return absl::OkStatus();
  storage::ListQuery query;
  query.filter.ns = std::string(ns);
  HEKLA_ASSIGN_OR_RETURN(const storage::ListResult list, core.store.List(*quotas->table, query));
  const Usage usage = UsageOf(resource, object);
  std::vector<std::pair<std::string, Usage>> charges;
  for (const storage::ObjectPtr& stored : list.objects) {
    const Value quota = stored->Parse();
    const Value& spec = quota.At("spec");
    if (spec.At("scopes").size() > 0 || spec.Has("scopeSelector")) continue;
    if (quota.At("status").At("hard").size() == 0) continue;
    HEKLA_ASSIGN_OR_RETURN(Usage after, Charge(resource, quota, object, usage));
    if (!after.empty()) charges.emplace_back(absl::StrCat(ns, "/", stored->name()), after);
  }
  for (const auto& [key, after] : charges) {
    HEKLA_RETURN_IF_ERROR(
        writer
            .Amend(*quotas, key,
                   [&after](const Value& present) -> absl::StatusOr<Value> {
                     Value changed = present;
                     for (const auto& [name, amount] : after) {
                       changed.Ensure({"status", "used"}).Set(name, amount.ToString());
                     }
                     return changed;
                   })
            .status());
  }
  return absl::OkStatus();
}

}  // namespace hekla::apiserver

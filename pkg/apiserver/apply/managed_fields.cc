#include "pkg/apiserver/apply/managed_fields.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::apiserver::apply {
namespace {

using apis::json::Quote;
using apis::json::Value;

constexpr size_t kMaxUpdaters = 10;
constexpr char kOldUpdaters[] = "ancient-changes";

bool Earlier(const Entry& a, const Entry& b) {
  return std::tie(b.applied, a.time, a.manager, a.api_version, a.subresource) <
         std::tie(a.applied, b.time, b.manager, b.api_version, b.subresource);
}

// Merges the oldest updaters until few enough are left.
void Cap(std::vector<Entry>& entries) {
  const auto count = [&] {
    return std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return !e.applied; });
  };
  std::sort(entries.begin(), entries.end(), Earlier);
  while (static_cast<size_t>(count()) > kMaxUpdaters) {
    const auto oldest = std::find_if(entries.begin(), entries.end(), [](const Entry& e) {
      return !e.applied && e.manager != kOldUpdaters;
    });
    Entry taken = std::move(*oldest);
    entries.erase(oldest);
    taken.manager = kOldUpdaters;
    const auto bucket = std::find_if(entries.begin(), entries.end(),
                                     [&](const Entry& e) { return e.SameManagerAs(taken); });
    if (bucket == entries.end()) {
      // Stands for one updater; the next round merges another one into it.
      entries.insert(entries.begin(), std::move(taken));
    } else {
      bucket->fields.UnionWith(taken.fields);
      bucket->time = std::max(bucket->time, taken.time);
    }
  }
}

}  // namespace

bool Entry::SameManagerAs(const Entry& other) const {
  return manager == other.manager && applied == other.applied && subresource == other.subresource &&
         (applied || api_version == other.api_version);
}

std::string Entry::Printed() const {
  std::string out = Quote(manager);
  if (!subresource.empty()) absl::StrAppend(&out, " with subresource ", Quote(subresource));
  if (!applied) absl::StrAppend(&out, " using ", api_version);
  return out;
}

std::vector<Entry> ReadManagedFields(const Value& object) {
  std::vector<Entry> entries;
  const Value& list = object.At("metadata").At("managedFields");
  if (!list.is_array()) return entries;
  for (const Value& item : list.as_array()) {
    const absl::string_view operation = item.GetString("operation");
    if (operation != "Apply" && operation != "Update") continue;
    Entry entry;
    entry.manager = std::string(item.GetString("manager"));
    entry.applied = operation == "Apply";
    entry.api_version = std::string(item.GetString("apiVersion"));
    entry.subresource = std::string(item.GetString("subresource"));
    entry.time = std::string(item.GetString("time"));
    entry.fields = FieldSet::FromJson(item.At("fieldsV1"));
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool IsReset(const Value& object) {
  const Value& list = object.At("metadata").At("managedFields");
  if (!list.is_array()) return false;
  return list.size() == 0 ||
         (list.size() == 1 && list.as_array()[0].is_object() && list.as_array()[0].size() == 0);
}

void WriteManagedFields(std::vector<Entry> entries, Value& object) {
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const Entry& e) { return e.fields.empty(); }),
                entries.end());
  if (entries.empty()) {
    if (Value* metadata = object.Find("metadata"); metadata != nullptr) {
      metadata->Remove("managedFields");
    }
    return;
  }
  Cap(entries);
  std::stable_sort(entries.begin(), entries.end(), Earlier);
  Value list = Value::MakeArray();
  for (const Entry& entry : entries) {
    Value item = Value::MakeObject({{"manager", entry.manager},
                                    {"operation", entry.applied ? "Apply" : "Update"},
                                    {"apiVersion", entry.api_version}});
    if (!entry.time.empty()) item.Set("time", entry.time);
    item.Set("fieldsType", "FieldsV1");
    item.Set("fieldsV1", entry.fields.ToJson());
    if (!entry.subresource.empty()) item.Set("subresource", entry.subresource);
    list.Append(std::move(item));
  }
  object.Ensure({"metadata"}).Set("managedFields", std::move(list));
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

}  // namespace hekla::apiserver::apply

#include "test/ray_conformance/compare.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hekla::ray_conformance {
namespace {

using apis::json::Member;
using apis::json::Value;

class Comparison {
 public:
  Comparison(const Case& recorded, size_t step, std::vector<Difference>& out)
      : recorded_(recorded), root_(absl::StrCat("/steps[", step, "]")), out_(out) {}

  const std::string& root() const { return root_; }

  void Values(const std::string& path, const Value& expected, const Value& found) {
    if (expected == found) return;
    if (expected.is_object() && found.is_object()) {
      for (const Member& m : expected.as_object()) {
        Values(absl::StrCat(path, "/", m.key), m.value, found.At(m.key));
      }
      for (const Member& m : found.as_object()) {
        if (!expected.Has(m.key)) Values(absl::StrCat(path, "/", m.key), Value(), m.value);
      }
      return;
    }
    if (expected.is_array() && found.is_array() && expected.size() == found.size()) {
      for (size_t i = 0; i < expected.size(); ++i) {
        Values(absl::StrCat(path, "[", i, "]"), expected.as_array()[i], found.as_array()[i]);
      }
      return;
    }
    Add(path, expected.is_null() ? "nothing" : apis::json::Dump(expected),
        found.is_null() ? "nothing" : apis::json::Dump(found));
  }

  void Add(const std::string& path, std::string expected, std::string found) {
    if (IsUnstable(recorded_, path)) return;
    out_.push_back({path, std::move(expected), std::move(found)});
  }

  bool Unstable(const std::string& path) const { return IsUnstable(recorded_, path); }

 private:
  const Case& recorded_;
  const std::string root_;
  std::vector<Difference>& out_;
};

std::vector<std::string> Strings(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) out.emplace_back(item.as_string());
  return out;
}

// Children of the companion controllers, which run beside the RayCluster controller: how the two
// interleave is chance. They come first here, in their order.
std::vector<std::string> ByController(const std::vector<std::string>& created) {
  std::vector<std::string> out = created;
  std::stable_partition(out.begin(), out.end(), [](const std::string& child) {
    return absl::StartsWith(child, "networkpolicies/") || absl::StartsWith(child, "issuers/") ||
           absl::StartsWith(child, "certificates/");
  });
  return out;
}

Value ListOf(const std::vector<std::string>& list) {
  Value out = Value::MakeArray();
  for (const std::string& item : list) out.Append(item);
  return out;
}

// What makes an event the same as another.
std::string KeyOf(const Value& event, bool with_message) {
  std::string key = absl::StrCat(
      event.GetString("type"), " ", event.GetString("reason"), " ", event.GetString("action"), " ",
      event.GetString("reportingController"), " ", event.GetString("regarding"));
  if (with_message) absl::StrAppend(&key, ": ", event.GetString("message"));
  return key;
}

// Whether anything of the step's events but their counts differed between recordings.
bool EventsUnstable(const Case& recorded, const std::string& root) {
  return std::any_of(recorded.unstable.begin(), recorded.unstable.end(),
                     [&root](const std::string& path) {
                       return absl::StartsWith(path, absl::StrCat(root, "/events")) &&
                              !absl::EndsWith(path, "/seriesCount");
                     });
}

// Sets of events. Where they differed between recordings, their kinds are compared, and only those
// that ours has too many of.
void CompareEvents(const Case& recorded, const Value& expected, const Value& found,
                   Comparison& comparison) {
  const bool unstable = EventsUnstable(recorded, comparison.root());
  std::set<std::string> wanted, optional, have, changed;
  for (const Value& event : expected.as_array()) {
    const std::string key = KeyOf(event, !unstable);
    (event.GetBool("update") ? optional : wanted).insert(key);
  }
  for (const Value& event : found.as_array()) {
    const std::string key = KeyOf(event, !unstable);
    (event.GetBool("update") ? changed : have).insert(key);
  }
  const std::string path = absl::StrCat(comparison.root(), "/events[]");
  for (const std::string& key : wanted) {
    if (have.contains(key) || changed.contains(key) || unstable) continue;
    comparison.Add(path, key, "nothing");
  }
  for (const std::string& key : have) {
    if (wanted.contains(key) || optional.contains(key)) continue;
    comparison.Add(path, "nothing", key);
  }
}

}  // namespace

void CompareStep(const Case& recorded, size_t step, const Dump& dump, const Value& response,
                 std::vector<Difference>& out) {
  const Step& expected = recorded.steps[step];
  Comparison comparison(recorded, step, out);
  const std::string& root = comparison.root();
  comparison.Values(absl::StrCat(root, "/response"), expected.response, response);
  const Value empty = Value::MakeObject();
  comparison.Values(absl::StrCat(root, "/objects"),
                    expected.objects.is_object() ? expected.objects : empty, dump.objects);
  comparison.Values(absl::StrCat(root, "/raycluster"), expected.raycluster, dump.raycluster);
  comparison.Values(absl::StrCat(root, "/status"), expected.status, dump.status);
  if (!comparison.Unstable(absl::StrCat(root, "/created"))) {
    comparison.Values(absl::StrCat(root, "/created"),
                      ListOf(ByController(Strings(expected.created))),
                      ListOf(ByController(dump.created)));
  }
  std::vector<std::string> deleted = Strings(expected.deleted);
  std::vector<std::string> gone = dump.deleted;
  std::sort(deleted.begin(), deleted.end());
  std::sort(gone.begin(), gone.end());
  comparison.Values(absl::StrCat(root, "/deleted"), ListOf(deleted), ListOf(gone));
  CompareEvents(recorded, expected.events, dump.events, comparison);
}

}  // namespace hekla::ray_conformance

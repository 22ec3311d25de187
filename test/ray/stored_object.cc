#include "test/ray/stored_object.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/quantity.h"

namespace hekla::ray {
namespace {

using apis::json::Dump;
using apis::json::Member;
using apis::json::Value;

// Members the server fills in, with the value they then have; "*" for any.
const std::multimap<std::string, std::string>& Defaults() {
  static const auto& defaults = *new std::multimap<std::string, std::string>{
      {"allocateLoadBalancerNodePorts", "true"},
      {"apiVersion", "\"v1\""},
      {"clusterIP", "\"<clusterIP>\""},
      {"clusterIPs", "*"},
      {"completionMode", "\"NonIndexed\""},
      {"completions", "1"},
      {"defaultMode", "420"},
      {"divisor", "\"0\""},
      {"dnsPolicy", "\"ClusterFirst\""},
      {"enableServiceLinks", "true"},
      {"expirationSeconds", "3600"},
      {"externalTrafficPolicy", "\"Cluster\""},
      {"failureThreshold", "3"},
      {"imagePullPolicy", "\"IfNotPresent\""},
      {"imagePullPolicy", "\"Always\""},
      {"internalTrafficPolicy", "\"Cluster\""},
      {"ipFamilies", "*"},
      {"ipFamilyPolicy", "\"SingleStack\""},
      {"manualSelector", "false"},
      {"nodePort", "*"},
      {"parallelism", "1"},
      {"periodSeconds", "10"},
      {"podReplacementPolicy", "*"},
      {"preemptionPolicy", "*"},
      {"priority", "*"},
      {"protocol", "\"TCP\""},
      {"queue", "\"default\""},
      {"resources", "{}"},
      {"restartPolicy", "\"Always\""},
      {"schedulerName", "\"default-scheduler\""},
      {"scheme", "\"HTTP\""},
      {"securityContext", "{}"},
      {"selector", "*"},
      {"serviceAccount", "*"},
      {"sessionAffinity", "\"None\""},
      {"status", "*"},
      {"successThreshold", "1"},
      {"suspend", "false"},
      {"terminationGracePeriodSeconds", "30"},
      {"terminationMessagePath", "\"/dev/termination-log\""},
      {"terminationMessagePolicy", "\"File\""},
      {"timeoutSeconds", "1"},
      {"type", "\"ClusterIP\""},
      {"volumeMode", "\"Filesystem\""},
  };
  return defaults;
}

bool MayBeAdded(const Member& member, const Value& stored, const std::string& path) {
  if (member.key == "targetPort") return member.value == stored.At("port");
  if (member.key == "hostPort") return member.value == stored.At("containerPort");
  if (member.key == "name" && absl::EndsWith(path, ".metadata")) return true;  // generated
  if (member.key == "finalizers") return absl::StrContains(Dump(member.value), "pvc-protection");
  const std::string text = Dump(member.value);
  const auto [begin, end] = Defaults().equal_range(member.key);
  return std::any_of(
      begin, end, [&](const auto& entry) { return entry.second == "*" || entry.second == text; });
}

// Tolerations the server adds to every pod.
void DropServerTolerations(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.as_array()) DropServerTolerations(item);
  }
  if (!value.is_object()) return;
  Value* tolerations = value.Find("tolerations");
  if (tolerations != nullptr && tolerations->is_array()) {
    std::erase_if(tolerations->as_array(), [](const Value& item) {
      const absl::string_view key = item.GetString("key");
      return item.GetInt("tolerationSeconds") == 300 &&
             (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable");
    });
    if (tolerations->size() == 0) value.Remove("tolerations");
  }
  for (Member& m : value.as_object()) DropServerTolerations(m.value);
}

// Labels the Job controller's defaults put on Jobs and their pods.
void DropJobLabels(Value& value) {
  if (!value.is_object()) return;
  for (const char* key : {"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name",
                          "controller-uid", "job-name"}) {
    value.Remove(key);
  }
  for (Member& m : value.as_object()) DropJobLabels(m.value);
}

// As the server does: limits without a request are requests too.
void CopyLimitsToRequests(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.as_array()) CopyLimitsToRequests(item);
  }
  if (!value.is_object()) return;
  if (Value* resources = value.Find("resources"); resources != nullptr && value.Has("image")) {
    const Value limits = resources->At("limits");
    if (limits.is_object()) {
      for (const Member& m : limits.as_object()) {
        if (!resources->At("requests").Has(m.key)) (*resources)["requests"].Set(m.key, m.value);
      }
    }
  }
  for (Member& m : value.as_object()) CopyLimitsToRequests(m.value);
}

bool SameAmount(const Value& a, const Value& b) {
  const auto text = [](const Value& v) { return v.is_string() ? v.as_string() : Dump(v); };
  const auto left = apis::meta::Quantity::Parse(text(a));
  const auto right = apis::meta::Quantity::Parse(text(b));
  return left.ok() && right.ok() && *left == *right && left->ToString() == right->ToString();
}

void Compare(const Value& sent, const Value& stored, const std::string& path,
             std::vector<std::string>& out) {
  if (sent.is_object() && stored.is_object()) {
    for (const Member& m : sent.as_object()) {
      const Value* other = stored.Find(m.key);
      // Empty texts, lists and nulls are not stored.
      if (other == nullptr &&
          (m.value.is_null() || Dump(m.value) == "\"\"" ||
           (m.value.is_array() && m.value.size() == 0) || Dump(m.value) == "false")) {
        continue;
      }
      if (other == nullptr) {
        out.push_back(absl::StrCat(path, ".", m.key, ": sent ", Dump(m.value)));
      } else {
        Compare(m.value, *other, absl::StrCat(path, ".", m.key), out);
      }
    }
    for (const Member& m : stored.as_object()) {
      if (!sent.Has(m.key) && !MayBeAdded(m, stored, path)) {
        out.push_back(absl::StrCat(path, ".", m.key, ": stored ", Dump(m.value)));
      }
    }
    return;
  }
  if (sent.is_array() && stored.is_array()) {
    if (sent.size() != stored.size()) {
      out.push_back(absl::StrCat(path, ": sent ", Dump(sent), ", stored ", Dump(stored)));
      return;
    }
    for (size_t i = 0; i < sent.size(); ++i) {
      Compare(sent.as_array()[i], stored.as_array()[i], absl::StrCat(path, "[", i, "]"), out);
    }
    return;
  }
  const bool amount = absl::StrContains(path, ".resources.") ||
                      absl::StrContains(path, ".minResources.") ||
                      absl::EndsWith(path, ".sizeLimit");
  if (sent == stored || (amount && SameAmount(sent, stored))) return;
  out.push_back(absl::StrCat(path, ": sent ", Dump(sent), ", stored ", Dump(stored)));
}

}  // namespace

std::vector<std::string> DifferencesFromStored(Value sent, Value stored) {
  CopyLimitsToRequests(sent);
  DropServerTolerations(stored);
  DropJobLabels(stored);
  if (Value* metadata = stored.Find("metadata")) {
    // The stores that keep apiVersion and kind with the object do so for all of them.
    metadata->Remove("uid");
  }
  stored.Set("apiVersion", sent.At("apiVersion"));
  stored.Set("kind", sent.At("kind"));
  std::vector<std::string> out;
  Compare(sent, stored, "", out);
  return out;
}

}  // namespace hekla::ray

#include "test/ray_conformance/names.h"

#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hekla::ray_conformance {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr absl::string_view kReplicaName = "ray.io/worker-group-replica-name";

// Names that the API server generated for objects that nobody saw.
const std::regex& RefusedName() {
  static const std::regex pattern("(-head-|-worker-)[bcdfghjklmnpqrstvwxz2456789]{5}\\b");
  return pattern;
}
const std::regex& Uid() {
  static const std::regex pattern(
      "\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b");
  return pattern;
}
const std::regex& Time() {
  static const std::regex pattern("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z");
  return pattern;
}
const std::regex& Age() {
  static const std::regex pattern("finalizer after [0-9a-zµ.]+ due");
  return pattern;
}

}  // namespace

void Names::SawPod(const Value& pod) {
  SawObject("pods", pod);
  const Value& metadata = pod.At("metadata");
  const std::string name(metadata.GetString("name"));
  const std::string prefix(metadata.GetString("generateName"));
  if (!prefix.empty() && absl::StartsWith(name, prefix) && name != prefix &&
      !generated_.contains(name)) {
    generated_[name] = absl::StrCat(prefix, "<suffix-", ++counts_[prefix], ">");
  }
  const std::string replica(metadata.At("labels").GetString(kReplicaName));
  if (replica.empty() || replica_names_.contains(replica)) return;
  const std::string group(metadata.At("labels").GetString("ray.io/group"));
  replica_names_[replica] =
      absl::StrCat(group, "-<rand-", ++counts_[absl::StrCat("replica of ", group)], ">");
}

void Names::SawObject(absl::string_view key, const Value& object) {
  const Value& metadata = object.At("metadata");
  const std::string uid(metadata.GetString("uid"));
  if (!uid.empty() && !uids_.contains(uid)) {
    uids_[uid] = absl::StrCat("<uid-", key, "-", Name(metadata.GetString("name")), ">");
  }
  if (key != "services") return;
  const auto invented = [this](const std::string& text) {
    return !text.empty() && text != "None" && !absl::StrContains(manifest_text_, text);
  };
  const std::string address(object.At("spec").GetString("clusterIP"));
  if (invented(address)) addresses_[address] = "<clusterIP>";
  const Value& ports = object.At("spec").At("ports");
  for (size_t i = 0; ports.is_array() && i < ports.size(); ++i) {
    const int64_t number = ports.as_array()[i].GetInt("nodePort");
    if (number != 0 && invented(absl::StrCat(number))) {
      addresses_[absl::StrCat(number)] = "<nodePort>";
    }
  }
}

void Names::SawCluster(const Value& cluster) {
  const std::string uid(cluster.At("metadata").GetString("uid"));
  uids_[uid] = "<cluster-uid>";
  short_uid_ = absl::StrCat("-ca-secret-", uid.substr(0, 8));
}

std::string Names::Name(absl::string_view name) const {
  const auto it = generated_.find(std::string(name));
  return it == generated_.end() ? std::string(name) : it->second;
}

std::string Names::RealName(absl::string_view placeholder) const {
  for (const auto& [name, text] : generated_) {
    if (text == placeholder) return name;
  }
  return std::string(placeholder);
}

std::pair<std::string, int> Names::Ordinal(const std::string& placeholder) {
  static constexpr absl::string_view kMark = "<suffix-";
  const size_t at = placeholder.find(std::string(kMark));
  if (at == std::string::npos) return {placeholder, 0};
  int number = 0;
  const std::string digits = placeholder.substr(at + kMark.size());
  if (!absl::SimpleAtoi(digits.substr(0, digits.find('>')), &number)) return {placeholder, 0};
  return {placeholder.substr(0, at), number};
}

std::string Names::Text(absl::string_view text) const {
  const auto address = addresses_.find(std::string(text));
  if (address != addresses_.end()) return address->second;
  std::string out(text);
  for (const auto* map : {&generated_, &replica_names_, &uids_}) {
    for (const auto& [from, to] : *map) {
      if (absl::StrContains(out, from)) out = absl::StrReplaceAll(out, {{from, to}});
    }
  }
  if (!short_uid_.empty()) out = absl::StrReplaceAll(out, {{short_uid_, "-ca-secret-<uid8>"}});
  out = std::regex_replace(out, RefusedName(), "$1<suffix-?>");
  out = std::regex_replace(out, Uid(), "<uid>");
  out = std::regex_replace(out, Time(), "<time>");
  return std::regex_replace(out, Age(), "finalizer after <duration> due");
}

void Names::Apply(Value& value) const {
  if (value.is_string()) {
    value = Value(Text(value.as_string()));
  } else if (value.is_array()) {
    for (Value& item : value.as_array()) Apply(item);
  } else if (value.is_object()) {
    for (Member& m : value.as_object()) {
      if (m.key == "nodePort" && m.value.is_int()) {
        const auto it = addresses_.find(absl::StrCat(m.value.as_int()));
        if (it != addresses_.end()) m.value = Value(it->second);
      } else {
        Apply(m.value);
      }
    }
  }
}

}  // namespace hekla::ray_conformance

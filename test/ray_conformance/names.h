#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::ray_conformance {

// Puts the placeholders of the recordings in the place of what differs from run to run: generated
// names, uids, times, addresses.
class Names {
 public:
  // `manifest_text`: node ports and addresses that stand in it stay.
  explicit Names(std::string manifest_text) : manifest_text_(std::move(manifest_text)) {}

  // Every pod, in the order of creation.
  void SawPod(const apis::json::Value& pod);
  // `key`: of the kind in recordings ("pods").
  void SawObject(absl::string_view key, const apis::json::Value& object);
  void SawCluster(const apis::json::Value& cluster);

  // "web-head-x8k2p" -> "web-head-<suffix-1>"; other text stays.
  std::string Name(absl::string_view name) const;
  // The other way round; other text stays.
  std::string RealName(absl::string_view placeholder) const;
  // Sorts "…<suffix-10>" behind "…<suffix-2>".
  static std::pair<std::string, int> Ordinal(const std::string& placeholder);

  // All strings of a value, at every depth.
  void Apply(apis::json::Value& value) const;
  std::string Text(absl::string_view text) const;

 private:
  std::string manifest_text_;
  std::map<std::string, int> counts_;                 // per generateName, per group
  std::map<std::string, std::string> generated_;      // name -> placeholder
  std::map<std::string, std::string> replica_names_;  // label value -> placeholder
  std::map<std::string, std::string> uids_;           // uid -> placeholder
  std::map<std::string, std::string> addresses_;      // cluster IPs and node ports
  std::string short_uid_;                             // of the cluster
};

}  // namespace hekla::ray_conformance

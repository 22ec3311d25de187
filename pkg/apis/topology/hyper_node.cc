#include "pkg/apis/topology/hyper_node.h"

namespace hekla::apis::topology {

using meta::Reader;

absl::StatusOr<HyperNode> DecodeHyperNode(const json::Value& value) {
  HyperNode out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.Int("tier", out.tier);
    spec.String("tierName", out.tier_name);
    spec.List("members", [&](Reader& item) {
      HyperNodeMember& member = out.members.emplace_back();
      std::string type;
      item.String("type", type);
      member.is_hyper_node = type == "HyperNode";
      item.Object("selector", [&](Reader& selector) {
        selector.Object("exactMatch", [&](Reader& m) { m.String("name", member.exact_name); });
        selector.Object("regexMatch", [&](Reader& m) { m.String("pattern", member.pattern); });
        meta::ReadLabelSelector(selector, "labelMatch", member.label_match);
      });
    });
  });
  root.Object("status", [&](Reader& status) { status.Int("nodeCount", out.node_count); });
  if (!root.status().ok()) return root.status();
  return out;
}

}  // namespace hekla::apis::topology

#include "pkg/apis/core/node.h"

namespace hekla::apis::core {

using meta::Reader;

absl::StatusOr<Node> DecodeNode(const json::Value& value) {
  Node node;
  const Reader root(value);
  meta::ReadObjectMeta(root, node.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.Bool("unschedulable", node.spec.unschedulable);
    spec.String("providerID", node.spec.provider_id);
    ReadTaints(spec, "taints", node.spec.taints);
  });
  root.Object("status", [&](Reader& status) {
    status.Resources("capacity", node.status.capacity);
    status.Resources("allocatable", node.status.allocatable);
    meta::ReadConditions(status, "conditions", node.status.conditions);
    status.List("images", [&](Reader& item) {
      ContainerImage& image = node.status.images.emplace_back();
      item.Strings("names", image.names);
      item.Int("sizeBytes", image.size_bytes);
    });
  });
  if (!root.status().ok()) return root.status();
  return node;
}

}  // namespace hekla::apis::core

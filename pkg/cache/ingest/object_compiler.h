#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/apis/apps/workloads.h"
#include "pkg/apis/core/node.h"
#include "pkg/apis/core/objects.h"
#include "pkg/apis/scheduling/pod_group.h"
#include "pkg/apis/scheduling/queue.h"
#include "pkg/cache/ingest/selector_compiler.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/specs.h"

namespace hekla::cache {

// Objects other than pods and volumes to immutable rows. Source: spec scheduler-core 8.5 to 8.8,
// 9.7.
// Threads: any.
class ObjectCompiler {
 public:
  explicit ObjectCompiler(std::shared_ptr<model::Dictionary> dictionary);

  std::shared_ptr<const model::NodeSpec> Node(const apis::core::Node& node) const;
  std::shared_ptr<const model::JobSpec> Job(const apis::scheduling::PodGroup& group) const;
  // `affinity` is spec.affinity as the server has it; null where absent.
  std::shared_ptr<const model::QueueSpec> Queue(const apis::scheduling::Queue& queue,
                                                const apis::json::Value& affinity) const;
  std::shared_ptr<const model::PriorityClassSpec> PriorityClass(
      const apis::scheduling::PriorityClass& priority_class) const;
  std::shared_ptr<const model::NamespaceSpec> Namespace(const apis::core::Namespace& ns) const;
  std::shared_ptr<const model::PodOwnerSpec> Owner(const apis::core::Service& service) const;
  std::shared_ptr<const model::PodOwnerSpec> Owner(
      const apis::core::ReplicationController& controller) const;
  std::shared_ptr<const model::PodOwnerSpec> Owner(const apis::apps::ReplicaSet& set) const;
  std::shared_ptr<const model::PodOwnerSpec> Owner(const apis::apps::StatefulSet& set) const;

 private:
  std::shared_ptr<const model::PodOwnerSpec> MakeOwner(model::PodOwnerSpec::Kind kind,
                                                       const apis::meta::ObjectMeta& meta,
                                                       model::Selector selector) const;

  const std::shared_ptr<model::Dictionary> dictionary_;
  const SelectorCompiler selectors_;
};

// The `key:value` entries of --node-selector, ORed. Entries without a colon or with nothing behind
// it are ignored; without any entry left every node is accepted. Source: spec scheduler-core 9.7.
class NodeFilter {
 public:
  explicit NodeFilter(const std::vector<std::string>& entries);
  bool Accepts(const apis::meta::StringMap& labels) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace hekla::cache

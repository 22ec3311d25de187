#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "pkg/model/cluster.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::plugins {

using LabelColumnId = util::Id<struct LabelColumnTag>;
using TopologyId = util::Id<struct TopologyTag>;
using EligibilityId = util::Id<struct EligibilityTag>;

inline constexpr int32_t kNoDomain = -1;

// Nodes grouped by the value of one label ("domains"). Domains are numbered as they appear and
// stay, also when their last node has gone.
struct Topology {
  model::Symbol key;                              // invalid: every live node is a domain of its own
  util::IdVector<model::NodeId, int32_t> domain;  // kNoDomain: no label, or not live
  std::vector<std::vector<model::NodeId>> members;  // by domain
  absl::flat_hash_map<model::Symbol, int32_t> index;
};

// On which nodes a pod could run as far as spread constraints care: the node carries every key,
// and, where asked for, matches the pod's node selector and affinity and has no untolerated hard
// taint.
struct EligibilityRule {
  std::vector<model::Symbol> keys;
  // Where either check is asked for: the pod whose constraints count.
  std::shared_ptr<const model::PodTemplate> pod;
  bool check_affinity = false;
  bool check_taints = false;
};

// What plugins read of node objects, turned into dense columns: values of label keys somebody has
// asked for, taint lists by number, domains. Filled on demand, refreshed for changed nodes only.
// Threads: the session thread.
class NodeColumns {
 public:
  NodeColumns();
  NodeColumns(const NodeColumns&) = delete;
  NodeColumns& operator=(const NodeColumns&) = delete;

  void Attach(const model::Cluster& cluster) { cluster_ = &cluster; }
  const model::Cluster& cluster() const { return *cluster_; }
  bool attached() const { return cluster_ != nullptr; }

  // Nodes whose object changed since they were refreshed last, each once: Refresh must follow for
  // each. Reads the touch log; the first call and a trimmed log visit every node.
  absl::Span<const model::NodeId> CollectStale();
  void Refresh(model::NodeId node);

  LabelColumnId Label(model::Symbol key);
  const model::Symbol* label(LabelColumnId id) const { return labels_[id].values.data(); }
  TopologyId TopologyOf(model::Symbol key);
  const Topology& topology(TopologyId id) const { return topologies_[id]; }
  // Every live node on its own.
  static TopologyId SelfTopology() { return TopologyId(0); }
  EligibilityId Eligibility(const EligibilityRule& rule);
  // Makes every EligibilityId meaningless.
  void ForgetEligibilities() { eligibilities_.clear(); }
  const uint8_t* eligible(EligibilityId id) const { return eligibilities_[id].nodes.data(); }

  // Lists of taints that occur, numbered; 0 is the empty list.
  const uint32_t* taint_set() const { return taint_set_.data(); }
  const std::vector<model::Taint>& taints(uint32_t set) const { return taint_sets_[set]; }
  size_t taint_set_count() const { return taint_sets_.size(); }
  const uint8_t* unschedulable() const { return unschedulable_.data(); }
  size_t size() const { return taint_set_.size(); }

 private:
  struct LabelColumn {
    model::Symbol key;
    util::IdVector<model::NodeId, model::Symbol> values;
  };
  struct EligibilityColumn {
    EligibilityRule rule;
    util::IdVector<model::NodeId, uint8_t> nodes;
  };

  void Grow(size_t rows);
  void SetDomain(Topology& topology, model::NodeId node);
  bool IsEligible(const EligibilityRule& rule, model::NodeId node) const;
  static bool Same(const EligibilityRule& a, const EligibilityRule& b);
  uint32_t InternTaints(const std::vector<model::Taint>& taints);

  const model::Cluster* cluster_ = nullptr;
  uint64_t position_ = 0;  // in the touch log
  bool started_ = false;
  std::vector<model::NodeId> stale_;
  util::IdVector<model::NodeId, uint64_t> seen_;  // static generation and liveness; 0: never

  util::IdVector<LabelColumnId, LabelColumn> labels_;
  absl::flat_hash_map<model::Symbol, LabelColumnId> label_index_;
  util::IdVector<TopologyId, Topology> topologies_;
  absl::flat_hash_map<model::Symbol, TopologyId> topology_index_;
  util::IdVector<EligibilityId, EligibilityColumn> eligibilities_;
  std::vector<std::vector<model::Taint>> taint_sets_;
  util::IdVector<model::NodeId, uint32_t> taint_set_;
  util::IdVector<model::NodeId, uint8_t> unschedulable_;
};

}  // namespace hekla::plugins

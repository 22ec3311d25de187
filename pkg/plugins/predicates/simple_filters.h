#pragma once

#include <memory>
#include <vector>

#include "pkg/framework/node_rows.h"
#include "pkg/plugins/predicates/filter_context.h"

// HOT PATH
namespace hekla::plugins {

// allocatable pods <= pods on the node. Best-effort pods meet it; others fail on room first.
class PodNumberFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "PodNumber"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kNodeLocal; }
  framework::RowUse row_use() const override { return framework::RowUse::kAccounts; }
  void Open(framework::ReasonTable& reasons) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
  bool FilterRows(model::TaskId task, const framework::NodeRows& rows, size_t begin,
                  absl::Span<double> slack) override;

 private:
  framework::ReasonId full_;
  framework::RowCursor cursor_;
  std::vector<double> left_;  // by row: pods it may still get
};

// spec.unschedulable, unless the pod tolerates the taint that goes with it. Spec 2.1.
class NodeUnschedulableFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "NodeUnschedulable"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kStatic; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;

 private:
  bool Tolerated(model::TaskId task) const;
  framework::ReasonId unschedulable_;
  model::Taint taint_;
};

// Node selector and required node affinity. Spec 2.3.
class NodeAffinityFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "NodeAffinity"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kStatic; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;

 private:
  framework::ReasonId mismatch_;
  ClassCache<std::unique_ptr<NodeMatcher>> matchers_;
  std::vector<uint8_t> ok_;
};

// Hard taints. Spec 2.4.
class TaintTolerationFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "TaintToleration"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kStatic; }
  void Open(framework::ReasonTable& reasons) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;

 private:
  framework::ReasonId tainted_;
  ClassCache<std::vector<uint8_t>> verdicts_;  // by taint list: 1 tolerated
};

// Host ports. Keeps the ports in use per node, re-read where the touch log says so. Spec 2.5.
class NodePortsFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "NodePorts"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kNodeLocal; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;

 private:
  void CatchUp();
  void Read(model::NodeId node);
  framework::ReasonId taken_;
  model::Symbol any_address_;
  uint64_t position_ = 0;
  bool started_ = false;
  util::IdVector<model::NodeId, std::vector<model::HostPort>> used_;
};

// Pods with resource claims: named as not supported and left pending. Ingest marks such pods too;
// the filter answers for those that come another way. Spec 2.14.
class DynamicResourcesFilter final : public PredicateFilter {
 public:
  static constexpr absl::string_view kUnsupported = "resource claims are not supported yet";
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "DynamicResources"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kStatic; }
  void Open(framework::ReasonTable& reasons) override { (void)reasons; }
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
};

}  // namespace hekla::plugins

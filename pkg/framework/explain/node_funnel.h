#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/explain/explanation.h"
#include "pkg/framework/session.h"
#include "pkg/model/cluster.h"

namespace hekla::framework::explain {

// Room that the tables show as free and the scheduler does not count as such: places that members
// of the same gang would take, and places that other jobs hold until pods there have gone.
struct Overlay {
  absl::flat_hash_map<model::NodeId, model::Resource> siblings, others;
  std::vector<std::string> holders;  // keys of the other jobs, sorted

  static void Add(absl::flat_hash_map<model::NodeId, model::Resource>& to, model::NodeId node,
                  const model::Resource& amounts);
};

struct FunnelAnswer {
  NodeFacts facts;
  bool fits = false;  // some node passes everything
  Cause cause = Cause::kNotTriedYet;
  std::string message;
};

// Asks every node every question about one pod, one question after the other; each takes out the
// nodes it refuses. Where nothing is left, the last question is the cause.
// Order: what the pod itself wants (node affinity), whether a node could ever hold it, the other
//        filters in their order, room. So a pod that needs a GPU is told about the taint of the
//        nodes with GPUs and not about those without.
// Cost:  nodes x filters, as one search without kept answers.
// Threads: the session thread, between cycles. Changes nothing but what filters keep for
//          themselves.
class NodeFunnel {
 public:
  explicit NodeFunnel(Session& session) : session_(session) {}

  FunnelAnswer Ask(model::TaskId task, const Overlay& overlay);

 private:
  struct Stage {
    std::string plugin, check;
    int32_t asked = 0;  // nodes that reached it
  };
  // Why one node is refused.
  struct Refusal {
    Cause cause = Cause::kNodeRefused;
    std::string reason;  // "": it is not
  };
  // True where something refuses the pod before nodes are looked at.
  bool RefusedEverywhere(model::TaskId task, FunnelAnswer& answer);
  void RefuseAll(absl::string_view plugin, absl::string_view check, ReasonId reason,
                 FunnelAnswer& answer);
  bool AskFilter(model::TaskId task, const Points::FilterEntry& entry, FunnelAnswer& answer);
  bool AskSize(model::TaskId task, FunnelAnswer& answer);
  bool AskRoom(model::TaskId task, const Overlay& overlay, FunnelAnswer& answer);
  // Counts the refused nodes of a stage and keeps the others; false if none is left, with the
  // cause.
  bool Narrow(const Stage& stage, const std::vector<Refusal>& refusals, FunnelAnswer& answer);
  std::string Sentence(model::TaskId task, Cause cause, const Stage& stage,
                       const NodeRefusal& main) const;
  std::string LargestText(model::TaskId task) const;
  std::string TaintText(model::TaskId task, absl::string_view node) const;
  std::string SelectorText(model::TaskId task) const;
  const std::string& PluginName(int32_t plugin) const;
  std::string NameOf(model::NodeId node) const;

  Session& session_;
  model::TaskId task_;
  std::vector<model::NodeId> candidates_;
  std::vector<Points::FilterEntry> active_;
};

// What one node lacks: resource → amount, in order of dimensions; empty where the request fits.
using Shortfall = std::vector<std::pair<model::ResourceDim, int64_t>>;

// The smallest shortfall among nodes that lack nothing else; `nodes` and `shortfalls` are parallel.
NearestMiss FindNearestMiss(const Session& session, const model::Resource& request,
                            const std::vector<model::NodeId>& nodes,
                            const std::vector<Shortfall>& shortfalls);

// Keeps the three smallest names.
void AddExample(std::vector<std::string>& examples, std::string name);

}  // namespace hekla::framework::explain

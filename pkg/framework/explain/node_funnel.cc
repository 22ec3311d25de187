#include "pkg/framework/explain/node_funnel.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "pkg/framework/explain/amounts.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework::explain {
namespace {

using model::NodeId;
using model::Resource;
using model::ResourceDim;
using model::TaskId;

constexpr absl::string_view kAffinityFilter = "NodeAffinity";
constexpr absl::string_view kPodNumberFilter = "PodNumber";
constexpr size_t kExamples = 3;

// What the pod lacks in a row of room.
Shortfall Missing(const Resource& request, const std::vector<int64_t>& room) {
  Shortfall missing;
  for (size_t d = 0; d < request.size(); ++d) {
    const auto dim = static_cast<ResourceDim>(d);
    const int64_t have = d < room.size() ? room[d] : 0;
    if (request[dim] > 0 && request[dim] > have) missing.emplace_back(dim, request[dim] - have);
  }
  return missing;
}

void Subtract(const absl::flat_hash_map<NodeId, Resource>& overlay, NodeId node,
              std::vector<int64_t>& room) {
  const auto it = overlay.find(node);
  if (it == overlay.end()) return;
  for (size_t d = 0; d < room.size(); ++d) room[d] -= it->second[static_cast<ResourceDim>(d)];
}

std::string InsufficientText(const model::ResourceLayout& layout, const Shortfall& missing) {
  return missing.empty() ? "" : absl::StrCat("Insufficient ", layout.Name(missing.front().first));
}

std::string Among(const NodeRefusal& r) {
  return absl::StrCat(absl::StrJoin(r.examples, ", "),
                      r.nodes > static_cast<int32_t>(r.examples.size()) ? ", …" : "");
}

// "all 2 nodes it could run on are", with the verb of the number.
std::string AllNodes(int32_t count, absl::string_view one, absl::string_view many) {
  return count == 1 ? absl::StrCat("the only node it could run on ", one)
                    : absl::StrCat("all ", count, " nodes it could run on ", many);
}

}  // namespace

void Overlay::Add(absl::flat_hash_map<NodeId, Resource>& to, NodeId node, const Resource& amounts) {
  to[node] += amounts;
}

void AddExample(std::vector<std::string>& examples, std::string name) {
  if (examples.size() == kExamples && name >= examples.back()) return;
  examples.insert(std::upper_bound(examples.begin(), examples.end(), name), std::move(name));
  if (examples.size() > kExamples) examples.pop_back();
}

const std::string& NodeFunnel::PluginName(int32_t plugin) const {
  return session_.state().plugins[static_cast<size_t>(plugin)].option->name;
}

std::string NodeFunnel::NameOf(NodeId node) const {
  return std::string(session_.dictionary().symbols.Text(session_.tables().nodes.name[node]));
}

void NodeFunnel::RefuseAll(absl::string_view plugin, absl::string_view check, ReasonId reason,
                           FunnelAnswer& answer) {
  const ReasonTable& reasons = session_.reasons();
  NodeRefusal refusal;
  refusal.plugin = std::string(plugin);
  refusal.check = std::string(check);
  refusal.reason = reasons.text(reason);
  refusal.nodes = static_cast<int32_t>(candidates_.size());
  for (NodeId node : candidates_) AddExample(refusal.examples, NameOf(node));
  answer.facts.refusals.push_back(std::move(refusal));
  answer.cause = reasons.cause(reason);
  answer.message = std::string(reasons.detail(reason));
}

bool NodeFunnel::RefusedEverywhere(TaskId task, FunnelAnswer& answer) {
  if (const std::string& error = session_.tables().tasks.spec[task]->host_error; !error.empty()) {
    RefuseAll("", "Support", session_.reasons().Intern(Code::kError, Cause::kUnsupported, error),
              answer);
    return true;
  }
  for (const auto& entry : session_.points().pre_predicate.entries()) {
    const ReasonId reason = entry.call(task);
    if (!reason.valid()) continue;
    RefuseAll(PluginName(entry.plugin), "PrePredicate", reason, answer);
    return true;
  }
  for (const Points::FilterEntry& entry : session_.points().filters) {
    const PreFilterResult result = entry.filter->PreFilter(task);
    if (result.outcome == PreFilterResult::Outcome::kRejectAll) {
      const absl::string_view check = entry.filter->name();
      RefuseAll(PluginName(entry.plugin), check, result.reason, answer);
      return true;
    }
    if (result.outcome == PreFilterResult::Outcome::kRun) active_.push_back(entry);
  }
  return false;
}

bool NodeFunnel::Narrow(const Stage& stage, const std::vector<Refusal>& refusals,
                        FunnelAnswer& answer) {
  std::map<std::string, std::pair<Cause, NodeRefusal>> refused;
  size_t kept = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (refusals[i].reason.empty()) {
      candidates_[kept++] = candidates_[i];
      continue;
    }
    auto& [cause, refusal] = refused[refusals[i].reason];
    cause = refusals[i].cause;
    ++refusal.nodes;
    AddExample(refusal.examples, NameOf(candidates_[i]));
  }
  candidates_.resize(kept);
  NodeRefusal main;
  Cause main_cause = Cause::kNodeRefused;
  for (auto& [reason, entry] : refused) {
    auto& [cause, refusal] = entry;
    refusal.plugin = stage.plugin;
    refusal.check = stage.check;
    refusal.reason = reason;
    if (refusal.nodes > main.nodes) {
      main = refusal;
      main_cause = cause;
    }
    answer.facts.refusals.push_back(std::move(refusal));
  }
  if (kept > 0) return true;
  answer.cause = main_cause;
  answer.message = Sentence(task_, answer.cause, stage, main);
  return false;
}

bool NodeFunnel::AskFilter(TaskId task, const Points::FilterEntry& entry, FunnelAnswer& answer) {
  std::vector<ReasonId> answers(candidates_.size());
  entry.filter->Filter(task, candidates_, absl::MakeSpan(answers));
  const ReasonTable& reasons = session_.reasons();
  std::vector<Refusal> refusals(candidates_.size());
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].valid()) continue;
    refusals[i] = {reasons.cause(answers[i]), reasons.text(answers[i])};
  }
  Stage stage;
  stage.plugin = PluginName(entry.plugin);
  stage.check = std::string(entry.filter->name());
  stage.asked = static_cast<int32_t>(candidates_.size());
  return Narrow(stage, refusals, answer);
}

bool NodeFunnel::AskSize(TaskId task, FunnelAnswer& answer) {
  const model::Tables& t = session_.tables();
  const Resource& request = t.tasks.pod[task]->request;
  std::vector<Refusal> refusals(candidates_.size());
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const int64_t* row = t.nodes.allocatable.row(candidates_[i].index());
    const std::vector<int64_t> whole(row, row + t.nodes.allocatable.width());
    refusals[i] = {Cause::kRequestTooLarge,
                   InsufficientText(session_.dictionary().resources, Missing(request, whole))};
  }
  Stage stage;
  stage.check = "Size";
  stage.asked = static_cast<int32_t>(candidates_.size());
  return Narrow(stage, refusals, answer);
}

bool NodeFunnel::AskRoom(TaskId task, const Overlay& overlay, FunnelAnswer& answer) {
  const model::Tables& t = session_.tables();
  const model::ResourceLayout& layout = session_.dictionary().resources;
  const Resource& request = t.tasks.pod[task]->request;
  std::vector<Refusal> refusals(candidates_.size());
  NodeRefusal reserved;  // nodes on which only what others hold is in the way
  std::vector<NodeId> lacking;
  std::vector<Shortfall> lacks;
  std::vector<int64_t> room(t.nodes.idle.width());
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const NodeId node = candidates_[i];
    for (size_t d = 0; d < room.size(); ++d) {
      room[d] = t.nodes.FutureIdle(node, static_cast<ResourceDim>(d));
    }
    Subtract(overlay.siblings, node, room);
    const Shortfall own = Missing(request, room);
    Subtract(overlay.others, node, room);
    Shortfall missing = Missing(request, room);
    refusals[i] = {Cause::kInsufficientResource, InsufficientText(layout, missing)};
    if (missing.empty()) continue;
    if (own.empty()) {
      ++reserved.nodes;
      AddExample(reserved.examples, NameOf(node));
    }
    lacking.push_back(node);
    lacks.push_back(std::move(missing));
  }
  Stage stage;
  stage.check = "Room";
  stage.asked = static_cast<int32_t>(candidates_.size());
  const bool left = Narrow(stage, refusals, answer);
  if (!lacking.empty()) {
    answer.facts.nearest = FindNearestMiss(session_, request, lacking, lacks);
  }
  if (left) return true;
  if (reserved.nodes > 0) {
    answer.cause = Cause::kRoomReserved;
    std::vector<std::string> holders = overlay.holders;
    if (holders.size() > kExamples) holders.resize(kExamples);
    answer.message =
        absl::StrCat("the room it would need is reserved for ", absl::StrJoin(holders, ", "),
                     overlay.holders.size() > kExamples ? ", …" : "", " on ", Among(reserved));
    return false;
  }
  const bool only_pods = lacks.front().size() == 1 && lacks.front().front().first == model::kPods;
  answer.cause = only_pods ? Cause::kInsufficientPods : Cause::kInsufficientResource;
  answer.message = answer.facts.nearest->text;
  const bool beside = std::any_of(lacking.begin(), lacking.end(),
                                  [&](NodeId node) { return overlay.siblings.contains(node); });
  if (beside) answer.message += ", with other members of its gang in place";
  return false;
}

FunnelAnswer NodeFunnel::Ask(TaskId task, const Overlay& overlay) {
  const model::Tables& t = session_.tables();
  task_ = task;
  active_.clear();
  candidates_ = t.nodes.leaves;
  FunnelAnswer answer;
  answer.facts.total = static_cast<int32_t>(candidates_.size());
  if (candidates_.empty()) {
    answer.cause = Cause::kNoNodes;
    answer.message = "the scheduler knows no node";
    return answer;
  }
  if (RefusedEverywhere(task, answer)) return answer;
  const bool sized = t.tasks.best_effort[task] == 0;
  // Room counts slots, too; what counts pods comes behind it where there is room to be asked about.
  const auto turn = [&](const Points::FilterEntry& entry) {
    if (entry.filter->name() == kAffinityFilter) return 0;
    return sized && entry.filter->name() == kPodNumberFilter ? 2 : 1;
  };
  const auto ask = [&](int which) {
    return std::all_of(active_.begin(), active_.end(), [&](const Points::FilterEntry& entry) {
      return turn(entry) != which || AskFilter(task, entry, answer);
    });
  };
  if (!ask(0) || (sized && !AskSize(task, answer)) || !ask(1)) return answer;
  if ((sized && !AskRoom(task, overlay, answer)) || !ask(2)) return answer;
  answer.fits = true;
  answer.facts.fitting = static_cast<int32_t>(candidates_.size());
  std::vector<std::string> examples;
  for (NodeId node : candidates_) AddExample(examples, NameOf(node));
  answer.message = absl::StrCat("it fits on ", answer.facts.fitting, " of ", answer.facts.total,
                                " nodes (", absl::StrJoin(examples, ", "),
                                candidates_.size() > examples.size() ? ", …)" : ")");
  return answer;
}

std::string NodeFunnel::Sentence(TaskId task, Cause cause, const Stage& stage,
                                 const NodeRefusal& main) const {
  switch (cause) {
    case Cause::kNodeAffinityMismatch:
      return absl::StrCat("none of ", stage.asked, " nodes matches its node selector or affinity",
                          SelectorText(task));
    case Cause::kRequestTooLarge:
      return LargestText(task);
    case Cause::kUntoleratedTaint:
      return absl::StrCat(AllNodes(stage.asked, "has", "have"),
                          " taints it does not tolerate: ", main.examples.front(),
                          TaintText(task, main.examples.front()));
    case Cause::kNodeUnschedulable:
      return absl::StrCat(AllNodes(stage.asked, "is", "are"), " cordoned (", Among(main), ")");
    default:
      return absl::StrCat(AllNodes(stage.asked, "refuses", "refuse"), " it: ", main.reason, " (",
                          Among(main), ")");
  }
}

// The amounts no node could ever hold, beside the largest there is among all nodes.
std::string NodeFunnel::LargestText(TaskId task) const {
  const model::Tables& t = session_.tables();
  const model::ResourceLayout& layout = session_.dictionary().resources;
  const Resource& request = t.tasks.pod[task]->request;
  std::vector<std::string> parts;
  for (size_t d = 0; d < request.size(); ++d) {
    const auto dim = static_cast<ResourceDim>(d);
    int64_t largest = 0;
    for (NodeId node : t.nodes.leaves) {
      largest = std::max(largest, t.nodes.allocatable.at(node.index(), dim));
    }
    if (request[dim] <= largest) continue;
    const std::string name = layout.Name(dim);
    parts.push_back(absl::StrCat(
        "asks for ", name, " ", AmountText(layout, dim, static_cast<double>(request[dim])),
        largest == 0 ? ", which no node has"
                     : absl::StrCat(", the largest node has ",
                                    AmountText(layout, dim, static_cast<double>(largest)))));
  }
  if (!parts.empty()) return absl::StrJoin(parts, "; ");
  return absl::StrCat("asks for ", AmountsText(layout, request),
                      ", more than any node that matches has in all");
}

std::string NodeFunnel::TaintText(TaskId task, absl::string_view name) const {
  const NodeId node = session_.cluster().FindNode(name);
  const model::Tables& t = session_.tables();
  if (!node.valid() || t.nodes.spec[node] == nullptr) return "";
  const model::SymbolTable& symbols = session_.dictionary().symbols;
  for (const model::Taint& taint : t.nodes.spec[node]->taints) {
    if (taint.effect == model::Taint::Effect::kPreferNoSchedule) continue;
    bool tolerated = false;
    for (const model::Toleration& toleration : t.tasks.pod[task]->tolerations) {
      tolerated = tolerated || model::Tolerates(toleration, taint);
    }
    if (tolerated) continue;
    const absl::string_view value = taint.value.valid() ? symbols.Text(taint.value) : "";
    return absl::StrCat(
        " has ", symbols.Text(taint.key), value.empty() ? "" : "=", value,
        taint.effect == model::Taint::Effect::kNoExecute ? ":NoExecute" : ":NoSchedule");
  }
  return "";
}

std::string NodeFunnel::SelectorText(TaskId task) const {
  const model::SymbolTable& symbols = session_.dictionary().symbols;
  std::vector<std::string> parts;
  for (const auto& [key, value] : session_.tables().tasks.pod[task]->node_selector) {
    parts.push_back(absl::StrCat(symbols.Text(key), "=", symbols.Text(value)));
  }
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? "" : absl::StrCat(" (", absl::StrJoin(parts, ", "), ")");
}

}  // namespace hekla::framework::explain

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/framework/explain/amounts.h"
#include "pkg/framework/explain/node_funnel.h"

namespace hekla::framework::explain {
namespace {

using model::NodeId;
using model::Resource;

// How much of the request is missing, at worst.
double Distance(const Resource& request, const Shortfall& missing) {
  double worst = 0;
  for (const auto& [dim, amount] : missing) {
    worst = std::max(worst, static_cast<double>(amount) / static_cast<double>(request[dim]));
  }
  return worst;
}

// Labels that say where a node is or what it is, before all others.
int RankOf(absl::string_view key) {
  static constexpr absl::string_view kFirst[] = {"topology.kubernetes.io/zone",
                                                 "topology.kubernetes.io/region",
                                                 "node.kubernetes.io/instance-type"};
  for (size_t i = 0; i < std::size(kFirst); ++i) {
    if (key == kFirst[i]) return static_cast<int>(i);
  }
  return static_cast<int>(std::size(kFirst));
}

// A label that all these nodes have and some other node has not. "" if there is none.
std::string SharedLabel(const Session& session, const std::vector<NodeId>& group) {
  const model::NodeTable& nodes = session.tables().nodes;
  const model::SymbolTable& symbols = session.dictionary().symbols;
  if (nodes.spec[group.front()] == nullptr) return "";
  std::pair<int, std::string> best = {INT32_MAX, ""};
  for (const model::Label& label : nodes.spec[group.front()]->labels) {
    const absl::string_view key = symbols.Text(label.first);
    if (key == "kubernetes.io/hostname") continue;
    const auto has = [&](NodeId node) {
      return nodes.spec[node] != nullptr &&
             model::FindLabel(nodes.spec[node]->labels, label.first) == label.second;
    };
    if (!std::all_of(group.begin(), group.end(), has)) continue;
    if (std::all_of(nodes.leaves.begin(), nodes.leaves.end(), has)) continue;
    best = std::min(
        best, std::make_pair(RankOf(key), absl::StrCat(key, "=", symbols.Text(label.second))));
  }
  return best.second;
}

std::string MoreText(const std::vector<std::pair<std::string, std::string>>& missing) {
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : missing) {
    const std::string what = resource != "pods" ? resource
                             : amount == "1"    ? "pod slot"
                                                : "pod slots";
    parts.push_back(absl::StrCat(amount, " more ", what));
  }
  return absl::StrJoin(parts, " and ");
}

std::string PlaceText(const std::string& label) {
  constexpr absl::string_view kZone = "topology.kubernetes.io/zone=";
  constexpr absl::string_view kRegion = "topology.kubernetes.io/region=";
  if (label.empty()) return "";
  if (absl::StartsWith(label, kZone)) return absl::StrCat(" in zone ", label.substr(kZone.size()));
  if (absl::StartsWith(label, kRegion)) {
    return absl::StrCat(" in region ", label.substr(kRegion.size()));
  }
  return absl::StrCat(" with ", label);
}

}  // namespace

NearestMiss FindNearestMiss(const Session& session, const Resource& request,
                            const std::vector<NodeId>& nodes,
                            const std::vector<Shortfall>& shortfalls) {
  size_t best = 0;
  for (size_t i = 1; i < nodes.size(); ++i) {
    const double a = Distance(request, shortfalls[i]), b = Distance(request, shortfalls[best]);
    if (a < b || (a == b && shortfalls[i] < shortfalls[best])) best = i;
  }
  NearestMiss out;
  std::vector<NodeId> group;
  const model::SymbolTable& symbols = session.dictionary().symbols;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (shortfalls[i] != shortfalls[best]) continue;
    group.push_back(nodes[i]);
    AddExample(out.examples, std::string(symbols.Text(session.tables().nodes.name[nodes[i]])));
  }
  out.nodes = static_cast<int32_t>(group.size());
  const model::ResourceLayout& layout = session.dictionary().resources;
  for (const auto& [dim, amount] : shortfalls[best]) {
    out.missing.emplace_back(layout.Name(dim),
                             AmountText(layout, dim, static_cast<double>(amount)));
  }
  if (group.size() > 1) out.label = SharedLabel(session, group);
  out.text = group.size() == 1
                 ? absl::StrCat("needs ", MoreText(out.missing), " on ", out.examples.front())
                 : absl::StrCat("needs ", MoreText(out.missing), " on any of ", group.size(),
                                " nodes", PlaceText(out.label));
  return out;
}

}  // namespace hekla::framework::explain

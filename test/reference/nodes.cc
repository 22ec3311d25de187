#include <algorithm>

#include "test/reference/session.h"

// Filters of nodes.
namespace hekla::reference {
namespace {

bool Tolerates(const Toleration& t, const Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  return t.exists || t.value == taint.value;
}

std::optional<int64_t> Number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoll(text);
}

bool Holds(const Expression& e, const std::string* value) {
  const bool listed =
      value != nullptr && std::find(e.values.begin(), e.values.end(), *value) != e.values.end();
  switch (e.op) {
    case Expression::kIn:
      return listed;
    case Expression::kNotIn:
      return !listed;
    case Expression::kExists:
      return value != nullptr;
    case Expression::kDoesNotExist:
      return value == nullptr;
    case Expression::kGreater:
    case Expression::kLess: {
      if (value == nullptr) return false;
      const auto left = Number(*value);
      const auto right = Number(e.values.front());
      if (!left.has_value() || !right.has_value()) return false;
      return e.op == Expression::kGreater ? *left > *right : *left < *right;
    }
  }
  return false;
}

bool Clash(const HostPort& a, const HostPort& b) {
  if (a.port == 0 || a.port != b.port || a.udp != b.udp) return false;
  return a.ip == b.ip || a.ip.empty() || b.ip.empty();
}

bool HasAllTopologies(const Pod& pod, const Node& node) {
  return std::all_of(pod.spread.begin(), pod.spread.end(), [&](const Spread& s) {
    return !s.hard || !Label(node.labels, s.topology).empty();
  });
}

}  // namespace

std::string Label(const StringMap& labels, const std::string& key) {
  const auto it = labels.find(key);
  return it == labels.end() ? "" : it->second;
}

bool TolerateAny(const Pod& pod, const Taint& taint) {
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                     [&](const Toleration& t) { return Tolerates(t, taint); });
}

bool Matches(const Term& term, const Node& node) {
  for (const Expression& e : term.labels) {
    const auto it = node.labels.find(e.key);
    if (!Holds(e, it == node.labels.end() ? nullptr : &it->second)) return false;
  }
  for (const Expression& e : term.fields) {
    if (!Holds(e, &node.name)) return false;
  }
  return !term.labels.empty() || !term.fields.empty();
}

bool Counts(const Spread& spread, const Pod& pod, const Pod& existing) {
  if (existing.space != pod.space || existing.status == Status::kReleasing) return false;
  if (Label(existing.labels, spread.key) != spread.value) return false;
  return std::all_of(spread.label_keys.begin(), spread.label_keys.end(), [&](const auto& key) {
    const auto own = pod.labels.find(key);
    return own == pod.labels.end() || Label(existing.labels, key) == own->second;
  });
}

bool Session::Includes(const Spread& spread, const Pod& pod, const Node& node) {
  if (spread.honors_affinity && !AffinityFits(pod, node)) return false;
  return !spread.honors_taints || TaintsFit(pod, node);
}

bool Session::Selects(const PodTerm& term, const Pod& owner, const Pod& other) {
  if (Label(other.labels, term.key) != term.value) return false;
  if (term.namespaces.empty() && !term.namespace_labels.has_value()) {
    return other.space == owner.space;
  }
  for (const std::string& space : term.namespaces) {
    if (space == other.space) return true;
  }
  if (!term.namespace_labels.has_value()) return false;
  const StringMap* labels = nullptr;
  for (const Namespace& space : cluster.namespaces) {
    if (space.name == other.space) labels = &space.labels;
  }
  for (const auto& [key, value] : *term.namespace_labels) {
    if (labels == nullptr || Label(*labels, key) != value) return false;
  }
  return true;
}

bool Session::AffinityFits(const Pod& pod, const Node& node) {
  for (const auto& [key, value] : pod.selector) {
    if (Label(node.labels, key) != value) return false;
  }
  if (pod.required.empty()) return true;
  return std::any_of(pod.required.begin(), pod.required.end(),
                     [&](const Term& term) { return Matches(term, node); });
}

bool Session::TaintsFit(const Pod& pod, const Node& node) {
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" || TolerateAny(pod, taint);
  });
}

void Session::CountForTerms(Question& q) {
  const Pod& pod = *q.pod;
  std::vector<const PodTerm*> required;
  for (const PodTerm& term : pod.terms) {
    if (term.kind == PodTerm::kAffinity) required.push_back(&term);
  }
  q.near.resize(required.size());
  q.self_affine = true;
  for (const PodTerm* term : required) q.self_affine = q.self_affine && Selects(*term, pod, pod);
  for (Node& node : cluster.nodes) {
    for (Pod* existing : PodsOn(node)) {
      const bool wanted = std::all_of(required.begin(), required.end(), [&](const PodTerm* term) {
        return Selects(*term, pod, *existing);
      });
      for (size_t i = 0; wanted && i < required.size(); ++i) {
        const std::string domain = Label(node.labels, required[i]->topology);
        if (!domain.empty()) q.near[i].insert(domain);
      }
      for (const PodTerm& term : pod.terms) {
        if (term.kind != PodTerm::kAntiAffinity || !Selects(term, pod, *existing)) continue;
        q.unwanted.insert({term.topology, Label(node.labels, term.topology)});
      }
      // Symmetry: whom existing pods do not want beside them.
      for (const PodTerm& term : existing->terms) {
        if (term.kind != PodTerm::kAntiAffinity || !Selects(term, *existing, pod)) continue;
        q.unwanted.insert({term.topology, Label(node.labels, term.topology)});
      }
    }
  }
}

void Session::CountForSpread(Question& q) {
  const Pod& pod = *q.pod;
  for (const Spread& spread : pod.spread) {
    std::map<std::string, int>& counts = q.spread.emplace_back();
    if (!spread.hard) continue;
    for (Node& node : cluster.nodes) {
      if (!HasAllTopologies(pod, node) || !Includes(spread, pod, node)) continue;
      int& count = counts[Label(node.labels, spread.topology)];
      for (Pod* existing : PodsOn(node)) count += Counts(spread, pod, *existing) ? 1 : 0;
    }
  }
}

Question Session::Ask(const Pod& pod) {
  Question q{&pod};
  CountForTerms(q);
  CountForSpread(q);
  for (const std::string& name : pod.claims) {
    q.claims.push_back(nullptr);
    for (const Claim& claim : cluster.claims) {
      if (claim.space == pod.space && claim.name == name) q.claims.back() = &claim;
    }
  }
  return q;
}

bool Session::PodTermsFit(const Question& q, const Node& node) {
  bool near = true, anywhere = false;
  size_t i = 0;
  for (const PodTerm& term : q.pod->terms) {
    if (term.kind != PodTerm::kAffinity) continue;
    const std::string domain = Label(node.labels, term.topology);
    if (domain.empty()) return false;
    near = near && q.near[i].count(domain) > 0;
    anywhere = anywhere || !q.near[i].empty();
    ++i;
  }
  if (!near && (anywhere || !q.self_affine)) return false;
  return std::none_of(q.unwanted.begin(), q.unwanted.end(), [&](const auto& entry) {
    return !entry.second.empty() && Label(node.labels, entry.first) == entry.second;
  });
}

bool Session::SpreadFits(const Question& q, const Node& node) {
  for (size_t i = 0; i < q.spread.size(); ++i) {
    const Spread& spread = q.pod->spread[i];
    if (!spread.hard) continue;
    const std::string domain = Label(node.labels, spread.topology);
    if (domain.empty()) return false;
    const std::map<std::string, int>& counts = q.spread[i];
    int min = counts.empty() ? 0 : counts.begin()->second;
    for (const auto& [name, count] : counts) min = std::min(min, count);
    if (static_cast<int>(counts.size()) < spread.min_domains) min = 0;
    const int self = Counts(spread, *q.pod, *q.pod) ? 1 : 0;
    const auto here = counts.find(domain);
    if ((here == counts.end() ? 0 : here->second) + self - min > spread.max_skew) return false;
  }
  return true;
}

bool Session::VolumesFit(const Question& q, const Node& node) {
  if (q.claims.empty()) return true;
  const std::string zone = Label(node.labels, "topology.kubernetes.io/zone");
  for (const Claim* claim : q.claims) {
    if (claim == nullptr) return false;
    const auto& zones = claim->zones;
    if (!zones.empty() && std::find(zones.begin(), zones.end(), zone) == zones.end()) return false;
    if (!claim->zone_label.empty() && !zone.empty() && zone != claim->zone_label) return false;
  }
  if (!node.volume_limit.has_value()) return true;
  std::set<std::string> attached, wanted;
  for (Pod* pod : PodsOn(node)) {
    for (const std::string& name : pod->claims) {
      // What a claim stands for that is gone is not known.
      const bool there = std::any_of(
          cluster.claims.begin(), cluster.claims.end(),
          [&](const Claim& claim) { return claim.space == pod->space && claim.name == name; });
      if (there) attached.insert(pod->space + "/" + name);
    }
  }
  for (const Claim* claim : q.claims) {
    const std::string key = claim->space + "/" + claim->name;
    if (attached.count(key) == 0) wanted.insert(key);
  }
  return wanted.empty() || static_cast<int>(attached.size() + wanted.size()) <= *node.volume_limit;
}

bool Session::Fits(const Question& q, const Node& node) {
  const Pod& pod = *q.pod;
  if (node.allocatable[kPods] <= static_cast<double>(PodsOn(node).size())) return false;
  if (node.unschedulable &&
      !TolerateAny(pod, {"node.kubernetes.io/unschedulable", "", "NoSchedule"})) {
    return false;
  }
  if (!AffinityFits(pod, node) || !TaintsFit(pod, node)) return false;
  for (Pod* other : PodsOn(node)) {
    if (Clash(pod.host_port, other->host_port)) return false;
  }
  return PodTermsFit(q, node) && SpreadFits(q, node) && VolumesFit(q, node);
}

}  // namespace hekla::reference

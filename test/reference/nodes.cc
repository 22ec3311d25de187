#include <algorithm>
#include <cmath>
#include <set>

#include "pkg/util/random.h"
#include "test/reference/session.h"

// Filters and scores of nodes.
namespace hekla::reference {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";

std::string Label(const StringMap& labels, const std::string& key) {
  const auto it = labels.find(key);
  return it == labels.end() ? "" : it->second;
}

bool Tolerates(const Toleration& t, const Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (!t.key.empty() && t.key != taint.key) return false;
  return t.exists || t.value == taint.value;
}

bool TolerateAny(const Pod& pod, const Taint& taint) {
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                     [&](const Toleration& t) { return Tolerates(t, taint); });
}

// DefaultNormalize.
std::vector<double> Normalize(std::vector<double> raw, bool reverse) {
  const double max = raw.empty() ? 0 : *std::max_element(raw.begin(), raw.end());
  for (double& r : raw) {
    if (max == 0) {
      r = reverse ? 100 : 0;
      continue;
    }
    r = std::trunc(100 * r / max);
    if (reverse) r = 100 - r;
  }
  return raw;
}

double NonZero(double amount, bool named, double fallback) { return named ? amount : fallback; }

double Balance(const Amounts& used, const Node& node, bool gpu) {
  std::vector<double> fractions;
  for (int d : {kCpu, kMemory, kGpu}) {
    if (d == kGpu && !gpu) continue;
    if (node.allocatable[d] > 0) fractions.push_back(std::min(1.0, used[d] / node.allocatable[d]));
  }
  double deviation = 0;
  if (fractions.size() == 2) {
    deviation = std::abs(fractions[0] - fractions[1]) / 2;
  } else if (fractions.size() > 2) {
    double mean = 0, sum = 0;
    for (double f : fractions) mean += f;
    mean /= static_cast<double>(fractions.size());
    for (double f : fractions) sum += (f - mean) * (f - mean);
    deviation = std::sqrt(sum / static_cast<double>(fractions.size()));
  }
  return std::trunc((1 - deviation) * 100);
}

}  // namespace

bool Matches(const std::vector<Expression>& term, const StringMap& labels) {
  for (const Expression& e : term) {
    const auto it = labels.find(e.key);
    const bool present = it != labels.end();
    const bool listed =
        present && std::find(e.values.begin(), e.values.end(), it->second) != e.values.end();
    const bool holds = e.op == Expression::kIn       ? listed
                       : e.op == Expression::kNotIn  ? !listed
                       : e.op == Expression::kExists ? present
                                                     : !present;
    if (!holds) return false;
  }
  return !term.empty();
}

bool Session::AffinityFits(const Pod& pod, const Node& node) {
  for (const auto& [key, value] : pod.selector) {
    if (Label(node.labels, key) != value) return false;
  }
  if (pod.required.empty()) return true;
  return std::any_of(pod.required.begin(), pod.required.end(),
                     [&](const auto& term) { return Matches(term, node.labels); });
}

// Pods with the label in the domain of a topology.
int Session::MatchingIn(const std::string& key, const std::string& value,
                        const std::string& topology, const std::string& domain, bool live_only) {
  int n = 0;
  for (Node& node : cluster.nodes) {
    if (Label(node.labels, topology) != domain) continue;
    for (Pod* pod : PodsOn(node)) {
      if (live_only && pod->status == Status::kReleasing) continue;
      n += Label(pod->labels, key) == value ? 1 : 0;
    }
  }
  return n;
}

bool Session::PodTermsFit(const Pod& pod, const Node& node) {
  // Affinity: pods that match all terms.
  std::vector<const PodTerm*> required;
  for (const PodTerm& term : pod.terms) {
    if (term.kind == PodTerm::kAffinity) required.push_back(&term);
  }
  if (!required.empty()) {
    bool all = true, anywhere = false, own = true;
    for (const PodTerm* term : required) {
      if (Label(node.labels, term->topology).empty()) return false;
      own = own && Label(pod.labels, term->key) == term->value;
      int in_domain = 0;
      for (Node& other : cluster.nodes) {
        const std::string domain = Label(other.labels, term->topology);
        for (Pod* existing : PodsOn(other)) {
          const bool matches = std::all_of(required.begin(), required.end(), [&](const PodTerm* t) {
            return Label(existing->labels, t->key) == t->value;
          });
          if (!matches || domain.empty()) continue;
          anywhere = true;
          in_domain += domain == Label(node.labels, term->topology) ? 1 : 0;
        }
      }
      all = all && in_domain > 0;
    }
    if (!all && !(own && !anywhere)) return false;
  }
  for (const PodTerm& term : pod.terms) {
    const std::string domain = Label(node.labels, term.topology);
    if (term.kind == PodTerm::kAntiAffinity && !domain.empty() &&
        MatchingIn(term.key, term.value, term.topology, domain, false) > 0) {
      return false;
    }
  }
  // Symmetry: whom existing pods do not want beside them.
  for (Node& other : cluster.nodes) {
    for (Pod* existing : PodsOn(other)) {
      for (const PodTerm& term : existing->terms) {
        if (term.kind != PodTerm::kAntiAffinity) continue;
        if (Label(pod.labels, term.key) != term.value) continue;
        const std::string domain = Label(other.labels, term.topology);
        if (!domain.empty() && domain == Label(node.labels, term.topology)) return false;
      }
    }
  }
  return true;
}

bool Session::SpreadFits(const Pod& pod, const Node& node) {
  for (const Spread& spread : pod.spread) {
    if (!spread.hard) continue;
    const std::string domain = Label(node.labels, spread.topology);
    if (domain.empty()) return false;
    std::map<std::string, int> counts;
    for (Node& other : cluster.nodes) {
      bool eligible = AffinityFits(pod, other);
      for (const Spread& s : pod.spread) {
        eligible = eligible && (!s.hard || !Label(other.labels, s.topology).empty());
      }
      if (!eligible) continue;
      int& count = counts[Label(other.labels, spread.topology)];
      for (Pod* existing : PodsOn(other)) {
        if (existing->status == Status::kReleasing) continue;
        count += Label(existing->labels, spread.key) == spread.value ? 1 : 0;
      }
    }
    int min = counts.empty() ? 0 : counts.begin()->second;
    for (const auto& [name, count] : counts) min = std::min(min, count);
    const int self = Label(pod.labels, spread.key) == spread.value ? 1 : 0;
    const int here = counts.count(domain) > 0 ? counts[domain] : 0;
    if (here + self - min > spread.max_skew) return false;
  }
  return true;
}

bool Session::Fits(const Pod& pod, const Node& node) {
  if (node.allocatable[kPods] <= static_cast<double>(PodsOn(node).size())) return false;
  if (node.unschedulable &&
      !TolerateAny(pod, {"node.kubernetes.io/unschedulable", "", "NoSchedule"})) {
    return false;
  }
  if (!AffinityFits(pod, node)) return false;
  for (const Taint& taint : node.taints) {
    if (taint.effect != "PreferNoSchedule" && !TolerateAny(pod, taint)) return false;
  }
  if (pod.host_port != 0) {
    for (Pod* other : PodsOn(node)) {
      if (other->host_port == pod.host_port) return false;
    }
  }
  return PodTermsFit(pod, node) && SpreadFits(pod, node);
}

std::vector<double> Session::PodAffinityScores(const Pod& pod,
                                               const std::vector<Node*>& candidates) {
  std::vector<double> raw(candidates.size(), 0);
  bool any = false;
  const auto add = [&](const Node& from, const PodTerm& term) {
    const std::string domain = Label(from.labels, term.topology);
    if (domain.empty()) return;
    any = true;
    const int sign = term.kind == PodTerm::kPreferred ? 1 : -1;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (Label(candidates[i]->labels, term.topology) == domain) raw[i] += sign * term.weight;
    }
  };
  const auto prefers = [](const PodTerm& term) {
    return term.kind == PodTerm::kPreferred || term.kind == PodTerm::kPreferredAnti;
  };
  for (Node& node : cluster.nodes) {
    for (Pod* existing : PodsOn(node)) {
      for (const PodTerm& term : pod.terms) {
        if (prefers(term) && Label(existing->labels, term.key) == term.value) add(node, term);
      }
      for (const PodTerm& term : existing->terms) {
        if (prefers(term) && Label(pod.labels, term.key) == term.value) add(node, term);
      }
    }
  }
  if (!any) return std::vector<double>(candidates.size(), 0);
  const double min = *std::min_element(raw.begin(), raw.end());
  const double max = *std::max_element(raw.begin(), raw.end());
  for (double& r : raw) r = max == min ? 0 : std::trunc(100 * ((r - min) / (max - min)));
  return raw;
}

std::vector<double> Session::SpreadScores(const Pod& pod, const std::vector<Node*>& candidates) {
  std::vector<const Spread*> soft;
  for (const Spread& spread : pod.spread) {
    if (!spread.hard) soft.push_back(&spread);
  }
  if (soft.empty()) return std::vector<double>(candidates.size(), 0);
  const auto has_all = [&](const Node& node) {
    return std::all_of(soft.begin(), soft.end(),
                       [&](const Spread* s) { return !Label(node.labels, s->topology).empty(); });
  };
  std::vector<double> raw(candidates.size(), 0);
  double min = 1e18, max = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!has_all(*candidates[i])) continue;
    double sum = 0;
    for (const Spread* spread : soft) {
      std::set<std::string> values;
      double size = 0, count = 0;
      for (Node* node : candidates) {
        if (!has_all(*node)) continue;
        values.insert(Label(node->labels, spread->topology));
        size += 1;
      }
      if (spread->topology != kHostname) size = static_cast<double>(values.size());
      const std::string domain = Label(candidates[i]->labels, spread->topology);
      for (Node& node : cluster.nodes) {
        if (!has_all(node) || Label(node.labels, spread->topology) != domain) continue;
        if (spread->topology != kHostname && !AffinityFits(pod, node)) continue;
        for (Pod* existing : PodsOn(node)) {
          if (existing->status == Status::kReleasing) continue;
          count += Label(existing->labels, spread->key) == spread->value ? 1 : 0;
        }
      }
      sum += count * std::log(size + 2) + (spread->max_skew - 1);
    }
    raw[i] = std::round(sum);
    min = std::min(min, raw[i]);
    max = std::max(max, raw[i]);
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!has_all(*candidates[i])) {
      raw[i] = 0;
    } else {
      raw[i] = max == 0 ? 100 : std::trunc(100 * (max + min - raw[i]) / max);
    }
  }
  return raw;
}

std::vector<double> Session::Scores(const Pod& pod, const std::vector<Node*>& candidates) {
  const size_t n = candidates.size();
  std::vector<double> total(n, 0), affinity(n, 0), taints(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const Node& node = *candidates[i];
    double used[2] = {NonZero(pod.request[kCpu], pod.names_cpu, 100),
                      NonZero(pod.request[kMemory], pod.names_memory, 209715200)};
    Amounts before = {};
    for (Pod* other : PodsOn(node)) {
      used[0] += NonZero(other->request[kCpu], other->names_cpu, 100);
      used[1] += NonZero(other->request[kMemory], other->names_memory, 209715200);
      for (size_t d = 0; d < before.size(); ++d) before[d] += other->request[d];
    }
    double least = 0;
    for (int d : {kCpu, kMemory}) {
      const double whole = node.allocatable[d];
      least += used[d] > whole ? 0 : std::trunc((whole - used[d]) * 100 / whole);
    }
    total[i] += std::trunc(least / 2);
    if (!pod.BestEffort()) {
      Amounts after = before;
      for (size_t d = 0; d < after.size(); ++d) after[d] += pod.request[d];
      const bool gpu = pod.request[kGpu] > 0;
      total[i] += std::trunc((150 + Balance(after, node, gpu) - Balance(before, node, gpu)) / 2);
    }
    for (const Preference& preference : pod.preferred) {
      if (Matches(preference.term, node.labels)) affinity[i] += preference.weight;
    }
    for (const Taint& taint : node.taints) {
      if (taint.effect == "PreferNoSchedule" && !TolerateAny(pod, taint)) taints[i] += 1;
    }
  }
  affinity = Normalize(affinity, false);
  taints = Normalize(taints, true);
  const std::vector<double> pods = PodAffinityScores(pod, candidates);
  const std::vector<double> spread = SpreadScores(pod, candidates);
  for (size_t i = 0; i < n; ++i) {
    total[i] += 2 * affinity[i] + 2 * pods[i] + 3 * taints[i] + 2 * spread[i];
  }
  return total;
}

// Highest score; the k-th of several in the order of the hashes of their names.
Node* Session::Best(const Pod& pod, std::vector<Node*> candidates) {
  if (candidates.size() <= 1) return candidates.empty() ? nullptr : candidates.front();
  std::sort(candidates.begin(), candidates.end(), [&](Node* a, Node* b) {
    return util::StableHash(a->name, seed_) < util::StableHash(b->name, seed_);
  });
  const std::vector<double> scores = Scores(pod, candidates);
  const double best = *std::max_element(scores.begin(), scores.end());
  std::vector<Node*> ties;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == best) ties.push_back(candidates[i]);
  }
  return ties[util::StableHash("default-" + pod.name, seed_) % ties.size()];
}

}  // namespace hekla::reference

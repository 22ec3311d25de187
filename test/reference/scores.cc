#include <algorithm>
#include <cmath>
#include <set>

#include "pkg/util/random.h"
#include "test/reference/session.h"

// Scores of nodes.
namespace hekla::reference {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr char kZone[] = "topology.kubernetes.io/zone";

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
        if (prefers(term) && Selects(term, pod, *existing)) add(node, term);
      }
      for (const PodTerm& term : existing->terms) {
        if (prefers(term) && Selects(term, *existing, pod)) add(node, term);
      }
    }
  }
  if (!any) return std::vector<double>(candidates.size(), 0);
  const double min = *std::min_element(raw.begin(), raw.end());
  const double max = *std::max_element(raw.begin(), raw.end());
  for (double& r : raw) r = max == min ? 0 : std::trunc(100 * ((r - min) / (max - min)));
  return raw;
}

// A pod without constraints of its own has those of the system, for pods of the services it is in.
std::vector<Spread> Session::SoftConstraints(const Pod& pod) {
  std::vector<Spread> soft;
  for (const Spread& spread : pod.spread) {
    if (!spread.hard) soft.push_back(spread);
  }
  if (!pod.spread.empty()) return soft;
  for (const Service& service : cluster.services) {
    if (service.space != pod.space || Label(pod.labels, "app") != service.app) continue;
    soft.push_back({kHostname, "app", service.app, 3, false});
    soft.push_back({kZone, "app", service.app, 5, false});
    break;  // services of a pod select the same pods here
  }
  return soft;
}

std::vector<double> Session::SpreadScores(const Pod& pod, const std::vector<Node*>& candidates) {
  const std::vector<Spread> soft = SoftConstraints(pod);
  if (soft.empty()) return std::vector<double>(candidates.size(), 0);
  const bool own = !pod.spread.empty();
  const auto takes_part = [&](const Node& node) {
    return !own || std::all_of(soft.begin(), soft.end(), [&](const Spread& s) {
      return !Label(node.labels, s.topology).empty();
    });
  };
  std::vector<double> raw(candidates.size(), 0);
  for (const Spread& spread : soft) {
    std::set<std::string> values;
    double size = 0;
    for (Node* node : candidates) {
      if (!takes_part(*node)) continue;
      values.insert(Label(node->labels, spread.topology));
      size += 1;
    }
    const bool by_host = spread.topology == kHostname;
    if (!by_host) size = static_cast<double>(values.size());
    std::map<std::string, double> counts;
    for (Node& node : cluster.nodes) {
      if (!takes_part(node) || (!by_host && !Includes(spread, pod, node))) continue;
      double& count = counts[Label(node.labels, spread.topology)];
      for (Pod* existing : PodsOn(node)) count += Counts(spread, pod, *existing) ? 1 : 0;
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
      const std::string domain = Label(candidates[i]->labels, spread.topology);
      if (domain.empty() || !takes_part(*candidates[i])) continue;
      raw[i] += counts[domain] * std::log(size + 2) + (spread.max_skew - 1);
    }
  }
  double min = 1e18, max = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!takes_part(*candidates[i])) continue;
    raw[i] = std::round(raw[i]);
    min = std::min(min, raw[i]);
    max = std::max(max, raw[i]);
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!takes_part(*candidates[i])) {
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
      if (Matches(preference.term, node)) affinity[i] += preference.weight;
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
  return ties[util::StableHash(pod.Uid(), seed_) % ties.size()];
}

}  // namespace hekla::reference

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/random_pods.h"
#include "pkg/plugins/predicates/predicates_plugin.h"

namespace hekla::plugins {
namespace {

using model::NodeId;
using model::PodTerm;
using model::Symbol;
using model::TaskId;
using plugins::testing::NodeWorld;
using plugins::testing::RandomPods;
using Effect = model::Taint::Effect;

// The filters as one reads them in the spec: node by node, pod by pod, nothing remembered.
class PlainFilters {
 public:
  explicit PlainFilters(NodeWorld& world) : world_(world), t_(world.tables()) {}

  std::vector<std::string> Verdict(TaskId task, NodeId node) {
    std::vector<std::string> out;
    const model::PodTemplate& pod = *t_.tasks.pod[task];
    const model::NodeSpec& spec = *t_.nodes.spec[node];
    if (spec.allocatable[model::kPods] <= static_cast<int64_t>(t_.nodes.tasks[node].size())) {
      out.push_back("node(s) pod number exceeded");
    }
    const auto stop = [&](const char* text) {
      out.push_back(text);
      return out;
    };
    if (spec.unschedulable &&
        !Tolerated(pod, world_.T("node.kubernetes.io/unschedulable", "", Effect::kNoSchedule))) {
      return stop("node(s) were unschedulable");
    }
    if (!NodeMatches(pod, spec)) return stop("node(s) didn't match Pod's node affinity/selector");
    if (!HardTaintsTolerated(pod, spec)) return stop("node(s) had untolerated taint(s)");
    if (!PortsFree(pod, node)) {
      out.push_back("node(s) didn't have free ports for the requested pod ports");
    }
    if (!AffinityHolds(task, node)) return stop("node(s) didn't match pod affinity rules");
    if (!AntiAffinityHolds(task, node)) {
      out.push_back("node(s) didn't match pod anti-affinity rules");
    } else if (!ExistingHold(task, node)) {
      out.push_back("node(s) didn't satisfy existing pods anti-affinity rules");
    }
    if (const std::string spread = Spread(task, node); !spread.empty()) out.push_back(spread);
    return out;
  }

 private:
  Symbol Label(NodeId node, Symbol key) {
    return model::FindLabel(t_.nodes.spec[node]->labels, key);
  }
  bool Tolerated(const model::PodTemplate& pod, const model::Taint& taint) {
    for (const auto& t : pod.tolerations) {
      if (model::Tolerates(t, taint)) return true;
    }
    return false;
  }
  bool HardTaintsTolerated(const model::PodTemplate& pod, const model::NodeSpec& spec) {
    for (const auto& taint : spec.taints) {
      if (taint.effect != Effect::kPreferNoSchedule && !Tolerated(pod, taint)) return false;
    }
    return true;
  }
  bool Holds(const model::Requirement& r, const model::Labels& labels) {
    return model::Matches(r, labels, world_.cluster().dictionary().symbols);
  }
  bool NodeMatches(const model::PodTemplate& pod, const model::NodeSpec& spec) {
    for (const auto& [key, value] : pod.node_selector) {
      if (model::FindLabel(spec.labels, key) != value) return false;
    }
    if (!pod.has_required_affinity) return true;
    for (const auto& term : pod.required_affinity) {
      bool all = !term.expressions.empty();
      for (const auto& r : term.expressions) all = all && Holds(r, spec.labels);
      if (all) return true;
    }
    return false;
  }
  bool PortsFree(const model::PodTemplate& pod, NodeId node) {
    const Symbol any = world_.S("0.0.0.0");
    for (TaskId other : t_.nodes.tasks[node]) {
      for (const auto& a : t_.tasks.pod[other]->host_ports) {
        for (const auto& b : pod.host_ports) {
          if (a.port == b.port && a.protocol == b.protocol &&
              (a.ip == b.ip || a.ip == any || b.ip == any)) {
            return false;
          }
        }
      }
    }
    return true;
  }
  // Whether `term` of `owner` means `pod`.
  bool Means(const PodTerm& term, TaskId owner, TaskId pod) {
    const auto& ns = t_.namespaces;
    const auto where = t_.tasks.namespace_id[pod];
    bool in = std::count(term.namespaces.begin(), term.namespaces.end(), ns.name[where]) > 0;
    if (term.namespaces.empty() && !term.has_namespace_selector) {
      in = where == t_.tasks.namespace_id[owner];
    }
    const auto& symbols = world_.cluster().dictionary().symbols;
    if (term.has_namespace_selector) {
      in = in || model::Matches(term.namespace_selector, ns.labels[where], symbols);
    }
    return in && model::Matches(term.selector, *t_.tasks.spec[pod]->labels, symbols);
  }
  // Calls fn(pod, its node) for every placed pod that shares the term's domain with `node`.
  template <typename Fn>
  bool AnyInDomain(Symbol key, NodeId node, Fn fn) {
    const Symbol value = Label(node, key);
    if (!value.valid()) return false;
    for (NodeId other : t_.nodes.leaves) {
      if (Label(other, key) != value) continue;
      for (TaskId pod : t_.nodes.tasks[other]) {
        if (fn(pod)) return true;
      }
    }
    return false;
  }
  bool AffinityHolds(TaskId task, NodeId node) {
    const auto& terms = t_.tasks.pod[task]->affinity;
    const auto meets_all = [&](TaskId pod) {
      return std::all_of(terms.begin(), terms.end(),
                         [&](const PodTerm& t) { return Means(t, task, pod); });
    };
    bool all_keys = true;
    bool all_met = true;
    bool any_anywhere = false;
    for (const PodTerm& term : terms) {
      all_keys = all_keys && Label(node, term.topology_key).valid();
      all_met = all_met && AnyInDomain(term.topology_key, node, meets_all);
      for (NodeId other : t_.nodes.leaves) {
        if (!Label(other, term.topology_key).valid()) continue;
        for (TaskId pod : t_.nodes.tasks[other]) any_anywhere = any_anywhere || meets_all(pod);
      }
    }
    return all_met || (!any_anywhere && meets_all(task) && all_keys);
  }
  bool AntiAffinityHolds(TaskId task, NodeId node) {
    for (const PodTerm& term : t_.tasks.pod[task]->anti_affinity) {
      if (AnyInDomain(term.topology_key, node, [&](TaskId p) { return Means(term, task, p); })) {
        return false;
      }
    }
    return true;
  }
  bool ExistingHold(TaskId task, NodeId node) {
    for (NodeId other : t_.nodes.leaves) {
      for (TaskId pod : t_.nodes.tasks[other]) {
        for (const PodTerm& term : t_.tasks.pod[pod]->anti_affinity) {
          const Symbol value = Label(other, term.topology_key);
          if (value.valid() && value == Label(node, term.topology_key) && Means(term, pod, task)) {
            return false;
          }
        }
      }
    }
    return true;
  }
  std::string Spread(TaskId task, NodeId node) {
    const model::PodTemplate& pod = *t_.tasks.pod[task];
    const auto& symbols = world_.cluster().dictionary().symbols;
    for (const auto& c : pod.spread) {
      if (!c.hard) continue;
      const Symbol here = Label(node, c.topology_key);
      if (!here.valid()) {
        return "node(s) didn't match pod topology spread constraints (missing required label)";
      }
      std::map<uint32_t, int> domains;
      for (NodeId other : t_.nodes.leaves) {
        bool eligible = true;
        for (const auto& k : pod.spread) {
          eligible = eligible && (!k.hard || Label(other, k.topology_key).valid());
        }
        const model::NodeSpec& spec = *t_.nodes.spec[other];
        eligible = eligible && (!c.honor_affinity || NodeMatches(pod, spec)) &&
                   (!c.honor_taints || HardTaintsTolerated(pod, spec));
        if (!eligible) continue;
        int& count = domains[Label(other, c.topology_key).value()];
        for (TaskId p : t_.nodes.tasks[other]) {
          count += !c.selector.empty() && !t_.tasks.spec[p]->deleting &&
                   t_.tasks.namespace_id[p] == t_.tasks.namespace_id[task] &&
                   model::Matches(c.selector, *t_.tasks.spec[p]->labels, symbols);
        }
      }
      int least = 1 << 30;
      for (const auto& [domain, count] : domains) least = std::min(least, count);
      if (static_cast<int>(domains.size()) < c.min_domains) least = 0;
      const int self = model::Matches(c.selector, *t_.tasks.spec[task]->labels, symbols) ? 1 : 0;
      const auto it = domains.find(here.value());
      if ((it == domains.end() ? 0 : it->second) + self - least > c.max_skew) {
        return "node(s) didn't match pod topology spread constraints";
      }
    }
    return "";
  }

  NodeWorld& world_;
  const model::Tables& t_;
};

std::unique_ptr<PredicatesPlugin> MakePlugin() {
  return std::make_unique<PredicatesPlugin>(framework::Arguments(), framework::PluginDeps());
}

// How often each set of reasons was seen: the comparison must have had something to compare.
using Seen = std::map<std::string, int>;

void ExpectLikePlain(NodeWorld& world, RandomPods& pods, const std::string& when, Seen& seen) {
  PlainFilters plain(world);
  for (TaskId task : pods.PendingPods()) {
    for (NodeId node : pods.LiveNodes()) {
      const std::vector<std::string> expected = plain.Verdict(task, node);
      for (const std::string& reason : expected) ++seen[reason];
      if (expected.empty()) ++seen["fits"];
      ASSERT_EQ(absl::StrJoin(world.Verdict(task, node), " | "), absl::StrJoin(expected, " | "))
          << when << " pod " << world.tables().tasks.spec[task]->name << " node "
          << world.tables().nodes.spec[node]->name;
    }
  }
}

TEST(FilterPropertyTest, IncrementalAnswersEqualPlainEvaluation) {
  Seen seen;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    NodeWorld world;
    RandomPods pods(world, seed);
    pods.AddNodes(8);
    for (int i = 0; i < 15; ++i) pods.AddPod();
    world.Use(MakePlugin());
    for (int cycle = 0; cycle < 6; ++cycle) {
      for (int i = 0; i < 4; ++i) {
        pods.Move();
        ASSERT_NO_FATAL_FAILURE(ExpectLikePlain(world, pods, "seed " + std::to_string(seed), seen));
      }
      for (int i = 0; i < 5; ++i) pods.Churn();
      world.NextCycle();
      ASSERT_NO_FATAL_FAILURE(
          ExpectLikePlain(world, pods, "churned " + std::to_string(seed), seen));
    }
    world.Use(MakePlugin());  // one that remembers nothing answers alike
    ASSERT_NO_FATAL_FAILURE(ExpectLikePlain(world, pods, "fresh " + std::to_string(seed), seen));
  }
  EXPECT_EQ(seen.size(), 11u);  // every reason, and "fits"
  for (const auto& [reason, times] : seen) EXPECT_GT(times, 100) << reason;
}

// Notes which nodes a filter reports as changed.
class NotingSink final : public framework::DirtySink {
 public:
  void All() override { all = true; }
  void Nodes(absl::Span<const NodeId> nodes) override {
    for (NodeId node : nodes) listed.push_back(node);
  }
  bool Has(NodeId node) const {
    return all || std::find(listed.begin(), listed.end(), node) != listed.end();
  }
  bool all = false;
  std::vector<NodeId> listed;
};

// What coupled filters answer for every node, one row per filter.
std::vector<std::vector<framework::ReasonId>> Answers(NodeWorld& world, TaskId task,
                                                      const std::vector<NodeId>& nodes) {
  std::vector<std::vector<framework::ReasonId>> rows;
  for (const auto& entry : world.session().points().filters) {
    std::vector<framework::ReasonId> row(nodes.size());
    if (entry.filter->kind() == framework::AnswerKind::kCoupled &&
        entry.filter->PreFilter(task).outcome == framework::PreFilterResult::Outcome::kRun) {
      entry.filter->Filter(task, nodes, absl::MakeSpan(row));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(FilterPropertyTest, EveryChangedAnswerIsReportedDirty) {
  int precise = 0;
  for (uint64_t seed = 100; seed < 300; ++seed) {
    NodeWorld world;
    RandomPods pods(world, seed);
    pods.AddNodes(10);
    for (int i = 0; i < 20; ++i) pods.AddPod();
    world.Use(MakePlugin());
    for (int step = 0; step < 30; ++step) {
      const std::vector<TaskId> readers = pods.PendingPods();
      const std::vector<NodeId> nodes = pods.LiveNodes();
      std::vector<std::vector<std::vector<framework::ReasonId>>> before;
      for (TaskId reader : readers) before.push_back(Answers(world, reader, nodes));
      const uint64_t since = world.cluster().touches_trimmed() + world.cluster().touches().size();
      for (int i = 0; i < 1 + step % 3; ++i) pods.Move();
      for (size_t r = 0; r < readers.size(); ++r) {
        const auto& filters = world.session().points().filters;
        std::vector<NotingSink> sinks(filters.size());
        for (size_t f = 0; f < filters.size(); ++f) {
          if (filters[f].filter->kind() != framework::AnswerKind::kCoupled) continue;
          filters[f].filter->CollectDirty(world.tables().tasks.task_class[readers[r]], since,
                                          sinks[f]);
        }
        const auto after = Answers(world, readers[r], nodes);
        for (size_t f = 0; f < filters.size(); ++f) {
          precise += sinks[f].all ? 0 : 1;
          for (size_t n = 0; n < nodes.size(); ++n) {
            ASSERT_TRUE(before[r][f][n] == after[f][n] || sinks[f].Has(nodes[n]))
                << "seed " << seed << " step " << step << " " << filters[f].filter->name();
          }
        }
      }
    }
  }
  EXPECT_GT(precise, 1000);  // "everything" is not the only answer it knows
}

}  // namespace
}  // namespace hekla::plugins

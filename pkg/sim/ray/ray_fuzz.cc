#include "pkg/sim/ray/ray_fuzz.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/apis/ray/validation.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/ray/controllers/raycluster/status.h"
#include "pkg/sim/faults/lease_auditor.h"
#include "pkg/sim/faults/machine_clock.h"
#include "pkg/sim/ray/ray_auditor.h"
#include "pkg/sim/ray/ray_storm.h"
#include "pkg/sim/ray/ray_world.h"
#include "pkg/util/random.h"

namespace hekla::sim {
namespace {

using apis::json::Value;
using http::InlineTransport;

// Kinds of children that end with their owner.
constexpr std::pair<const char*, const char*> kOwned[] = {
    {"v1", "Pod"},
    {"v1", "Service"},
    {"v1", "Secret"},
    {"batch/v1", "Job"},
    {"v1", "ServiceAccount"},
    {"rbac.authorization.k8s.io/v1", "Role"},
    {"rbac.authorization.k8s.io/v1", "RoleBinding"},
    {"networking.k8s.io/v1", "NetworkPolicy"},
    {"cert-manager.io/v1", "Issuer"},
    {"cert-manager.io/v1", "Certificate"},
    {"scheduling.volcano.sh/v1beta1", "PodGroup"},
    {"scheduling.x-k8s.io/v1alpha1", "PodGroup"},
    {"scheduling.k8s.io/v1alpha2", "PodGroup"},
    {"scheduling.k8s.io/v1alpha2", "Workload"}};

// What the operators of a run are started with.
assembly::OperatorGraph::Options DrawOperator(const RayFuzzOptions& options) {
  assembly::OperatorGraph::Options graph;
  if (!options.extras) return graph;
  graph.server.cert_manager = true;
  graph.gates.Set(ray::Feature::kRayClusterMtls, true);
  graph.gates.Set(ray::Feature::kRayClusterNetworkPolicy, true);
  static constexpr const char* kSchedulers[] = {
      "", "volcano", "yunikorn", "kai-scheduler", "scheduler-plugins", "kubernetes"};
  const std::string scheduler = kSchedulers[options.seed % std::size(kSchedulers)];
  if (scheduler == "kubernetes") {
    graph.gates.Set(ray::Feature::kKubernetesWas, true);
  } else {
    graph.config.batch_scheduler = scheduler;
  }
  return graph;
}

// What happens to the calls of reconcilers, in thousandths.
struct CallFaults {
  int conflict = 0, refused = 0, lost_answer = 0, error_after = 0, error_before = 0, too_many = 0;
  int kill = 0;
};

CallFaults DrawCalls(util::Random& random, bool faults) {
  CallFaults out;
  if (!faults) return out;
  out.conflict = DrawRate(random, 80);
  out.refused = DrawRate(random, 40);
  out.lost_answer = DrawRate(random, 60);
  out.error_after = DrawRate(random, 60);
  out.error_before = DrawRate(random, 40);
  out.too_many = DrawRate(random, 40);
  out.kill = DrawRate(random, 25);
  return out;
}

FaultPlan DrawWatches(util::Random& random, bool faults) {
  FaultPlan plan;
  if (!faults) return plan;
  plan.stream_refused = DrawRate(random, 60);
  plan.stream_gone = DrawRate(random, 60);
  plan.stream_broken = DrawRate(random, 20);
  plan.stream_lag = DrawRate(random, 150);
  plan.max_delay = absl::Milliseconds(50 + static_cast<int64_t>(random.Below(9000)));
  return plan;
}

// One simulated world with everything that happens in it.
class Run {
 public:
  explicit Run(const RayFuzzOptions& options)
      : options_(options),
        random_(options.seed),
        extras_(options.seed ^ 0xe87a5),
        operator_(DrawOperator(options)),
        calls_(DrawCalls(random_, options.faults)),
        watches_(DrawWatches(random_, options.faults)),
        world_(WorldOptions(options)),
        storm_(world_, random_, options.extras ? &extras_ : nullptr, outcome_.trail),
        auditor_(absl::Minutes(4)),
        cluster_watch_(world_.server(), "/apis/ray.io/v1/rayclusters",
                       [this](absl::string_view type, const Value& object) {
                         auditor_.ObserveCluster(type, object, world_.now());
                       }),
        pod_watch_(world_.server(), "/api/v1/pods",
                   [this](absl::string_view type, const Value& object) {
                     auditor_.ObservePod(type, object, world_.now());
                   }),
        lease_watch_(world_.server(), "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
                     [this](absl::string_view type, const Value& object) {
                       lease_.Observe(type, object, world_.now());
                     }) {
    // Clusters first: a pod is judged by what its cluster asks for.
    world_.AddPump(
        [this] { return cluster_watch_.Pump() + pod_watch_.Pump() + lease_watch_.Pump() > 0; });
    world_.SetAfterStep([this] { AfterStep(); });
    world_.AddNamespace(std::string(RayStorm::kNamespace));
    StartLife();
    if (options.faults && random_.Below(2) == 0) StartLife();  // a standby
  }

  RayFuzzOutcome Finish() {
    for (int i = 0; i < options_.actions; ++i) {
      storm_.Act();
      if (options_.faults) BreakSomething();
      if (options_.faults && options_.extras) {
        FreezeOne();
        SetOneClock();
      }
      world_.Advance(absl::Milliseconds(50 + static_cast<int64_t>(random_.Below(6000))));
    }
    ComeToRest();
    CheckEnd();
    for (const Violation& v : auditor_.violations()) outcome_.violations.push_back(v);
    for (const Violation& v : lease_.violations()) outcome_.violations.push_back(v);
    outcome_.leaders = lease_.changes();
    outcome_.pods = auditor_.pods_made();
    return std::move(outcome_);
  }

 private:
  static RayWorld::Options WorldOptions(const RayFuzzOptions& options) {
    RayWorld::Options world;
    world.seed = options.seed;
    world.start_life = false;
    if (options.extras) {
      world.crds = {SchemalessCrd("cert-manager.io", "v1", "Issuer", "issuers"),
                    SchemalessCrd("cert-manager.io", "v1", "Certificate", "certificates"),
                    SchemalessCrd("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups"),
                    SchemalessCrd("scheduling.k8s.io", "v1alpha2", "PodGroup", "podgroups"),
                    SchemalessCrd("scheduling.k8s.io", "v1alpha2", "Workload", "workloads")};
    }
    return world;
  }

  void StartLife() {
    OperatorLife::Options life;
    life.graph = operator_;
    life.seed = random_.Next();
    life.watch_faults = watches_;
    if (options_.faults && options_.extras) life.clock = DrawMachineClock(extras_);
    if (options_.faults) life.identity = absl::StrCat("operator-", ++outcome_.lives);
    life.on_write = [this, identity = life.identity](const http::Request& request) {
      JudgeWrite(identity, request);
    };
    auto dead = std::make_shared<bool>(false);
    life.intercept = [this, dead](http::Request request, const Forward& forward) {
      return Call(std::move(request), forward, *dead);
    };
    world_.AddLife(std::move(life));
    dead_.push_back(std::move(dead));
    world_.life(world_.lives() - 1).faults().SetFaults(!resting_);
  }

  // A write leaves the operator of that name, which must hold the lease then.
  void JudgeWrite(const std::string& identity, const http::Request& request) {
    if (identity.empty()) return;
    const auto lease = world_.server().Get("coordination.k8s.io/v1", "Lease", "kube-system",
                                           "ray-operator-leader");
    const absl::string_view holder =
        lease.ok() ? lease->At("spec").GetString("holderIdentity") : absl::string_view();
    if (holder == identity) return;
    Report("two-leaders", absl::StrCat(request.method, " ", request.target, " leaves ", identity,
                                       ", and ", holder, " holds the lease"));
  }

  using Forward = InlineTransport::Next;

  InlineTransport::Answer Call(http::Request request, const Forward& forward, bool& dead) {
    if (dead) return absl::UnavailableError("the process has ended");
    if (resting_) return forward(std::move(request));
    const bool write = request.method != "GET";
    const auto hit = [this](int per_mille) {
      const bool is = random_.Below(1000) < static_cast<uint64_t>(per_mille);
      outcome_.faults += is ? 1 : 0;
      return is;
    };
    if (write && hit(calls_.conflict)) return InjectedFailure(409, "Conflict");
    if (hit(calls_.refused)) return absl::UnavailableError("connection refused");
    if (hit(calls_.too_many)) return InjectedFailure(429, "TooManyRequests");
    if (hit(calls_.error_before)) return InjectedFailure(500, "InternalError");
    InlineTransport::Answer answer = forward(std::move(request));
    // Watches may tell of the change before the answer comes.
    if (hit(calls_.kill)) {
      dead = true;
      return absl::UnavailableError("the process has ended");
    }
    if (hit(calls_.lost_answer)) return absl::UnavailableError("connection lost");
    if (hit(calls_.error_after)) return InjectedFailure(500, "InternalError");
    return answer;
  }

  void AfterStep() {
    ++outcome_.steps;
    for (size_t i = 0; i < world_.lives();) {
      if (!*dead_[i] && !world_.life(i).lost()) {
        ++i;
        continue;
      }
      EndLife(i);
      outcome_.trail.push_back("  the operator dies");
    }
    if (world_.lives() == 0) StartLife();
  }

  void EndLife(size_t i) {
    outcome_.reconciles += world_.life(i).reconciles();
    outcome_.faults += world_.life(i).faults().faults();
    world_.EndLife(i);
    dead_.erase(dead_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void BreakSomething() {
    switch (random_.Below(30)) {
      case 0:
        world_.server().DropWatchHistory();
        outcome_.trail.push_back("  the server forgets its history");
        return;
      case 1:
        world_.life(random_.Below(world_.lives())).connections().DropConnections();
        outcome_.trail.push_back("  connections break");
        return;
      case 2:
        *dead_[random_.Below(dead_.size())] = true;  // kill -9 at the next step
        return;
      case 3:
        if (world_.lives() < 2) StartLife();  // a standby
        return;
      default:
        return;
    }
  }

  // An operator stands still, often for longer than its lease lasts, with another beside it.
  void FreezeOne() {
    if (extras_.Below(20) != 0) return;
    if (world_.lives() < 2) StartLife();
    const absl::Duration d = absl::Seconds(2 + static_cast<int64_t>(extras_.Below(40)));
    const size_t which = extras_.Below(world_.lives());
    world_.life(which).Freeze(world_.now() + d);
    outcome_.trail.push_back(
        absl::StrCat("  an operator stands still for ", absl::FormatDuration(d)));
    // The clock of a machine that stood still is often set when it goes on.
    if (extras_.Below(2) == 0) StepClock(which);
  }

  void SetOneClock() {
    if (extras_.Below(30) == 0) StepClock(extras_.Below(world_.lives()));
  }
  void StepClock(size_t which) {
    const absl::Duration step = DrawClockStep(extras_);
    world_.life(which).StepClock(step);
    outcome_.trail.push_back(
        absl::StrCat("  an operator's clock is set by ", absl::FormatDuration(step)));
  }

  void ComeToRest() {
    resting_ = true;
    for (size_t i = 0; i < world_.lives(); ++i) {
      world_.life(i).faults().SetFaults(false);
      world_.life(i).Freeze(absl::InfinitePast());
    }
    // Longer than any back-off that may have built up.
    for (int round = 0; round < 60; ++round) {
      storm_.Heal();
      world_.Advance(absl::Seconds(25));
    }
  }

  void CheckEnd() {
    std::vector<Value> objects;
    for (const auto& [version, kind] : kOwned) {
      const auto list = world_.server().List(version, kind, RayStorm::kNamespace);
      if (list.ok()) objects.insert(objects.end(), list->begin(), list->end());
    }
    auditor_.CheckEnd(objects, world_.now());
    for (const Value& object : objects) {
      ++outcome_.children[std::string(object.GetString("kind"))];
    }
    const auto clusters = world_.server().List("ray.io/v1", "RayCluster", RayStorm::kNamespace);
    if (clusters.ok()) {
      for (const Value& cluster : *clusters) CheckCluster(cluster, objects);
    }
    for (size_t i = world_.lives(); i > 0; --i) EndLife(i - 1);
  }

  void Report(const char* rule, std::string text) {
    outcome_.violations.push_back({world_.now(), rule, std::move(text)});
  }

  void CheckCluster(const Value& object, const std::vector<Value>& objects) {
    const std::string name(object.At("metadata").GetString("name"));
    ray::controllers::raycluster::Observed observed;
    observed.object = std::make_shared<const Value>(object);
    const auto cluster = apis::ray::DecodeRayCluster(object);
    if (!cluster.ok() || cluster->metadata.terminating()) return;
    const apis::ray::ValidationResult valid =
        apis::ray::ValidateRayCluster(*cluster, {.network_policy = true, .mtls = true}, true);
    if (valid.failure.has_value()) return Report("storm-valid", valid.failure->note);
    observed.cluster = *cluster;
    for (const Value& child : objects) {
      const Value& labels = child.At("metadata").At("labels");
      if (labels.GetString("ray.io/cluster") != name) continue;
      if (child.GetString("kind") == "Pod") {
        observed.pods.push_back(std::make_shared<const Value>(child));
      } else if (child.GetString("kind") == "Service" &&
                 labels.GetString("ray.io/node-type") == "head") {
        observed.head_services.push_back(std::make_shared<const Value>(child));
      }
    }
    const auto fresh =
        ray::controllers::raycluster::ComputeStatus(observed, std::nullopt, true, world_.now());
    if (!fresh.ok()) {
      Report("status-fresh", absl::StrCat(name, ": ", fresh.status().ToString()));
    } else if (apis::ray::StatusNeedsWrite(cluster->status, *fresh)) {
      Report("status-fresh",
             absl::StrCat("the status of ", name, " is not what follows from ",
                          observed.pods.size(), " pods: ", apis::json::Dump(object.At("status"))));
    }
    CheckCount(name, observed);
    CheckPolicies(name, *cluster, objects);
    CheckGang(name, *cluster, objects);
  }

  void CheckPolicies(const std::string& name, const apis::ray::RayCluster& cluster,
                     const std::vector<Value>& objects) {
    if (!options_.extras) return;
    std::set<std::string> wanted;
    if (cluster.spec.network_policy.has_value()) {
      wanted.insert(absl::StrCat(name, "-head"));
      for (const auto& group : cluster.spec.worker_groups) {
        wanted.insert(absl::StrCat(name, "-workers-", group.group_name));
      }
    }
    std::set<std::string> have;
    for (const Value& object : objects) {
      if (object.GetString("kind") != "NetworkPolicy") continue;
      const Value& metadata = object.At("metadata");
      if (metadata.At("labels").GetString("ray.io/cluster") != name) continue;
      have.insert(std::string(metadata.GetString("name")));
    }
    if (have != wanted) {
      Report("policies-complete",
             absl::StrCat(name, " has NetworkPolicies ", absl::StrJoin(have, ","), " and asks for ",
                          absl::StrJoin(wanted, ",")));
    }
  }

  // Volcano's and Kubernetes' own gangs follow the size of the cluster.
  void CheckGang(const std::string& name, const apis::ray::RayCluster& cluster,
                 const std::vector<Value>& objects) {
    if (apis::ray::IsConditionTrue(cluster.status, "RayClusterSuspended")) return;
    int64_t size = 1;
    for (const auto& group : cluster.spec.worker_groups) {
      const int64_t low = group.min_replicas.value_or(0);
      const int64_t replicas = std::max<int64_t>(low, group.replicas.value_or(0));
      if (group.suspended()) continue;
      size += (cluster.spec.enable_in_tree_autoscaling ? low : replicas) *
              std::max(group.num_of_hosts, 1);
    }
    for (const Value& object : objects) {
      if (object.GetString("kind") != "PodGroup") continue;
      if (object.At("metadata").At("ownerReferences").size() == 0 ||
          object.At("metadata").At("ownerReferences").as_array()[0].GetString("name") != name) {
        continue;
      }
      const Value& spec = object.At("spec");
      const bool volcano = object.GetString("apiVersion") == "scheduling.volcano.sh/v1beta1";
      const bool workload = object.GetString("apiVersion") == "scheduling.k8s.io/v1alpha2";
      const int64_t have = volcano ? spec.GetInt("minMember")
                                   : spec.At("schedulingPolicy").At("gang").GetInt("minCount");
      if ((volcano || workload) && have != size) {
        Report("gang-size", absl::StrCat("the PodGroup of ", name, " has size ", have,
                                         ", and the cluster ", size));
      }
    }
  }

  void CheckCount(const std::string& name, const ray::controllers::raycluster::Observed& observed) {
    const bool suspended =
        apis::ray::IsConditionTrue(observed.cluster.status, "RayClusterSuspended");
    const size_t heads = suspended ? 0 : 1;
    if (observed.Heads().size() != heads) {
      Report("pods-complete", absl::StrCat(name, " has ", observed.Heads().size(), " heads"));
    }
    for (const auto& group : observed.cluster.spec.worker_groups) {
      const int64_t low = group.min_replicas.value_or(0);
      const int64_t high = group.max_replicas.value_or(2147483647);
      const int64_t replicas = std::max(low, std::min(high, int64_t{group.replicas.value_or(0)}));
      const int64_t wanted =
          suspended || group.suspended() ? 0 : replicas * std::max(group.num_of_hosts, 1);
      const auto have = static_cast<int64_t>(observed.GroupPods(group.group_name).size());
      // With autoscaling only the autoscaler says which pods go.
      const bool surplus_stays = observed.cluster.spec.enable_in_tree_autoscaling && !suspended;
      if (have == wanted || (surplus_stays && have > wanted)) continue;
      Report("pods-complete", absl::StrCat(name, " has ", have, " pods of group ", group.group_name,
                                           ", and asks for ", wanted));
    }
  }

  const RayFuzzOptions options_;
  util::Random random_;
  util::Random extras_;
  const assembly::OperatorGraph::Options operator_;
  const CallFaults calls_;
  const FaultPlan watches_;
  RayFuzzOutcome outcome_;
  bool resting_ = false;
  std::vector<std::shared_ptr<bool>> dead_;  // of each life
  RayWorld world_;
  RayStorm storm_;
  RayAuditor auditor_;
  apiserver::hollow::LocalWatch cluster_watch_;
  apiserver::hollow::LocalWatch pod_watch_;
  LeaseAuditor lease_{kFastestPermille};
  apiserver::hollow::LocalWatch lease_watch_;
};

}  // namespace

RayFuzzOutcome RunRayFuzz(const RayFuzzOptions& options) { return Run(options).Finish(); }

std::string RayReproduction(const RayFuzzOptions& options) {
  return absl::StrCat("heklactl fuzz --ray --seeds ", options.seed, " --steps ", options.actions,
                      options.faults ? "" : " --no-faults", options.extras ? "" : " --plain",
                      " --trail");
}

}  // namespace hekla::sim

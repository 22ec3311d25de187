#include "pkg/sim/fuzz_world.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/framework/session.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

apiserver::Options ServerOptions(const util::Clock* clock, uint64_t seed) {
  apiserver::Options options;
  options.clock = clock;
  options.seed = seed;
  return options;
}

apiserver::kubelet::Options KubeletOptions() {
  apiserver::kubelet::Options options;
  options.heartbeat = absl::ZeroDuration();
  options.lease_renewal = absl::ZeroDuration();
  options.start_delay = absl::Milliseconds(300);
  options.stop_delay = absl::Seconds(1);
  return options;
}

Auditor::Options AuditorOptions(bool faults, const FaultPlan& plan) {
  Auditor::Options options;
  options.check_gangs = !faults;
  // A watch may lag by max_delay, break, and wait for its back-off before it resumes.
  if (faults) options.staleness = plan.max_delay * 2 + absl::Minutes(2);
  return options;
}

}  // namespace

SchedulerLife::SchedulerLife(util::FakeClock* clock, apiserver::ApiServer* server, uint64_t seed,
                             FaultPlan plan, framework::SessionObserver* observer)
    : executor_(clock), loopback_(server, &executor_), faults_(&loopback_, &executor_, seed, plan) {
  assembly::SchedulerGraph::Options options;
  options.seed = seed;
  assembly::SchedulerGraph::Deps deps;
  deps.transport = &faults_;
  deps.io = &executor_;
  deps.session = &executor_;
  deps.clock = clock;
  deps.observer = observer;
  auto graph = assembly::SchedulerGraph::Build(deps, std::move(options));
  CHECK(graph.ok()) << graph.status();
  graph_ = *std::move(graph);
  graph_->Start();
}

SchedulerLife::~SchedulerLife() = default;

// Looks at what a cycle has committed: a gang's first members may leave only with the others
// placed.
class FuzzWorld::GangWatch final : public framework::SessionObserver {
 public:
  void OnBind(const framework::Session& session, model::TaskId task, model::NodeId) override {
    const model::JobId job = session.tables().tasks.job[task];
    if (job.valid()) bound_.insert(job.value());
  }
  void OnClosing(const framework::Session& session) override {
    ++cycles_;
    const model::JobTable& jobs = session.tables().jobs;
    for (const uint32_t id : bound_) {
      const model::JobId job(id);
      const int placed =
          jobs.counts[job].Sum(model::kReadyStatuses) + jobs.pending_best_effort[job];
      if (placed < jobs.min_available[job]) {
        findings_.push_back({session.now(), "gang-minimum",
                             absl::StrCat("job ", jobs.key[job], " sent bindings with ", placed,
                                          " of ", jobs.min_available[job], " members placed")});
      }
    }
    bound_.clear();
  }
  const std::vector<Violation>& findings() const { return findings_; }
  int64_t cycles() const { return cycles_; }

 private:
  std::set<uint32_t> bound_;
  std::vector<Violation> findings_;
  int64_t cycles_ = 0;
};

FuzzWorld::FuzzWorld(uint64_t seed, bool faults, FaultPlan plan)
    : clock_(absl::FromCivil(absl::CivilHour(2026, 1, 1, 0), absl::UTCTimeZone())),
      server_(ServerOptions(&clock_, seed)),
      auditor_(AuditorOptions(faults, plan)),
      gangs_(std::make_unique<GangWatch>()),
      plan_(plan) {
  const absl::Status loaded = apiserver::shipped::LoadCrds(server_, "scheduling.volcano.sh");
  CHECK(loaded.ok()) << loaded;
  hollow_ = std::make_unique<apiserver::hollow::HollowCluster>(server_, KubeletOptions());
  for (const char* path : kAuditedPaths) {
    watches_.push_back(std::make_unique<apiserver::hollow::LocalWatch>(
        server_, path, [this](absl::string_view type, const Value& object) {
          auditor_.Observe(type, object, clock_.Now());
        }));
  }
  life_ = std::make_unique<SchedulerLife>(&clock_, &server_, seed, plan_, gangs_.get());
}

FuzzWorld::~FuzzWorld() = default;

int64_t FuzzWorld::cycles() const { return gangs_->cycles(); }
const std::vector<Violation>& FuzzWorld::decision_findings() const { return gangs_->findings(); }

void FuzzWorld::Restart(uint64_t seed) {
  past_faults_ += life_->faults().faults();
  life_.reset();
  life_ = std::make_unique<SchedulerLife>(&clock_, &server_, seed, plan_, gangs_.get());
  Settle();
}

void FuzzWorld::Settle() {
  server_.Tick();
  for (;;) {
    size_t did = life_->executor().RunReady();
    did += static_cast<size_t>(hollow_->Pump(clock_.Now()));
    for (const auto& watch : watches_) did += static_cast<size_t>(watch->Pump());
    if (did == 0) break;
  }
}

void FuzzWorld::Advance(absl::Duration d) {
  const absl::Time end = clock_.Now() + d;
  for (;;) {
    Settle();
    const absl::Time next =
        std::min({end, life_->executor().NextDue(), hollow_->NextDue(), server_.Tick()});
    if (next > clock_.Now()) clock_.Set(next);
    if (clock_.Now() >= end) break;
  }
  Settle();
  auditor_.EndOfStep(clock_.Now());
}

}  // namespace hekla::sim

#include "pkg/sim/fuzz_world.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/util/random.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
// More at one moment of virtual time is a loop without end.
constexpr int64_t kMostStepsAtOnce = 2000000;

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

Auditor::Options AuditorOptions(bool check_gangs) {
  Auditor::Options options;
  options.check_gangs = check_gangs;
  options.check_arrivals = false;
  return options;
}

template <typename From>
void Append(std::vector<Violation>& to, const From& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

FuzzWorld::FuzzWorld(Options options)
    : options_(std::move(options)),
      clock_(absl::FromCivil(absl::CivilHour(2026, 1, 1, 0), absl::UTCTimeZone())),
      server_(ServerOptions(&clock_, options_.seed)),
      auditor_(AuditorOptions(options_.check_gangs)),
      decisions_(&auditor_.mirror()),
      config_(options_.config),
      lease_(options_.clocks_apart ? kFastestPermille : 1000) {
  const absl::Status loaded = apiserver::shipped::LoadCrds(server_, "scheduling.volcano.sh");
  CHECK(loaded.ok()) << loaded;
  hollow_ = std::make_unique<apiserver::hollow::HollowCluster>(server_, KubeletOptions());
  for (const char* path : kAuditedPaths) Watch(path);
  if (options_.lives > 1) Watch(kLeases);
  for (int i = 0; i < options_.lives; ++i) StartLife();
}

FuzzWorld::~FuzzWorld() = default;

void FuzzWorld::Watch(const char* path) {
  watches_.push_back(std::make_unique<apiserver::hollow::LocalWatch>(
      server_, path,
      [this](absl::string_view type, const Value& object) { Observe(type, object); }));
}

void FuzzWorld::Observe(absl::string_view type, const Value& object) {
  const absl::string_view kind = object.GetString("kind");
  if (kind == "Lease") {
    const int64_t before = lease_.changes();
    lease_.Observe(type, object, now());
    if (lease_.changes() != before) decisions_.Abandon();
    return;
  }
  auditor_.Observe(type, object, now());
  if (kind != "Pod") return;
  const std::string uid(object.At("metadata").GetString("uid"));
  decisions_.Observe(type, uid, now());
  if (type != "DELETED") return;
  for (const auto& life : lives_) life->bindings().Forget(uid);
}

void FuzzWorld::StartLife() {
  SchedulerLife::Deps deps;
  deps.clock = &clock_;
  deps.server = &server_;
  deps.book = options_.book;
  deps.decisions = &decisions_;
  deps.mirror = &auditor_.mirror();
  deps.holds_lease = [this](const std::string& identity) { return HoldsLease(identity); };
  SchedulerLife::Options life;
  ++next_life_;
  util::Random random(options_.seed * 1000003 + next_life_);
  life.seed = random.Next();
  life.faults = options_.plan;
  life.config = config_;
  if (options_.lives > 1) life.identity = absl::StrCat("scheduler-", next_life_);
  if (options_.clocks_apart) life.clock = DrawMachineClock(random);
  lives_.push_back(std::make_unique<SchedulerLife>(std::move(deps), std::move(life)));
  lives_.back()->faults().SetFaults(faults_on_);
}

void FuzzWorld::EndLife(size_t i) {
  SchedulerLife& life = *lives_[i];
  past_faults_ += life.faults().faults();
  past_cycles_ += life.cycles();
  Append(past_violations_, life.bindings().violations());
  if (HoldsLease(life.identity())) decisions_.Abandon();
  lives_.erase(lives_.begin() + static_cast<std::ptrdiff_t>(i));
}

void FuzzWorld::Kill(size_t life) {
  EndLife(life % lives_.size());
  StartLife();
}

void FuzzWorld::Freeze(size_t life, absl::Duration d) {
  lives_[life % lives_.size()]->Freeze(now() + d);
}

void FuzzWorld::StepClock(size_t life, absl::Duration d) {
  lives_[life % lives_.size()]->StepClock(d);
}

void FuzzWorld::TakeServerAway(absl::Duration d) {
  away_until_ = now() + d;
  BreakConnections();
}

void FuzzWorld::BreakConnections() {
  for (const auto& life : lives_) life->connections().DropConnections();
}

void FuzzWorld::Reload(const std::string& config) {
  config_ = config;
  for (const auto& life : lives_) life->Reload(config);
}

void FuzzWorld::EndFaults() {
  faults_on_ = false;
  away_until_ = now();
  for (const auto& life : lives_) {
    life->faults().SetFaults(false);
    life->Freeze(now());
  }
}

void FuzzWorld::PumpWatches() {
  for (const auto& watch : watches_) {
    while (watch->HasWork()) watch->Pump();
  }
}

void FuzzWorld::Settle() {
  server_.Tick();
  for (int64_t steps = 0;; ++steps) {
    CHECK_LT(steps, kMostStepsAtOnce) << "the world does not come to rest";
    PumpWatches();
    bool did = false;
    for (size_t i = 0; i < lives_.size(); ++i) {
      if (lives_[i]->over()) {
        EndLife(i);
        StartLife();
      }
      lives_[i]->faults().SetServerAway(now() < away_until_);
      if (lives_[i]->Step()) {
        did = true;
        PumpWatches();
      }
    }
    if (did) continue;
    if (hollow_->Pump(now()) == 0) break;
  }
}

void FuzzWorld::Advance(absl::Duration d) {
  const absl::Time end = now() + d;
  for (;;) {
    Settle();
    absl::Time next = std::min({end, hollow_->NextDue(), server_.Tick()});
    for (const auto& life : lives_) next = std::min(next, life->NextDue());
    if (now() < away_until_) next = std::min(next, away_until_);
    if (next > now()) clock_.Set(next);
    if (now() >= end) break;
  }
  Settle();
  auditor_.EndOfStep(now());
}

int64_t FuzzWorld::cycles() const {
  int64_t sum = past_cycles_;
  for (const auto& life : lives_) sum += life->cycles();
  return sum;
}

int64_t FuzzWorld::faults() const {
  int64_t sum = past_faults_;
  for (const auto& life : lives_) sum += life->faults().faults();
  return sum;
}

std::vector<Violation> FuzzWorld::Violations() const {
  std::vector<Violation> all = past_violations_;
  Append(all, auditor_.violations());
  Append(all, decisions_.violations());
  Append(all, lease_.violations());
  for (const auto& life : lives_) Append(all, life->bindings().violations());
  return all;
}

}  // namespace hekla::sim

#include "pkg/kube/leader_election.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/coordination/lease.h"
#include "pkg/kube/api_status.h"
#include "pkg/kube/resource_client.h"
#include "pkg/util/clock.h"
#include "pkg/util/random.h"

namespace hekla::kube {
namespace {

using apis::coordination::Lease;
using apis::json::Value;

const Resource& Leases() {
  static const Resource* const leases =
      new Resource{"coordination.k8s.io", "v1", "leases", "Lease", true};
  return *leases;
}

// As the record has it, in whole seconds: others must not wait for less than the lease.
int32_t SecondsOf(absl::Duration lease) {
  return static_cast<int32_t>(absl::ToInt64Seconds(absl::Ceil(lease, absl::Seconds(1))));
}

}  // namespace

// Runs on the executor alone, but for what the mutex guards. Callbacks of requests and timers hold
// the core and do nothing once the elector has gone or the round they belong to is over.
class LeaderElector::Core : public std::enable_shared_from_this<LeaderElector::Core> {
 public:
  Core(RestClient* client, Executor* executor, EventRecorder* events, Options options,
       Callbacks callbacks)
      : leases_(client, Leases()),
        executor_(executor),
        events_(events),
        options_(std::move(options)),
        callbacks_(std::move(callbacks)),
        random_(options_.seed) {}

  void Begin() {
    if (gone_ || stopped_) return;
    LOG(INFO) << "Attempting to acquire leader lease... lease=" << options_.ns << "/"
              << options_.name;
    Acquire();
  }
  void Stop(std::function<void()> done);
  void Leave() { gone_ = true; }
  Executor* executor() const { return executor_; }

  // Also false once the lease may have passed to another while this process stood still, even if
  // no timer has told so yet. What is left of the lease then is for clocks that go faster.
  bool IsLeader() const {
    absl::MutexLock lock(&mutex_);
    return leading_ && executor_->Uptime() < renewed_ + options_.renew_deadline;
  }
  absl::Status Check(absl::Duration tolerance) const {
    absl::MutexLock lock(&mutex_);
    if (!leading_ || executor_->Uptime() - renewed_ <= options_.lease_duration + tolerance) {
      return absl::OkStatus();
    }
    return absl::UnavailableError(
        absl::StrCat("failed election to renew leadership on lease ", options_.name));
  }

 private:
  using Answer = std::function<void(bool)>;

  // Wraps a callback so that it is dropped when its round is over.
  template <typename... Args>
  std::function<void(Args...)> InRound(std::function<void(Args...)> call) {
    return [self = shared_from_this(), round = round_, call = std::move(call)](Args... args) {
      // Answers come on threads of the transport.
      self->executor_->Post([self, round, call, args...]() mutable {
        if (!self->gone_ && round == self->round_) call(std::move(args)...);
      });
    };
  }
  void After(absl::Duration delay, std::function<void()> task) {
    executor_->PostAfter(delay,
                         [self = shared_from_this(), round = round_, task = std::move(task)] {
                           if (!self->gone_ && round == self->round_) task();
                         });
  }

  void Acquire();
  void BecomeLeader();
  void RenewRound();
  void TryRenew(absl::Duration deadline);
  void Lose();
  void NotifyStopped();

  void Try(Answer answer);
  void TryFresh(Answer answer);
  void Create(Answer answer);
  void Put(Value object, Lease lease, Answer answer);
  void Observe(Value object);
  bool ObservedIsValid() const {
    return observed_at_ + absl::Seconds(observed_.lease_duration_seconds.value_or(0)) >
           executor_->Uptime();
  }
  void StampRenewal(Lease& lease) const;
  void Release(absl::Duration deadline, std::function<void()> done);
  void SetLeading(bool leading);
  void Emit(absl::string_view what);

  const ResourceClient leases_;
  Executor* const executor_;
  EventRecorder* const events_;
  const Options options_;
  const Callbacks callbacks_;
  util::Random random_;

  std::atomic<bool> gone_ = false;
  bool stopped_ = false;
  uint64_t round_ = 0;  // what was begun in an earlier round is ignored
  bool have_observed_ = false;
  Lease observed_;
  Value observed_object_;
  absl::Duration observed_at_ = util::kNotYet;  // in uptime

  mutable absl::Mutex mutex_;
  bool leading_ ABSL_GUARDED_BY(mutex_) = false;
  // When the last successful write was sent: nobody can have seen it before.
  absl::Duration renewed_ ABSL_GUARDED_BY(mutex_) = util::kNotYet;
  absl::Duration written_ = util::kNotYet;  // when the last write was sent
};

void LeaderElector::Core::SetLeading(bool leading) {
  absl::MutexLock lock(&mutex_);
  leading_ = leading;
  if (leading) renewed_ = written_;
}

void LeaderElector::Core::Emit(absl::string_view what) {
  if (events_ == nullptr) return;
  apis::core::ObjectReference lease;
  lease.api_version = "coordination.k8s.io/v1";
  lease.kind = "Lease";
  lease.ns = options_.ns;
  lease.name = options_.name;
  lease.uid = observed_.metadata.uid;
  lease.resource_version = observed_.metadata.resource_version;
  events_->Record(lease, "Normal", "LeaderElection", absl::StrCat(options_.identity, " ", what));
}

void LeaderElector::Core::Acquire() {
  Try([this](bool led) {
    if (led) {
      BecomeLeader();
      return;
    }
    // Uniform between retry_period and 2.2 times that, so that standbys do not act in step.
    After(options_.retry_period * (1 + 1.2 * random_.Unit()), [this] { Acquire(); });
  });
}

void LeaderElector::Core::BecomeLeader() {
  LOG(INFO) << "Successfully acquired lease lease=" << options_.ns << "/" << options_.name;
  SetLeading(true);
  Emit("became leader");
  After(options_.retry_period, [this] { RenewRound(); });
  if (callbacks_.on_started_leading) callbacks_.on_started_leading();
}

// One renewal: tries until one succeeds or the deadline has passed, whatever a request does. The
// deadline stays clear of the moment from which others may take the lease: they count from the last
// write's arrival, which may be long before its answer came.
void LeaderElector::Core::RenewRound() {
  ++round_;
  const absl::Duration now = executor_->Uptime();
  absl::Duration deadline = now + options_.renew_deadline;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Duration held = std::max(options_.lease_duration - options_.retry_period,
                                         (options_.lease_duration + options_.renew_deadline) / 2);
    deadline = std::min(deadline, renewed_ + held);
  }
  After(std::max(deadline - now, absl::ZeroDuration()), [this] { Lose(); });
  TryRenew(deadline);
}

void LeaderElector::Core::TryRenew(absl::Duration deadline) {
  Try([this, deadline](bool renewed) {
    if (renewed) {
      SetLeading(true);
      ++round_;  // the deadline's timer has nothing to do any more
      After(options_.retry_period, [this] { RenewRound(); });
    } else if (executor_->Uptime() + options_.retry_period < deadline) {
      After(options_.retry_period, [this, deadline] { TryRenew(deadline); });
    }
  });
}

void LeaderElector::Core::Lose() {
  LOG(ERROR) << "Failed to renew lease lease=" << options_.ns << "/" << options_.name;
  ++round_;
  stopped_ = true;
  SetLeading(false);
  Emit("stopped leading");
  if (options_.release_on_cancel) {
    Release(executor_->Uptime() + options_.renew_deadline, [] {});
  }
  NotifyStopped();
}

void LeaderElector::Core::NotifyStopped() {
  if (callbacks_.on_stopped_leading) callbacks_.on_stopped_leading();
}

void LeaderElector::Core::Stop(std::function<void()> done) {
  ++round_;
  const auto finish = [done = std::move(done)] {
    if (done) done();
  };
  if (stopped_) {
    finish();
    return;
  }
  stopped_ = true;
  bool led = false;
  {
    absl::MutexLock lock(&mutex_);
    led = leading_;
  }
  SetLeading(false);
  if (led) Emit("stopped leading");
  NotifyStopped();
  if (led && options_.release_on_cancel) {
    Release(executor_->Uptime() + options_.renew_deadline, finish);
  } else {
    finish();
  }
}

void LeaderElector::Core::Observe(Value object) {
  absl::StatusOr<Lease> lease = apis::coordination::DecodeLease(object);
  if (!lease.ok()) {
    LOG(WARNING) << "lease cannot be read: " << lease.status().message();
    return;
  }
  const bool changed = !have_observed_ || observed_object_.At("spec") != object.At("spec");
  const bool new_holder = !have_observed_ || observed_.holder_identity != lease->holder_identity;
  if (changed) observed_at_ = executor_->Uptime();
  have_observed_ = true;
  observed_ = *std::move(lease);
  observed_object_ = std::move(object);
  if (new_holder && !observed_.holder_identity.empty() && callbacks_.on_new_leader) {
    callbacks_.on_new_leader(observed_.holder_identity);
  }
}

// A record that does not change is no renewal to those who watch it: a clock that was set back must
// not hit the time that is written there.
void LeaderElector::Core::StampRenewal(Lease& lease) const {
  const absl::Time now = executor_->Now();
  const bool same = absl::ToUnixMicros(now) == absl::ToUnixMicros(lease.renew_time);
  lease.renew_time = same ? now + absl::Microseconds(1) : now;
}

void LeaderElector::Core::Try(Answer answer) {
  if (have_observed_ && observed_.holder_identity == options_.identity && ObservedIsValid()) {
    // What this process wrote last is most likely still there: no need to read it first.
    Lease lease = observed_;
    StampRenewal(lease);
    Put(observed_object_, std::move(lease), [this, answer](bool ok) {
      if (ok) {
        answer(true);
      } else {
        TryFresh(answer);
      }
    });
    return;
  }
  TryFresh(std::move(answer));
}

void LeaderElector::Core::TryFresh(Answer answer) {
  leases_.Get({.ns = options_.ns, .name = options_.name},
              InRound(std::function<void(absl::StatusOr<Value>)>(
                  [this, answer = std::move(answer)](absl::StatusOr<Value> object) {
                    if (!object.ok()) {
                      if (kube::IsNotFound(object.status())) {
                        Create(answer);
                      } else {
                        LOG(WARNING) << "lease cannot be read: " << object.status().message();
                        answer(false);
                      }
                      return;
                    }
                    Observe(*std::move(object));
                    const bool mine = observed_.holder_identity == options_.identity;
                    if (!mine && !observed_.holder_identity.empty() && ObservedIsValid()) {
                      answer(false);
                      return;
                    }
                    Lease lease = observed_;
                    StampRenewal(lease);
                    lease.lease_duration_seconds = SecondsOf(options_.lease_duration);
                    if (!mine) {
                      lease.holder_identity = options_.identity;
                      lease.acquire_time = lease.renew_time;
                      lease.lease_transitions = observed_.lease_transitions.value_or(0) + 1;
                    }
                    Put(observed_object_, std::move(lease), answer);
                  })));
}

void LeaderElector::Core::Create(Answer answer) {
  Lease lease;
  lease.metadata.ns = options_.ns;
  lease.metadata.name = options_.name;
  lease.holder_identity = options_.identity;
  lease.lease_duration_seconds = SecondsOf(options_.lease_duration);
  lease.acquire_time = lease.renew_time = executor_->Now();
  lease.lease_transitions = 0;
  written_ = executor_->Uptime();
  leases_.Create(options_.ns, apis::coordination::EncodeLease(lease),
                 InRound(std::function<void(absl::StatusOr<Value>)>(
                     [this, answer = std::move(answer)](absl::StatusOr<Value> object) {
                       const bool ok = object.ok();
                       if (ok) {
                         Observe(*std::move(object));
                       } else {
                         LOG(WARNING) << "lease not created: " << object.status().message();
                       }
                       answer(ok);
                     })));
}

void LeaderElector::Core::Put(Value object, Lease lease, Answer answer) {
  written_ = executor_->Uptime();
  leases_.Update({.ns = options_.ns, .name = options_.name},
                 apis::coordination::EncodeLease(lease, std::move(object)),
                 InRound(std::function<void(absl::StatusOr<Value>)>(
                     [this, answer = std::move(answer)](absl::StatusOr<Value> stored) {
                       const bool ok = stored.ok();
                       if (ok) Observe(*std::move(stored));
                       answer(ok);
                     })));
}

// Blanks the record if this process still holds it. The holder that was read counts, not what was
// believed: after an outage somebody else may lead already.
void LeaderElector::Core::Release(absl::Duration deadline, std::function<void()> done) {
  leases_.Get({.ns = options_.ns, .name = options_.name},
              InRound(std::function<void(absl::StatusOr<Value>)>(
                  [this, deadline, done](absl::StatusOr<Value> object) {
                    if (object.ok()) Observe(*std::move(object));
                    if (!object.ok() || observed_.holder_identity != options_.identity) {
                      done();
                      return;
                    }
                    Lease lease = observed_;
                    lease.holder_identity = "";
                    lease.lease_duration_seconds = 1;
                    lease.acquire_time = lease.renew_time = executor_->Now();
                    Put(observed_object_, std::move(lease), [this, deadline, done](bool released) {
                      if (released || executor_->Uptime() >= deadline) {
                        done();
                      } else {
                        Release(deadline, done);
                      }
                    });
                  })));
}

absl::Status LeaderElector::Validate(const Options& options) {
  const auto bad = [](absl::string_view text) { return absl::InvalidArgumentError(text); };
  if (options.retry_period <= absl::ZeroDuration()) return bad("retry period must be above 0");
  if (options.renew_deadline <= options.retry_period * 1.2) {
    return bad("renew deadline must be above 1.2 x retry period");
  }
  if (options.lease_duration <= options.renew_deadline) {
    return bad("lease duration must be above the renew deadline");
  }
  if (options.lease_duration < absl::Seconds(1)) return bad("lease duration must be 1s or more");
  if (options.ns.empty() || options.name.empty() || options.identity.empty()) {
    return bad("namespace, name and identity of a lease must not be empty");
  }
  return absl::OkStatus();
}

LeaderElector::LeaderElector(RestClient* client, Executor* executor, EventRecorder* events,
                             Options options, Callbacks callbacks)
    : core_(std::make_shared<Core>(client, executor, events, std::move(options),
                                   std::move(callbacks))) {}

LeaderElector::~LeaderElector() { core_->Leave(); }

void LeaderElector::Start() {
  core_->executor()->Post([core = core_] { core->Begin(); });
}

void LeaderElector::Stop(std::function<void()> done) {
  core_->executor()->Post([core = core_, done = std::move(done)] { core->Stop(done); });
}

bool LeaderElector::IsLeader() const { return core_->IsLeader(); }

absl::Status LeaderElector::Check(absl::Duration tolerance) const {
  return core_->Check(tolerance);
}

metrics::GaugeFamily& LeaderStatus(metrics::Registry& registry) {
  return registry.NewGaugeFamily(
      "leader_election_master_status",
      "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
      "indicates master. 'name' is the string used to identify the lease. Please make sure to "
      "group "
      "by name.",
      {"name"});
}

}  // namespace hekla::kube

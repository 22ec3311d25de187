#include "pkg/controller/manager.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace hekla::controller {
namespace {

// How often an unfinished start is complained about.
constexpr absl::Duration kComplain = absl::Seconds(10);

}  // namespace

Manager::Manager(Deps deps, std::optional<Election> election)
    : deps_(std::move(deps)), election_(std::move(election)), alive_(std::make_shared<bool>(true)) {
  if (!election_.has_value()) return;
  leader_gauge_ = deps_.metrics->leader_status.With({election_->options.name});
  MakeElector();
}

Manager::~Manager() { *alive_ = false; }

void Manager::Add(Controller* controller) { controllers_.push_back(controller); }

void Manager::Start() {
  deps_.io->Post([this, alive = alive_] {
    if (!*alive) return;
    deps_.cache->Start();
    if (!election_.has_value()) Lead();
  });
  if (elector_ != nullptr) elector_->Start();
}

void Manager::MakeElector() {
  kube::LeaderElector::Callbacks callbacks;
  callbacks.on_started_leading = [this, identity = election_->options.identity] {
    LOG(INFO) << "leading identity=" << identity;
    leader_gauge_->Set(1);
    deps_.io->Post([this, alive = alive_] {
      if (*alive) Lead();
    });
  };
  callbacks.on_stopped_leading = [this] {
    leader_gauge_->Set(0);
    leading_ = false;
    if (stopping_) return;
    if (deps_.on_lost) deps_.on_lost(absl::AbortedError("leader election lost"));
  };
  callbacks.on_new_leader = [](const std::string& identity) {
    LOG(INFO) << "new leader identity=" << identity;
  };
  elector_ = std::make_unique<kube::LeaderElector>(election_->client, election_->executor,
                                                   election_->events, election_->options,
                                                   std::move(callbacks));
}

void Manager::Lead() {
  leading_ = true;
  Complain();
  deps_.cache->WhenSynced([this, alive = alive_] {
    if (*alive && !stopping_) Begin();
  });
}

void Manager::Begin() {
  if (complaint_ != 0) deps_.io->Cancel(complaint_);
  // The caches hold their initial lists: sources hand them to the queues before Start returns.
  for (Controller* const controller : controllers_) controller->Start(*deps_.cache);
  working_ = true;
  if (deps_.on_ready) deps_.on_ready();
}

void Manager::Complain() {
  complaint_ = deps_.io->PostAfter(kComplain, [this, alive = alive_] {
    if (!*alive || stopping_ || working_) return;
    LOG(WARNING) << "waiting for the initial lists of: "
                 << absl::StrJoin(deps_.cache->Missing(), "; ");
    Complain();
  });
}

void Manager::StopWork() {
  stopping_ = true;
  working_ = false;
  for (Controller* const controller : controllers_) controller->ShutDown();
}

void Manager::Stop(std::function<void()> done) {
  StopWork();
  deps_.io->Post([this, alive = alive_, done = std::move(done)]() mutable {
    if (!*alive) return;
    deps_.cache->Stop();
    if (elector_ == nullptr) return done();
    elector_->Stop(std::move(done));
  });
}

bool Manager::MayWrite() const { return elector_ == nullptr || elector_->IsLeader(); }

bool Manager::Ready() const { return deps_.cache->HasSynced(); }

}  // namespace hekla::controller

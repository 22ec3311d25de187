#include "pkg/sim/scheduler_life.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "pkg/framework/session.h"

namespace hekla::sim {
namespace {

// What has arrived this recently may not have been looked at by the cycle that runs.
constexpr absl::Duration kSlack = absl::Milliseconds(20);

kube::RestClient::Options ClientOptions(std::function<bool()> may_write) {
  kube::RestClient::Options options;
  options.user_agent = "hekla-scheduler";
  options.qps = options.burst = 2000;
  options.may_write = std::move(may_write);
  return options;
}

}  // namespace

// Brings the decisions of cycles to the auditor.
class SchedulerLife::Observer final : public framework::SessionObserver {
 public:
  explicit Observer(SchedulerLife* life) : life_(life) {}

  void OnBind(const framework::Session& session, model::TaskId task, model::NodeId node) override {
    const framework::Session& s = session;
    const absl::string_view name = s.dictionary().symbols.Text(s.tables().nodes.name[node]);
    decisions().Decided(s.tables().tasks.spec[task]->uid, std::string(name), life_->Known(),
                        life_->deps_.clock->Now());
  }
  void OnEvict(const framework::Session& session, model::TaskId victim,
               absl::string_view) override {
    evicts_ = true;
    decisions().Evicting(session.tables().tasks.spec[victim]->uid, life_->Known());
  }
  void OnClosing(const framework::Session& session) override {
    ++life_->cycles_;
    if (std::exchange(evicts_, false)) TellPipelined(session);
    decisions().EndOfCycle(life_->Known(), life_->deps_.clock->Now());
  }

 private:
  DecisionAuditor& decisions() { return *life_->deps_.decisions; }
  void TellPipelined(const framework::Session& session) {
    const model::TaskTable& tasks = session.tables().tasks;
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      const model::TaskId task(i);
      if (!tasks.live[task] || tasks.status[task] != model::TaskStatus::kPipelined) continue;
      const model::Symbol name = session.tables().nodes.name[tasks.node[task]];
      decisions().Pipelined(tasks.spec[task]->uid,
                            std::string(session.dictionary().symbols.Text(name)));
    }
  }

  SchedulerLife* const life_;
  bool evicts_ = false;
};

SchedulerLife::SchedulerLife(Deps deps, Options options)
    : deps_(std::move(deps)),
      options_(std::move(options)),
      own_clock_(deps_.clock, options_.clock.rate_permille),
      network_(deps_.clock),
      process_(deps_.clock, &own_clock_),
      loopback_(deps_.server, &network_),
      faults_(&loopback_, &network_, options_.seed, options_.faults),
      bindings_({deps_.decisions, deps_.mirror, [this] { return deps_.clock->Now(); },
                 [this] { return deps_.holds_lease(options_.identity); }}),
      observer_(std::make_unique<Observer>(this)),
      client_({&faults_, &process_, nullptr},
              ClientOptions([this] { return elector_ == nullptr || elector_->IsLeader(); })),
      election_client_({&faults_, &process_, nullptr}, ClientOptions(nullptr)) {
  own_clock_.Step(options_.clock.ahead);
  faults_.SetBook(deps_.book);
  faults_.SetWatcher(&bindings_);
  assembly::SchedulerGraph::Options graph;
  graph.seed = options_.seed;
  if (!options_.config.empty()) graph.config_text = options_.config;
  assembly::SchedulerGraph::Deps parts;
  parts.client = &client_;
  parts.io = parts.session = &process_;
  parts.clock = &own_clock_;
  parts.observer = observer_.get();
  auto built = assembly::SchedulerGraph::Build(parts, std::move(graph));
  CHECK(built.ok()) << built.status();
  graph_ = *std::move(built);
  if (options_.identity.empty()) {
    graph_->Start();
    return;
  }
  kube::LeaderElector::Options election;
  election.ns = "kube-system";
  election.name = "vc-scheduler";
  election.identity = options_.identity;
  election.seed = options_.seed;
  kube::LeaderElector::Callbacks callbacks;
  callbacks.on_started_leading = [this] { graph_->Start(); };
  callbacks.on_stopped_leading = [this] { lost_ = true; };
  elector_ = std::make_unique<kube::LeaderElector>(&election_client_, &process_, nullptr,
                                                   std::move(election), std::move(callbacks));
  elector_->Start();
}

SchedulerLife::~SchedulerLife() = default;

void SchedulerLife::Freeze(absl::Time until) {
  const absl::Time now = deps_.clock->Now();
  // What stands still already, or has not caught up yet, knows what it knew at first.
  if (now >= frozen_until_ + kSlack) {
    for (size_t i = 0; i < known_then_.size(); ++i) {
      known_then_[i] = faults_.KnownUntil(kAuditedPaths[i]);
    }
  }
  frozen_until_ = until;
}

bool SchedulerLife::Step() {
  if (network_.RunOne()) return true;
  return !frozen() && process_.RunOne();
}

absl::Time SchedulerLife::NextDue() const {
  const absl::Time process = std::max(process_.NextDue(), frozen_until_);
  return std::min(network_.NextDue(), process);
}

void SchedulerLife::Reload(const std::string& config) {
  process_.Post([this, config] {
    const absl::Status status = graph_->Reload(config);
    LOG_IF(ERROR, !status.ok()) << "configuration not taken: " << status;
  });
}

Knowledge SchedulerLife::Known() const {
  const absl::Time now = deps_.clock->Now();
  // What was under way when it stopped has come in meanwhile, and nobody has read it.
  const auto until = [&](size_t path) {
    absl::Time known = faults_.KnownUntil(kAuditedPaths[path]);
    if (now < frozen_until_ + kSlack) known = std::min(known, known_then_[path]);
    return known - kSlack;
  };
  Knowledge knowledge;
  knowledge.nodes = until(0);
  knowledge.queues = until(1);
  knowledge.groups = until(2);
  knowledge.pods = until(3);
  for (const char* path : kAuditedPaths) {
    knowledge.complete = knowledge.complete && faults_.Complete(path);
  }
  knowledge.leads = deps_.holds_lease(options_.identity);
  return knowledge;
}

}  // namespace hekla::sim

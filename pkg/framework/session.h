#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "pkg/framework/extension/points.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/reasons.h"
#include "pkg/framework/statement.h"
#include "pkg/model/cluster.h"
#include "pkg/ports/decision_sink.h"
#include "pkg/util/clock.h"

namespace hekla::framework {

class NodeSearch;
class SchedulerMetrics;
class SessionObserver;

// What a session is opened with. All borrowed; they outlive the session.
struct SessionDeps {
  model::Cluster* cluster = nullptr;
  ports::DecisionSink* sink = nullptr;
  const util::Clock* clock = nullptr;
  ReasonTable* reasons = nullptr;
  NodeSearch* search = nullptr;         // kept over cycles
  SchedulerMetrics* metrics = nullptr;  // may be null
  SessionObserver* observer = nullptr;  // may be null; Statement::Commit and Close call it
  // Gate SchedulingGatesQueueAdmission: allocate asks for the removal of opted-in queue gates.
  bool queue_admission_gates = false;
  // "volcano": owner of the SchedulerError texts and events.
  std::string scheduler_name = "volcano";
};

// One plugin instance in its place in the configuration.
struct PluginSlot {
  const PluginOption* option = nullptr;
  Plugin* plugin = nullptr;
  int32_t tier = 0;
};

// Scheduling cycles under one configuration, one after the other: the tables as of the cycle's
// start, the extension points compiled for the configuration, the statements open in it, and what
// it will publish at its close. Copies nothing; what is not committed is undone at Close. Made once
// per configuration and opened and closed for every cycle; it remembers what it has published.
// Threads: the session thread only.
class Session {
 public:
  Session(SessionDeps deps, std::vector<PluginSlot> plugins, std::vector<std::string> actions);
  ~Session();

  const model::Tables& tables() const { return deps_.cluster->tables(); }
  model::Cluster& cluster() { return *deps_.cluster; }
  const model::Dictionary& dictionary() const { return deps_.cluster->dictionary(); }
  Points& points() { return points_; }
  ReasonTable& reasons() { return *deps_.reasons; }
  NodeSearch& search() { return *deps_.search; }
  const SessionDeps& deps() const { return deps_; }
  const std::string& uid() const { return uid_; }
  // The time of day, for what is written.
  absl::Time now() const { return now_; }
  // When it was opened, in uptime: turns are counted by it.
  absl::Duration opened() const { return opened_; }
  bool HasAction(absl::string_view name) const;
  bool HierarchyEnabled(absl::string_view plugin) const;

  // Orders with their fallbacks (creation time, then name or uid): strict weak "a before b".
  bool JobBefore(model::JobId a, model::JobId b) const;
  bool QueueBefore(model::QueueId a, model::QueueId b) const;
  bool TaskBefore(model::TaskId a, model::TaskId b) const;
  bool SubJobBefore(model::SubJobId a, model::SubJobId b) const;
  bool SubJobReady(model::SubJobId sub_job) const;  // job rule where there is no policy
  bool SubJobPipelined(model::SubJobId sub_job) const;

  // Refusals of each task's last try; they are kept until its job is tried again.
  FitErrors& FitErrorsOf(model::TaskId task);
  const FitErrors* FindFitErrors(model::TaskId task) const;
  // Something that actions look at has changed since the session before ended.
  bool changed() const { return changed_; }
  // A task of the same role and sub-job has been refused in this session.
  bool RoleHasFailed(model::TaskId task) const;
  // Likewise by role; also of tasks without a role.
  bool RoleHasFailed(model::SubJobId sub_job, model::Symbol role) const;
  // Why the whole job is not placed: its queue (kQueueNotFound, kQueueNotOpen, kQueueOverused,
  // kQueueShareExceeded, kEnqueueRefused) or its topology (kHyperNodesNotReady).
  void SetJobFitError(model::JobId job, Cause refusal);
  void ClearJobFitError(model::JobId job);
  // "pod group is not ready, 3 Pending, 3 minAvailable; Pending: …. Origin reason is …", as of now.
  // Source: spec scheduler-core 8.6, E8.
  std::string JobFitErrorText(model::JobId job) const;

  // A note on the PodGroup, sent at once. Source: spec scheduler-core 10.1.
  void RecordPodGroupEvent(model::JobId job, bool warning, absl::string_view reason,
                           std::string message);
  void SetJobCondition(model::JobId job, model::ConditionRow condition);

  // Backfill's placement: outside of statements; once the job is ready, everything of it that is
  // Allocated is committed.
  void AllocateAtOnce(model::TaskId task, model::NodeId node);
  // Takes a task from the place that a kept statement reserved for it.
  void Unpipeline(model::TaskId task);

  // `uid` is the transition id of conditions written by this cycle.
  void Open(absl::string_view uid);
  // Plugins' close hooks, statuses, conditions and events of jobs, undo of what was not committed,
  // queue status.
  void Close();

  struct State;
  State& state() { return *state_; }  // framework internals: statements, close

 private:
  friend class Statement;
  // Marks the task Binding and makes the request that binds it.
  ports::BindRequest Dispatch(model::TaskId task);
  void ObserveDispatch(model::TaskId task);
  void UndoKept();
  absl::Duration TimeIfMeasured() const;
  double Milliseconds(absl::Duration since) const;

  SessionDeps deps_;
  std::string uid_;
  absl::Time now_;
  absl::Duration opened_;  // at that uptime
  bool changed_ = true;
  std::vector<PluginSlot> plugins_;
  std::vector<std::string> actions_;
  Points points_;
  std::unique_ptr<State> state_;
};

// What a plugin sees while it registers. Add honours the entry's enable flag.
//   session.job_order().Add<&GangPlugin::JobOrder>(*this);
class SessionBuilder {
 public:
  SessionBuilder(Session& session, const PluginSlot& slot, int32_t position)
      : session_(&session), slot_(&slot), position_(position) {}

  // One registration handle per point.
  template <typename PointType>
  class Adder {
   public:
    Adder(PointType& point, bool enabled, int32_t tier, int32_t plugin)
        : point_(&point), enabled_(enabled), tier_(tier), plugin_(plugin) {}
    template <auto Method, typename T>
    void Add(T& object) {
      if (enabled_)
        point_->AddEntry({decltype(point_->entries().front().call)::template Bind<Method>(object),
                          tier_, plugin_});
    }

   private:
    PointType* point_;
    bool enabled_;
    int32_t tier_, plugin_;
  };

  template <typename PointType>
  Adder<PointType> At(PointType& point, bool enabled) {
    return Adder<PointType>(point, enabled, slot_->tier, position_);
  }

  Session& session() { return *session_; }
  const model::Tables& view() const { return session_->tables(); }
  const PluginOption& option() const { return *slot_->option; }
  const EnableFlags& enabled() const { return slot_->option->enabled; }

  void AddFilter(NodeFilter& filter);              // enablePredicate
  void AddScorer(NodeScorer& scorer, bool batch);  // enableNodeOrder

 private:
  Session* session_;
  const PluginSlot* slot_;
  int32_t position_;
};

}  // namespace hekla::framework

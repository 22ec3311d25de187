#include "pkg/framework/statement.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "pkg/framework/scheduler_metrics.h"
#include "pkg/framework/session.h"
#include "pkg/framework/session_observer.h"
#include "pkg/framework/session_state.h"
#include "pkg/framework/task_order.h"

namespace hekla::framework {

using model::NodeId;
using model::TaskId;
using model::TaskStatus;

namespace {

ports::BindRequest MakeBind(Session& session, TaskId task) {
  const model::Tables& t = session.tables();
  const model::TaskSpec& spec = *t.tasks.spec[task];
  ports::BindRequest bind;
  bind.uid = spec.uid;
  bind.namespace_name = spec.namespace_name;
  bind.name = spec.name;
  const absl::string_view node =
      session.dictionary().symbols.Text(t.nodes.name[t.tasks.node[task]]);
  bind.node.assign(node.data(), node.size());
  bind.annotations = spec.bind_annotations;
  session.points().bind_context(task, bind);
  return bind;
}

ports::EvictRequest MakeEvict(Session& session, TaskId task, const std::string& reason) {
  const model::Tables& t = session.tables();
  const model::TaskSpec& spec = *t.tasks.spec[task];
  ports::EvictRequest evict;
  evict.uid = spec.uid;
  evict.namespace_name = spec.namespace_name;
  evict.name = spec.name;
  if (const model::JobId job = t.tasks.job[task]; job.valid() && t.jobs.spec[job] != nullptr) {
    evict.job_namespace = t.jobs.spec[job]->namespace_name;
    evict.job_name = t.jobs.spec[job]->name;
  }
  evict.reason = reason;
  return evict;
}

// What is undone now stays known for "can possibly be assigned".
void RememberTransaction(model::Cluster& cluster, TaskId task) {
  const model::TaskTable& tasks = cluster.tables().tasks;
  model::LastTransaction context;
  context.set = true;
  context.status = tasks.status[task];
  context.node = tasks.node[task];
  context.evictions = tasks.pipeline_evicted[task] != 0;
  cluster.SetLastTransaction(task, context);
}

TaskStatus StatusAfter(OpKind op) {
  switch (op) {
    case OpKind::kAllocate:
      return TaskStatus::kAllocated;
    case OpKind::kPipeline:
      return TaskStatus::kPipelined;
    case OpKind::kEvict:
      return TaskStatus::kReleasing;
  }
  return TaskStatus::kUnknown;
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : session_(other.session_), log_(std::exchange(other.log_, {})) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  DCHECK(log_.empty());
  session_ = other.session_;
  log_ = std::exchange(other.log_, {});
  return *this;
}

Statement::~Statement() { DCHECK(log_.empty()) << "statement neither ended nor kept"; }

void Statement::Do(OpKind op, TaskId task, NodeId node, uint8_t reason, bool evictions) {
  const model::TaskTable& tasks = session_->tables().tasks;
  UndoRecord record;
  record.op = op;
  record.old_status = tasks.status[task];
  record.old_evicted_flag = tasks.pipeline_evicted[task] != 0;
  record.eviction_reason = reason;
  record.task = task;
  record.old_node = tasks.node[task];
  record.new_node = node;
  log_.push_back(record);
  session_->cluster().MoveTask(task, StatusAfter(op), node);
  if (op == OpKind::kPipeline) session_->cluster().SetPipelineEvicted(task, evictions);
  if (op == OpKind::kEvict) {
    session_->points().deallocate_event(task);
  } else {
    session_->points().allocate_event(task);
  }
}

void Statement::Allocate(TaskId task, NodeId node) { Do(OpKind::kAllocate, task, node, 0, false); }

void Statement::Pipeline(TaskId task, NodeId node, bool evictions) {
  Do(OpKind::kPipeline, task, node, 0, evictions);
}

void Statement::Evict(TaskId task, absl::string_view reason) {
  std::vector<std::string>& names = session_->state().eviction_reasons;
  auto it = std::find(names.begin(), names.end(), reason);
  if (it == names.end()) it = names.insert(names.end(), std::string(reason));
  const auto index = static_cast<uint8_t>(it - names.begin());
  Do(OpKind::kEvict, task, session_->tables().tasks.node[task], index, false);
}

void Statement::Reverse(const UndoRecord& record) {
  model::Cluster& cluster = session_->cluster();
  RememberTransaction(cluster, record.task);
  cluster.MoveTask(record.task, record.old_status, record.old_node);
  cluster.SetPipelineEvicted(record.task, record.old_evicted_flag);
  if (record.op == OpKind::kEvict) {
    session_->points().allocate_event(record.task);
  } else {
    session_->points().deallocate_event(record.task);
  }
}

void Statement::Undo(TaskId task) {
  for (size_t i = log_.size(); i-- > 0;) {
    if (log_[i].task != task) continue;
    Reverse(log_[i]);
    log_.erase(log_.begin() + static_cast<int64_t>(i));
    return;
  }
  LOG(DFATAL) << "nothing to undo";
}

void Statement::Commit() {
  model::Cluster& cluster = session_->cluster();
  std::vector<ports::BindRequest> binds;
  std::vector<ports::EvictRequest> evicts;
  for (const UndoRecord& record : log_) {
    if (record.op != OpKind::kAllocate) {
      cluster.SetLastTransaction(record.task, model::LastTransaction());
    }
    if (record.op == OpKind::kAllocate) {
      binds.push_back(session_->Dispatch(record.task));
    } else if (record.op == OpKind::kEvict) {
      const std::string& reason = session_->state().eviction_reasons[record.eviction_reason];
      evicts.push_back(MakeEvict(*session_, record.task, reason));
      cluster.SetEvicted(record.task);
      if (SessionObserver* o = session_->deps().observer; o != nullptr) {
        o->OnEvict(*session_, record.task, reason);
      }
    } else {
      session_->state().kept.push_back(record);  // ends with the session
    }
  }
  log_.clear();
  ports::DecisionSink* sink = session_->deps().sink;
  if (!evicts.empty()) sink->Evict(std::move(evicts));
  if (!binds.empty()) sink->Bind(std::move(binds));
}

void Statement::RollbackTo(Checkpoint checkpoint) {
  while (log_.size() > checkpoint) {
    Reverse(log_.back());
    log_.pop_back();
  }
}

void Statement::Discard() { RollbackTo(0); }

void Statement::Keep() {
  std::vector<UndoRecord>& kept = session_->state().kept;
  kept.insert(kept.end(), log_.begin(), log_.end());
  log_.clear();
}

void Statement::Merge(Statement& other) {
  log_.insert(log_.end(), other.log_.begin(), other.log_.end());
  other.log_.clear();
}

bool Statement::has_evictions() const {
  return std::any_of(log_.begin(), log_.end(),
                     [](const UndoRecord& r) { return r.op == OpKind::kEvict; });
}

void Statement::Replay(const std::vector<UndoRecord>& operations) {
  for (const UndoRecord& r : operations) {
    Do(r.op, r.task, r.new_node, r.eviction_reason, /*evictions=*/false);
  }
}

// ---- Session's side: what was kept ends here.

ports::BindRequest Session::Dispatch(TaskId task) {
  ports::BindRequest bind = MakeBind(*this, task);
  const NodeId node = tables().tasks.node[task];
  cluster().SetLastTransaction(task, model::LastTransaction());
  cluster().MoveTask(task, TaskStatus::kBinding, node);
  if (deps_.observer != nullptr) deps_.observer->OnBind(*this, task, node);
  if (deps_.metrics != nullptr) ObserveDispatch(task);
  return bind;
}

void Session::ObserveDispatch(TaskId task) {
  const model::Tables& t = tables();
  const absl::Duration age = now_ - t.tasks.spec[task]->creation;
  if (state_->assumed == nullptr) state_->assumed = deps_.metrics->task_latency.With({"Assumed"});
  state_->assumed->Observe(std::max(0.0, absl::ToDoubleMilliseconds(age)));
  const model::JobId job = t.tasks.job[task];
  if (!job.valid() || t.jobs.spec[job] == nullptr) return;
  const model::JobSpec& spec = *t.jobs.spec[job];
  const double job_age = absl::ToDoubleMilliseconds(now_ - spec.creation);
  deps_.metrics->job_latency.Observe(job_age);
  State::JobNote& note = NoteOf(*this, job);
  if (note.dispatched == state_->number || t.jobs.solo[job]) return;
  note.dispatched = state_->number;  // the gauges say the same for every task of this cycle
  const metrics::GaugeFamily::Values labels = {spec.name, spec.queue, spec.namespace_name};
  deps_.metrics->job_duration.With(labels)->Set(job_age);
  deps_.metrics->job_last_time.With(labels)->Set(absl::ToDoubleSeconds(now_ - absl::UnixEpoch()));
}

void Session::AllocateAtOnce(TaskId task, NodeId node) {
  Statement statement(*this);
  statement.Allocate(task, node);
  statement.Keep();
  const model::JobId job = tables().tasks.job[task];
  if (!points_.job_ready(job)) return;
  std::vector<ports::BindRequest> binds;
  std::vector<TaskId> ready;
  for (TaskId member : tables().jobs.tasks[job]) {
    if (tables().tasks.status[member] == TaskStatus::kAllocated) ready.push_back(member);
  }
  SortTasks(*this, absl::MakeSpan(ready));
  for (TaskId member : ready) {
    binds.push_back(Dispatch(member));
  }
  deps_.sink->Bind(std::move(binds));
}

void Session::Unpipeline(TaskId task) {
  DCHECK(tables().tasks.status[task] == TaskStatus::kPipelined);
  cluster().MoveTask(task, TaskStatus::kPending, NodeId());
  points_.deallocate_event(task);
}

void Session::UndoKept() {
  std::vector<UndoRecord>& kept = state_->kept;
  if (!kept.empty() || !state_->tries.empty()) state_->held.clear();
  for (size_t i = kept.size(); i-- > 0;) {
    const UndoRecord& record = kept[i];
    const model::TaskTable& tasks = tables().tasks;
    if (tasks.status[record.task] != StatusAfter(record.op) ||
        tasks.node[record.task] != record.new_node) {
      continue;
    }
    if (record.op != OpKind::kEvict) {
      state_->held.push_back(
          {record.task, OwnerOf(tasks, record.task), record.new_node, tasks.status[record.task]});
    }
    RememberTransaction(cluster(), record.task);
    cluster().MoveTask(record.task, record.old_status, record.old_node);
    cluster().SetPipelineEvicted(record.task, record.old_evicted_flag);
  }
  kept.clear();
}

}  // namespace hekla::framework

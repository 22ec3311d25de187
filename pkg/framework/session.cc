#include "pkg/framework/session.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/session_observer.h"
#include "pkg/framework/session_state.h"
#include "pkg/util/random.h"

namespace hekla::framework {

using model::JobId;
using model::QueueId;
using model::SubJobId;
using model::TaskId;

namespace {

// Equal events on one PodGroup keep at least this far apart; the pause doubles every time.
constexpr absl::Duration kFirstEventPause = absl::Seconds(1);
constexpr absl::Duration kLongestEventPause = absl::Minutes(5);

}  // namespace

uint64_t OwnerOf(const model::TaskTable& tasks, TaskId task) { return tasks.serial[task]; }

uint64_t OwnerOf(const model::JobTable& jobs, JobId job) {
  return jobs.spec[job] == nullptr ? 0 : util::StableHash(jobs.spec[job]->uid);
}

Session::State::JobNote& NoteOf(Session& session, JobId job) {
  Session::State::JobNote& note = session.state().notes.Grow(job);
  const uint64_t owner = OwnerOf(session.tables().jobs, job);
  if (note.owner != owner) {
    note = Session::State::JobNote();
    note.owner = owner;
  }
  return note;
}

Session::Session(SessionDeps deps, std::vector<PluginSlot> plugins,
                 std::vector<std::string> actions)
    : deps_(std::move(deps)),
      plugins_(std::move(plugins)),
      actions_(std::move(actions)),
      state_(std::make_unique<State>()) {
  CHECK(deps_.cluster != nullptr && deps_.sink != nullptr && deps_.clock != nullptr);
  CHECK(deps_.reasons != nullptr && deps_.search != nullptr);
  state_->plugins = plugins_;
  for (const PluginSlot& slot : plugins_) {
    state_->timed_plugins = state_->timed_plugins || slot.plugin->DependsOnTime();
  }
  if (deps_.metrics == nullptr) return;
  for (const PluginSlot& slot : plugins_) {
    state_->plugin_times.push_back(
        {deps_.metrics->plugin_latency.With({slot.option->name, "OnSessionOpen"}),
         deps_.metrics->plugin_latency.With({slot.option->name, "OnSessionClose"})});
  }
}

Session::~Session() { deps_.search->Forget(); }

bool Session::HasAction(absl::string_view name) const {
  return std::find(actions_.begin(), actions_.end(), name) != actions_.end();
}

bool Session::HierarchyEnabled(absl::string_view plugin) const {
  for (const PluginSlot& slot : plugins_) {
    if (slot.option->name == plugin) return slot.option->enabled.hierarchy;
  }
  return false;
}

bool Session::JobBefore(JobId a, JobId b) const {
  if (const int c = points_.job_order(a, b); c != 0) return c < 0;
  const model::JobTable& jobs = tables().jobs;
  if (jobs.creation_ns[a] != jobs.creation_ns[b]) return jobs.creation_ns[a] < jobs.creation_ns[b];
  return jobs.key[a] < jobs.key[b];
}

bool Session::QueueBefore(QueueId a, QueueId b) const {
  if (const int c = points_.queue_order(a, b); c != 0) return c < 0;
  const model::QueueTable& queues = tables().queues;
  if (queues.creation_ns[a] != queues.creation_ns[b]) {
    return queues.creation_ns[a] < queues.creation_ns[b];
  }
  return queues.name[a] < queues.name[b];
}

bool Session::TaskBefore(TaskId a, TaskId b) const {
  if (const int c = points_.task_order(a, b); c != 0) return c < 0;
  const model::TaskTable& tasks = tables().tasks;
  const int64_t left = tasks.pod_index[a], right = tasks.pod_index[b];
  if (left >= 0 && right >= 0 && left != right) return left < right;
  if (tasks.creation_ns[a] != tasks.creation_ns[b]) {
    return tasks.creation_ns[a] < tasks.creation_ns[b];
  }
  return tasks.spec[a]->uid < tasks.spec[b]->uid;
}

bool Session::SubJobBefore(SubJobId a, SubJobId b) const {
  if (const int c = points_.sub_job_order(a, b); c != 0) return c < 0;
  const model::SubJobTable& subs = tables().sub_jobs;
  if (subs.match_index[a] != subs.match_index[b]) return subs.match_index[a] < subs.match_index[b];
  return subs.id[a] < subs.id[b];
}

bool Session::SubJobReady(SubJobId sub_job) const {
  const model::JobTable& jobs = tables().jobs;
  const JobId job = tables().sub_jobs.job[sub_job];
  if (jobs.spec[job] == nullptr || jobs.spec[job]->sub_groups.empty()) {
    return points_.job_ready(job);
  }
  return points_.sub_job_ready(job, sub_job);
}

bool Session::SubJobPipelined(SubJobId sub_job) const {
  const model::JobTable& jobs = tables().jobs;
  const JobId job = tables().sub_jobs.job[sub_job];
  if (jobs.spec[job] == nullptr || jobs.spec[job]->sub_groups.empty()) {
    return points_.job_pipelined(job);
  }
  return points_.sub_job_pipelined(job, sub_job);
}

FitErrors& Session::FitErrorsOf(TaskId task) {
  State::TaskErrors& entry = state_->fit_errors.Grow(task);
  const uint64_t owner = OwnerOf(tables().tasks, task);
  if (entry.owner != owner) entry = {owner, {}};
  state_->failed_roles.insert({tables().tasks.sub_job[task], tables().tasks.role[task]});
  return entry.errors;
}

const FitErrors* Session::FindFitErrors(TaskId task) const {
  if (!state_->fit_errors.contains(task)) return nullptr;
  const State::TaskErrors& entry = state_->fit_errors[task];
  if (entry.owner == 0 || entry.owner != OwnerOf(tables().tasks, task)) return nullptr;
  return &entry.errors;
}

bool Session::RoleHasFailed(TaskId task) const {
  const model::Symbol role = tables().tasks.role[task];
  return role.valid() && RoleHasFailed(tables().tasks.sub_job[task], role);
}

bool Session::RoleHasFailed(SubJobId sub_job, model::Symbol role) const {
  return state_->failed_roles.contains({sub_job, role});
}

void Session::SetJobFitError(JobId job, Cause refusal) {
  State::JobNote& note = NoteOf(*this, job);
  std::string text = JobRefusalText(*this, job, refusal);
  note.refusal = refusal;
  if (note.fit_error == text) return;
  note.fit_error = std::move(text);
  cluster().MarkUnpublished(job);
}

void Session::ClearJobFitError(JobId job) {
  State::JobNote& note = NoteOf(*this, job);
  if (note.fit_error.empty()) return;
  note.fit_error.clear();
  cluster().MarkUnpublished(job);
}

void Session::RecordPodGroupEvent(JobId job, bool warning, absl::string_view reason,
                                  std::string message) {
  const model::JobTable& jobs = tables().jobs;
  if (state_->quiet || jobs.solo[job] || jobs.spec[job] == nullptr) return;
  State::JobNote& note = NoteOf(*this, job);
  const uint64_t hash = util::StableHash(message, util::StableHash(reason));
  if (note.event_hash == hash && opened_ < note.next_event) return;
  note.event_pause = note.event_hash == hash ? std::min(2 * note.event_pause, kLongestEventPause)
                                             : kFirstEventPause;
  note.event_hash = hash;
  note.next_event = opened_ + note.event_pause;
  ports::EventWrite event;
  event.object = ports::EventWrite::Object::kPodGroup;
  event.namespace_name = jobs.spec[job]->namespace_name;
  event.name = jobs.spec[job]->name;
  event.uid = jobs.spec[job]->uid;
  event.warning = warning;
  event.reason = std::string(reason);
  event.message = std::move(message);
  deps_.sink->Emit(std::move(event));
}

void Session::SetJobCondition(JobId job, model::ConditionRow condition) {
  if (condition.type == "Unschedulable" && condition.status == "True") {
    NoteOf(*this, job).condition_set = state_->number;
  }
  std::vector<model::ConditionRow> conditions = tables().jobs.conditions[job];
  auto same_type = std::find_if(conditions.begin(), conditions.end(),
                                [&](const auto& c) { return c.type == condition.type; });
  if (same_type == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    *same_type = std::move(condition);
  }
  cluster().SetConditions(job, std::move(conditions));
}

void Session::Open(absl::string_view uid) {
  uid_.assign(uid.data(), uid.size());
  now_ = deps_.clock->Now();
  opened_ = deps_.clock->Uptime();
  ++state_->number;
  state_->failed_roles.clear();
  const uint64_t news = cluster().news();
  state_->news = state_->number == 1 || news != state_->news_at_open;
  state_->news_at_open = news;
  const uint64_t touches = cluster().touches_trimmed() + cluster().touches().size();
  changed_ = state_->timed_plugins || state_->number == 1 || !cluster().dirty_jobs().empty() ||
             !cluster().dirty_queues().empty() || touches != state_->touches_at_close;
  points_.Clear();
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const absl::Duration start = TimeIfMeasured();
    SessionBuilder builder(*this, plugins_[i], static_cast<int32_t>(i));
    plugins_[i].plugin->OnSessionOpen(builder);
    if (deps_.metrics != nullptr) state_->plugin_times[i].open->Observe(Milliseconds(start));
  }
  cluster().ClearDirty();
  deps_.search->Attach(*this);
  if (deps_.metrics != nullptr) deps_.metrics->open_session.Observe(Milliseconds(opened_));
}

absl::Duration Session::TimeIfMeasured() const {
  return deps_.metrics == nullptr ? absl::ZeroDuration() : deps_.clock->Uptime();
}

double Session::Milliseconds(absl::Duration since) const {
  return absl::ToDoubleMilliseconds(deps_.clock->Uptime() - since);
}

void Session::Close() {
  if (deps_.observer != nullptr) deps_.observer->OnClosing(*this);
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const absl::Duration start = TimeIfMeasured();
    plugins_[i].plugin->OnSessionClose(*this);
    if (deps_.metrics != nullptr) state_->plugin_times[i].close->Observe(Milliseconds(start));
  }
  PublishJobs(*this);
  UndoKept();
  PublishQueues(*this);
  for (JobId job : state_->tries) {
    State::JobNote& note = NoteOf(*this, job);
    note.tried = true;
    note.tried_generation = tables().jobs.generation[job];
  }
  state_->tries.clear();
  state_->touches_at_close = cluster().touches_trimmed() + cluster().touches().size();
  cluster().ClearUnpublished();
#ifndef NDEBUG
  if (VLOG_IS_ON(9)) cluster().CheckConsistency();
#endif
}

void SessionBuilder::AddFilter(NodeFilter& filter) {
  if (enabled().predicate) session_->points().filters.push_back({&filter, position_});
}

void SessionBuilder::AddScorer(NodeScorer& scorer, bool batch) {
  if (enabled().node_order) session_->points().scorers.push_back({&scorer, position_, batch});
}

}  // namespace hekla::framework

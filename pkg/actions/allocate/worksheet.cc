#include "pkg/actions/allocate/worksheet.h"

#include <algorithm>

#include "pkg/framework/task_order.h"

namespace hekla::actions {
namespace {

using model::JobId;
using model::SubJobId;
using model::TaskId;

// Marks, per policy, the first sub-jobs in order that are needed beside the ready ones.
void MarkRequired(const framework::Session& session, JobId job,
                  std::vector<SubJobSheet*>& waiting) {
  const model::Tables& t = session.tables();
  const model::JobSpec& spec = *t.jobs.spec[job];
  for (size_t policy = 0; policy < spec.sub_groups.size(); ++policy) {
    int32_t missing = spec.sub_groups[policy].min_sub_groups;
    for (SubJobId s : t.jobs.sub_jobs[job]) {
      const bool same = t.sub_jobs.policy[s] == static_cast<int32_t>(policy);
      if (same && session.SubJobReady(s)) --missing;
    }
    for (SubJobSheet* sheet : waiting) {
      if (missing <= 0) break;
      if (t.sub_jobs.policy[sheet->sub_job] != static_cast<int32_t>(policy)) continue;
      sheet->required = true;
      --missing;
    }
  }
}

}  // namespace

bool IsAllocatable(const model::TaskTable& tasks, TaskId task) {
  if (tasks.status[task] != model::TaskStatus::kPending || tasks.best_effort[task]) return false;
  return !tasks.gated[task] || tasks.spec[task]->only_queue_gate;
}

Worksheet MakeWorksheet(framework::Session& session, JobId job) {
  const model::Tables& t = session.tables();
  Worksheet sheet;
  for (SubJobId s : t.jobs.sub_jobs[job]) {
    SubJobSheet part;
    part.sub_job = s;
    for (TaskId task : t.sub_jobs.tasks[s]) {
      if (IsAllocatable(t.tasks, task)) part.tasks.push_back(task);
    }
    const bool policies = !t.jobs.spec[job]->sub_groups.empty();
    if (part.tasks.empty() && !policies) continue;
    framework::SortTasks(session, absl::MakeSpan(part.tasks));
    sheet.sub_jobs.push_back(std::move(part));
  }
  if (!t.jobs.spec[job]->sub_groups.empty()) {
    std::sort(sheet.sub_jobs.begin(), sheet.sub_jobs.end(), [&](const auto& a, const auto& b) {
      return session.SubJobBefore(a.sub_job, b.sub_job);
    });
    std::vector<SubJobSheet*> waiting;
    for (SubJobSheet& part : sheet.sub_jobs) {
      if (!session.SubJobReady(part.sub_job)) waiting.push_back(&part);
    }
    MarkRequired(session, job, waiting);
    std::stable_sort(sheet.sub_jobs.begin(), sheet.sub_jobs.end(),
                     [](const auto& a, const auto& b) { return a.required && !b.required; });
  }
  std::erase_if(sheet.sub_jobs, [](const SubJobSheet& part) { return part.empty(); });
  return sheet;
}

}  // namespace hekla::actions

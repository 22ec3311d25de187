#include "pkg/sim/cycle_recorder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/framework/session.h"

namespace hekla::sim {
namespace {

std::string PodKey(const framework::Session& session, model::TaskId task) {
  const model::TaskSpec& spec = *session.tables().tasks.spec[task];
  return absl::StrCat(spec.namespace_name, "/", spec.name);
}

std::string NodeName(const framework::Session& session, model::NodeId node) {
  return std::string(session.dictionary().symbols.Text(session.tables().nodes.name[node]));
}

}  // namespace

void CycleRecorder::OnBind(const framework::Session& session, model::TaskId task,
                           model::NodeId node) {
  current_.binds.emplace_back(PodKey(session, task), NodeName(session, node));
  ++placements_;
}

void CycleRecorder::OnEvict(const framework::Session& session, model::TaskId victim,
                            absl::string_view reason) {
  current_.evictions.push_back({PodKey(session, victim), std::string(reason), ""});
}

void CycleRecorder::OnClosing(const framework::Session& session) {
  const model::Tables& tables = session.tables();
  for (size_t i = 0; i < tables.jobs.size(); ++i) {
    const model::JobId job(static_cast<uint32_t>(i));
    if (!tables.jobs.live[job] || tables.jobs.Waiting(job) == 0) continue;
    for (const model::TaskId task : tables.jobs.tasks[job]) {
      if (tables.tasks.status[task] != model::TaskStatus::kPipelined) continue;
      current_.pipelined.emplace_back(PodKey(session, task),
                                      NodeName(session, tables.tasks.node[task]));
    }
  }
  std::sort(current_.pipelined.begin(), current_.pipelined.end());
  current_.cycle = ++count_;
  current_.time = session.now();
  if (!current_.empty()) cycles_.push_back(std::move(current_));
  current_ = CycleRecord();
}

}  // namespace hekla::sim

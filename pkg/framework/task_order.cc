#include "pkg/framework/task_order.h"

#include <algorithm>
#include <vector>

namespace hekla::framework {
namespace {

using model::TaskId;
using model::TaskTable;

bool Older(const TaskTable& tasks, TaskId a, TaskId b) {
  if (tasks.creation_ns[a] != tasks.creation_ns[b]) {
    return tasks.creation_ns[a] < tasks.creation_ns[b];
  }
  return tasks.spec[a]->uid < tasks.spec[b]->uid;
}

// `equals` are by age; sorts those with an index among themselves.
void FollowIndexes(const TaskTable& tasks, absl::Span<TaskId> equals, std::vector<TaskId>& buffer) {
  buffer.clear();
  for (TaskId task : equals) {
    if (tasks.pod_index[task] >= 0) buffer.push_back(task);
  }
  const auto before = [&](TaskId a, TaskId b) {
    const int64_t left = tasks.pod_index[a], right = tasks.pod_index[b];
    return left != right ? left < right : Older(tasks, a, b);
  };
  if (buffer.size() < 2 || std::is_sorted(buffer.begin(), buffer.end(), before)) return;
  std::sort(buffer.begin(), buffer.end(), before);
  size_t next = 0;
  for (TaskId& task : equals) {
    if (tasks.pod_index[task] >= 0) task = buffer[next++];
  }
}

}  // namespace

void SortTasks(Session& session, absl::Span<TaskId> tasks) {
  const TaskTable& table = session.tables().tasks;
  const auto& order = session.points().task_order;
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const int c = order(a, b);
    return c != 0 ? c < 0 : Older(table, a, b);
  });
  std::vector<TaskId> buffer;
  for (size_t begin = 0; begin < tasks.size();) {
    size_t end = begin + 1;
    while (end < tasks.size() && order(tasks[begin], tasks[end]) == 0) ++end;
    FollowIndexes(table, tasks.subspan(begin, end - begin), buffer);
    begin = end;
  }
}

}  // namespace hekla::framework

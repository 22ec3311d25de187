#pragma once

#include <vector>

#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::actions {

// What is left to place of one sub-job: its tasks in order, `next` is the first one not yet tried.
struct SubJobSheet {
  model::SubJobId sub_job;
  bool required = false;
  std::vector<model::TaskId> tasks;
  size_t next = 0;
  bool empty() const { return next >= tasks.size(); }
};

// What is left to place of one job: its sub-jobs with tasks, first ones first. Those needed to
// reach the minimum number of ready sub-jobs of their group are required and come before all
// others. Source: spec scheduler-actions 2.2.1.
struct Worksheet {
  std::vector<SubJobSheet> sub_jobs;
  bool empty() const { return sub_jobs.empty(); }
};

Worksheet MakeWorksheet(framework::Session& session, model::JobId job);

// A task that allocate deals with: Pending, asks for something, and not held back by gates other
// than the queue's.
bool IsAllocatable(const model::TaskTable& tasks, model::TaskId task);

}  // namespace hekla::actions

#pragma once

#include <memory>
#include <string>

#include "pkg/model/cluster.h"
#include "pkg/plugins/common/jobs.h"
#include "pkg/util/id_vector.h"

namespace hekla::plugins {

// Metric series of jobs: made when a job is first seen, kept by id, forgotten with the job.
// Series holds the handles. Threads: the session thread.
template <typename Series>
class JobSeries {
 public:
  // The series of a job in the session; make(namespace, name) makes a new one, forget(namespace,
  // name) removes one whose job is gone. nullptr for a job that is not (any longer) in the session.
  template <typename Make, typename Forget>
  Series* Of(const model::JobTable& jobs, model::JobId job, Make&& make, Forget&& forget) {
    if (!rows_.contains(job)) rows_.resize(jobs.size());
    std::unique_ptr<Row>& row = rows_[job];
    const model::JobSpec* spec = InSession(jobs, job) ? jobs.spec[job].get() : nullptr;
    const bool same = row != nullptr && spec != nullptr && row->name == spec->name &&
                      row->space == spec->namespace_name;
    if (row != nullptr && !same) {
      forget(row->space, row->name);
      row = nullptr;
    }
    if (spec == nullptr) return nullptr;
    if (row == nullptr) {
      row = std::make_unique<Row>();
      row->space = spec->namespace_name;
      row->name = spec->name;
      row->series = make(row->space, row->name);
    }
    return &row->series;
  }

 private:
  struct Row {
    std::string space, name;
    Series series;
  };
  util::IdVector<model::JobId, std::unique_ptr<Row>> rows_;
};

}  // namespace hekla::plugins

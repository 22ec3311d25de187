#pragma once

#include "pkg/actions/allocate/worksheet.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/session.h"
#include "pkg/framework/statement.h"

// HOT PATH
namespace hekla::actions {

// One turn of one job: tries tasks in order and says what has become of it. Each Try returns a
// statement that is empty where nothing stays.
// Source: spec scheduler-actions 2.2.3 to 2.2.5.
class Allocation {
 public:
  Allocation(framework::Session& session, model::JobId job, model::QueueId queue)
      : session_(session), job_(job), queue_(queue) {}

  // The next tasks of one sub-job, until it is ready. Stays if it is ready, or could be.
  framework::Statement TrySubJob(SubJobSheet& sheet);
  // Sub-jobs in order, until the job is ready. Stays if the job is ready, or could be. The sheet
  // keeps what is left of sub-jobs that still get somewhere.
  framework::Statement TryJob(Worksheet& sheet);
  // A task was put somewhere, if only to be taken back.
  bool placed() const { return placed_; }

 private:
  enum class Outcome : uint8_t { kPlaced, kSkipped, kRefused, kRoleHasFailed };
  Outcome TryTask(model::TaskId task, framework::Statement& statement);
  framework::SearchResult Search(model::TaskId task);
  // After a turn in which nothing of a sub-job was placed.
  void NoteBlocked();
  bool HeldByGate(model::TaskId task);
  // The queue does not let the task in.
  void ExplainQueue(model::TaskId task);
  // The minimum of the job asks for more than all nodes together have.
  bool ExceedsCluster() const;
  bool NeedContinue(model::SubJobId sub_job) const;

  framework::Session& session_;
  const model::JobId job_;
  const model::QueueId queue_;
  model::TaskId refused_;     // the first one
  bool same_refusal_ = true;  // nothing but refusals of one class so far
  bool placed_ = false;
  bool queue_said_ = false;  // why it refuses
};

}  // namespace hekla::actions

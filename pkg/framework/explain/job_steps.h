#pragma once

#include <string>
#include <vector>

#include "pkg/framework/evidence.h"
#include "pkg/framework/explain/explanation.h"
#include "pkg/framework/session.h"

namespace hekla::framework::explain {

// A cause that holds, or none yet.
struct Finding {
  bool found = false;
  Cause cause = Cause::kNotTriedYet;
  std::string message;

  // The first one stays.
  void Say(Cause what, std::string text) {
    if (found) return;
    found = true;
    cause = what;
    message = std::move(text);
  }
};

// The questions about a whole job, in the order in which the scheduler asks them: objects, queue,
// admission, gang, topology, actions. Each leaves a step; the first that says no is the finding.
// Threads: the session thread, between cycles.
class JobSteps {
 public:
  JobSteps(Session& session, model::JobId job, std::vector<Step>& chain, Finding& finding)
      : session_(session), job_(job), chain_(chain), finding_(finding) {}

  // All of them. False where later questions make no sense (no PodGroup, no queue).
  bool Ask();
  // Whether the queue lets the job's turn come at all; asked once it is admitted and valid.
  void AskOverused();
  // The queue's verdict on one task, with what other members of the gang would take.
  void AskShare(model::TaskId task, const model::Resource& siblings);
  // Who comes first in the queue. A note, never a cause.
  void AddOrder();

 private:
  void AskQueue();
  void AskEnqueue();
  void AskGang();
  void AskTopology();
  void AskActions();
  // The plugin that refuses the job's admission; -1 if nobody does.
  int32_t RefusingPlugin() const;
  void SayRefused(int32_t plugin);
  void SayQueueRefuses(int32_t plugin, std::vector<LimitCheck> checks);
  std::string GangText() const;
  std::string RolesText() const;
  std::string SubGroupsText() const;
  Step& Add(absl::string_view name, Verdict verdict, std::string text);
  void No(Step& step, Cause cause, std::string text);
  Witness* WitnessOf(int32_t plugin) const;
  const std::string& PluginName(int32_t plugin) const;
  model::QueueId queue() const { return session_.tables().jobs.queue[job_]; }
  const std::string& QueueName() const { return session_.tables().queues.name[queue()]; }

  Session& session_;
  const model::JobId job_;
  std::vector<Step>& chain_;
  Finding& finding_;
};

// "ns/name" of the PodGroup; of the pod where there is none.
std::string JobName(const model::JobTable& jobs, model::JobId job);

}  // namespace hekla::framework::explain

#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/framework/explain/explanation.h"
#include "pkg/framework/explain/job_steps.h"
#include "pkg/framework/explain/node_funnel.h"
#include "pkg/framework/session.h"

namespace hekla::framework::explain {

// Answers "why is it pending?" from the tables, the plugins and what the last try left behind. The
// questions are those of a cycle, in its order; the first that says no is the cause.
//
// It looks on: decisions, events and statuses are the same whether it was asked or not.
// Threads: the session thread, between cycles.
// Cost:    about one search without kept answers per pod, and per kind of pod of a PodGroup.
class Explainer {
 public:
  // `session` has been opened and closed at least once.
  explicit Explainer(Session& session) : session_(session), funnel_(session) {}

  // Keys are "namespace/name".
  // Errors: kNotFound, with what may be the matter.
  absl::StatusOr<Explanation> Pod(absl::string_view key);
  absl::StatusOr<Explanation> PodGroup(absl::string_view key);
  absl::StatusOr<Explanation> Ask(Subject subject, absl::string_view key) {
    return subject == Subject::kPod ? Pod(key) : PodGroup(key);
  }
  Explanation Task(model::TaskId task);

 private:
  // What is known about one pending pod beside its job.
  struct PodAnswer {
    Finding finding;
    std::vector<Step> chain;
    std::optional<NodeFacts> nodes;
    std::string blocked_by;
  };
  model::TaskId FindPod(absl::string_view key) const;
  // False where the pod is not pending: the explanation is complete then.
  bool DescribeState(model::TaskId task, Explanation& out) const;
  void DescribePlaced(model::TaskId task, Explanation& out) const;
  // `whole`: the gang counts, too; false where the pod at hand is the one that others wait for.
  PodAnswer AskPod(model::TaskId task, bool whole);
  void AskGates(model::TaskId task, PodAnswer& answer) const;
  void AskHeld(model::TaskId task, PodAnswer& answer) const;
  void AskShare(model::TaskId task, PodAnswer& answer);
  void AskNodes(model::TaskId task, PodAnswer& answer);
  void AddVolumes(model::TaskId task, PodAnswer& answer) const;
  void AskGang(model::TaskId task, PodAnswer& answer);
  // The cause that the last try recorded, where the tables do not show it any more.
  void AskRecorded(model::TaskId task, PodAnswer& answer) const;
  void AskJobNote(model::JobId job, PodAnswer& answer) const;
  Overlay OverlayFor(model::TaskId task) const;
  model::Resource SiblingsOf(model::TaskId task) const;
  // The member whose refusal ended the job's last try; invalid if there is none.
  model::TaskId RefusedMember(model::JobId job) const;
  bool WasTried(model::JobId job) const;
  void DescribePlacedGroup(model::JobId job, Explanation& out) const;
  void DescribeMembers(model::JobId job, Explanation& out);
  void AskGroupGates(model::JobId job, Finding& finding, std::vector<Step>& chain) const;
  std::string PodName(model::TaskId task) const;
  std::string NodeName(model::NodeId node) const;

  Session& session_;
  NodeFunnel funnel_;
};

}  // namespace hekla::framework::explain

#include "pkg/ray/controllers/raycluster/apply.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/kube/api_status.h"
#include "pkg/ray/controllers/common/kinds.h"

namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;

// Does the write itself; the object of a create or update as the server answered.
absl::StatusOr<Value> Perform(controller::Client& client, const std::string& ns,
                              const Write& write) {
  switch (write.verb) {
    case Write::Verb::kCreate:
      return client.Create(*write.resource, write.object);
    case Write::Verb::kUpdate:
      return client.Update(*write.resource, write.object);
    case Write::Verb::kMergePatch:
      return client.Patch(*write.resource, {.ns = ns, .name = write.name}, kube::PatchType::kMerge,
                          write.object);
    case Write::Verb::kDelete: {
      kube::DeleteOptions options;
      options.precondition_uid = write.uid;
      const absl::Status status = client.Delete(*write.resource, ns, write.name, options);
      if (!status.ok()) return status;
      return Value();
    }
    case Write::Verb::kDeleteCollection: {
      kube::ListOptions selection;
      selection.label_selector = absl::StrJoin(write.labels, ",", absl::PairFormatter("="));
      const absl::Status status = client.DeleteCollection(*write.resource, ns, selection);
      if (!status.ok()) return status;
      return Value();
    }
    case Write::Verb::kFail:
      return write.failure;
    case Write::Verb::kNote:
    case Write::Verb::kForgetExpectations:
      return Value();
  }
  return Value();
}

// Whether the server may have done what it did not confirm.
bool MayHaveTakenEffect(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kCancelled:
      return true;
    default:
      return false;
  }
}

bool IsFine(const Write& write, const absl::Status& status) {
  if (write.failing_is_fine) {
    LOG(WARNING) << "write failed and is tried again later kind=" << write.resource->kind
                 << " name=" << write.name << " error=" << status.message();
    return true;
  }
  if (write.exists_is_fine && kube::IsAlreadyExists(status)) return true;
  return write.missing_is_fine && kube::IsNotFound(status);
}

void Succeed(const ApplyDeps& deps, const Observed& observed, const Write& write,
             const Value& answer, Outcome& outcome, PassEvents& events) {
  const std::string cluster = observed.cluster.metadata.Key();
  if (write.verb == Write::Verb::kForgetExpectations) deps.expectations->Forget(cluster);
  const std::string name =
      write.verb == Write::Verb::kCreate ? std::string(controller::NameOf(answer)) : write.name;
  if (write.expects.has_value()) {
    deps.expectations->Expect(cluster, write.expects->group, name, write.expects->action,
                              deps.clock->Uptime());
  }
  outcome.made_service =
      outcome.made_service || (write.verb == Write::Verb::kCreate && write.resource == &Services());
  if (write.done.reason.empty()) return;
  EventNote note = write.done;
  if (write.names_object) {
    absl::StrAppend(&note.note, controller::NamespaceOf(answer), "/", name);
  }
  events.Add(std::move(note));
}

}  // namespace

Outcome ApplyPlan(const ApplyDeps& deps, const Observed& observed, const Plan& plan) {
  Outcome outcome;
  PassEvents events(deps.events, observed.object);
  for (const Write& write : plan.writes) {
    const absl::StatusOr<Value> answer = Perform(*deps.client, observed.cluster.ns(), write);
    if (answer.ok()) {
      Succeed(deps, observed, write, *answer, outcome, events);
      continue;
    }
    if (write.missing_is_done && kube::IsNotFound(answer.status())) {
      Succeed(deps, observed, write, Value(), outcome, events);
      continue;
    }
    if (IsFine(write, answer.status())) continue;
    if (!write.failed.reason.empty()) {
      EventNote note = write.failed;
      absl::StrAppend(&note.note, absl::string_view(answer.status().message()));
      events.Add(std::move(note));
    }
    outcome.uncertain = write.verb == Write::Verb::kCreate && write.resource == &Pods() &&
                        MayHaveTakenEffect(answer.status());
    outcome.error = StepError{std::string(write.marker), answer.status()};
    break;
  }
  return outcome;
}

}  // namespace hekla::ray::controllers::raycluster

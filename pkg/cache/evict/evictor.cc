#include "pkg/cache/evict/evictor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apis/core/pod.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

constexpr int kConflictTries = 5;

bool SamePod(const Value& pod, const ports::EvictRequest& request) {
  return pod.At("metadata").GetString("uid") == request.uid;
}

}  // namespace

struct Evictor::Item {
  ports::EvictRequest request;
  int conflicts = 0;
};

void Evictor::Evict(ports::EvictRequest request) {
  auto item = std::make_shared<Item>();
  item->request = std::move(request);
  const ports::EvictRequest& r = item->request;
  const auto text = absl::StrCat("Pod is evicted, because of ", r.reason);
  if (!r.job_name.empty()) {
    const PodGroupStore::Entry* group =
        context_->stores->pod_groups().Find(absl::StrCat(r.job_namespace, "/", r.job_name));
    const std::string uid = group == nullptr ? "" : group->spec->uid;
    context_->Event(PodGroupReference(r.job_namespace, r.job_name, uid), false, "Evict", r.reason);
  }
  context_->Event(PodReference(r.namespace_name, r.name, r.uid), true, "Evict", text);
  context_->channel->Submit(Lane::kEvict,
                            [this, item](WriteChannel::Done done) { Read(item, std::move(done)); });
}

void Evictor::Read(const ItemPtr& item, WriteChannel::Done done) {
  const kube::ResourceClient pods(context_->client, PodResource());
  pods.Get({item->request.namespace_name, item->request.name, ""},
           context_->OnIo<absl::StatusOr<Value>>([this, item, done](absl::StatusOr<Value> pod) {
             // The watch tells the tables that it is gone, or on its way.
             if (kube::IsNotFound(pod.status()) || (pod.ok() && !SamePod(*pod, item->request)) ||
                 (pod.ok() && pod->At("metadata").Has("deletionTimestamp"))) {
               done(absl::OkStatus());
               return;
             }
             if (!pod.ok()) {
               Failed(item, pod.status());
               done(pod.status());
               return;
             }
             WriteStatus(item, *std::move(pod), done);
           }));
}

void Evictor::WriteStatus(const ItemPtr& item, Value pod, WriteChannel::Done done) {
  const absl::Time now = context_->io->Now();
  const auto text = absl::StrCat("Pod is evicted, because of ", item->request.reason);
  bool changed = apis::core::SetPodCondition(pod, {"Ready", "False", "Evict", text}, now);
  changed |= apis::core::SetPodCondition(
      pod,
      {"DisruptionTarget", "True", "PreemptionByScheduler",
       absl::StrCat(scheduler_name_, ": preempting to accommodate a higher priority pod")},
      now);
  if (!changed) {
    Delete(item, std::move(done));
    return;
  }
  const kube::ResourceClient pods(context_->client, PodResource());
  pods.Update(
      {item->request.namespace_name, item->request.name, "status"}, pod,
      context_->OnIo<absl::StatusOr<Value>>(
          [this, item, done](const absl::StatusOr<Value>& answer) {
            if (answer.ok()) {
              Delete(item, done);
            } else if (kube::IsNotFound(answer.status())) {
              done(absl::OkStatus());
            } else if (kube::IsConflict(answer.status()) && ++item->conflicts < kConflictTries) {
              Read(item, done);
            } else {
              Failed(item, answer.status());
              done(answer.status());
            }
          }));
}

void Evictor::Delete(const ItemPtr& item, WriteChannel::Done done) {
  const kube::ResourceClient pods(context_->client, PodResource());
  kube::DeleteOptions options;
  options.precondition_uid = item->request.uid;
  pods.Delete({item->request.namespace_name, item->request.name, ""}, options,
              context_->OnIo<absl::StatusOr<Value>>(
                  [this, item, done](const absl::StatusOr<Value>& answer) {
                    // A conflict means that another pod has taken the name.
                    const absl::Status& status = answer.status();
                    if (status.ok() || kube::IsNotFound(status) || kube::IsConflict(status)) {
                      backoff_.Forget(item->request.uid);
                      done(absl::OkStatus());
                      return;
                    }
                    Failed(item, status);
                    done(status);
                  }));
}

void Evictor::Failed(const ItemPtr& item, const absl::Status& status) {
  LOG(WARNING) << "evict failed pod=" << item->request.namespace_name << "/" << item->request.name
               << " error=" << status.message();
  const bool first = backoff_.failures(item->request.uid) == 0;
  const absl::Duration delay = backoff_.Next(item->request.uid);
  Settle(item, first ? absl::ZeroDuration() : delay);
}

void Evictor::Settle(const ItemPtr& item, absl::Duration delay) {
  context_->channel->SubmitAfter(delay, Lane::kEvict, [this, item](WriteChannel::Done done) {
    const kube::ResourceClient pods(context_->client, PodResource());
    const ports::EvictRequest& r = item->request;
    pods.Get(
        {r.namespace_name, r.name, ""},
        context_->OnIo<absl::StatusOr<Value>>([this, item, done](absl::StatusOr<Value> pod) {
          const std::string& uid = item->request.uid;
          const bool gone =
              kube::IsNotFound(pod.status()) || (pod.ok() && !SamePod(*pod, item->request));
          if (gone) {
            backoff_.Forget(uid);
            context_->deltas->Push(model::EvictFailed{uid, nullptr});
          } else if (pod.ok()) {
            context_->deltas->Push(model::EvictFailed{uid, context_->stores->pods().Observe(*pod)});
          } else {
            Settle(item, std::min(backoff_.Next(uid), absl::Seconds(30)));
          }
          done(pod.status());
        }));
  });
}

}  // namespace hekla::cache

#include "pkg/cache/bind/binder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {
namespace {

using apis::json::Quote;
using apis::json::Value;

constexpr int kMaxThrottled = 10;
constexpr absl::Duration kThrottlePause = absl::Milliseconds(50);

std::string TaskName(const ports::BindRequest& r) {
  return absl::StrCat(r.namespace_name, "/", r.name);
}

}  // namespace

std::string BindingBody(const ports::BindRequest& request) {
  std::string annotations;
  for (const auto& [key, value] : request.annotations) {
    absl::StrAppend(&annotations, annotations.empty() ? ",\"annotations\":{" : ",", Quote(key), ":",
                    Quote(value));
  }
  if (!annotations.empty()) annotations += "}";
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":)",
                      Quote(request.name), R"(,"namespace":)", Quote(request.namespace_name),
                      R"(,"uid":)", Quote(request.uid), annotations,
                      R"(},"target":{"kind":"Node","name":)", Quote(request.node), "}}");
}

Binder::Binder(const WriteContext* context, WriteCondition write_condition)
    : context_(context), write_condition_(std::move(write_condition)), volumes_(context) {}

void Binder::Bind(ports::BindRequest request) {
  auto item = std::make_shared<Item>();
  item->request = std::move(request);
  if (item->request.volumes.empty()) {
    Send(item, absl::ZeroDuration());
  } else {
    Prepare(item);
  }
}

// Waiting for claims can take minutes and must not keep others from being bound: it takes no place
// in the window.
void Binder::Prepare(const ItemPtr& item) {
  context_->channel->Hold();
  volumes_.Bind(item->request, [this, item](const absl::Status& status) {
    if (status.ok()) {
      Send(item, absl::ZeroDuration());
    } else {
      item->error = status;
      item->message = absl::StrCat("execute preBind for pod ", TaskName(item->request),
                                   " failed: ", status.message(), ", resync the task");
      Settle(item, NextDelay(item));
    }
    context_->channel->Release();
  });
}

absl::Duration Binder::NextDelay(const ItemPtr& item) {
  const bool first = backoff_.failures(item->request.uid) == 0;
  const absl::Duration delay = backoff_.Next(item->request.uid);
  return first ? absl::ZeroDuration() : delay;
}

void Binder::Send(const ItemPtr& item, absl::Duration delay) {
  auto call = [this, item](WriteChannel::Done done) { Post(item, std::move(done)); };
  if (delay > absl::ZeroDuration()) {
    context_->channel->SubmitAfter(delay, Lane::kBind, std::move(call));
  } else {
    context_->channel->Submit(Lane::kBind, std::move(call));
  }
}

void Binder::Post(const ItemPtr& item, WriteChannel::Done done) {
  const kube::ResourceClient pods(context_->client, PodResource());
  const ports::BindRequest& r = item->request;
  pods.PostSubresource(
      {r.namespace_name, r.name, "binding"}, BindingBody(r),
      context_->OnIo<absl::Status>([this, item, done](const absl::Status& status) {
        if (status.ok()) {
          Succeeded(item);
        } else if (kube::IsTooManyRequests(status) && item->throttled < kMaxThrottled) {
          Send(item, kThrottlePause * (int64_t{1} << item->throttled++));
        } else {
          item->error = status;
          item->message =
              absl::StrCat("failed to bind to node ", item->request.node, ": ", status.message());
          Settle(item, NextDelay(item));
        }
        done(status);
      }));
}

void Binder::Succeeded(const ItemPtr& item) {
  const ports::BindRequest& r = item->request;
  backoff_.Forget(r.uid);
  context_->Event(PodReference(r.namespace_name, r.name, r.uid), /*warning=*/false, "Scheduled",
                  absl::StrCat("Successfully assigned ", TaskName(r), " to ", r.node));
}

void Binder::Settle(const ItemPtr& item, absl::Duration delay) {
  context_->channel->SubmitAfter(delay, Lane::kBind, [this, item](WriteChannel::Done done) {
    const kube::ResourceClient pods(context_->client, PodResource());
    pods.Get({item->request.namespace_name, item->request.name, ""},
             context_->OnIo<absl::StatusOr<Value>>([this, item, done](absl::StatusOr<Value> pod) {
               const absl::Status status = pod.status();
               Decide(item, std::move(pod));
               done(status);
             }));
  });
}

void Binder::Decide(const ItemPtr& item, absl::StatusOr<Value> pod) {
  const ports::BindRequest& r = item->request;
  if (kube::IsNotFound(pod.status())) {
    Fail(item, nullptr);
    return;
  }
  if (!pod.ok()) {
    Settle(item, std::min(backoff_.Next(r.uid), absl::Seconds(30)));
    return;
  }
  if (pod->At("metadata").GetString("uid") != r.uid) {
    Fail(item, nullptr);
    return;
  }
  const std::string node(pod->At("spec").GetString("nodeName"));
  std::shared_ptr<const model::TaskSpec> now = context_->stores->pods().Observe(*pod);
  if (node == r.node) {
    Succeeded(item);
    // The tables learn of it here at the latest.
    if (now != nullptr) context_->deltas->Push(model::Upsert<model::TaskSpec>{std::move(now)});
    return;
  }
  Fail(item, std::move(now));
}

void Binder::Fail(const ItemPtr& item, std::shared_ptr<const model::TaskSpec> now) {
  const ports::BindRequest& r = item->request;
  LOG(WARNING) << "bind failed pod=" << TaskName(r) << " node=" << r.node
               << " error=" << item->error.message();
  if (now == nullptr) {
    backoff_.Forget(r.uid);
  } else if (now->node.empty()) {
    write_condition_(
        {r.uid, r.namespace_name, r.name, "SchedulerError", item->message, /*nominated=*/""});
  }
  context_->deltas->Push(model::BindFailed{r.uid, r.node, item->message, std::move(now)});
}

}  // namespace hekla::cache

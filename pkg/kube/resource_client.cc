#include "pkg/kube/resource_client.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "pkg/kube/api_status.h"
#include "pkg/util/random.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

absl::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

std::string Subject(const Resource& resource, absl::string_view name) {
  return name.empty() ? resource.qualified_name()
                      : absl::StrCat(resource.qualified_name(), " ", name);
}

absl::Status CheckObject(const Resource& resource, const ObjectName& object) {
  if (absl::Status s = CheckPathSegment(object.name); !s.ok()) return s;
  if (resource.namespaced && object.ns.empty()) {
    return absl::InvalidArgumentError(
        "an empty namespace may not be set when a resource name is provided");
  }
  return absl::OkStatus();
}

RestRequest ObjectRequest(absl::string_view method, const Resource& resource,
                          const ObjectName& object) {
  RestRequest request;
  request.method = std::string(method);
  request.path = resource.ObjectPath(object.ns, object.name, object.subresource);
  request.subject = Subject(resource, object.name);
  return request;
}

void AddListQuery(const ListOptions& options, RestRequest& request) {
  const auto add = [&request](absl::string_view key, const std::string& value) {
    if (!value.empty()) request.query.emplace_back(key, value);
  };
  add("labelSelector", options.label_selector);
  add("fieldSelector", options.field_selector);
  add("resourceVersion", options.resource_version);
  add("resourceVersionMatch", options.resource_version_match);
  if (options.limit > 0) add("limit", absl::StrCat(options.limit));
  add("continue", options.continue_token);
}

}  // namespace

void ResourceClient::SendObject(RestRequest request, Done done) const {
  client_->Send(std::move(request),
                [done = std::move(done)](absl::StatusOr<http::Response> answer) {
                  if (!answer.ok()) return done(answer.status());
                  done(apis::json::Parse(answer->body));
                });
}

namespace {

// Tells `done` later: callers may rely on not being called from inside their call.
template <typename Done>
void FailLater(RestClient& client, Done done, absl::Status status) {
  client.executor().Post([done = std::move(done), status] { done(status); });
}

}  // namespace

void ResourceClient::Get(const ObjectName& object, Done done) const {
  if (absl::Status s = CheckObject(resource_, object); !s.ok()) {
    return FailLater(*client_, std::move(done), s);
  }
  RestRequest request = ObjectRequest("GET", resource_, object);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::List(absl::string_view ns, const ListOptions& options, Done done) const {
  RestRequest request;
  request.method = "GET";
  request.path = resource_.CollectionPath(ns);
  request.subject = Subject(resource_, "");
  AddListQuery(options, request);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::Create(absl::string_view ns, const Value& object, Done done) const {
  Post(ns, object, RestRequest().accept, std::move(done));
}

void ResourceClient::CreateForMetadata(absl::string_view ns, const Value& object, Done done) const {
  // A server that cannot answer so answers with the whole object.
  Post(ns, object, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
       std::move(done));
}

void ResourceClient::Post(absl::string_view ns, const Value& object, std::string accept,
                          Done done) const {
  if (resource_.namespaced && ns.empty()) {
    return FailLater(
        *client_, std::move(done),
        absl::InvalidArgumentError("an empty namespace may not be set during creation"));
  }
  RestRequest request;
  request.method = "POST";
  request.path = resource_.CollectionPath(ns);
  request.subject = Subject(resource_, object.At("metadata").GetString("name"));
  request.body = apis::json::Dump(object);
  request.accept = std::move(accept);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::Update(const ObjectName& name, const Value& object, Done done) const {
  if (absl::Status s = CheckObject(resource_, name); !s.ok()) {
    return FailLater(*client_, std::move(done), s);
  }
  RestRequest request = ObjectRequest("PUT", resource_, name);
  request.body = apis::json::Dump(object);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::Patch(const ObjectName& name, PatchType type, const Value& patch,
                           Done done) const {
  if (absl::Status s = CheckObject(resource_, name); !s.ok()) {
    return FailLater(*client_, std::move(done), s);
  }
  RestRequest request = ObjectRequest("PATCH", resource_, name);
  request.content_type = std::string(ContentType(type));
  request.body = apis::json::Dump(patch);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::Delete(const ObjectName& name, const DeleteOptions& options, Done done) const {
  if (absl::Status s = CheckObject(resource_, name); !s.ok()) {
    return FailLater(*client_, std::move(done), s);
  }
  RestRequest request = ObjectRequest("DELETE", resource_, name);
  Value body = Value::MakeObject({{"kind", "DeleteOptions"}, {"apiVersion", "v1"}});
  if (options.grace_period_seconds.has_value()) {
    body.Set("gracePeriodSeconds", static_cast<long>(*options.grace_period_seconds));
  }
  if (!options.propagation_policy.empty())
    body.Set("propagationPolicy", options.propagation_policy);
  if (!options.precondition_uid.empty()) body["preconditions"].Set("uid", options.precondition_uid);
  if (!options.precondition_resource_version.empty()) {
    body["preconditions"].Set("resourceVersion", options.precondition_resource_version);
  }
  if (body.size() > 2) request.body = apis::json::Dump(body);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::DeleteCollection(absl::string_view ns, const ListOptions& options,
                                      Done done) const {
  RestRequest request;
  request.method = "DELETE";
  request.path = resource_.CollectionPath(ns);
  request.subject = Subject(resource_, "");
  AddListQuery(options, request);
  SendObject(std::move(request), std::move(done));
}

void ResourceClient::PostSubresource(const ObjectName& name, std::string body,
                                     std::function<void(absl::Status)> done) const {
  if (absl::Status s = CheckObject(resource_, name); !s.ok()) {
    return FailLater(*client_, std::move(done), s);
  }
  RestRequest request = ObjectRequest("POST", resource_, name);
  request.body = std::move(body);
  client_->Send(
      std::move(request),
      [done = std::move(done)](absl::StatusOr<http::Response> answer) { done(answer.status()); });
}

namespace {

class Waiter {
 public:
  ResourceClient::Done Callback() {
    return [this](absl::StatusOr<Value> answer) {
      result_ = std::move(answer);
      finished_.Notify();
    };
  }
  absl::StatusOr<Value> Wait() {
    finished_.WaitForNotification();
    return std::move(result_);
  }

 private:
  absl::StatusOr<Value> result_ = absl::UnknownError("no answer");
  absl::Notification finished_;
};

}  // namespace

absl::StatusOr<Value> ResourceClient::GetAndWait(const ObjectName& object) const {
  Waiter waiter;
  Get(object, waiter.Callback());
  return waiter.Wait();
}

absl::StatusOr<Value> ResourceClient::CreateAndWait(absl::string_view ns,
                                                    const Value& object) const {
  Waiter waiter;
  Create(ns, object, waiter.Callback());
  return waiter.Wait();
}

namespace {

constexpr int kConflictTries = 5;

struct ConflictLoop : std::enable_shared_from_this<ConflictLoop> {
  Executor* executor = nullptr;
  std::function<void(std::function<void(absl::Status)>)> step;
  std::function<void(absl::Status)> done;
  int tries = 0;
  util::Random random{7};

  void Run() {
    ++tries;
    step([self = shared_from_this()](absl::Status status) {
      if (!IsConflict(status) || self->tries >= kConflictTries)
        return self->done(std::move(status));
      const absl::Duration delay = absl::Milliseconds(10) * (1 + 0.1 * self->random.Unit());
      self->executor->PostAfter(delay, [self] { self->Run(); });
    });
  }
};

}  // namespace

void RetryOnConflict(Executor& executor,
                     std::function<void(std::function<void(absl::Status)>)> step,
                     std::function<void(absl::Status)> done) {
  auto loop = std::make_shared<ConflictLoop>();
  loop->executor = &executor;
  loop->step = std::move(step);
  loop->done = std::move(done);
  loop->Run();
}

}  // namespace hekla::kube

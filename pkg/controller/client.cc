#include "pkg/controller/client.h"

#include <functional>
#include <utility>

#include "absl/synchronization/notification.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/util/status_macros.h"

namespace hekla::controller {
namespace {

using apis::json::Value;

// Sends, and waits for the answer. What the resource client would refuse later, from its executor,
// was checked before: then this returns even where nobody runs that executor.
absl::StatusOr<Value> Wait(const std::function<void(kube::ResourceClient::Done)>& send) {
  absl::StatusOr<Value> result = absl::UnknownError("no answer");
  absl::Notification finished;
  send([&](absl::StatusOr<Value> answer) {
    result = std::move(answer);
    finished.Notify();
  });
  finished.WaitForNotification();
  return result;
}

// As Wait, for what changes something: not from a process that does not lead any more.
absl::StatusOr<Value> Write(const kube::RestClient& rest,
                            const std::function<void(kube::ResourceClient::Done)>& send) {
  HEKLA_RETURN_IF_ERROR(rest.CheckMayWrite());
  return Wait(send);
}

absl::Status CheckName(const kube::Resource& resource, const kube::ObjectName& name) {
  HEKLA_RETURN_IF_ERROR(kube::CheckPathSegment(name.name));
  if (!resource.namespaced || !name.ns.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "an empty namespace may not be set when a resource name is provided");
}

kube::ObjectName NameIn(const kube::Resource& resource, absl::string_view ns,
                        absl::string_view name, absl::string_view subresource = "") {
  return {.ns = resource.namespaced ? std::string(ns) : std::string(),
          .name = std::string(name),
          .subresource = std::string(subresource)};
}

absl::StatusOr<Value> Put(kube::RestClient* rest, const kube::Resource& resource,
                          const Value& object, absl::string_view subresource) {
  const kube::ObjectName name = NameIn(resource, NamespaceOf(object), NameOf(object), subresource);
  HEKLA_RETURN_IF_ERROR(CheckName(resource, name));
  const kube::ResourceClient client(rest, resource);
  return Write(*rest, [&](kube::ResourceClient::Done done) {
    client.Update(name, object, std::move(done));
  });
}

}  // namespace

absl::StatusOr<ObjectPtr> ApiClient::Get(const kube::Resource& resource, absl::string_view ns,
                                         absl::string_view name) {
  return cache_->Get(resource, ns, name);
}

absl::StatusOr<std::vector<ObjectPtr>> ApiClient::List(const kube::Resource& resource,
                                                       const ListFilter& filter) {
  return cache_->List(resource, filter);
}

absl::StatusOr<Value> ApiClient::GetLive(const kube::Resource& resource, absl::string_view ns,
                                         absl::string_view name) {
  const kube::ObjectName object = NameIn(resource, ns, name);
  HEKLA_RETURN_IF_ERROR(CheckName(resource, object));
  const kube::ResourceClient client(rest_, resource);
  return Wait([&](kube::ResourceClient::Done done) { client.Get(object, std::move(done)); });
}

absl::StatusOr<Value> ApiClient::Create(const kube::Resource& resource, const Value& object) {
  const absl::string_view ns = resource.namespaced ? NamespaceOf(object) : "";
  if (resource.namespaced && ns.empty()) {
    return absl::InvalidArgumentError("an empty namespace may not be set during creation");
  }
  const kube::ResourceClient client(rest_, resource);
  return Write(*rest_, [&](kube::ResourceClient::Done done) {
    client.CreateForMetadata(ns, object, std::move(done));
  });
}

absl::StatusOr<Value> ApiClient::Update(const kube::Resource& resource, const Value& object) {
  return Noted(resource, Put(rest_, resource, object, ""));
}

absl::StatusOr<Value> ApiClient::UpdateStatus(const kube::Resource& resource, const Value& object) {
  return Noted(resource, Put(rest_, resource, object, "status"));
}

absl::StatusOr<Value> ApiClient::Patch(const kube::Resource& resource, const kube::ObjectName& name,
                                       kube::PatchType type, const Value& patch) {
  HEKLA_RETURN_IF_ERROR(CheckName(resource, name));
  const kube::ResourceClient client(rest_, resource);
  return Write(*rest_, [&](kube::ResourceClient::Done done) {
    client.Patch(name, type, patch, std::move(done));
  });
}

absl::StatusOr<Value> ApiClient::Noted(const kube::Resource& resource,
                                       absl::StatusOr<Value> answer) {
  if (answer.ok()) cache_->NoteWritten(resource, *answer);
  return answer;
}

absl::Status ApiClient::Delete(const kube::Resource& resource, absl::string_view ns,
                               absl::string_view name, const kube::DeleteOptions& options) {
  const kube::ObjectName object = NameIn(resource, ns, name);
  HEKLA_RETURN_IF_ERROR(CheckName(resource, object));
  const kube::ResourceClient client(rest_, resource);
  return Write(*rest_,
               [&](kube::ResourceClient::Done done) {
                 client.Delete(object, options, std::move(done));
               })
      .status();
}

absl::Status ApiClient::DeleteCollection(const kube::Resource& resource, absl::string_view ns,
                                         const kube::ListOptions& selection) {
  if (resource.namespaced && ns.empty()) {
    return absl::InvalidArgumentError("a collection is deleted in one namespace only");
  }
  const kube::ResourceClient client(rest_, resource);
  return Write(*rest_,
               [&](kube::ResourceClient::Done done) {
                 client.DeleteCollection(ns, selection, std::move(done));
               })
      .status();
}

}  // namespace hekla::controller

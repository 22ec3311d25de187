#include <utility>

#include "absl/synchronization/notification.h"
#include "pkg/controller/client.h"
#include "pkg/kube/api_status.h"

namespace hekla::controller {

absl::StatusOr<ObjectPtr> Client::GetIfThere(const kube::Resource& resource, absl::string_view ns,
                                             absl::string_view name) {
  absl::StatusOr<ObjectPtr> found = Get(resource, ns, name);
  if (!found.ok() && kube::IsNotFound(found.status())) return ObjectPtr();
  return found;
}

absl::StatusOr<std::vector<ObjectPtr>> Client::ListBy(const kube::Resource& resource,
                                                      absl::string_view ns,
                                                      const apis::meta::StringMap& labels) {
  ListFilter filter;
  filter.ns = std::string(ns);
  for (const auto& [key, value] : labels) filter.labels.emplace_back(key, value);
  return List(resource, filter);
}

absl::StatusOr<std::vector<apis::json::Value>> ApiClient::ListLive(
    const kube::Resource& resource, absl::string_view ns, const kube::ListOptions& selection) {
  if (resource.namespaced && ns.empty()) {
    return absl::InvalidArgumentError("a live list is taken in one namespace only");
  }
  const kube::ResourceClient client(rest_, resource);
  absl::StatusOr<Value> result = absl::UnknownError("no answer");
  absl::Notification finished;
  client.List(ns, selection, [&](absl::StatusOr<Value> answer) {
    result = std::move(answer);
    finished.Notify();
  });
  finished.WaitForNotification();
  if (!result.ok()) return result.status();
  Value* items = result->Find("items");
  if (items == nullptr || !items->is_array()) return std::vector<Value>();
  return std::move(items->as_array());
}

}  // namespace hekla::controller

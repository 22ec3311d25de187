#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/rest_client.h"

namespace hekla::kube {

enum class PatchType : uint8_t { kJson, kMerge, kStrategicMerge, kApply };

struct ObjectName {
  std::string ns = {};  // "" for cluster-wide objects
  std::string name = {};
  std::string subresource = {};  // "status", "binding", ...
};

struct ListOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  std::string resource_version_match = {};
  int64_t limit = 0;  // 0: no paging
  std::string continue_token = {};
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds = {};
  std::string propagation_policy = {};  // "Background", ...
  std::string precondition_uid = {};
  std::string precondition_resource_version = {};
};

// Reads and writes the objects of one kind, as JSON values. Cheap to copy.
// Threads: as RestClient; `done` is called once, with the object the server answered.
// Errors:  api_status.h; kInvalidArgument at once for names that cannot stand in a path and for a
//          missing namespace.
class ResourceClient {
 public:
  using Done = std::function<void(absl::StatusOr<apis::json::Value>)>;

  // `client` must outlive this.
  ResourceClient(RestClient* client, Resource resource)
      : client_(client), resource_(std::move(resource)) {}

  void Get(const ObjectName& object, Done done) const;
  // One page. `ns` empty: all namespaces.
  void List(absl::string_view ns, const ListOptions& options, Done done) const;
  void Create(absl::string_view ns, const apis::json::Value& object, Done done) const;
  // The answer has the object's metadata alone: kind PartialObjectMetadata.
  void CreateForMetadata(absl::string_view ns, const apis::json::Value& object, Done done) const;
  // PUT; `object` carries the resource version that was read, or none.
  void Update(const ObjectName& name, const apis::json::Value& object, Done done) const;
  void Patch(const ObjectName& name, PatchType type, const apis::json::Value& patch,
             Done done) const;
  void Delete(const ObjectName& name, const DeleteOptions& options, Done done) const;
  void DeleteCollection(absl::string_view ns, const ListOptions& options, Done done) const;
  // POST to a subresource ("binding", "eviction"). The body is ready text and the answer is not
  // looked at: the way of many small writes.
  void PostSubresource(const ObjectName& name, std::string body,
                       std::function<void(absl::Status)> done) const;

  // Waits; for start-up code and tests. Not on threads of the transport or the executor.
  absl::StatusOr<apis::json::Value> GetAndWait(const ObjectName& object) const;
  absl::StatusOr<apis::json::Value> CreateAndWait(absl::string_view ns,
                                                  const apis::json::Value& object) const;

  const Resource& resource() const { return resource_; }
  RestClient& rest() const { return *client_; }

 private:
  void Post(absl::string_view ns, const apis::json::Value& object, std::string accept,
            Done done) const;
  void SendObject(RestRequest request, Done done) const;

  RestClient* client_;
  Resource resource_;
};

// Calls `step` with a `done` each time the one before failed with a conflict: five tries in all,
// 10 ms apart with 10 % jitter (spec 1.19, DefaultRetry). The last conflict is handed on.
void RetryOnConflict(Executor& executor,
                     std::function<void(std::function<void(absl::Status)>)> step,
                     std::function<void(absl::Status)> done);

}  // namespace hekla::kube

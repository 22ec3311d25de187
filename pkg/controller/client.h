#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/controller/cache.h"
#include "pkg/controller/event.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/resource_client.h"
#include "pkg/kube/rest_client.h"

namespace hekla::controller {

// What a reconciler does to the API: reads from the cache, writes to the server and waits. A read
// that follows a write may still show the state before it; only Get of an object that this process
// updated shows at least that update.
// Errors:  api_status.h (IsNotFound, IsConflict, ...); reads: those of Cache.
// Threads: any that may block: workers.
class Client {
 public:
  using Value = apis::json::Value;

  virtual ~Client() = default;

  // --- Reads, from the cache ---
  virtual absl::StatusOr<ObjectPtr> Get(const kube::Resource& resource, absl::string_view ns,
                                        absl::string_view name) = 0;
  virtual absl::StatusOr<std::vector<ObjectPtr>> List(const kube::Resource& resource,
                                                      const ListFilter& filter) = 0;
  // As Get; null where there is none.
  absl::StatusOr<ObjectPtr> GetIfThere(const kube::Resource& resource, absl::string_view ns,
                                       absl::string_view name);
  // Those of one namespace that carry all these labels.
  absl::StatusOr<std::vector<ObjectPtr>> ListBy(const kube::Resource& resource,
                                                absl::string_view ns,
                                                const apis::meta::StringMap& labels);
  // --- Past the cache ---
  virtual absl::StatusOr<Value> GetLive(const kube::Resource& resource, absl::string_view ns,
                                        absl::string_view name) = 0;
  // The whole list of one namespace, for decisions that must not rest on a cache that lags.
  virtual absl::StatusOr<std::vector<Value>> ListLive(const kube::Resource& resource,
                                                      absl::string_view ns,
                                                      const kube::ListOptions& selection) = 0;

  // --- Writes; each returns the object as the server answered it ---
  // Namespace and name are taken from the object's metadata. Of the answer to a creation only the
  // metadata is there: nobody needs the rest, and a pod is large.
  virtual absl::StatusOr<Value> Create(const kube::Resource& resource, const Value& object) = 0;
  // With the object's resourceVersion as precondition, where it has one.
  virtual absl::StatusOr<Value> Update(const kube::Resource& resource, const Value& object) = 0;
  virtual absl::StatusOr<Value> UpdateStatus(const kube::Resource& resource,
                                             const Value& object) = 0;
  // `name.subresource`: "", "status", ...
  virtual absl::StatusOr<Value> Patch(const kube::Resource& resource, const kube::ObjectName& name,
                                      kube::PatchType type, const Value& patch) = 0;
  virtual absl::Status Delete(const kube::Resource& resource, absl::string_view ns,
                              absl::string_view name, const kube::DeleteOptions& options) = 0;
  virtual absl::Status DeleteCollection(const kube::Resource& resource, absl::string_view ns,
                                        const kube::ListOptions& selection) = 0;

  // With the server's defaults.
  absl::Status Delete(const kube::Resource& resource, absl::string_view ns,
                      absl::string_view name) {
    return Delete(resource, ns, name, kube::DeleteOptions());
  }
};

// The client of production. Every write blocks the calling thread until `rest` has the answer; over
// a transport that answers inside the call (http::InlineTransport) it needs no second thread, which
// is how the simulation and the conformance runner use it.
class ApiClient final : public Client {
 public:
  // Both must outlive the client.
  ApiClient(Cache* cache, kube::RestClient* rest) : cache_(cache), rest_(rest) {}

  using Client::Delete;
  absl::StatusOr<ObjectPtr> Get(const kube::Resource& resource, absl::string_view ns,
                                absl::string_view name) override;
  absl::StatusOr<std::vector<ObjectPtr>> List(const kube::Resource& resource,
                                              const ListFilter& filter) override;
  absl::StatusOr<Value> GetLive(const kube::Resource& resource, absl::string_view ns,
                                absl::string_view name) override;
  absl::StatusOr<std::vector<Value>> ListLive(const kube::Resource& resource, absl::string_view ns,
                                              const kube::ListOptions& selection) override;
  absl::StatusOr<Value> Create(const kube::Resource& resource, const Value& object) override;
  absl::StatusOr<Value> Update(const kube::Resource& resource, const Value& object) override;
  absl::StatusOr<Value> UpdateStatus(const kube::Resource& resource, const Value& object) override;
  absl::StatusOr<Value> Patch(const kube::Resource& resource, const kube::ObjectName& name,
                              kube::PatchType type, const Value& patch) override;
  absl::Status Delete(const kube::Resource& resource, absl::string_view ns, absl::string_view name,
                      const kube::DeleteOptions& options) override;
  absl::Status DeleteCollection(const kube::Resource& resource, absl::string_view ns,
                                const kube::ListOptions& selection) override;

 private:
  absl::StatusOr<Value> Noted(const kube::Resource& resource, absl::StatusOr<Value> answer);

  Cache* const cache_;
  kube::RestClient* const rest_;
};

}  // namespace hekla::controller

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/codec.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

class Collector;

// How a write was asked for.
struct WriteParams {
  bool dry_run = false;
  std::string field_manager;   // as given, or the user agent up to the first '/'
  bool names_manager = false;  // the client gave a fieldManager itself
  std::string subresource;     // "", "status" or "resize"
  // The sub-resource in the record of field ownership; that of `subresource` where empty.
  std::string managed_subresource;
  // Writes of the server itself (garbage collection, controllers) skip what only clients face.
  bool internal = false;
  // Field ownership has been settled (server-side apply).
  bool managed = false;
};

struct Written {
  apis::json::Value object;  // stored form, with its resourceVersion
  bool created = false;
};

// Creates, updates and deletes objects of every kind with all rules of the server.
// Threads: any.
// Errors:  Status objects, see api_status.h.
// Source:  spec kube-machinery 3.6 to 3.8.
class Writer {
 public:
  Writer(Core& core, Collector& collector) : core_(core), collector_(collector) {}

  // `object` is in stored form (DecodeObject).
  absl::StatusOr<Written> Create(const Resource& resource, absl::string_view ns,
                                 apis::json::Value object, const WriteParams& params);

  // Computes the new content from the present one, which is null where there is none (only asked
  // then where the kind, or `create_missing`, allows creating).
  using Change = std::function<absl::StatusOr<apis::json::Value>(const apis::json::Value* present)>;
  struct UpdateOptions {
    // Whether a race with another writer is answered by computing again, not with 409; for patches
    // and sub-resources that name no version.
    bool retry = false;
    bool create_missing = false;  // server-side apply
    bool needs_version = true;    // the kind's demand for a version holds (PUT)
  };
  absl::StatusOr<Written> Update(const Resource& resource, absl::string_view ns,
                                 absl::string_view name, const Change& change,
                                 const UpdateOptions& options, const WriteParams& params);

  // A change of the server's own, without the rules for clients: stores what `change` makes of the
  // present object. Not found is an error; a change that returns null stores nothing.
  absl::StatusOr<apis::json::Value> Amend(
      const Resource& resource, absl::string_view key,
      const std::function<absl::StatusOr<apis::json::Value>(const apis::json::Value&)>& change);

 private:
  absl::Status PrepareNew(const Resource& resource, absl::string_view ns,
                          apis::json::Value& object);
  absl::Status PrepareChanged(const Resource& resource, const apis::json::Value& old,
                              apis::json::Value& object, const WriteParams& params);
  absl::Status CheckVersion(const Resource& resource, absl::string_view name,
                            const apis::json::Value& old, apis::json::Value& object,
                            const UpdateOptions& options, bool& unconditional);
  void Track(const Resource& resource, const apis::json::Value* old, apis::json::Value& object,
             const WriteParams& params);

  Core& core_;
  Collector& collector_;
};

// Removes what clients do not decide from the metadata of a new object.
void WipeSystemMetadata(apis::json::Value& metadata);
// The error for a precondition that does not hold.
absl::Status PreconditionFailed(const Resource& resource, absl::string_view ns,
                                absl::string_view name, absl::string_view what);
// The error for a UID that is not the stored one.
absl::Status UidMismatch(const Resource& resource, absl::string_view ns, absl::string_view name,
                         absl::string_view wanted, absl::string_view have);

}  // namespace hekla::apiserver

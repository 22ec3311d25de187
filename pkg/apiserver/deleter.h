#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

class Collector;
class Writer;

// How a deletion was asked for: DeleteOptions and query.
struct DeleteParams {
  std::optional<int64_t> grace_seconds;
  std::string propagation;  // "Background", "Foreground", "Orphan" or "" (kind's default)
  std::string uid;          // preconditions
  std::string resource_version;
  bool dry_run = false;
};

struct Deleted {
  apis::json::Value object;  // as it is or was
  bool gone = false;
};

// Deletes objects: at once, or in steps where finalizers or a grace period hold them.
// Threads: any. Errors: Status objects.
// Source:  spec kube-machinery 3.8.
class Deleter {
 public:
  Deleter(Core& core, Collector& collector) : core_(core), collector_(collector) {}
  absl::StatusOr<Deleted> Delete(const Resource& resource, absl::string_view ns,
                                 absl::string_view name, const DeleteParams& params);

 private:
  absl::Status CheckPreconditions(const Resource& resource, absl::string_view name,
                                  const storage::StoredObject& current,
                                  const DeleteParams& params) const;

  Core& core_;
  Collector& collector_;
};

inline constexpr absl::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr absl::string_view kOrphanFinalizer = "orphan";
inline constexpr absl::string_view kDefinitionCleanup =
    "customresourcecleanup.apiextensions.k8s.io";
inline constexpr absl::string_view kClaimProtection = "kubernetes.io/pvc-protection";
bool HasFinalizer(const apis::json::Value& object, absl::string_view finalizer);
void AddFinalizer(apis::json::Value& object, absl::string_view finalizer);
// Takes the finalizer off the stored object, which goes with its last one.
absl::Status DropFinalizer(Writer& writer, const Resource& resource, absl::string_view ns,
                           absl::string_view name, absl::string_view finalizer);

// The new deletion time and grace period of an object that is deleted gracefully.
// Pure; see spec kube-machinery 3.8 and worked example 15.
struct GraceState {
  absl::Time deletion;
  int64_t grace = 0;
};
struct GraceResult {
  GraceState state;
  bool changed = false;
};
GraceResult NextGrace(const std::optional<GraceState>& before, std::optional<int64_t> asked,
                      int64_t own_period, bool immediate, absl::Time now);

}  // namespace hekla::apiserver

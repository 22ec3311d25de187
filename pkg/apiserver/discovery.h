#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apiserver/core.h"
#include "pkg/apiserver/request.h"

namespace hekla::apiserver {

// Which groups, versions and resources there are, and how their objects look.
// Threads: any. Documents are made once per change of the registry.
// Source:  spec kube-machinery 3.2, 3.3.
class Discovery {
 public:
  explicit Discovery(Core& core) : core_(core) {}

  Answer Api(const Call& call);   // GET /api
  Answer Apis(const Call& call);  // GET /apis
  Answer Group(absl::string_view group, const Call& call);
  Answer ResourceList(absl::string_view group, absl::string_view version, const Call& call);
  Answer Version(const Call& call);
  Answer RootPaths(const Call& call);
  // Below /openapi: v2, v3 and v3/<group version>.
  Answer OpenApi(const Call& call);

 private:
  apis::json::Value GroupValue(absl::string_view group) const;
  apis::json::Value AggregatedGroup(absl::string_view group) const;
  Answer Aggregated(bool core_group, const Call& call);
  std::string OpenApiDocument(const std::string& path);
  void ForgetIfStale() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Core& core_;
  absl::Mutex mutex_;
  uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, std::string> documents_ ABSL_GUARDED_BY(mutex_);
};

// The answer to a path that nothing is registered for.
Answer NoSuchPath();

}  // namespace hekla::apiserver

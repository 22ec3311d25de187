#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "pkg/apiserver/collector.h"
#include "pkg/apiserver/core.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/request.h"
#include "pkg/apiserver/writer.h"
#include "pkg/http/server.h"

namespace hekla::apiserver {

// The verbs on resources and their sub-resources.
// Threads: any. Errors: Status objects.
class Resources {
 public:
  Resources(Core& core, Writer& writer, Deleter& deleter)
      : core_(core), writer_(writer), deleter_(deleter) {}

  absl::StatusOr<Answer> Get(Call& call);
  absl::StatusOr<Answer> List(Call& call);
  absl::StatusOr<Answer> Create(Call& call);
  absl::StatusOr<Answer> Put(Call& call);
  absl::StatusOr<Answer> Patch(Call& call);
  absl::StatusOr<Answer> Delete(Call& call);
  absl::StatusOr<Answer> DeleteCollection(Call& call);
  // Sub-resources other than status.
  absl::StatusOr<Answer> Bind(Call& call);
  absl::StatusOr<Answer> Evict(Call& call);
  absl::StatusOr<Answer> GetScale(Call& call);
  absl::StatusOr<Answer> PutScale(Call& call);
  absl::StatusOr<Answer> PatchScale(Call& call);
  absl::StatusOr<Answer> FinalizeNamespace(Call& call);
  absl::StatusOr<Answer> PodLog(Call& call);

  // Answers a watch by opening a stream, or with an error through the return value.
  absl::Status Watch(Call& call, http::Responder& responder);
  // Whether the request is a watch.
  static bool IsWatch(const Call& call);

 private:
  absl::StatusOr<Answer> Written2Answer(Call& call, const Written& written);
  absl::StatusOr<apis::json::Value> ApplyPatch(const Call& call, const apis::json::Value& present,
                                               const apis::json::Value& patch,
                                               absl::string_view media);
  absl::StatusOr<Answer> ServerSideApply(Call& call);
  absl::StatusOr<apis::json::Value> ScaleOf(const Resource& resource,
                                            const apis::json::Value& object) const;
  absl::StatusOr<Answer> WriteScale(Call& call, const Writer::Change& scale_change, bool retry);
  absl::Status BindPod(Call& call, const apis::json::Value& binding, bool dry_run);
  absl::Status SpendBudget(Call& call, const apis::json::Value& pod, bool dry_run);

  Core& core_;
  Writer& writer_;
  Deleter& deleter_;
};

// Patch media types.
inline constexpr absl::string_view kJsonPatch = "application/json-patch+json";
inline constexpr absl::string_view kMergePatch = "application/merge-patch+json";
inline constexpr absl::string_view kStrategicPatch = "application/strategic-merge-patch+json";
inline constexpr absl::string_view kApplyPatch = "application/apply-patch+yaml";

}  // namespace hekla::apiserver

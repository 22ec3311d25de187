#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "pkg/apiserver/authorizer.h"
#include "pkg/apiserver/core.h"
#include "pkg/apiserver/discovery.h"
#include "pkg/apiserver/request.h"
#include "pkg/apiserver/resources.h"
#include "pkg/http/server.h"

namespace hekla::apiserver {

// Finds out what a request asks for and has it done.
// Threads: any.
class Router {
 public:
  Router(Core& core, Resources& resources)
      : core_(core), resources_(resources), discovery_(core), authorizer_(core) {}

  // Answers through the responder, except that an ordinary answer is returned for the caller to
  // send; nullopt: it is a watch, answered already.
  std::optional<Answer> Route(Call& call, http::Responder& responder);

 private:
  // Sets resource, ns, name and subresource from the path after the group version.
  absl::Status Resolve(Call& call, absl::string_view group, absl::string_view version,
                       size_t first);
  std::optional<Answer> Dispatch(Call& call, http::Responder& responder);
  // Whether the caller may do this; only looked at for resources.
  absl::Status Authorize(const Call& call);
  absl::StatusOr<Answer> OnCollection(Call& call);
  absl::StatusOr<Answer> OnObject(Call& call);
  absl::StatusOr<Answer> OnSubresource(Call& call);

  Core& core_;
  Resources& resources_;
  Discovery discovery_;
  Authorizer authorizer_;
};

}  // namespace hekla::apiserver

#pragma once

#include "absl/status/statusor.h"
#include "pkg/apiserver/request.h"

namespace hekla::apiserver {

// Reviews of access and identity. Source: spec kube-machinery 3.1 (authorization.k8s.io).
absl::StatusOr<Answer> AnswerReview(Authorizer& authorizer, Call& call);

// POST serviceaccounts/NAME/token.
absl::StatusOr<Answer> AnswerTokenRequest(const Core& core, Authorizer& authorizer, Call& call);

}  // namespace hekla::apiserver

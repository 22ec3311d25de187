#pragma once

#include "absl/status/statusor.h"
#include "pkg/apiserver/request.h"

namespace hekla::apiserver {

// Reviews of access and identity: the one user of this server may do everything.
// Source: spec kube-machinery 3.1 (authorization.k8s.io).
absl::StatusOr<Answer> AnswerReview(const Core& core, Call& call);

// POST serviceaccounts/NAME/token.
absl::StatusOr<Answer> AnswerTokenRequest(const Core& core, Call& call);

}  // namespace hekla::apiserver

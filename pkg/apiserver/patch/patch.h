#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/schema/schema.h"

// The three client-side patch formats. Pure functions: the document is never changed.
// Errors: the status code says what the server answers, the message is the text it sends:
//   kInvalidArgument     400 BadRequest
//   kFailedPrecondition  422 Invalid, without group, kind or causes (`details` is {})
//   kInternal            500 without a reason
//   kResourceExhausted   413 RequestEntityTooLarge
// Source: RFC 6902, RFC 7386, spec kube-machinery 3.12.
namespace hekla::apiserver::patch {

// More operations than this in one JSON patch are refused.
inline constexpr int kMaxJsonPatchOperations = 10000;

// RFC 6902 with the server's additions: `remove` needs an existing target, `add`
// creates the last member only (so does `replace`), arrays take the index `-`, `test` compares
// deeply. Anything that does not apply: kFailedPrecondition `the server rejected our request due to
// an error in our request`. A patch that is no list of operations: kInvalidArgument `error decoding
// patch: ...`.
absl::StatusOr<apis::json::Value> ApplyJsonPatch(const apis::json::Value& document,
                                                 const apis::json::Value& patch);

// RFC 7386: null removes, objects merge, everything else replaces.
apis::json::Value ApplyMergePatch(const apis::json::Value& document,
                                  const apis::json::Value& patch);

// Kubernetes' strategic merge by the schema of the kind, with the directives `$patch` (replace,
// delete, merge), `$retainKeys`, `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`.
// Quirk: new list items land in front of the unpatched ones (see spec, worked example 20).
absl::StatusOr<apis::json::Value> ApplyStrategicMergePatch(const schema::Message& message,
                                                           const apis::json::Value& document,
                                                           const apis::json::Value& patch);

// The text of the 400 answer for a patch body that is no JSON, `error decoding patch: invalid
// character 'b' looking for beginning of object key string`, as Go's scanner words it.
std::string DecodingError(absl::string_view body);

// Go's scanner message alone for a text that is no valid JSON, "" where it is valid. The server
// puts it into several answers ("json parse error: ...").
std::string GoSyntaxError(absl::string_view text);

}  // namespace hekla::apiserver::patch

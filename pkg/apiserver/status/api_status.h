#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

// The Kubernetes Status objects that the server answers with. Inside the server an error is an
// absl::Status that carries the object as its payload.
// Source: spec kube-machinery 1.9.
namespace hekla::apiserver {

struct GroupResource {
  std::string group;     // "" for the core group
  std::string resource;  // plural, with sub-resource where a text wants it: "pods/binding"

  std::string ToString() const;  // "podgroups.scheduling.volcano.sh"
};

struct GroupKind {
  std::string group;
  std::string kind;

  std::string ToString() const;  // "PodGroup.scheduling.volcano.sh"
};

// The Status object of a failure. `details` null: left out; an empty object is kept.
apis::json::Value FailureStatus(int code, absl::string_view reason, absl::string_view message,
                                apis::json::Value details = {});
// {kind: Status, …, status: Success, details}; code is left out when 0.
apis::json::Value SuccessStatus(apis::json::Value details, int code = 0);

// An error that is answered with that object and its code.
absl::Status ApiError(apis::json::Value status_object);
// The object of an error; an error without one becomes InternalError.
apis::json::Value StatusObject(const absl::Status& error);
int StatusCodeOf(const absl::Status& error);
absl::string_view ReasonOf(const apis::json::Value& status_object);

absl::Status BadRequest(absl::string_view message);
absl::Status Unauthorized();
absl::Status Forbidden(const GroupResource& resource, absl::string_view name,
                       absl::string_view why);
absl::Status NotFound(const GroupResource& resource, absl::string_view name);
// No resource of that name in a group version that exists.
absl::Status UnknownResource();
absl::Status AlreadyExists(const GroupResource& resource, absl::string_view name);
absl::Status Conflict(const GroupResource& resource, absl::string_view name, absl::string_view why);
// The text of a write that read an older version.
absl::Status StaleWrite(const GroupResource& resource, absl::string_view name);
absl::Status Expired(absl::string_view message);
absl::Status Invalid(const GroupKind& kind, absl::string_view name, const FieldErrors& errors);
// 405 of custom kinds.
absl::Status NotSupportedVerb(const GroupResource& resource, absl::string_view verb);
absl::Status MethodNotAllowed();
absl::Status NotAcceptable(absl::string_view accepted);
absl::Status UnsupportedMediaType(absl::string_view accepted);
absl::Status TooLargeBody(absl::string_view message);
absl::Status InternalError(absl::string_view message);
// 500 without a reason: what a server makes of an untyped error.
absl::Status UntypedError(absl::string_view message);
absl::Status TooManyRequests(absl::string_view message, int retry_after_seconds,
                             apis::json::Value causes = {});
absl::Status TooLargeResourceVersion(int64_t wanted, int64_t current);

}  // namespace hekla::apiserver

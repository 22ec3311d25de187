#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/message.h"

// Failures of the API as absl::Status. The code says how to treat it; the Status object that the
// server sent travels as payload.
//   404 kNotFound; 409 AlreadyExists kAlreadyExists, other 409 kAborted; 410 kOutOfRange;
//   400, 422 kInvalidArgument; 401 kUnauthenticated; 403 kPermissionDenied;
//   429 kResourceExhausted; 408, 504 kDeadlineExceeded; 502, 503 kUnavailable; other 5xx kInternal;
//   other 4xx kFailedPrecondition.
namespace hekla::kube {

// What a Status object of the API says.
struct ApiStatus {
  int code = 0;
  std::string reason;  // "NotFound"
  std::string message;
  int retry_after_seconds = 0;
  apis::json::Value object;  // the whole
};

// `action`: " (get pods web-1)" or "", appended where the server did not send a Status itself.
absl::Status StatusFromResponse(const http::Response& response, absl::string_view method,
                                absl::string_view action);
// From a Status object, for instance that of a watch's ERROR event.
absl::Status StatusFromObject(const apis::json::Value& object);
// The payload; nullopt for errors that did not come from the API.
std::optional<ApiStatus> GetApiStatus(const absl::Status& status);

// Each tests the reason first, and the code only where the reason is unknown.
bool IsNotFound(const absl::Status& status);
bool IsAlreadyExists(const absl::Status& status);
bool IsConflict(const absl::Status& status);
bool IsForbidden(const absl::Status& status);
// 410: the resource version is too old (Expired, Gone).
bool IsExpired(const absl::Status& status);
// The server has not got as far as the resource version that was asked for.
bool IsResourceVersionTooLarge(const absl::Status& status);
bool IsTooManyRequests(const absl::Status& status);
// No answer came: refused, lost, timed out on the way.
bool IsConnectionError(const absl::Status& status);
// Seconds of a Retry-After header or of the Status object; 0: none.
int RetryAfterSeconds(const absl::Status& status);

}  // namespace hekla::kube

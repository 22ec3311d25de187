#include "pkg/kube/api_status.h"

#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

constexpr absl::string_view kPayload = "hekla.dev/kubernetes-status";
constexpr size_t kMaxBody = 2048;

absl::StatusCode CodeOf(int http, absl::string_view reason) {
  switch (http) {
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                       : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 400:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 408:
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    case 502:
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      return http >= 500 ? absl::StatusCode::kInternal : absl::StatusCode::kFailedPrecondition;
  }
}

// What a failure without a Status object says, by code.
struct Generic {
  absl::string_view reason;
  std::string message;
};

Generic GenericFailure(int code, absl::string_view method, absl::string_view body) {
  switch (code) {
    case 400:
      return {"BadRequest", "the server rejected our request for an unknown reason"};
    case 401:
      return {"Unauthorized", "the server has asked for the client to provide credentials"};
    case 403:
      return {"Forbidden", body.empty()
                               ? "the server does not allow access to the requested resource"
                               : std::string(body)};
    case 404:
      return {"NotFound", "the server could not find the requested resource"};
    case 405:
      return {"MethodNotAllowed",
              "the server does not allow this method on the requested resource"};
    case 409:
      if (method == "POST") return {"AlreadyExists", "the server reported a conflict"};
      return {"Conflict", "the server reported a conflict"};
    case 410:
      return {"Gone", "the requested object is no longer available at the server"};
    case 415:
      return {"UnsupportedMediaType", "the server was unable to read the request's content type"};
    case 422:
      return {"Invalid", "the server rejected our request due to an error in our request"};
    case 429:
      return {"TooManyRequests",
              "the server has received too many requests and has asked us to try again later"};
    case 503:
      return {"ServiceUnavailable", "the server is currently unable to handle the request"};
    case 504:
      return {"Timeout",
              "the server was unable to return a response in the time allotted, but may still be "
              "processing the request"};
    default:
      if (code >= 500) {
        return {"InternalError", absl::StrCat("an error on the server (\"", body,
                                              "\") has prevented the request from succeeding")};
      }
      return {"Unknown", absl::StrCat("the server responded with the status code ", code,
                                      " but did not return more information")};
  }
}

absl::Status Make(int code, absl::string_view reason, absl::string_view message,
                  const Value& object) {
  absl::Status status(CodeOf(code, reason), message);
  status.SetPayload(kPayload, absl::Cord(apis::json::Dump(object)));
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const std::optional<ApiStatus> api = GetApiStatus(status);
  return api.has_value() ? api->reason : "";
}

bool IsReason(const absl::Status& status, absl::string_view reason, absl::StatusCode code) {
  if (status.ok()) return false;
  const std::string known = ReasonOf(status);
  return known.empty() || known == "Unknown" ? status.code() == code : known == reason;
}

bool HasCause(const absl::Status& status, absl::string_view reason) {
  const std::optional<ApiStatus> api = GetApiStatus(status);
  if (!api.has_value()) return false;
  const Value& causes = api->object.At("details").At("causes");
  if (!causes.is_array()) return false;
  return std::any_of(causes.as_array().begin(), causes.as_array().end(),
                     [&](const Value& cause) { return cause.GetString("reason") == reason; });
}

}  // namespace

absl::Status StatusFromObject(const Value& object) {
  const int code = static_cast<int>(object.GetInt("code", 500));
  const absl::string_view message = object.GetString("message");
  return Make(code, object.GetString("reason"), message.empty() ? "unknown error" : message,
              object);
}

absl::Status StatusFromResponse(const http::Response& response, absl::string_view method,
                                absl::string_view action) {
  auto body = apis::json::Parse(response.body);
  Value object;
  if (body.ok() && body->GetString("kind") == "Status" && body->GetString("status") != "Success") {
    object = *std::move(body);
    if (!object.At("code").is_int()) object.Set("code", response.status);
  } else {
    const absl::string_view text =
        absl::StripAsciiWhitespace(absl::string_view(response.body).substr(0, kMaxBody));
    const Generic generic = GenericFailure(response.status, method, text);
    object = Value::MakeObject({{"kind", "Status"},
                                {"apiVersion", "v1"},
                                {"status", "Failure"},
                                {"reason", generic.reason},
                                {"message", absl::StrCat(generic.message, action)},
                                {"code", response.status}});
    Value cause = Value::MakeObject({{"reason", "UnexpectedServerResponse"}, {"message", text}});
    object["details"]["causes"].Append(std::move(cause));
  }
  int seconds = 0;
  if (absl::SimpleAtoi(response.headers.Get("Retry-After"), &seconds) && seconds > 0 &&
      object.At("details").GetInt("retryAfterSeconds") == 0) {
    if (!object.At("details").is_object()) object.Set("details", Value::MakeObject());
    object["details"].Set("retryAfterSeconds", seconds);
  }
  const absl::string_view message = object.GetString("message");
  return Make(response.status, object.GetString("reason"),
              message.empty() ? "unknown error" : message, object);
}

std::optional<ApiStatus> GetApiStatus(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  auto object = apis::json::Parse(std::string(*payload));
  if (!object.ok()) return std::nullopt;
  ApiStatus api;
  api.code = static_cast<int>(object->GetInt("code"));
  api.reason = std::string(object->GetString("reason"));
  api.message = std::string(object->GetString("message"));
  api.retry_after_seconds = static_cast<int>(object->At("details").GetInt("retryAfterSeconds"));
  api.object = *std::move(object);
  return api;
}

bool IsNotFound(const absl::Status& status) {
  return IsReason(status, "NotFound", absl::StatusCode::kNotFound);
}
bool IsAlreadyExists(const absl::Status& status) {
  return IsReason(status, "AlreadyExists", absl::StatusCode::kAlreadyExists);
}
bool IsConflict(const absl::Status& status) {
  return IsReason(status, "Conflict", absl::StatusCode::kAborted);
}
bool IsForbidden(const absl::Status& status) {
  return IsReason(status, "Forbidden", absl::StatusCode::kPermissionDenied);
}
bool IsExpired(const absl::Status& status) {
  return IsReason(status, "Expired", absl::StatusCode::kOutOfRange) || ReasonOf(status) == "Gone";
}
bool IsResourceVersionTooLarge(const absl::Status& status) {
  if (HasCause(status, "ResourceVersionTooLarge")) return true;
  return absl::StrContains(status.message(), "Too large resource version");
}
bool IsTooManyRequests(const absl::Status& status) {
  return IsReason(status, "TooManyRequests", absl::StatusCode::kResourceExhausted);
}
bool IsConnectionError(const absl::Status& status) {
  if (GetApiStatus(status).has_value()) return false;
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}
int RetryAfterSeconds(const absl::Status& status) {
  const std::optional<ApiStatus> api = GetApiStatus(status);
  return api.has_value() ? api->retry_after_seconds : 0;
}

}  // namespace hekla::kube

#include "pkg/apiserver/status/api_status.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "pkg/util/utf8.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr char kPayload[] = "k8s.io/status";

absl::StatusCode CodeFor(int http, absl::string_view reason) {
  switch (http) {
    case 400:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                       : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
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

Value ResourceDetails(const GroupResource& resource, absl::string_view name) {
  Value details = Value::MakeObject();
  if (!name.empty()) details.Set("name", name);
  if (!resource.group.empty()) details.Set("group", resource.group);
  if (!resource.resource.empty()) details.Set("kind", resource.resource);
  return details;
}

absl::Status Fail(int code, absl::string_view reason, absl::string_view message,
                  Value details = {}) {
  return ApiError(FailureStatus(code, reason, message, std::move(details)));
}

// Messages quote what clients send: bytes that are no UTF-8 become U+FFFD, as real servers do.
std::string ValidUtf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const size_t good = util::ValidUtf8Prefix(text);
    absl::StrAppend(&out, text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) return out;
    out += "\xef\xbf\xbd";
    text.remove_prefix(1);
  }
}

}  // namespace

std::string GroupResource::ToString() const {
  return group.empty() ? resource : absl::StrCat(resource, ".", group);
}

std::string GroupKind::ToString() const {
  return group.empty() ? kind : absl::StrCat(kind, ".", group);
}

Value FailureStatus(int code, absl::string_view reason, absl::string_view message, Value details) {
  Value status = Value::MakeObject({{"kind", "Status"},
                                    {"apiVersion", "v1"},
                                    {"metadata", Value::MakeObject()},
                                    {"status", "Failure"},
                                    {"message", message}});
  if (!reason.empty()) status.Set("reason", reason);
  if (!details.is_null()) status.Set("details", std::move(details));
  status.Set("code", code);
  return status;
}

Value SuccessStatus(Value details, int code) {
  Value status = Value::MakeObject({{"kind", "Status"},
                                    {"apiVersion", "v1"},
                                    {"metadata", Value::MakeObject()},
                                    {"status", "Success"}});
  if (!details.is_null()) status.Set("details", std::move(details));
  if (code != 0) status.Set("code", code);
  return status;
}

absl::Status ApiError(Value status_object) {
  absl::Status status(CodeFor(static_cast<int>(status_object.GetInt("code", 500)),
                              status_object.GetString("reason")),
                      status_object.GetString("message"));
  status.SetPayload(kPayload, absl::Cord(ValidUtf8(apis::json::Dump(status_object))));
  return status;
}

Value StatusObject(const absl::Status& error) {
  const auto payload = error.GetPayload(kPayload);
  if (payload.has_value()) {
    auto value = apis::json::Parse(std::string(*payload));
    if (value.ok()) return *std::move(value);
  }
  return FailureStatus(500, "InternalError",
                       absl::StrCat("Internal error occurred: ", error.message()));
}

int StatusCodeOf(const absl::Status& error) {
  return static_cast<int>(StatusObject(error).GetInt("code", 500));
}

absl::string_view ReasonOf(const Value& status_object) { return status_object.GetString("reason"); }

absl::Status BadRequest(absl::string_view message) { return Fail(400, "BadRequest", message); }

absl::Status Unauthorized() { return Fail(401, "Unauthorized", "Unauthorized"); }

absl::Status Forbidden(const GroupResource& resource, absl::string_view name,
                       absl::string_view why) {
  std::string message =
      name.empty() ? absl::StrCat(resource.ToString(), " is forbidden: ", why)
                   : absl::StrCat(resource.ToString(), " \"", name, "\" is forbidden: ", why);
  return Fail(403, "Forbidden", message, ResourceDetails(resource, name));
}

absl::Status NotFound(const GroupResource& resource, absl::string_view name) {
  return Fail(404, "NotFound", absl::StrCat(resource.ToString(), " \"", name, "\" not found"),
              ResourceDetails(resource, name));
}

absl::Status UnknownResource() {
  return Fail(404, "NotFound", "the server could not find the requested resource",
              Value::MakeObject());
}

absl::Status AlreadyExists(const GroupResource& resource, absl::string_view name) {
  return Fail(409, "AlreadyExists",
              absl::StrCat(resource.ToString(), " \"", name, "\" already exists"),
              ResourceDetails(resource, name));
}

absl::Status Conflict(const GroupResource& resource, absl::string_view name,
                      absl::string_view why) {
  return Fail(409, "Conflict",
              absl::StrCat("Operation cannot be fulfilled on ", resource.ToString(), " \"", name,
                           "\": ", why),
              ResourceDetails(resource, name));
}

absl::Status StaleWrite(const GroupResource& resource, absl::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

absl::Status Expired(absl::string_view message) { return Fail(410, "Expired", message); }

absl::Status Invalid(const GroupKind& kind, absl::string_view name, const FieldErrors& errors) {
  Value details = ResourceDetails(GroupResource{kind.group, kind.kind}, name);
  details.Set("causes", errors.Causes());
  return Fail(422, "Invalid",
              absl::StrCat(kind.ToString(), " \"", name, "\" is invalid: ", errors.Text()),
              std::move(details));
}

absl::Status MethodNotAllowed() {
  return Fail(405, "MethodNotAllowed",
              "the server does not allow this method on the requested resource",
              Value::MakeObject());
}

absl::Status NotSupportedVerb(const GroupResource& resource, absl::string_view verb) {
  return Fail(
      405, "MethodNotAllowed",
      absl::StrCat(verb, " is not supported on resources of kind \"", resource.ToString(), "\""),
      ResourceDetails(resource, ""));
}

absl::Status NotAcceptable(absl::string_view accepted) {
  return Fail(406, "NotAcceptable",
              absl::StrCat("406: Not Acceptable\n\nAvailable representations: ", accepted),
              Value::MakeObject());
}

absl::Status UnsupportedMediaType(absl::string_view accepted) {
  return Fail(415, "UnsupportedMediaType",
              absl::StrCat("the body of the request was in an unknown format - accepted media "
                           "types include: ",
                           accepted));
}

absl::Status TooLargeBody(absl::string_view message) {
  return Fail(413, "RequestEntityTooLarge", message);
}

absl::Status InternalError(absl::string_view message) {
  Value details = Value::MakeObject();
  details.Ensure({"causes"}) = Value::MakeArray({Value::MakeObject({{"message", message}})});
  return Fail(500, "InternalError", absl::StrCat("Internal error occurred: ", message),
              std::move(details));
}

absl::Status UntypedError(absl::string_view message) { return Fail(500, "", message); }

absl::Status TooManyRequests(absl::string_view message, int retry_after_seconds, Value causes) {
  Value details = Value::MakeObject();
  if (!causes.is_null()) details.Set("causes", std::move(causes));
  if (retry_after_seconds > 0) details.Set("retryAfterSeconds", retry_after_seconds);
  return Fail(429, "TooManyRequests", message, std::move(details));
}

absl::Status TooLargeResourceVersion(int64_t wanted, int64_t current) {
  Value details = Value::MakeObject();
  details.Set("causes",
              Value::MakeArray({Value::MakeObject({{"reason", "ResourceVersionTooLarge"},
                                                   {"message", "Too large resource version"}})}));
  details.Set("retryAfterSeconds", 1);
  return Fail(504, "Timeout",
              absl::StrCat("Timeout: Too large resource version: ", wanted, ", current: ", current),
              std::move(details));
}

}  // namespace hekla::apiserver

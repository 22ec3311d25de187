#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/registry/resource.h"
#include "pkg/http/message.h"

// Bodies to objects and back.
namespace hekla::apiserver {

enum class FieldValidation : uint8_t { kIgnore, kWarn, kStrict };

// A body as it came, and what stood in it twice.
struct RawBody {
  apis::json::Value value;
  std::vector<std::string> duplicates;
};

inline constexpr size_t kMaxBodyBytes = 3 << 20;

// Reads a request body by its content type: JSON, YAML, or protobuf of a built-in kind.
// `kind` is what the body must be (for error texts); `typed` bodies must say so themselves.
absl::StatusOr<RawBody> ReadBody(const http::Request& request, absl::string_view api_version,
                                 absl::string_view kind, bool typed = false);
// The body of a DELETE; an empty object where there is none.
absl::StatusOr<apis::json::Value> DecodeDeleteOptions(const http::Request& request);

// Brings an object into the form in which it is stored: checks its type, drops unknown fields
// (reports them as `validation` says), makes values canonical, fills in defaults, translates from
// the resource's version to the stored one.
absl::StatusOr<apis::json::Value> DecodeObject(const Resource& resource, const RawBody& body,
                                               FieldValidation validation,
                                               std::vector<std::string>* warnings);

// As DecodeObject for a typed object that is no resource of its own (Binding, Eviction, Scale,
// DeleteOptions). An empty body is an empty object.
absl::StatusOr<apis::json::Value> DecodeKind(absl::string_view api_version, absl::string_view kind,
                                             const http::Request& request);

// Re-establishes the canonical form after the server has changed an object of a built-in kind.
apis::json::Value Canonical(const Resource& resource, apis::json::Value object);

// From the stored form to that of the resource's version.
std::string ToViewText(const Resource& resource, absl::string_view stored_json);
apis::json::Value ToView(const Resource& resource, apis::json::Value stored);
// And back, for objects that a patch has changed.
apis::json::Value FromView(const Resource& resource, apis::json::Value object);

}  // namespace hekla::apiserver

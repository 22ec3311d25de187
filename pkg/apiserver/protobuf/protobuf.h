#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

// Request bodies of typed Go clients: `application/vnd.kubernetes.protobuf`.
// Source: spec kube-machinery 1.8; field numbers from the schema table.
namespace hekla::apiserver::protobuf {

inline constexpr absl::string_view kContentType = "application/vnd.kubernetes.protobuf";

// Whether the body starts with the envelope's magic bytes.
bool HasMagic(absl::string_view body);

// Decodes an enveloped object of a built-in kind into the JSON object that the same client would
// have sent as JSON, `apiVersion` and `kind` from the envelope included. An empty raw message is
// an object without members. Unknown field numbers are skipped.
// `default_api_version`/`default_kind` are used where the envelope has none.
// Errors: kInvalidArgument for a broken body, kUnimplemented for a kind the table does not know.
absl::StatusOr<apis::json::Value> Decode(absl::string_view body,
                                         absl::string_view default_api_version = "",
                                         absl::string_view default_kind = "");

// The reverse, for tests and for clients that accept nothing but protobuf. `object` must name a
// kind of the table.
absl::StatusOr<std::string> Encode(const apis::json::Value& object);

}  // namespace hekla::apiserver::protobuf

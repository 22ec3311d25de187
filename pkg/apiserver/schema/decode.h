#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/schema/schema.h"

namespace hekla::apiserver::schema {

// Reads an object as a server that holds it in typed form would, and writes it back: unknown
// members are dropped and reported, members stand in the order of the table, empty ones are left
// out and mandatory ones added as schema::Presence says, quantities and times become canonical.
// `apiVersion` and `kind` are kept and come first. Idempotent.
// Unknown fields are dotted paths with list positions: `spec.containers[0].imagee`.
// Errors: kInvalidArgument with the text the real decoder gives, for instance
//   json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string
//   quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
// The caller puts `Pod in version "v1" cannot be handled as a Pod: ` in front.
absl::StatusOr<apis::json::Value> Decode(const Message& message, const apis::json::Value& object,
                                         std::vector<std::string>* unknown_fields = nullptr);

// As Decode for one of the parts of custom resources that is typed: their `metadata`.
absl::StatusOr<apis::json::Value> DecodeObjectMeta(const apis::json::Value& metadata,
                                                   std::vector<std::string>* unknown_fields);

// How Go's decoder calls the kind of a value: "number", "array".
std::string GoKind(const apis::json::Value& value);

// The canonical form of a quantity as the server stores it: "1000m" -> "1", "0.5Gi" -> "512Mi",
// 2 -> "2". Errors: kInvalidArgument with the decoder's text.
absl::StatusOr<std::string> CanonicalQuantity(absl::string_view text);

// `strict decoding error: unknown field "a", unknown field "b"` (for 400 answers under Strict).
std::string StrictDecodingError(const std::vector<std::string>& unknown_fields,
                                const std::vector<std::string>& duplicate_fields = {});
// One text per warning header under Warn: `unknown field "a"`, `duplicate field "b"`.
std::vector<std::string> StrictWarnings(const std::vector<std::string>& unknown_fields,
                                        const std::vector<std::string>& duplicate_fields = {});

}  // namespace hekla::apiserver::schema

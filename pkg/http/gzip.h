#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hekla::http {

// `level`: zlib's, 1 (fast) to 9.
std::string GzipCompress(absl::string_view text, int level = 1);

// Errors: kInvalidArgument for broken or cut-off data; kResourceExhausted above `max_bytes`.
absl::StatusOr<std::string> GzipDecompress(absl::string_view data, size_t max_bytes);

// Whether an Accept-Encoding field allows gzip: named, or "*", and not with q=0.
bool AcceptsGzip(absl::string_view accept_encoding);

}  // namespace hekla::http

#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"

namespace hekla::util {

// Bytes of the longest start of `text` that is UTF-8: text.size() where all of it is. Overlong
// forms, surrogates and anything above U+10FFFF are no UTF-8 (RFC 3629).
size_t ValidUtf8Prefix(absl::string_view text);

}  // namespace hekla::util

#include "pkg/util/utf8.h"

#include <cstdint>

namespace hekla::util {
namespace {

// Bytes of the character at the start of `text`; 0: none is there.
size_t CharacterSize(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool too_large = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

}  // namespace

size_t ValidUtf8Prefix(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t size = CharacterSize(text.substr(at));
    if (size == 0) break;
    at += size;
  }
  return at;
}

}  // namespace hekla::util

#include "pkg/http/gzip.h"

#include <zlib.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace hekla::http {
namespace {

// zlib's window bits with this added read and write the gzip format.
constexpr int kGzipWindow = MAX_WBITS + 16;

Bytef* Bytes(absl::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string GzipCompress(absl::string_view text, int level) {
  z_stream stream{};
  CHECK_EQ(deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = Bytes(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

absl::StatusOr<std::string> GzipDecompress(absl::string_view data, size_t max_bytes) {
  z_stream stream{};
  CHECK_EQ(inflateInit2(&stream, kGzipWindow), Z_OK);
  stream.next_in = Bytes(data);
  stream.avail_in = static_cast<uInt>(data.size());
  std::string out;
  int result = Z_OK;
  char piece[65536];
  while (result == Z_OK && out.size() <= max_bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof(piece);
    result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_OK || result == Z_STREAM_END) {
      out.append(piece, sizeof(piece) - stream.avail_out);
    }
  }
  inflateEnd(&stream);
  if (out.size() > max_bytes) return absl::ResourceExhaustedError("gzip body is too large");
  if (result != Z_STREAM_END) return absl::InvalidArgumentError("broken gzip body");
  return out;
}

bool AcceptsGzip(absl::string_view accept_encoding) {
  for (absl::string_view item : absl::StrSplit(accept_encoding, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(item, ';');
    const absl::string_view coding = absl::StripAsciiWhitespace(parts[0]);
    if (!absl::EqualsIgnoreCase(coding, "gzip") && coding != "*") continue;
    if (parts.size() == 1) return true;
    const absl::string_view weight = absl::StripAsciiWhitespace(parts[1]);
    return weight.find_first_of("123456789") != absl::string_view::npos;
  }
  return false;
}

}  // namespace hekla::http

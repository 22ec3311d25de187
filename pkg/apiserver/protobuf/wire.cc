#include "pkg/apiserver/protobuf/wire.h"

namespace hekla::apiserver::protobuf {

bool WireReader::Varint(uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes_.empty()) return false;
    const auto byte = static_cast<unsigned char>(bytes_[0]);
    bytes_.remove_prefix(1);
    out |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool WireReader::Take(uint64_t size, absl::string_view& out) {
  if (size > bytes_.size()) return false;
  out = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return true;
}

bool WireReader::Next() {
  if (!ok_ || bytes_.empty()) return false;
  varint_ = 0;
  value_ = absl::string_view();
  uint64_t tag = 0;
  ok_ = Varint(tag) && (tag >> 3) != 0 && (tag >> 3) <= UINT32_MAX;
  if (!ok_) return false;
  number_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  switch (type_) {
    case WireType::kVarint:
      ok_ = Varint(varint_);
      break;
    case WireType::kBytes: {
      uint64_t size = 0;
      ok_ = Varint(size) && Take(size, value_);
      break;
    }
    case WireType::kFixed64:
    case WireType::kFixed32: {
      absl::string_view raw;
      ok_ = Take(type_ == WireType::kFixed64 ? 8 : 4, raw);
      for (size_t i = raw.size(); i-- > 0;) {
        varint_ = (varint_ << 8) | static_cast<unsigned char>(raw[i]);
      }
      break;
    }
    default:
      ok_ = false;
  }
  return ok_;
}

void PutVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutTag(uint32_t number, WireType type, std::string& out) {
  PutVarint((static_cast<uint64_t>(number) << 3) | static_cast<uint64_t>(type), out);
}

void PutVarintField(uint32_t number, uint64_t value, std::string& out) {
  PutTag(number, WireType::kVarint, out);
  PutVarint(value, out);
}

void PutFixed64Field(uint32_t number, uint64_t bits, std::string& out) {
  PutTag(number, WireType::kFixed64, out);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>((bits >> (8 * i)) & 0xff));
}

void PutBytesField(uint32_t number, absl::string_view bytes, std::string& out) {
  PutTag(number, WireType::kBytes, out);
  PutVarint(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

}  // namespace hekla::apiserver::protobuf

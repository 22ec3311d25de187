#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

// The protobuf wire format: tags, varints and length-delimited fields.
namespace hekla::apiserver::protobuf {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads one field after the other. Once something is broken, ok() is false and Next() too.
class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : bytes_(bytes) {}

  // Moves to the next field; false at the end or where the bytes are broken.
  bool Next();
  bool ok() const { return ok_; }
  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  // Of the current field; 0 and "" where it has another type.
  uint64_t varint() const { return varint_; }
  absl::string_view bytes() const { return value_; }

 private:
  bool Varint(uint64_t& out);
  bool Take(uint64_t size, absl::string_view& out);

  absl::string_view bytes_;
  bool ok_ = true;
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t varint_ = 0;  // also the bits of fixed fields
  absl::string_view value_;
};

void PutVarint(uint64_t value, std::string& out);
void PutTag(uint32_t number, WireType type, std::string& out);
void PutVarintField(uint32_t number, uint64_t value, std::string& out);
void PutFixed64Field(uint32_t number, uint64_t bits, std::string& out);
void PutBytesField(uint32_t number, absl::string_view bytes, std::string& out);

}  // namespace hekla::apiserver::protobuf

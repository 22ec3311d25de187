#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hekla::apiserver::crd {

// Regular expressions of schemas (Go's syntax without look-around and back references, which Go
// has not either), matched in time linear in the text, so that no schema can stall the server.
// Works on bytes.
// Threads: immutable.
class Regex {
 public:
  explicit Regex(absl::string_view pattern);
  // False for patterns that are not understood or grow too large.
  bool valid() const { return valid_; }
  // Whether some part of the text matches (anchors decide about the ends).
  bool Matches(absl::string_view text) const;

 private:
  enum class Op : uint8_t { kSet, kSplit, kJump, kBegin, kEnd, kWord, kNotWord, kMatch };
  struct Instruction {
    Op op;
    int x = 0;  // target; set index for kSet
    int y = 0;  // second target of kSplit
  };
  friend class RegexCompiler;

  void Follow(int at, size_t position, absl::string_view text, std::vector<int>& list,
              std::vector<uint32_t>& mark, uint32_t stamp) const;

  bool valid_ = false;
  std::vector<Instruction> program_;
  std::vector<std::bitset<256>> sets_;
};

}  // namespace hekla::apiserver::crd

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "pkg/apiserver/patch/patch.h"

namespace hekla::apiserver::patch {
namespace {

constexpr int kMaxDepth = 10000;

// Walks a text as Go's encoding/json does, only to find out where and how it breaks.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  std::string Run() {
    if (!ScanValue(0)) return error_;
    SkipBlanks();
    if (at_ < text_.size()) Fail("after top-level value");
    return error_;
  }

 private:
  bool Fail(absl::string_view where) {
    if (!error_.empty()) return false;
    if (at_ >= text_.size()) {
      // Go feeds one blank at the end; only inside of these tokens it is the blank that is wrong.
      const bool in_token =
          absl::StartsWith(where, "in literal") || absl::StrContains(where, "numeric literal") ||
          absl::StartsWith(where, "in string escape") || absl::StartsWith(where, "in \\u");
      error_ =
          in_token ? absl::StrCat("invalid character ' ' ", where) : "unexpected end of JSON input";
    } else {
      error_ = absl::StrCat("invalid character ", QuoteChar(text_[at_]), " ", where);
    }
    return false;
  }

  static std::string QuoteChar(char c) {
    if (c == '\'') return R"('\'')";
    if (c == '"') return R"('"')";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '\\') {
      switch (c) {
        case '\a':
          return R"('\a')";
        case '\b':
          return R"('\b')";
        case '\f':
          return R"('\f')";
        case '\n':
          return R"('\n')";
        case '\r':
          return R"('\r')";
        case '\t':
          return R"('\t')";
        case '\v':
          return R"('\v')";
        case '\\':
          return R"('\\')";
        default:
          return absl::StrCat("'\\x", absl::Hex(byte, absl::kZeroPad2), "'");
      }
    }
    if (byte < 0x80) return absl::StrCat("'", std::string(1, c), "'");
    // Go takes the byte for a code point.
    if (byte < 0xa0 || byte == 0xad) {
      return absl::StrCat("'\\u00", absl::Hex(byte, absl::kZeroPad2), "'");
    }
    const char utf8[3] = {static_cast<char>(0xc0 | (byte >> 6)),
                          static_cast<char>(0x80 | (byte & 0x3f)), 0};
    return absl::StrCat("'", utf8, "'");
  }

  bool End() const { return at_ >= text_.size(); }
  void SkipBlanks() {
    while (!End() && absl::string_view(" \t\r\n").find(text_[at_]) != absl::string_view::npos) {
      ++at_;
    }
  }

  bool ScanValue(int depth) {
    SkipBlanks();
    if (End()) return Fail("");
    if (depth > kMaxDepth) {
      error_ = "exceeded max depth";
      return false;
    }
    const char c = text_[at_];
    if (c == '{') return ScanObject(depth);
    if (c == '[') return ScanArray(depth);
    if (c == '"') return ScanString();
    if (c == '-' || absl::ascii_isdigit(c)) return ScanNumber();
    if (c == 't') return ScanLiteral("true");
    if (c == 'f') return ScanLiteral("false");
    if (c == 'n') return ScanLiteral("null");
    return Fail("looking for beginning of value");
  }

  bool ScanObject(int depth) {
    ++at_;
    SkipBlanks();
    if (!End() && text_[at_] == '}') {
      ++at_;
      return true;
    }
    while (true) {
      SkipBlanks();
      if (End() || text_[at_] != '"') return Fail("looking for beginning of object key string");
      if (!ScanString()) return false;
      SkipBlanks();
      if (End() || text_[at_] != ':') return Fail("after object key");
      ++at_;
      if (!ScanValue(depth + 1)) return false;
      SkipBlanks();
      if (End()) return Fail("");
      if (text_[at_] == '}') {
        ++at_;
        return true;
      }
      if (text_[at_] != ',') return Fail("after object key:value pair");
      ++at_;
    }
  }

  bool ScanArray(int depth) {
    ++at_;
    SkipBlanks();
    if (!End() && text_[at_] == ']') {
      ++at_;
      return true;
    }
    while (true) {
      if (!ScanValue(depth + 1)) return false;
      SkipBlanks();
      if (End()) return Fail("");
      if (text_[at_] == ']') {
        ++at_;
        return true;
      }
      if (text_[at_] != ',') return Fail("after array element");
      ++at_;
    }
  }

  bool ScanString() {
    ++at_;
    while (!End() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return Fail("in string literal");
      if (text_[at_] != '\\') {
        ++at_;
        continue;
      }
      ++at_;
      if (End()) return Fail("in string escape code");
      if (text_[at_] == 'u') {
        ++at_;
        for (int i = 0; i < 4; ++i, ++at_) {
          if (End() || !absl::ascii_isxdigit(text_[at_])) {
            return Fail("in \\u hexadecimal character escape");
          }
        }
        continue;
      }
      if (absl::string_view("\"\\/bfnrt").find(text_[at_]) == absl::string_view::npos) {
        return Fail("in string escape code");
      }
      ++at_;
    }
    if (End()) return Fail("");
    ++at_;
    return true;
  }

  bool Digits(absl::string_view where) {
    if (End() || !absl::ascii_isdigit(text_[at_])) return Fail(where);
    while (!End() && absl::ascii_isdigit(text_[at_])) ++at_;
    return true;
  }

  bool ScanNumber() {
    if (text_[at_] == '-') {
      ++at_;
      if (End() || !absl::ascii_isdigit(text_[at_])) return Fail("in numeric literal");
    }
    if (text_[at_] == '0') {
      ++at_;
    } else if (!Digits("in numeric literal")) {
      return false;
    }
    if (!End() && text_[at_] == '.') {
      ++at_;
      if (!Digits("after decimal point in numeric literal")) return false;
    }
    if (!End() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (!End() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!Digits("in exponent of numeric literal")) return false;
    }
    return true;
  }

  bool ScanLiteral(absl::string_view literal) {
    for (size_t i = 0; i < literal.size(); ++i, ++at_) {
      if (End() || text_[at_] != literal[i]) {
        return Fail(absl::StrCat("in literal ", literal, " (expecting '",
                                 std::string(1, literal[i]), "')"));
      }
    }
    return true;
  }

  absl::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::string GoSyntaxError(absl::string_view text) { return Scanner(text).Run(); }

std::string DecodingError(absl::string_view body) {
  return absl::StrCat("error decoding patch: ", GoSyntaxError(body));
}

}  // namespace hekla::apiserver::patch

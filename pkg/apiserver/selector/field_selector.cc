#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/selector/selector.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

// Splits at commas that no backslash protects; empty pieces are dropped.
std::vector<std::string> SplitTerms(absl::string_view text) {
  std::vector<std::string> out;
  std::string current;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      current += text[i++];
      current += text[i];
    } else if (text[i] == ',') {
      if (!current.empty()) out.push_back(current);
      current.clear();
    } else {
      current += text[i];
    }
  }
  if (!current.empty()) out.push_back(current);
  return out;
}

absl::StatusOr<std::string> Unescape(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=' || text[i] == ',') {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid field selector: unescaped character in value: ",
                       static_cast<int>(static_cast<unsigned char>(text[i]))));
    }
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (i + 1 >= text.size() || (text[i + 1] != '\\' && text[i + 1] != ',' && text[i + 1] != '=')) {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid field selector: invalid escape sequence: ", text.substr(i, 2)));
    }
    out += text[++i];
  }
  return out;
}

}  // namespace

absl::StatusOr<FieldSelector> FieldSelector::Parse(absl::string_view text) {
  FieldSelector out;
  for (const std::string& term : SplitTerms(text)) {
    size_t at = 0;
    while (at < term.size() && term[at] != '=' && term[at] != '!') {
      at += term[at] == '\\' ? 2 : 1;
    }
    Requirement r;
    size_t length = 0;
    if (at < term.size() && term.compare(at, 2, "!=") == 0) {
      r.equal = false, length = 2;
    } else if (at < term.size() && term.compare(at, 2, "==") == 0) {
      r.equal = true, length = 2;
    } else if (at < term.size() && term[at] == '=') {
      r.equal = true, length = 1;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("invalid selector: '", text, "'; can't understand '", term, "'"));
    }
    r.field = term.substr(0, at);
    HEKLA_ASSIGN_OR_RETURN(r.value, Unescape(absl::string_view(term).substr(at + length)));
    out.requirements_.push_back(std::move(r));
  }
  return out;
}

}  // namespace hekla::apiserver

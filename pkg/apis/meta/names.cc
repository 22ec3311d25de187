#include "pkg/apis/meta/names.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hekla::apis::meta {
namespace {

constexpr char kLabelRegex[] = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

bool LowerAlnum(char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }

bool IsDnsLabel(absl::string_view s) {
  if (s.empty() || !LowerAlnum(s.front()) || !LowerAlnum(s.back())) return false;
  for (char c : s) {
    if (!LowerAlnum(c) && c != '-') return false;
  }
  return true;
}

bool IsSubdomain(absl::string_view s) {
  for (absl::string_view part : absl::StrSplit(s, '.')) {
    if (!IsDnsLabel(part)) return false;
  }
  return true;
}

// Letters, digits, '-', '_' and '.', with a letter or digit at both ends.
bool IsNamePart(absl::string_view s) {
  if (s.empty() || !absl::ascii_isalnum(s.front()) || !absl::ascii_isalnum(s.back())) return false;
  for (char c : s) {
    if (!absl::ascii_isalnum(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

// Real servers count characters of names, and bytes of labels.
std::string TooLong(size_t max, absl::string_view unit) {
  return absl::StrCat("must be no more than ", max, " ", unit);
}

}  // namespace

std::vector<std::string> DnsSubdomainProblems(absl::string_view name) {
  std::vector<std::string> out;
  if (name.size() > 253) out.push_back(TooLong(253, "characters"));
  if (!IsSubdomain(name)) {
    out.push_back(absl::StrCat(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is '",
        kLabelRegex, "(\\.", kLabelRegex, ")*')"));
  }
  return out;
}

std::vector<std::string> DnsLabelProblems(absl::string_view name) {
  std::vector<std::string> out;
  if (name.size() > 63) out.push_back(TooLong(63, "characters"));
  if (!IsDnsLabel(name)) {
    if (IsSubdomain(name)) {
      out.push_back("must not contain dots");
    } else {
      out.push_back(absl::StrCat(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
          "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
          "regex used for validation is '",
          kLabelRegex, "')"));
    }
  }
  return out;
}

std::vector<std::string> Dns1035LabelProblems(absl::string_view name) {
  std::vector<std::string> out;
  if (name.size() > 63) out.push_back(TooLong(63, "characters"));
  if (!IsDnsLabel(name) || !absl::ascii_islower(name.front())) {
    out.push_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  }
  return out;
}

std::vector<std::string> QualifiedNameProblems(absl::string_view name) {
  static constexpr char kNameText[] =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  std::vector<std::string> out;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  absl::string_view last = parts.back();
  if (parts.size() > 2) {
    return {absl::StrCat(
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must "
        "start "
        "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
        "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional "
        "DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")};
  }
  if (parts.size() == 2) {
    if (parts[0].empty()) {
      out.push_back("prefix part must be non-empty");
    } else {
      for (const std::string& p : DnsSubdomainProblems(parts[0])) {
        out.push_back(absl::StrCat("prefix part ", p));
      }
    }
  }
  if (last.empty()) {
    out.push_back("name part must be non-empty");
  } else if (last.size() > 63) {
    out.push_back(absl::StrCat("name part ", TooLong(63, "bytes")));
  }
  if (!IsNamePart(last)) out.push_back(absl::StrCat("name part ", kNameText));
  return out;
}

std::vector<std::string> LabelValueProblems(absl::string_view value) {
  std::vector<std::string> out;
  if (value.size() > 63) out.push_back(TooLong(63, "bytes"));
  if (!value.empty() && !IsNamePart(value)) {
    out.push_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  }
  return out;
}

}  // namespace hekla::apis::meta

#include "pkg/apiserver/validation/names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hekla::apiserver::validation {

std::vector<std::string> PathSegmentProblems(absl::string_view name) {
  if (name == "." || name == "..") return {absl::StrCat("may not be '", name, "'")};
  std::vector<std::string> out;
  for (absl::string_view bad : {"/", "%"}) {
    if (absl::StrContains(name, bad)) out.push_back(absl::StrCat("may not contain '", bad, "'"));
  }
  return out;
}

std::vector<std::string> NameProblems(NameRule rule, absl::string_view name) {
  switch (rule) {
    case NameRule::kDnsSubdomain:
      return DnsSubdomainProblems(name);
    case NameRule::kDnsLabel:
      return DnsLabelProblems(name);
    case NameRule::kDns1035Label:
      return Dns1035LabelProblems(name);
    case NameRule::kPathSegment:
      return PathSegmentProblems(name);
  }
  return {};
}

}  // namespace hekla::apiserver::validation

#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/meta/names.h"

// Syntax rules of names, labels and annotation keys. Each returns the texts of what is wrong;
// empty means valid. Source: RFC 1123, RFC 1035; spec kube-machinery part 3, limits.
namespace hekla::apiserver::validation {

using apis::meta::Dns1035LabelProblems;
using apis::meta::DnsLabelProblems;
using apis::meta::DnsSubdomainProblems;
using apis::meta::LabelValueProblems;
using apis::meta::QualifiedNameProblems;
// Names that become a path segment: not ".", "..", and without "/" and "%".
std::vector<std::string> PathSegmentProblems(absl::string_view name);
// Which check the names of a resource obey.
enum class NameRule : uint8_t { kDnsSubdomain, kDnsLabel, kDns1035Label, kPathSegment };
std::vector<std::string> NameProblems(NameRule rule, absl::string_view name);

}  // namespace hekla::apiserver::validation

#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Syntax rules of names and labels. Each returns the texts of what is wrong, as the API server
// words them; empty means valid. Source: RFC 1123, RFC 1035; spec kube-machinery part 3, limits.
namespace hekla::apis::meta {

std::vector<std::string> DnsSubdomainProblems(absl::string_view name);
std::vector<std::string> DnsLabelProblems(absl::string_view name);
std::vector<std::string> Dns1035LabelProblems(absl::string_view name);
// `[prefix/]name`, as in label keys, resource names and finalizers.
std::vector<std::string> QualifiedNameProblems(absl::string_view name);
std::vector<std::string> LabelValueProblems(absl::string_view value);

}  // namespace hekla::apis::meta

#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/http/message.h"

namespace hekla::kube {

// Texts of a request that nobody may read in a log: credentials in its headers, and the data of a
// Secret in its body. Short values are not told apart from ordinary words and are left out.
std::vector<std::string> SecretTexts(const http::Request& request);

// Replaces them. An API server, or what stands before it, may tell a client what it has sent.
void Redact(const std::vector<std::string>& secrets, std::string& text);

}  // namespace hekla::kube

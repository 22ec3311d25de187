#pragma once

#include <string>

#include "absl/status/status.h"
#include "pkg/http/url.h"
#include "pkg/kube/config/environment.h"

namespace hekla::kube {

// Proxies are not supported. Says so where `proxy_url` or the environment (HTTPS_PROXY, HTTP_PROXY,
// in lower case too) asks for one for this server, and NO_PROXY does not except it. Loopback
// addresses never use a proxy.
// Errors: kUnimplemented, naming the setting.
absl::Status RefuseProxy(const http::Url& server, const std::string& proxy_url,
                         const Environment& environment);

}  // namespace hekla::kube

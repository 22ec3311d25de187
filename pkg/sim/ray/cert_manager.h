#pragma once

#include <string>

#include "absl/time/time.h"
#include "pkg/apiserver/server.h"

namespace hekla::sim {

// Stands for cert-manager: every Certificate of a namespace that is not ready for its generation is
// issued, with the secret it names. Returns how many.
int IssueCertificates(apiserver::ApiServer& server, const std::string& ns, absl::Time now);

}  // namespace hekla::sim

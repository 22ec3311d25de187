#pragma once

#include "absl/strings/string_view.h"
#include "pkg/apiserver/server.h"

// What others than the scheduler and the kubelet do to pods, as simulations need it. Refusals are
// left unsaid.
namespace hekla::apiserver::hollow {

void BindPod(ApiServer& server, absl::string_view ns, absl::string_view name,
             absl::string_view node);

// Without a grace period.
void DeletePodNow(ApiServer& server, absl::string_view ns, absl::string_view name);

}  // namespace hekla::apiserver::hollow

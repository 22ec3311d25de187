#include "bench/ray/counting_front.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hekla::bench {

std::string CallOf(const http::Request& request) {
  const http::Target target = http::ParseTarget(request.target);
  const std::vector<std::string> parts = absl::StrSplit(target.path, '/', absl::SkipEmpty());
  size_t i = !parts.empty() && parts[0] == "api" ? 2 : 3;  // api/v1 or apis/group/version
  if (i + 2 < parts.size() && parts[i] == "namespaces") i += 2;
  const std::string resource = i < parts.size() ? parts[i] : target.path;
  const std::string subresource = i + 2 < parts.size() ? "/" + parts[i + 2] : "";
  const bool watch = target.Get("watch") == "true" || target.Get("watch") == "1";
  const bool list = request.method == "GET" && i + 1 >= parts.size();
  return absl::StrCat(watch ? "WATCH" : list ? "LIST" : request.method, " ", resource, subresource);
}

void CountingFront::Handle(http::Request request, const http::Peer& peer,
                           std::shared_ptr<http::Responder> responder) {
  const std::string call = CallOf(request);
  {
    absl::MutexLock lock(&mutex_);
    ++counts_[call];
  }
  inner_->Handle(std::move(request), peer, std::move(responder));
}

std::map<std::string, int64_t> CountingFront::Take() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(counts_, {});
}

}  // namespace hekla::bench

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "pkg/http/server.h"

namespace hekla::bench {

// Stands before the API server and counts what is asked of it.
class CountingFront final : public http::Handler {
 public:
  // Before the first request; must outlive this.
  void SetInner(http::Handler* inner) { inner_ = inner; }
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;

  // "POST pods", "PUT rayclusters/status", "WATCH pods", ... -> how often. Forgets on the way.
  std::map<std::string, int64_t> Take();

 private:
  http::Handler* inner_ = nullptr;
  absl::Mutex mutex_;
  std::map<std::string, int64_t> counts_ ABSL_GUARDED_BY(mutex_);
};

// What a request is about, in the form of CountingFront::Take.
std::string CallOf(const http::Request& request);

}  // namespace hekla::bench

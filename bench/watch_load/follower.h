#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/http/client.h"

namespace hekla {

// The annotation with the time (Unix nanoseconds) at which a change was due to be sent.
inline constexpr char kDueAnnotation[] = "bench.hekla.dev/due";

// A client that lists two kinds in pages and then watches both, as an informer does, and keeps book
// of the versions it has seen.
// Threads: the transport's; the getters from any.
class Follower {
 public:
  explicit Follower(http::Transport* transport) : transport_(transport) {}

  // Lists and starts to watch. Errors: the server's.
  absl::Status Start(const std::vector<std::string>& collections);
  size_t listed() const { return listed_; }
  absl::Duration list_time() const { return list_time_; }
  // From now on lags are kept.
  void BeginMeasuring();
  // Waits until all versions in (`from`, `to`] have been seen. Returns how many have not.
  int64_t WaitForAll(int64_t from, int64_t to, absl::Duration timeout);
  // Versions that came twice, or before an older one of their kind.
  int64_t disorder() const;
  std::vector<float> TakeLagsMs();
  absl::Status status() const;

 private:
  // The watch of one kind.
  class Observer final : public http::StreamObserver {
   public:
    explicit Observer(Follower* owner) : owner_(owner) {}
    void OnHeaders(int status, const http::Headers&) override;
    void OnData(absl::string_view bytes) override;
    void OnEnd(const absl::Status& status) override;

   private:
    Follower* const owner_;
    std::string rest_;
    int64_t last_ = 0;
  };

  absl::StatusOr<std::string> List(const std::string& collection);
  void See(absl::string_view line, int64_t& last);
  bool SawAll(int64_t from, int64_t to) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  http::Transport* const transport_;
  size_t listed_ = 0;
  absl::Duration list_time_;
  mutable absl::Mutex mutex_;
  std::vector<bool> seen_ ABSL_GUARDED_BY(mutex_);  // by version
  int64_t disorder_ ABSL_GUARDED_BY(mutex_) = 0;
  bool measuring_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<float> lags_ms_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<std::unique_ptr<http::Stream>> streams_;  // go before the observers
};

}  // namespace hekla

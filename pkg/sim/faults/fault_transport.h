#pragma once

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "pkg/http/client.h"
#include "pkg/util/executor.h"
#include "pkg/util/random.h"

namespace hekla::sim {

// How often which fault happens, in thousandths of requests or of watch events.
struct FaultPlan {
  int slow = 0;            // the request takes up to max_delay longer
  int refused = 0;         // never reaches the server; kUnavailable
  int lost_answer = 0;     // takes effect, and the answer is lost; kUnavailable
  int too_many = 0;        // 429 with Retry-After: 1, without effect
  int server_error = 0;    // 500, 503 or 504 without effect
  int conflict = 0;        // 409 without effect, writes only
  int stream_refused = 0;  // a watch ends before its headers
  int stream_gone = 0;     // a watch is answered with 410
  int stream_broken = 0;   // per chunk: the connection breaks before it is delivered
  int stream_lag = 0;      // per chunk: it and all later ones come up to max_delay later
  absl::Duration max_delay = absl::Seconds(5);
};

// How often something shall happen, in thousandths below `most`; never, in a third of the draws.
int DrawRate(util::Random& random, uint64_t most);

// A failure as the server words one.
http::Response InjectedFailure(int status, absl::string_view reason);

// A network that misbehaves, in front of a real transport. Every call draws from the seed, so that
// the same calls in the same order meet the same faults. Threads: the executor's.
class FaultTransport final : public http::Transport {
 public:
  // All borrowed.
  FaultTransport(http::Transport* inner, util::Executor* executor, uint64_t seed, FaultPlan plan);
  ~FaultTransport() override;

  void Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) override;
  std::unique_ptr<http::Stream> OpenStream(http::Request request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer) override;

  // Off: everything passes unharmed from now on (what is late still comes late).
  void SetFaults(bool on) { on_ = on; }
  int64_t faults() const { return faults_; }

 private:
  class FaultStream;
  bool Hit(int per_mille);
  absl::Duration Delay();
  void Answer(http::ResponseCallback done, int status, absl::string_view reason);

  http::Transport* inner_;
  util::Executor* executor_;
  util::Random random_;
  FaultPlan plan_;
  bool on_ = true;
  int64_t faults_ = 0;
};

}  // namespace hekla::sim

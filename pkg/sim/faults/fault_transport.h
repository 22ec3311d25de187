#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/http/client.h"
#include "pkg/sim/faults/fault_book.h"
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
  int kill = 0;            // the process dies before or after a write, in 1 of 10,000
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

// Looks on while a process sends and is answered.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  // The process sends. Whether the answer is to be told, too.
  virtual bool OnSent(const http::Request& request) = 0;
  // The process learns what became of that request.
  virtual void OnAnswered(const http::Request& request,
                          const absl::StatusOr<http::Response>& answer) = 0;
};

// A network that misbehaves, in front of a real transport. Every call draws from the seed, so that
// the same calls in the same order meet the same faults. Knows how far the process can know what
// happens on the server: what has been sent to it and not arrived makes that older.
// Threads: the executor's.
class FaultTransport final : public http::Transport {
 public:
  // All borrowed.
  FaultTransport(http::Transport* inner, util::Executor* executor, uint64_t seed, FaultPlan plan);
  ~FaultTransport() override;

  // To be set before the first call; borrowed, may be null.
  void SetBook(FaultBook* book) { book_ = book; }
  void SetWatcher(CallWatcher* watcher) { watcher_ = watcher; }

  void Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) override;
  std::unique_ptr<http::Stream> OpenStream(http::Request request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer) override;

  // Off: everything passes unharmed from now on (what is late still comes late).
  void SetFaults(bool on) { on_ = on; }
  // While true nothing reaches the server, as if it were away.
  void SetServerAway(bool away) { away_ = away; }
  int64_t faults() const { return faults_; }
  // The process has been killed by a fault: nothing is sent and nothing answered any more.
  bool killed() const { return killed_; }

  // Everything that happened in that collection ("/api/v1/pods") before this time has been
  // delivered to the process.
  absl::Time KnownUntil(absl::string_view collection) const;
  // The whole collection has been delivered once.
  bool Complete(absl::string_view collection) const;

 private:
  class FaultStream;
  // What is under way to the process about one collection.
  struct Line {
    bool complete = false;
    absl::Time known = absl::InfinitePast();  // while nobody owns it, or still catching up
    absl::Time opened = absl::InfinitePast();
    std::deque<absl::Time> late;         // when what is not delivered was sent
    const FaultStream* owner = nullptr;  // the open stream
  };
  absl::Time KnownUntil(const Line& line) const;

  bool Hit(int per_mille, uint64_t of = 1000);
  absl::Duration Delay();
  Fault DrawForCall(bool write);
  Fault DrawForOpen();
  Fault DrawForChunk();
  // Draws, or looks it up in the book, which also notes it.
  template <typename Draw>
  Fault Decide(absl::string_view what, absl::string_view target, Draw draw);
  void Answer(const http::ResponseCallback& done, int status, absl::string_view reason);
  http::ResponseCallback Watched(const http::Request& request, http::ResponseCallback done);
  void Execute(const Fault& fault, http::Request request, absl::Duration timeout,
               http::ResponseCallback done);

  http::Transport* inner_;
  util::Executor* executor_;
  util::Random random_;
  FaultPlan plan_;
  FaultBook* book_ = nullptr;
  CallWatcher* watcher_ = nullptr;
  bool on_ = true;
  bool away_ = false;
  bool killed_ = false;
  int64_t faults_ = 0;
  std::map<std::string, Line, std::less<>> lines_;  // by collection
};

}  // namespace hekla::sim

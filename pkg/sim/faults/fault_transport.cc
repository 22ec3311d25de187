#include "pkg/sim/faults/fault_transport.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::sim {

int DrawRate(util::Random& random, uint64_t most) {
  return random.Below(3) == 0 ? 0 : static_cast<int>(random.Below(most));
}

http::Response InjectedFailure(int status, absl::string_view reason) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "application/json");
  response.body = absl::StrCat(
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"injected","reason":")",
      reason, R"(","code":)", status, "}");
  return response;
}

// Delivers what the inner stream brings, late or broken. Outlives pending deliveries through
// `alive_`.
class FaultTransport::FaultStream final : public http::Stream, public http::StreamObserver {
 public:
  FaultStream(FaultTransport* owner, http::StreamObserver* target)
      : owner_(owner), target_(target), alive_(std::make_shared<bool>(true)) {}
  ~FaultStream() override { *alive_ = false; }

  void Open(http::Request request, absl::Duration idle_timeout) {
    inner_ = owner_->inner_->OpenStream(std::move(request), idle_timeout, this);
  }
  // Ends before it began: without headers, or with a 410 as a real server answers one.
  void Fail(bool gone) {
    Later([this, gone] {
      if (gone) {
        target_->OnHeaders(410, http::Headers());
        target_->OnData(
            R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version","reason":"Expired","code":410})");
        End(absl::OkStatus());
      } else {
        End(absl::UnavailableError("connection refused"));
      }
    });
  }

  void OnHeaders(int status, const http::Headers& headers) override {
    Later([this, status, headers] { target_->OnHeaders(status, headers); });
  }
  void OnData(absl::string_view bytes) override {
    if (owner_->Hit(owner_->plan_.stream_broken)) {
      broken_ = true;
      Later([this] { End(absl::UnavailableError("connection reset")); });
      return;
    }
    if (owner_->Hit(owner_->plan_.stream_lag)) lag_ = owner_->Delay();
    Later([this, text = std::string(bytes)] { target_->OnData(text); });
  }
  void OnEnd(const absl::Status& status) override {
    if (broken_) return;
    Later([this, status] { End(status); });
  }

 private:
  // In order: what comes later is never delivered earlier.
  void Later(std::function<void()> deliver) {
    const absl::Time due = std::max(last_due_, owner_->executor_->Now() + lag_);
    last_due_ = due;
    owner_->executor_->PostAfter(due - owner_->executor_->Now(),
                                 [alive = alive_, this, deliver = std::move(deliver)] {
                                   if (*alive && !ended_) deliver();
                                 });
  }
  void End(const absl::Status& status) {
    ended_ = true;
    target_->OnEnd(status);  // may destroy this
  }

  FaultTransport* owner_;
  http::StreamObserver* target_;
  std::shared_ptr<bool> alive_;
  std::unique_ptr<http::Stream> inner_;
  absl::Duration lag_ = absl::ZeroDuration();
  absl::Time last_due_ = absl::InfinitePast();
  bool broken_ = false;
  bool ended_ = false;
};

FaultTransport::FaultTransport(http::Transport* inner, util::Executor* executor, uint64_t seed,
                               FaultPlan plan)
    : inner_(inner), executor_(executor), random_(seed), plan_(plan) {}
FaultTransport::~FaultTransport() = default;

bool FaultTransport::Hit(int per_mille) {
  if (!on_ || per_mille <= 0) return false;
  if (random_.Below(1000) >= static_cast<uint64_t>(per_mille)) return false;
  ++faults_;
  return true;
}

absl::Duration FaultTransport::Delay() { return plan_.max_delay * random_.Unit(); }

void FaultTransport::Answer(http::ResponseCallback done, int status, absl::string_view reason) {
  http::Response response = InjectedFailure(status, reason);
  if (status == 429) response.headers.Set("Retry-After", "1");
  executor_->Post([done = std::move(done), response] { done(response); });
}

void FaultTransport::Send(http::Request request, absl::Duration timeout,
                          http::ResponseCallback done) {
  const bool write = request.method != "GET" && request.method != "HEAD";
  if (Hit(plan_.refused)) {
    executor_->Post(
        [done = std::move(done)] { done(absl::UnavailableError("connection refused")); });
    return;
  }
  if (Hit(plan_.too_many)) return Answer(std::move(done), 429, "TooManyRequests");
  if (Hit(plan_.server_error)) {
    static constexpr int kStatus[] = {500, 503, 504};
    static constexpr absl::string_view kReason[] = {"InternalError", "ServiceUnavailable",
                                                    "Timeout"};
    const uint64_t which = random_.Below(3);
    return Answer(std::move(done), kStatus[which], kReason[which]);
  }
  if (write && Hit(plan_.conflict)) return Answer(std::move(done), 409, "Conflict");
  if (write && Hit(plan_.lost_answer)) {
    inner_->Send(std::move(request), timeout,
                 [done = std::move(done)](absl::StatusOr<http::Response>) {
                   done(absl::UnavailableError("connection reset"));
                 });
    return;
  }
  if (Hit(plan_.slow)) {
    executor_->PostAfter(
        Delay(), [this, request = std::move(request), timeout, done = std::move(done)]() mutable {
          inner_->Send(std::move(request), timeout, std::move(done));
        });
    return;
  }
  inner_->Send(std::move(request), timeout, std::move(done));
}

std::unique_ptr<http::Stream> FaultTransport::OpenStream(http::Request request,
                                                         absl::Duration idle_timeout,
                                                         http::StreamObserver* observer) {
  auto stream = std::make_unique<FaultStream>(this, observer);
  if (Hit(plan_.stream_refused)) {
    stream->Fail(/*gone=*/false);
  } else if (Hit(plan_.stream_gone)) {
    stream->Fail(/*gone=*/true);
  } else {
    stream->Open(std::move(request), idle_timeout);
  }
  return stream;
}

}  // namespace hekla::sim

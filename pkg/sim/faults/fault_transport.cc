#include "pkg/sim/faults/fault_transport.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

// Within this time after a stream has opened it may still be about to bring what was missed.
constexpr absl::Duration kCatchUp = absl::Milliseconds(20);

absl::string_view PathOf(absl::string_view target) { return target.substr(0, target.find('?')); }

}  // namespace

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
  FaultStream(FaultTransport* owner, http::StreamObserver* target, std::string target_text)
      : owner_(owner),
        target_(target),
        target_text_(std::move(target_text)),
        line_(&owner->lines_[std::string(PathOf(target_text_))]),
        alive_(std::make_shared<bool>(true)) {}
  ~FaultStream() override {
    *alive_ = false;
    CloseLine();
  }

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
    if (status == 200) {
      CloseLine();
      line_->owner = this;
      line_->opened = owner_->executor_->Now();
      line_->late.clear();
    }
    Later([this, status, headers] { target_->OnHeaders(status, headers); });
  }
  void OnData(absl::string_view bytes) override {
    if (broken_ || owner_->killed_) return;
    const Fault fault =
        owner_->Decide("CHUNK", target_text_, [this] { return owner_->DrawForChunk(); });
    if (fault.kind == FaultKind::kStreamBroken) {
      broken_ = true;
      CloseLine();
      Later([this] { End(absl::UnavailableError("connection reset")); });
      return;
    }
    if (fault.kind == FaultKind::kStreamLag) lag_ = fault.delay;
    Later([this, text = std::string(bytes)] {
      if (!line_->complete) line_->complete = absl::StrContains(text, "k8s.io/initial-events-end");
      target_->OnData(text);
    });
  }
  void OnEnd(const absl::Status& status) override {
    if (broken_) return;
    CloseLine();
    Later([this, status] { End(status); });
  }

 private:
  // In order: what comes later is never delivered earlier.
  void Later(std::function<void()> deliver) {
    const absl::Time now = owner_->executor_->Now();
    const absl::Time due = std::max(last_due_, now + lag_);
    last_due_ = due;
    const bool counts = line_->owner == this;
    if (counts) line_->late.push_back(now);
    owner_->executor_->PostAfter(due - now,
                                 [alive = alive_, this, counts, deliver = std::move(deliver)] {
                                   if (!*alive || ended_) return;
                                   if (counts && line_->owner == this && !line_->late.empty())
                                     line_->late.pop_front();
                                   if (!owner_->killed_) deliver();
                                 });
  }
  void End(const absl::Status& status) {
    ended_ = true;
    CloseLine();
    target_->OnEnd(status);  // may destroy this
  }
  void CloseLine() {
    if (line_->owner == this) {
      line_->known = owner_->KnownUntil(*line_);
      line_->owner = nullptr;
      line_->late.clear();
    }
  }

  FaultTransport* owner_;
  http::StreamObserver* target_;
  const std::string target_text_;
  Line* const line_;
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

absl::Time FaultTransport::KnownUntil(const Line& line) const {
  const absl::Time now = executor_->Now();
  if (line.owner == nullptr || now < line.opened + kCatchUp) return line.known;
  if (line.late.empty()) return now;
  return line.late.front() <= line.opened ? line.known : line.late.front();
}

absl::Time FaultTransport::KnownUntil(absl::string_view collection) const {
  const auto it = lines_.find(collection);
  return it == lines_.end() ? absl::InfinitePast() : KnownUntil(it->second);
}

bool FaultTransport::Complete(absl::string_view collection) const {
  const auto it = lines_.find(collection);
  return it != lines_.end() && it->second.complete;
}

bool FaultTransport::Hit(int per_mille, uint64_t of) {
  if (!on_ || per_mille <= 0) return false;
  return random_.Below(of) < static_cast<uint64_t>(per_mille);
}

// In whole microseconds, as a book writes it down.
absl::Duration FaultTransport::Delay() {
  return absl::Trunc(plan_.max_delay * random_.Unit(), absl::Microseconds(1));
}

Fault FaultTransport::DrawForCall(bool write) {
  if (Hit(plan_.refused)) return {FaultKind::kRefused};
  if (Hit(plan_.too_many)) return {FaultKind::kTooMany};
  if (Hit(plan_.server_error)) {
    static constexpr int kStatus[] = {500, 503, 504};
    return {FaultKind::kServerError, kStatus[random_.Below(3)]};
  }
  if (write && Hit(plan_.conflict)) return {FaultKind::kConflict};
  if (write && Hit(plan_.lost_answer)) return {FaultKind::kLostAnswer};
  if (write && Hit(plan_.kill, 10000)) {
    return {random_.Below(2) == 0 ? FaultKind::kKillBefore : FaultKind::kKillAfter};
  }
  if (Hit(plan_.slow)) return {FaultKind::kSlow, 0, Delay()};
  return {};
}

Fault FaultTransport::DrawForOpen() {
  if (Hit(plan_.stream_refused)) return {FaultKind::kStreamRefused};
  if (Hit(plan_.stream_gone)) return {FaultKind::kStreamGone};
  return {};
}

Fault FaultTransport::DrawForChunk() {
  if (Hit(plan_.stream_broken)) return {FaultKind::kStreamBroken};
  if (Hit(plan_.stream_lag)) return {FaultKind::kStreamLag, 0, Delay()};
  return {};
}

template <typename Draw>
Fault FaultTransport::Decide(absl::string_view what, absl::string_view target, Draw draw) {
  Fault fault;
  if (book_ == nullptr) {
    fault = draw();
  } else {
    std::string place = book_->NextPlace(absl::StrCat(what, " ", PathOf(target)));
    if (book_->plays()) {
      if (on_) fault = book_->At(place);
    } else {
      fault = draw();
      book_->Note(std::move(place), fault);
    }
  }
  if (fault.kind != FaultKind::kNone) ++faults_;
  return fault;
}

void FaultTransport::Answer(const http::ResponseCallback& done, int status,
                            absl::string_view reason) {
  http::Response response = InjectedFailure(status, reason);
  if (status == 429) response.headers.Set("Retry-After", "1");
  executor_->Post([done, response] { done(response); });
}

// Tells the watcher of the answer, notes complete lists, and keeps silent to the dead.
http::ResponseCallback FaultTransport::Watched(const http::Request& request,
                                               http::ResponseCallback done) {
  const bool told = watcher_ != nullptr && watcher_->OnSent(request);
  Line* line = nullptr;
  if (request.method == "GET") {
    const auto it = lines_.find(PathOf(request.target));
    if (it != lines_.end() && !it->second.complete) line = &it->second;
  }
  http::Request kept;
  if (told) kept = request;
  return [this, told, line, kept = std::move(kept),
          done = std::move(done)](absl::StatusOr<http::Response> answer) {
    if (killed_) return;
    if (line != nullptr && answer.ok() && answer->status == 200 &&
        !absl::StrContains(answer->body, "\"continue\":\"")) {
      line->complete = true;
    }
    if (told) watcher_->OnAnswered(kept, answer);
    done(std::move(answer));
  };
}

void FaultTransport::Send(http::Request request, absl::Duration timeout,
                          http::ResponseCallback done) {
  if (killed_) return;
  const bool write = request.method != "GET" && request.method != "HEAD";
  const Fault fault =
      Decide(request.method, request.target, [this, write] { return DrawForCall(write); });
  if (fault.kind == FaultKind::kKillBefore) {
    killed_ = true;
    return;
  }
  done = Watched(request, std::move(done));
  Execute(fault, std::move(request), timeout, std::move(done));
}

void FaultTransport::Execute(const Fault& fault, http::Request request, absl::Duration timeout,
                             http::ResponseCallback done) {
  const auto refuse = [this, done](absl::string_view text) {
    executor_->Post([done, status = absl::UnavailableError(text)] { done(status); });
  };
  switch (fault.kind) {
    case FaultKind::kRefused:
      return refuse("connection refused");
    case FaultKind::kTooMany:
      return Answer(done, 429, "TooManyRequests");
    case FaultKind::kServerError:
      return Answer(done, fault.status,
                    fault.status == 500   ? "InternalError"
                    : fault.status == 503 ? "ServiceUnavailable"
                                          : "Timeout");
    case FaultKind::kConflict:
      return Answer(done, 409, "Conflict");
    case FaultKind::kSlow: {
      auto shared = std::make_shared<http::Request>(std::move(request));
      executor_->PostAfter(fault.delay, [this, shared, timeout, done] {
        Execute(Fault(), std::move(*shared), timeout, done);
      });
      return;
    }
    case FaultKind::kLostAnswer:
      done = [done](absl::StatusOr<http::Response>) {
        done(absl::UnavailableError("connection reset"));
      };
      break;
    case FaultKind::kKillAfter:
      done = [this](absl::StatusOr<http::Response>) { killed_ = true; };
      break;
    default:
      break;
  }
  if (killed_) return;
  if (away_) return refuse("connection refused");
  inner_->Send(std::move(request), timeout, std::move(done));
}

std::unique_ptr<http::Stream> FaultTransport::OpenStream(http::Request request,
                                                         absl::Duration idle_timeout,
                                                         http::StreamObserver* observer) {
  auto stream = std::make_unique<FaultStream>(this, observer, request.target);
  if (killed_) return stream;
  const Fault fault = Decide("OPEN", request.target, [this] { return DrawForOpen(); });
  if (away_ || fault.kind == FaultKind::kStreamRefused) {
    stream->Fail(/*gone=*/false);
  } else if (fault.kind == FaultKind::kStreamGone) {
    stream->Fail(/*gone=*/true);
  } else {
    stream->Open(std::move(request), idle_timeout);
  }
  return stream;
}

}  // namespace hekla::sim

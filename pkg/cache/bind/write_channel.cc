#include "pkg/cache/bind/write_channel.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"

namespace hekla::cache {

bool IsOverload(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kInternal:
      return true;
    default:
      return false;
  }
}

WriteChannel::WriteChannel(util::Executor* executor, Options options)
    : executor_(executor), options_(options), window_(options.initial_window) {
  window_ = std::min(window_, options_.max_window);
}

void WriteChannel::Submit(Lane lane, Call call) {
  if (closed_) return;
  pending_.fetch_add(1, std::memory_order_acq_rel);
  lanes_[static_cast<size_t>(lane)].queue.push_back({"", std::move(call)});
  Pump();
}

void WriteChannel::SubmitLatest(Lane lane, const std::string& key, Call call) {
  if (closed_) return;
  LaneState& state = lanes_[static_cast<size_t>(lane)];
  Keyed& keyed = state.keyed[key];
  if (keyed.waiting == nullptr) pending_.fetch_add(1, std::memory_order_acq_rel);
  keyed.waiting = std::move(call);
  if (keyed.queued || keyed.in_flight) return;
  keyed.queued = true;
  state.queue.push_back({key, nullptr});
  Pump();
}

void WriteChannel::SubmitIfAbsent(Lane lane, const std::string& key, Call call) {
  const LaneState& state = lanes_[static_cast<size_t>(lane)];
  const auto it = state.keyed.find(key);
  if (it != state.keyed.end() && it->second.waiting != nullptr) return;
  SubmitLatest(lane, key, std::move(call));
}

void WriteChannel::SubmitAfter(absl::Duration delay, Lane lane, Call call) {
  if (closed_) return;
  pending_.fetch_add(1, std::memory_order_acq_rel);
  ++delayed_;
  auto boxed = std::make_shared<Call>(std::move(call));
  executor_->PostAfter(delay, [this, alive = std::weak_ptr<bool>(alive_), lane, boxed] {
    if (alive.expired() || closed_) return;
    --delayed_;
    lanes_[static_cast<size_t>(lane)].queue.push_back({"", std::move(*boxed)});
    Pump();
  });
}

void WriteChannel::Pump() {
  if (pumping_) return;  // a call that ended at once, from inside Begin
  pumping_ = true;
  while (static_cast<double>(in_flight_) < std::max(window_, 1.0)) {
    size_t lane = 0;
    while (lane < lanes_.size() && lanes_[lane].queue.empty()) ++lane;
    if (lane == lanes_.size()) break;
    Queued item = std::move(lanes_[lane].queue.front());
    lanes_[lane].queue.pop_front();
    Begin(static_cast<Lane>(lane), std::move(item));
  }
  pumping_ = false;
}

void WriteChannel::Begin(Lane lane, Queued item) {
  Call call = std::move(item.call);
  if (!item.key.empty()) {
    Keyed& keyed = lanes_[static_cast<size_t>(lane)].keyed[item.key];
    call = std::exchange(keyed.waiting, nullptr);
    keyed.queued = false;
    keyed.in_flight = true;
  }
  ++in_flight_;
  auto ended = std::make_shared<bool>(false);
  call([this, alive = std::weak_ptr<bool>(alive_), lane, key = std::move(item.key),
        ended](const absl::Status& status) {
    if (alive.expired()) return;
    CHECK(!std::exchange(*ended, true)) << "a write ended twice";
    Ended(lane, key, status);
  });
}

void WriteChannel::Ended(Lane lane, const std::string& key, const absl::Status& status) {
  --in_flight_;
  Adapt(status);
  if (!key.empty()) {
    LaneState& state = lanes_[static_cast<size_t>(lane)];
    auto it = state.keyed.find(key);
    it->second.in_flight = false;
    if (it->second.waiting != nullptr) {
      it->second.queued = true;
      state.queue.push_back({key, nullptr});
    } else {
      state.keyed.erase(it);
    }
  }
  Drop(1);
  Pump();
  TellIfQuiet();
}

bool WriteChannel::busy() const {
  return in_flight_ > 0 || std::any_of(lanes_.begin(), lanes_.end(),
                                       [](const LaneState& lane) { return !lane.queue.empty(); });
}

void WriteChannel::Adapt(const absl::Status& status) {
  if (!IsOverload(status)) {
    window_ = std::min(window_ + 1.0 / std::max(window_, 1.0), options_.max_window);
    return;
  }
  const absl::Duration now = executor_->Uptime();
  if (now - last_cut_ < options_.cut_interval) return;
  last_cut_ = now;
  window_ = std::max(window_ / 2, options_.min_window);
  VLOG(3) << "write window cut window=" << window_ << " error=" << status;
}

void WriteChannel::Close() {
  closed_ = true;
  size_t dropped = std::exchange(delayed_, 0);
  for (LaneState& state : lanes_) {
    for (const Queued& item : state.queue) {
      if (item.key.empty()) ++dropped;
    }
    for (auto& [key, keyed] : state.keyed) {
      if (keyed.waiting != nullptr) ++dropped;
      keyed.waiting = nullptr;
      keyed.queued = false;
    }
    state.queue.clear();
  }
  Drop(dropped);
}

void WriteChannel::Drop(size_t n) {
  if (pending_.fetch_sub(n, std::memory_order_acq_rel) == n) Finished();
}

void WriteChannel::Finished() {
  if (when_idle_ == nullptr) return;
  // Posted, so that the caller may destroy the channel in it.
  executor_->Post(std::exchange(when_idle_, nullptr));
}

void WriteChannel::WhenIdle(std::function<void()> done) {
  when_idle_ = std::move(done);
  if (pending() == 0) Finished();
}

}  // namespace hekla::cache

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/cache/bind/context.h"
#include "pkg/cache/bind/write_channel.h"
#include "pkg/cache/status/uncertain.h"
#include "pkg/kube/api_status.h"

namespace hekla::cache {

// Whether the server may take the same write later: it has too much to do or is away, it has a
// newer object, or it refuses everybody. It does so for a moment after its start, until it has read
// who may do what.
inline bool MayBeTakenLater(const absl::Status& status) {
  return IsOverload(status) || absl::IsAborted(status) || absl::IsPermissionDenied(status) ||
         absl::IsUnauthenticated(status);
}

// Failures that any cluster has now and then: no errors for the log.
inline bool IsOrdinaryFailure(const absl::Status& status) {
  return IsOverload(status) || absl::IsAborted(status) || kube::IsNotFound(status);
}

// The newest write per object of one lane: takes the place of a queued one, and is the only one
// that is repeated after a failure. Who decided on a status takes it for sent once it was handed
// over, so that a write the server could not take must not be dropped. Threads: the io executor.
class LatestWrites {
 public:
  // Tells writes of one object apart.
  using Serial = uint64_t;

  // `prefix` keeps the keys of different kinds in one lane apart.
  LatestWrites(const WriteContext* context, Lane lane, std::string prefix)
      : context_(context), lane_(lane), prefix_(std::move(prefix)) {}

  // The serial of a new write; older ones are no longer repeated.
  Serial Next(const std::string& key) { return latest_[key] = ++last_; }
  void Submit(const std::string& key, WriteChannel::Call call) {
    context_->channel->SubmitLatest(lane_, absl::StrCat(prefix_, key), std::move(call));
  }
  // Whether a write of it is under way, queued or to be repeated.
  bool Has(const std::string& key) const { return latest_.contains(key); }
  // The write has ended for good.
  void Settled(const std::string& key, Serial serial) {
    if (IsLatest(key, serial)) latest_.erase(key);
  }
  // Begins the write again after 20 ms x 2^tries (at most 30 s), unless a newer one has come.
  void Again(const std::string& key, Serial serial, int tries, WriteChannel::Call call) {
    const absl::Duration pause =
        std::min(absl::Milliseconds(20) * (int64_t{1} << std::min(tries, 12)), absl::Seconds(30));
    context_->channel->Hold();
    context_->After(pause, [this, key, serial, call = std::move(call)]() mutable {
      if (IsLatest(key, serial)) {
        context_->channel->SubmitIfAbsent(lane_, absl::StrCat(prefix_, key), std::move(call));
      }
      context_->channel->Release();
    });
  }
  void Forget(const std::string& key) {
    latest_.erase(key);
    uncertain.Forget(key);
  }

  Uncertain uncertain;

 private:
  bool IsLatest(const std::string& key, Serial serial) const {
    const auto it = latest_.find(key);
    return it != latest_.end() && it->second == serial;
  }

  const WriteContext* const context_;
  const Lane lane_;
  const std::string prefix_;
  absl::flat_hash_map<std::string, Serial> latest_;
  Serial last_ = 0;
};

}  // namespace hekla::cache

#include "bench/watch_load/follower.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pkg/apis/json/value.h"
#include "pkg/util/status_macros.h"

namespace hekla {
namespace {

// The number behind `mark`; -1 where there is none. Much cheaper than parsing the whole object.
int64_t NumberBehind(absl::string_view text, absl::string_view mark) {
  const size_t at = text.find(mark);
  if (at == absl::string_view::npos) return -1;
  text.remove_prefix(at + mark.size());
  int64_t number = -1;
  return absl::SimpleAtoi(text.substr(0, text.find('"')), &number) ? number : -1;
}

http::Request Get(std::string target) {
  http::Request request;
  request.method = "GET";
  request.target = std::move(target);
  request.headers.Set("Accept", "application/json");
  return request;
}

}  // namespace

void Follower::Observer::OnHeaders(int status, const http::Headers&) {
  if (status != 200) OnEnd(absl::UnavailableError(absl::StrCat("watch answered ", status)));
}

void Follower::Observer::OnData(absl::string_view bytes) {
  rest_.append(bytes.data(), bytes.size());
  size_t start = 0;
  for (size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1) {
    owner_->See(absl::string_view(rest_).substr(start, end - start), last_);
  }
  rest_.erase(0, start);
}

void Follower::Observer::OnEnd(const absl::Status& status) {
  absl::MutexLock lock(&owner_->mutex_);
  owner_->status_ = status.ok() ? absl::UnavailableError("a watch ended") : status;
}

absl::StatusOr<std::string> Follower::List(const std::string& collection) {
  std::string token;
  while (true) {
    std::string target = absl::StrCat(collection, "?limit=500");
    if (!token.empty()) absl::StrAppend(&target, "&continue=", token);
    HEKLA_ASSIGN_OR_RETURN(const http::Response page,
                           http::SendAndWait(*transport_, Get(target), absl::Minutes(1)));
    if (page.status != 200) {
      return absl::UnavailableError(absl::StrCat("list answered ", page.status));
    }
    HEKLA_ASSIGN_OR_RETURN(const apis::json::Value list, apis::json::Parse(page.body));
    listed_ += list.At("items").size();
    token = std::string(list.At("metadata").GetString("continue"));
    if (token.empty()) return std::string(list.At("metadata").GetString("resourceVersion"));
  }
}

absl::Status Follower::Start(const std::vector<std::string>& collections) {
  const absl::Time begin = absl::Now();
  for (const std::string& collection : collections) {
    HEKLA_ASSIGN_OR_RETURN(const std::string version, List(collection));
    observers_.push_back(std::make_unique<Observer>(this));
    streams_.push_back(transport_->OpenStream(
        Get(absl::StrCat(collection, "?watch=1&timeoutSeconds=86400&resourceVersion=", version)),
        absl::InfiniteDuration(), observers_.back().get()));
  }
  list_time_ = absl::Now() - begin;
  return absl::OkStatus();
}

void Follower::See(absl::string_view line, int64_t& last) {
  const int64_t now = absl::ToUnixNanos(absl::Now());
  const int64_t version = NumberBehind(line, "\"resourceVersion\":\"");
  const int64_t due = NumberBehind(line, absl::StrCat("\"", kDueAnnotation, "\":\""));
  absl::MutexLock lock(&mutex_);
  if (version < 0) {
    status_ =
        absl::InternalError(absl::StrCat("an event without a version: ", line.substr(0, 200)));
    return;
  }
  if (static_cast<size_t>(version) >= seen_.size()) seen_.resize(static_cast<size_t>(version) * 2);
  if (version <= last || seen_[static_cast<size_t>(version)]) ++disorder_;
  last = version;
  seen_[static_cast<size_t>(version)] = true;
  // A deletion shows the last change's annotation twice more: when it is decided and when done.
  const bool change = line.find("\"deletionTimestamp\"") == absl::string_view::npos &&
                      line.substr(0, 20).find("DELETED") == absl::string_view::npos;
  if (measuring_ && due > 0 && change) {
    lags_ms_.push_back(static_cast<float>(static_cast<double>(now - due) / 1e6));
  }
}

void Follower::BeginMeasuring() {
  absl::MutexLock lock(&mutex_);
  measuring_ = true;
}

bool Follower::SawAll(int64_t from, int64_t to) const {
  if (static_cast<size_t>(to) >= seen_.size()) return false;
  return std::find(seen_.begin() + from + 1, seen_.begin() + to + 1, false) ==
         seen_.begin() + to + 1;
}

int64_t Follower::WaitForAll(int64_t from, int64_t to, absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto all = [&]()
                       ABSL_NO_THREAD_SAFETY_ANALYSIS { return !status_.ok() || SawAll(from, to); };
  mutex_.AwaitWithTimeout(absl::Condition(&all), timeout);
  int64_t missing = 0;
  for (int64_t v = from + 1; v <= to; ++v) {
    missing += static_cast<size_t>(v) < seen_.size() && seen_[static_cast<size_t>(v)] ? 0 : 1;
  }
  return missing;
}

int64_t Follower::disorder() const {
  absl::MutexLock lock(&mutex_);
  return disorder_;
}

std::vector<float> Follower::TakeLagsMs() {
  absl::MutexLock lock(&mutex_);
  return std::move(lags_ms_);
}

absl::Status Follower::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

}  // namespace hekla

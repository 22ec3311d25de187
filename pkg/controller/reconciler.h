#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace hekla::controller {

// The object that a reconcile is about. `ns` is "" for cluster-wide kinds.
struct Request {
  std::string ns = {};
  std::string name = {};

  // `namespace/name`, or the name alone.
  std::string Key() const { return ns.empty() ? name : absl::StrCat(ns, "/", name); }
  friend bool operator==(const Request& a, const Request& b) {
    return a.ns == b.ns && a.name == b.name;
  }
  friend bool operator<(const Request& a, const Request& b) {
    return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
  }
  template <typename H>
  friend H AbslHashValue(H h, const Request& r) {
    return H::combine(std::move(h), r.ns, r.name);
  }
};

// What happens to the key after a reconcile that did not fail.
struct Result {
  // Once more, after the back-off of a failure.
  bool requeue = false;
  // More than zero: once more after this time; failures so far are forgotten. Wins over `requeue`.
  absl::Duration requeue_after = absl::ZeroDuration();
  // Of that repetition; absent: the priority with which this reconcile was queued.
  std::optional<int> priority = std::nullopt;

  static Result After(absl::Duration d) {
    Result result;
    result.requeue_after = d;
    return result;
  }
};

// Brings one object's world in line with what it asks for. Knows the key only, reads everything
// else, and may be called at any time and as often as one likes.
// Errors:  any status: the key is tried again after its back-off. An error made by TerminalError is
//          not tried again before something changes. A conflict (kAborted) is an ordinary way of
//          learning that the cache lagged; it is not logged as an error.
// Threads: Reconcile comes on worker threads, never twice at once for one key. It may block on
//          API calls; it must not wait for anything else.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual absl::StatusOr<Result> Reconcile(const Request& request) = 0;
};

// Marks `status` (not OK) as one that trying again cannot help.
absl::Status TerminalError(absl::Status status);
bool IsTerminal(const absl::Status& status);

}  // namespace hekla::controller

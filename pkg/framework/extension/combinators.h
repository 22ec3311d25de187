#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pkg/framework/extension/callback.h"
#include "pkg/model/ids.h"

// The ten rules by which answers of several plugins become one. Each point holds a flat list in
// tier order of the enabled plugins' functions; a call looks nothing up and tests no flag. Source:
// spec scheduler-core section 7. HOT PATH
namespace hekla::framework {

enum class Vote : int8_t { kReject = -1, kAbstain = 0, kPermit = 1 };

// What every point shares: its functions with their tiers.
template <typename Signature>
class Point {
 public:
  struct Entry {
    Callback<Signature> call;
    int32_t tier;
    int32_t plugin;  // position of the plugin in the configuration, for metrics and explanations
  };
  void AddEntry(Entry entry) { entries_.push_back(entry); }
  void Clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  absl::Span<const Entry> entries() const { return entries_; }

 protected:
  std::vector<Entry> entries_;
};

// Orders: negative, zero, positive; the first answer that is not zero decides; 0 if none.
template <typename... Args>
class FirstNonZero : public Point<int(Args...)> {
 public:
  int operator()(Args... args) const {
    for (const auto& e : this->entries_) {
      if (int c = e.call(args...); c != 0) return c;
    }
    return 0;
  }
};

// True if every function says so; true if there is none.
template <typename... Args>
class AllPass : public Point<bool(Args...)> {
 public:
  bool operator()(Args... args) const {
    for (const auto& e : this->entries_) {
      if (!e.call(args...)) return false;
    }
    return true;
  }
};

// True if some function says so; false if there is none.
template <typename... Args>
class AnyTrue : public Point<bool(Args...)> {
 public:
  bool operator()(Args... args) const {
    for (const auto& e : this->entries_) {
      if (e.call(args...)) return true;
    }
    return false;
  }
};

// The first tier with a function decides: all of it must be true. False if there is none.
template <typename... Args>
class TierAll : public Point<bool(Args...)> {
 public:
  bool operator()(Args... args) const {
    if (this->entries_.empty()) return false;
    const int32_t tier = this->entries_.front().tier;
    for (const auto& e : this->entries_) {
      if (e.tier != tier) break;
      if (!e.call(args...)) return false;
    }
    return true;
  }
};

// A Reject anywhere reached is false; a tier with a Permit and no Reject is true and later tiers
// are not asked; only abstentions, or no function: true.
template <typename... Args>
class VoteAll : public Point<Vote(Args...)> {
 public:
  bool operator()(Args... args) const {
    bool permitted = false;
    int32_t tier = -1;
    for (const auto& e : this->entries_) {
      if (e.tier != tier) {
        if (permitted) return true;
        tier = e.tier;
      }
      const Vote v = e.call(args...);
      if (v == Vote::kReject) return false;
      permitted = permitted || v == Vote::kPermit;
    }
    return true;
  }
};

struct VictimAnswer {
  Vote vote = Vote::kAbstain;
  std::vector<model::TaskId> victims;
};

// Per tier the intersection of all answers that do not abstain, in the order of the first list. An
// empty answer ends its tier without victims. Quirk: an intersection that became empty lets the
// next plugin of the tier start afresh (spec scheduler-core 7.3, E10). The first tier with victims
// decides.
template <typename... Args>
class TierIntersect : public Point<VictimAnswer(Args...)> {
 public:
  std::vector<model::TaskId> operator()(Args... args) const {
    std::vector<model::TaskId> result;
    int32_t tier = -1;
    bool closed = false;  // an empty answer ended this tier
    for (const auto& e : this->entries_) {
      if (e.tier != tier) {
        if (!result.empty()) return result;
        tier = e.tier;
        closed = false;
      }
      if (closed) continue;
      VictimAnswer answer = e.call(args...);
      if (answer.vote == Vote::kAbstain) continue;
      if (answer.victims.empty()) {
        result.clear();
        closed = true;
      } else if (result.empty()) {
        result = std::move(answer.victims);
      } else {
        Intersect(result, answer.victims);
      }
    }
    return result;
  }

 private:
  static void Intersect(std::vector<model::TaskId>& result, const std::vector<model::TaskId>& with);
};

// Per tier the union; the first tier with victims decides.
template <typename... Args>
class TierUnion : public Point<std::vector<model::TaskId>(Args...)> {
 public:
  std::vector<model::TaskId> operator()(Args... args) const {
    std::vector<model::TaskId> result;
    int32_t tier = -1;
    for (const auto& e : this->entries_) {
      if (e.tier != tier) {
        if (!result.empty()) return result;
        tier = e.tier;
      }
      for (model::TaskId t : e.call(args...)) {
        bool known = false;
        for (model::TaskId r : result) known = known || r == t;
        if (!known) result.push_back(t);
      }
    }
    return result;
  }
};

// Every function is called.
template <typename... Args>
class Broadcast : public Point<void(Args...)> {
 public:
  void operator()(Args... args) const {
    for (const auto& e : this->entries_) e.call(args...);
  }
};

// Sum of all answers in order; 0 if there is none.
template <typename... Args>
class Sum : public Point<double(Args...)> {
 public:
  double operator()(Args... args) const {
    double total = 0;
    for (const auto& e : this->entries_) total += e.call(args...);
    return total;
  }
};

// The first registered function answers; R() if there is none.
template <typename R, typename... Args>
class FirstProvider : public Point<R(Args...)> {
 public:
  R operator()(Args... args) const {
    if (this->entries_.empty()) return R();
    return this->entries_.front().call(args...);
  }
};

template <typename... Args>
void TierIntersect<Args...>::Intersect(std::vector<model::TaskId>& result,
                                       const std::vector<model::TaskId>& with) {
  std::erase_if(result, [&](model::TaskId t) {
    for (model::TaskId w : with) {
      if (w == t) return false;
    }
    return true;
  });
}

}  // namespace hekla::framework

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "pkg/framework/cause.h"
#include "pkg/util/id.h"

namespace hekla::framework {

// Why a node (or all nodes) refused a task. The value tells actions whether eviction could help.
// Source: spec scheduler-core 7.4.
enum class Code : uint8_t {
  kSuccess = 0,
  kError = 1,
  kUnschedulable = 2,
  kUnschedulableAndUnresolvable = 3,
  kWait = 4,
  kSkip = 5,
};

using ReasonId = util::Id<struct ReasonTag>;

// Texts of refusals with their causes, interned. Filters make their ids once and hand them out per
// node. A text has one cause.
// Threads: the session thread.
class ReasonTable {
 public:
  // `head`: length of the text's beginning that only says who refuses.
  ReasonId Intern(Code code, Cause cause, absl::string_view text, size_t head = 0);
  Code code(ReasonId id) const { return entries_[id.index()].code; }
  Cause cause(ReasonId id) const { return entries_[id.index()].cause; }
  const std::string& text(ReasonId id) const { return entries_[id.index()].text; }
  // The text without its head.
  absl::string_view detail(ReasonId id) const {
    const Entry& entry = entries_[id.index()];
    return absl::string_view(entry.text).substr(entry.head);
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Code code;
    Cause cause;
    size_t head;
    std::string text;
  };
  std::vector<Entry> entries_;
  // By code, so that a known text is found without building a key.
  std::array<absl::flat_hash_map<std::string, ReasonId>, 6> index_;
};

// All refusals of one task as counts. `nodes` is the number of nodes that recorded at least one.
// A node can contribute several reasons (filters of one plugin collect them).
struct FitErrors {
  std::string custom_head;  // replaces "0/<n> nodes are unavailable" where not empty
  std::string hyper_node;   // "": the whole cluster
  int32_t nodes = 0;
  absl::InlinedVector<std::pair<ReasonId, int32_t>, 4> counts;

  void Add(ReasonId reason, int32_t times = 1);
};

// "0/3 nodes are unavailable: 1 node(s) had …, 2 Insufficient cpu." Source: spec
// scheduler-core 8.6, E7.
std::string Render(const FitErrors& errors, const ReasonTable& reasons);

}  // namespace hekla::framework

#include "pkg/framework/reasons.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace hekla::framework {

ReasonId ReasonTable::Intern(Code code, Cause cause, absl::string_view text, size_t head) {
  absl::flat_hash_map<std::string, ReasonId>& index = index_[static_cast<size_t>(code)];
  if (auto it = index.find(text); it != index.end()) {
    DCHECK(this->cause(it->second) == cause) << text;
    return it->second;
  }
  const ReasonId id(static_cast<uint32_t>(entries_.size()));
  index.emplace(text, id);
  entries_.push_back({code, cause, head, std::string(text)});
  return id;
}

void FitErrors::Add(ReasonId reason, int32_t times) {
  for (auto& [known, count] : counts) {
    if (known != reason) continue;
    count += times;
    return;
  }
  counts.emplace_back(reason, times);
}

std::string Render(const FitErrors& errors, const ReasonTable& reasons) {
  std::string text;
  if (!errors.hyper_node.empty()) absl::StrAppend(&text, "In hyperNode ", errors.hyper_node, ": ");
  if (errors.custom_head.empty()) {
    absl::StrAppend(&text, "0/", errors.nodes, " nodes are unavailable");
  } else {
    absl::StrAppend(&text, errors.custom_head);
  }
  if (errors.nodes == 0) return text;
  // Two ids may share a text (with different codes): they are one line of the list.
  std::vector<std::pair<absl::string_view, int32_t>> by_text;
  for (const auto& [reason, count] : errors.counts) {
    const absl::string_view reason_text = reasons.text(reason);
    if (reason_text.empty()) continue;
    auto same = std::find_if(by_text.begin(), by_text.end(),
                             [&](const auto& entry) { return entry.first == reason_text; });
    if (same == by_text.end()) {
      by_text.emplace_back(reason_text, count);
    } else {
      same->second += count;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [reason_text, count] : by_text) {
    lines.push_back(absl::StrCat(count, " ", reason_text));
  }
  std::sort(lines.begin(), lines.end());
  absl::StrAppend(&text, ": ", absl::StrJoin(lines, ", "), ".");
  return text;
}

}  // namespace hekla::framework

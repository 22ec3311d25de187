#include "pkg/framework/explain/amounts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/framework/session_state.h"

namespace hekla::framework::explain {
namespace {

using apis::json::Value;
using model::ResourceDim;
using model::ResourceLayout;
using Pairs = std::vector<std::pair<ResourceDim, double>>;

constexpr double kUnlimited = 9e18;
constexpr double kSmall = 1e-3;  // below it an amount is the rounding of shares

Pairs PairsOf(const model::Resource& amounts) {
  Pairs pairs;
  for (size_t d = 0; d < amounts.size(); ++d) {
    const auto dim = static_cast<ResourceDim>(d);
    if (amounts[dim] == 0) continue;
    pairs.emplace_back(dim, static_cast<double>(amounts[dim]));
  }
  return pairs;
}

std::string LimitNoun(const LimitCheck& check) {
  return check.cause == Cause::kQueueShareExceeded ? check.limit + " share" : check.limit;
}

}  // namespace

std::string AmountText(const ResourceLayout& layout, ResourceDim dim, double amount) {
  if (std::abs(amount) >= kUnlimited) return "unlimited";
  const std::string name = layout.Name(dim);
  const model::ResourceUnit unit = ResourceLayout::UnitOf(name);
  // Shares are sums of fractions: what is a hair below a whole unit is meant to be it.
  auto whole = static_cast<int64_t>(std::floor(amount + kSmall));
  constexpr int64_t kMi = int64_t{1} << 20;
  if (unit == model::ResourceUnit::kBytes && std::abs(whole) >= 16 * kMi) whole -= whole % kMi;
  return FormatAmount(whole, unit, unit == model::ResourceUnit::kBytes ? "memory" : name);
}

std::string AmountsText(const ResourceLayout& layout, const Pairs& amounts) {
  std::vector<std::string> parts;
  for (const auto& [dim, amount] : amounts) {
    if (dim == model::kPods) continue;
    parts.push_back(absl::StrCat(layout.Name(dim), " ", AmountText(layout, dim, amount)));
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

std::string AmountsText(const ResourceLayout& layout, const model::Resource& amounts) {
  return AmountsText(layout, PairsOf(amounts));
}

Value AmountsJson(const ResourceLayout& layout, const Pairs& amounts) {
  Value out = Value::MakeObject();
  for (const auto& [dim, amount] : amounts) {
    out.Set(layout.Name(dim), AmountText(layout, dim, amount));
  }
  return out;
}

Value AmountsJson(const ResourceLayout& layout, const model::Resource& amounts) {
  return AmountsJson(layout, PairsOf(amounts));
}

std::string ExceededText(const ResourceLayout& layout, const model::ResourceTotal& total,
                         const std::vector<LimitCheck>& checks) {
  std::vector<std::string> parts;
  for (const LimitCheck& check : checks) {
    const std::string limit = check.owner.empty()
                                  ? absl::StrCat("cluster's ", check.limit)
                                  : absl::StrCat(LimitNoun(check), " of queue ", check.owner);
    for (const LimitCheck::Row& row : check.rows) {
      if (!row.exceeded) continue;
      const bool all = !check.owner.empty() && row.limit >= total.real(row.dim) - kSmall;
      parts.push_back(absl::StrCat(
          "asks for ", layout.Name(row.dim), " ", AmountText(layout, row.dim, row.asked), ", ",
          AmountText(layout, row.dim, row.counted), " is taken or promised, the ", limit, " is ",
          AmountText(layout, row.dim, row.limit), all ? ", all the cluster has" : ""));
    }
  }
  return absl::StrJoin(parts, "; ");
}

Value ChecksJson(const ResourceLayout& layout, const std::vector<LimitCheck>& checks) {
  Value out = Value::MakeArray();
  for (const LimitCheck& check : checks) {
    for (const LimitCheck::Row& row : check.rows) {
      out.Append(Value::MakeObject({{"limit", check.limit},
                                    {"queue", check.owner},
                                    {"resource", layout.Name(row.dim)},
                                    {"asked", AmountText(layout, row.dim, row.asked)},
                                    {"counted", AmountText(layout, row.dim, row.counted)},
                                    {"atMost", AmountText(layout, row.dim, row.limit)},
                                    {"exceeded", row.exceeded}}));
    }
  }
  return out;
}

}  // namespace hekla::framework::explain

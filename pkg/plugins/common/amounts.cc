#include "pkg/plugins/common/amounts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace hekla::plugins {

void UnitScale::Update(const model::ResourceLayout& layout) {
  for (size_t dim = scale_.size(); dim < layout.size(); ++dim) {
    const bool bytes =
        layout.unit(static_cast<model::ResourceDim>(dim)) == model::ResourceUnit::kBytes;
    scale_.push_back(bytes && dim != model::kMemory ? 1000 : 1);
  }
}

void Load(const model::Resource& from, const UnitScale& scale, Amounts& out) {
  std::fill(out.begin(), out.end(), 0.0);
  Accumulate(from, scale, out);
}

void Accumulate(const model::Resource& from, const UnitScale& scale, Amounts& out) {
  const absl::Span<const int64_t> amounts = from.amounts();
  if (out.size() < amounts.size()) out.resize(amounts.size(), 0.0);
  for (size_t d = 0; d < amounts.size(); ++d) out[d] += static_cast<double>(amounts[d]) * scale[d];
}

bool LessEqual(absl::Span<const double> a, absl::Span<const double> b) {
  for (size_t d = 0; d < a.size(); ++d) {
    const double other = At(b, d);
    if (!(a[d] < other || std::abs(a[d] - other) < kTolerance)) return false;
  }
  // Dimensions that only b has: 0 <= b, which fails where b is negative.
  for (size_t d = a.size(); d < b.size(); ++d) {
    if (b[d] <= -kTolerance) return false;
  }
  return true;
}

bool IsEmpty(absl::Span<const double> amounts) {
  for (size_t d = 0; d < amounts.size(); ++d) {
    if (d != model::kPods && amounts[d] >= kTolerance) return false;
  }
  return true;
}

double DominantShare(absl::Span<const double> allocated, absl::Span<const double> whole) {
  double largest = 0;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (whole[d] < kTolerance) continue;
    largest = std::max(largest, Share(At(allocated, d), whole[d]));
  }
  return largest;
}

bool FitsOnRequest(absl::Span<const double> left, absl::Span<const double> right,
                   absl::Span<const double> request) {
  for (size_t d = 0; d < request.size(); ++d) {
    if (d != model::kPods && request[d] > 0 && At(left, d) > At(right, d)) return false;
  }
  return true;
}

std::vector<model::ResourceDim> Exceeding(absl::Span<const double> left,
                                          absl::Span<const double> right,
                                          absl::Span<const double> request,
                                          const model::ResourceLayout& layout) {
  std::vector<model::ResourceDim> dims;
  for (size_t d = 0; d < request.size(); ++d) {
    if (d != model::kPods && request[d] > 0 && At(left, d) > At(right, d)) {
      dims.push_back(static_cast<model::ResourceDim>(d));
    }
  }
  const auto first_scalar = std::find_if(
      dims.begin(), dims.end(), [](model::ResourceDim d) { return d >= model::kFirstScalar; });
  std::sort(first_scalar, dims.end(), [&](model::ResourceDim a, model::ResourceDim b) {
    return layout.Name(a) < layout.Name(b);
  });
  return dims;
}

bool FitsPartly(absl::Span<const double> left, absl::Span<const double> right,
                absl::Span<const double> request) {
  for (size_t d = 0; d < request.size(); ++d) {
    if (d == model::kPods || request[d] <= 0) continue;
    const double l = At(left, d), r = At(right, d);
    if (l < kTolerance && r < kTolerance) continue;
    if (l < r || std::abs(l - r) < kTolerance) return true;
  }
  return false;
}

std::string JoinNames(absl::string_view word, absl::Span<const model::ResourceDim> dims,
                      const model::ResourceLayout& layout) {
  std::string text;
  for (model::ResourceDim d : dims) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", word, " ", layout.Name(d));
  }
  return text;
}

}  // namespace hekla::plugins

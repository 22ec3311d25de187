#include "pkg/model/resource.h"

#include <algorithm>

#include "glog/logging.h"

namespace hekla::model {

Resource& Resource::operator+=(const Resource& other) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (size_t d = 0; d < other.size(); ++d) amounts_[d] += other.amounts_[d];
  return *this;
}

Resource& Resource::operator-=(const Resource& other) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (size_t d = 0; d < other.size(); ++d) amounts_[d] -= other.amounts_[d];
  return *this;
}

void Resource::MaxWith(const Resource& other) {
  if (other.size() > size()) amounts_.resize(other.size(), 0);
  for (size_t d = 0; d < amounts_.size(); ++d) {
    amounts_[d] = std::max(amounts_[d], other[static_cast<ResourceDim>(d)]);
  }
}

bool Resource::IsEmpty() const {
  for (size_t d = 0; d < amounts_.size(); ++d) {
    if (d != kPods && amounts_[d] != 0) return false;
  }
  return true;
}

bool operator==(const Resource& a, const Resource& b) {
  const size_t n = std::max(a.size(), b.size());
  for (size_t d = 0; d < n; ++d) {
    if (a[static_cast<ResourceDim>(d)] != b[static_cast<ResourceDim>(d)]) return false;
  }
  return true;
}

void ResourceMatrix::Resize(size_t rows) {
  data_.resize(rows * stride_, 0);
  rows_ = rows;
}

void ResourceMatrix::Widen(size_t width) {
  if (width <= width_) return;
  const size_t stride = (width + 3) / 4 * 4;
  if (stride != stride_) {
    std::vector<int64_t> wider(rows_ * stride, 0);
    for (size_t i = 0; i < rows_; ++i) {
      std::copy_n(data_.begin() + static_cast<int64_t>(i * stride_), stride_,
                  wider.begin() + static_cast<int64_t>(i * stride));
    }
    data_.swap(wider);
    stride_ = stride;
  }
  width_ = width;
}

void ResourceMatrix::SetRow(size_t i, const Resource& amounts) {
  Clear(i);
  AddRow(i, amounts);
}

void ResourceMatrix::AddRow(size_t i, const Resource& amounts, int64_t sign) {
  DCHECK_LE(amounts.size(), stride_);
  int64_t* to = row(i);
  const absl::Span<const int64_t> from = amounts.amounts();
  for (size_t d = 0; d < from.size(); ++d) to[d] += sign * from[d];
}

void ResourceMatrix::Clear(size_t i) { std::fill_n(row(i), stride_, 0); }

Resource ResourceMatrix::Get(size_t i) const { return Resource({row(i), width_}); }

bool Fits(const Resource& request, const int64_t* room, size_t width) {
  return FirstShortfall(request, room, width) < 0;
}

int FirstShortfall(const Resource& request, const int64_t* room, size_t width) {
  const absl::Span<const int64_t> r = request.amounts();
  for (size_t d = 0; d < r.size(); ++d) {
    if (r[d] > (d < width ? room[d] : 0)) return static_cast<int>(d);
  }
  return -1;
}

void ResourceTotal::Add(const Resource& amounts, int sign) {
  if (amounts.size() > amounts_.size()) amounts_.resize(amounts.size(), 0);
  for (size_t d = 0; d < amounts.size(); ++d) {
    amounts_[d] += sign * static_cast<__int128>(amounts[static_cast<ResourceDim>(d)]);
  }
}

bool operator==(const ResourceTotal& a, const ResourceTotal& b) {
  const size_t n = std::max(a.size(), b.size());
  for (size_t d = 0; d < n; ++d) {
    if (a[static_cast<ResourceDim>(d)] != b[static_cast<ResourceDim>(d)]) return false;
  }
  return true;
}

}  // namespace hekla::model

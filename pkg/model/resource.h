#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "pkg/model/dictionary.h"

// HOT PATH
namespace hekla::model {

// Amounts by dimension; dimensions beyond size() are zero.
// Units: ResourceLayout::unit(dim). Exact integers: upstream's tolerance of 0.1 never matters
// between them. Range: negative values are legal in differences and in idle amounts.
class Resource {
 public:
  Resource() = default;
  explicit Resource(absl::Span<const int64_t> amounts) : amounts_(amounts.begin(), amounts.end()) {}

  int64_t operator[](ResourceDim dim) const { return dim < amounts_.size() ? amounts_[dim] : 0; }
  void Set(ResourceDim dim, int64_t amount) {
    if (dim >= amounts_.size()) amounts_.resize(dim + 1, 0);
    amounts_[dim] = amount;
  }
  void Add(ResourceDim dim, int64_t amount) { Set(dim, (*this)[dim] + amount); }
  void Clear() { amounts_.clear(); }
  size_t size() const { return amounts_.size(); }
  absl::Span<const int64_t> amounts() const { return amounts_; }

  Resource& operator+=(const Resource& other);
  Resource& operator-=(const Resource& other);
  // Component-wise maximum.
  void MaxWith(const Resource& other);
  // Every dimension but pods is zero.
  bool IsEmpty() const;
  friend bool operator==(const Resource& a, const Resource& b);
  template <typename H>
  friend H AbslHashValue(H h, const Resource& r) {
    size_t n = r.amounts_.size();
    while (n > 0 && r.amounts_[n - 1] == 0) --n;
    return H::combine_contiguous(std::move(h), r.amounts_.data(), n);
  }

 private:
  absl::InlinedVector<int64_t, 4> amounts_;
};

// An upper limit: a dimension that is not set is unlimited (capability of a queue). `kUnlimited`
// also serves as "not set" for deserved and guarantee, read with Or().
class ResourceLimit {
 public:
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  void Set(ResourceDim dim, int64_t amount) {
    if (dim >= amounts_.size()) amounts_.resize(dim + 1, kUnlimited);
    amounts_[dim] = amount;
  }
  bool Has(ResourceDim dim) const { return dim < amounts_.size() && amounts_[dim] != kUnlimited; }
  int64_t Or(ResourceDim dim, int64_t fallback) const {
    return Has(dim) ? amounts_[dim] : fallback;
  }
  bool empty() const {
    for (int64_t a : amounts_) {
      if (a != kUnlimited) return false;
    }
    return true;
  }
  size_t size() const { return amounts_.size(); }
  friend bool operator==(const ResourceLimit&, const ResourceLimit&) = default;

 private:
  absl::InlinedVector<int64_t, 4> amounts_;
};

// Rows of equal width in one block; one row per id.
// Shape:   row(i) has `width` amounts; the width grows with the layout (Widen), old amounts stay.
// Threads: written by the session thread only.
class ResourceMatrix {
 public:
  int64_t* row(size_t i) { return data_.data() + i * stride_; }
  const int64_t* row(size_t i) const { return data_.data() + i * stride_; }
  int64_t at(size_t i, ResourceDim dim) const { return dim < width_ ? row(i)[dim] : 0; }
  size_t rows() const { return rows_; }
  size_t width() const { return width_; }
  size_t stride() const { return stride_; }

  void Resize(size_t rows);
  void Widen(size_t width);
  void SetRow(size_t i, const Resource& amounts);
  void AddRow(size_t i, const Resource& amounts, int64_t sign = 1);
  void Clear(size_t i);
  Resource Get(size_t i) const;

 private:
  std::vector<int64_t> data_;
  size_t rows_ = 0;
  size_t width_ = kFirstScalar;
  size_t stride_ = 4;
};

// request <= room in every dimension of the request (missing room = 0). pods is compared too.
bool Fits(const Resource& request, const int64_t* room, size_t width);
// First dimension in which it does not fit (in order of dimensions: cpu, memory, pods, scalars), or
// -1.
int FirstShortfall(const Resource& request, const int64_t* room, size_t width);

// Cluster-wide sums, which can exceed 64 bits (bytes of memory times thousands are fine, sums of
// milli bytes are not); used as doubles where shares are formed.
class ResourceTotal {
 public:
  void Add(const Resource& amounts, int sign = 1);
  __int128 operator[](ResourceDim dim) const { return dim < amounts_.size() ? amounts_[dim] : 0; }
  double real(ResourceDim dim) const { return static_cast<double>((*this)[dim]); }
  size_t size() const { return amounts_.size(); }
  friend bool operator==(const ResourceTotal& a, const ResourceTotal& b);

 private:
  std::vector<__int128> amounts_;
};

}  // namespace hekla::model

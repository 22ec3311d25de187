#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "glog/logging.h"

namespace hekla::util {

// A column: a vector indexed by a typed id.
template <typename IdType, typename T>
class IdVector {
 public:
  using reference = typename std::vector<T>::reference;
  using const_reference = typename std::vector<T>::const_reference;

  reference operator[](IdType id) {
    DCHECK_LT(id.index(), items_.size());
    return items_[id.index()];
  }
  const_reference operator[](IdType id) const {
    DCHECK_LT(id.index(), items_.size());
    return items_[id.index()];
  }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  bool contains(IdType id) const { return id.valid() && id.index() < items_.size(); }
  void resize(size_t n) { items_.resize(n); }
  void resize(size_t n, const T& value) { items_.resize(n, value); }
  void assign(size_t n, const T& value) { items_.assign(n, value); }
  void reserve(size_t n) { items_.reserve(n); }
  void clear() { items_.clear(); }
  IdType push_back(T value) {
    items_.push_back(std::move(value));
    return IdType(static_cast<uint32_t>(items_.size() - 1));
  }
  // Grows the column so that `id` has a row.
  reference Grow(IdType id) {
    if (id.index() >= items_.size()) items_.resize(id.index() + 1);
    return items_[id.index()];
  }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  T* data() { return items_.data(); }
  const T* data() const { return items_.data(); }
  std::vector<T>& items() { return items_; }
  const std::vector<T>& items() const { return items_; }

 private:
  std::vector<T> items_;
};

}  // namespace hekla::util

#pragma once

#include <algorithm>
#include <utility>
#include <vector>

// HOT PATH
namespace hekla::actions {

// The next of several rows under an order that may change for a row while it is out of the heap.
// `Before` is a strict total order, so that the result does not depend on how the heap is built.
template <typename IdType, typename Before>
class Heap {
 public:
  explicit Heap(Before before) : before_(std::move(before)) {}

  void Push(IdType id) {
    items_.push_back(id);
    std::push_heap(items_.begin(), items_.end(), After());
  }
  IdType Pop() {
    std::pop_heap(items_.begin(), items_.end(), After());
    const IdType top = items_.back();
    items_.pop_back();
    return top;
  }
  // Puts all rows in at once.
  void Fill(std::vector<IdType> items) {
    items_ = std::move(items);
    std::make_heap(items_.begin(), items_.end(), After());
  }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  const std::vector<IdType>& items() const { return items_; }

 private:
  auto After() const {
    return [this](IdType a, IdType b) { return before_(b, a); };
  }
  Before before_;
  std::vector<IdType> items_;
};

}  // namespace hekla::actions

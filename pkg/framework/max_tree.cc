#include "pkg/framework/max_tree.h"

#include <algorithm>

#include "glog/logging.h"

namespace hekla::framework {

MaxTree::Top MaxTree::Merge(const Top& a, const Top& b) {
  if (a.count == 0 || (b.count != 0 && b.value > a.value)) return b;
  if (b.count == 0 || a.value > b.value) return a;
  return {a.value, a.count + b.count};
}

MaxTree::Top MaxTree::ScanBlock(size_t begin, size_t end) const {
  Top top;
  for (size_t i = begin; i < end; ++i) {
    const double v = values_[i];
    if (v == kAbsent || v < top.value) continue;
    if (v == top.value) {
      ++top.count;
    } else {
      top = {v, 1};
    }
  }
  return top;
}

void MaxTree::Assign(std::vector<double> values) {
  values_ = std::move(values);
  const size_t blocks = (values_.size() + kBlock - 1) / kBlock;
  leaves_ = 1;
  while (leaves_ < blocks) leaves_ *= 2;
  nodes_.assign(2 * leaves_, Top());
  for (size_t b = 0; b < blocks; ++b) {
    nodes_[leaves_ + b] = ScanBlock(b * kBlock, std::min((b + 1) * kBlock, values_.size()));
  }
  for (size_t i = leaves_ - 1; i >= 1; --i) nodes_[i] = Merge(nodes_[2 * i], nodes_[2 * i + 1]);
}

void MaxTree::Set(size_t position, double value) {
  if (values_[position] == value) return;
  values_[position] = value;
  const size_t block = position / kBlock;
  size_t i = leaves_ + block;
  nodes_[i] = ScanBlock(block * kBlock, std::min((block + 1) * kBlock, values_.size()));
  for (i /= 2; i >= 1; i /= 2) nodes_[i] = Merge(nodes_[2 * i], nodes_[2 * i + 1]);
}

MaxTree::Top MaxTree::TopOf(size_t begin, size_t end) const {
  end = std::min(end, values_.size());
  if (begin >= end) return {};
  if (begin == 0 && end == values_.size()) return nodes_[1];
  const size_t first = (begin + kBlock - 1) / kBlock, last = end / kBlock;
  if (first >= last) return ScanBlock(begin, end);
  Top top = ScanBlock(begin, first * kBlock);
  for (size_t b = first; b < last; ++b) top = Merge(top, nodes_[leaves_ + b]);
  return Merge(top, ScanBlock(last * kBlock, end));
}

size_t MaxTree::Find(size_t begin, size_t end, double value, uint64_t k) const {
  end = std::min(end, values_.size());
  size_t i = begin;
  if (begin == 0 && end == values_.size()) {
    size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      const Top& left = nodes_[node];
      const uint64_t here = left.count != 0 && left.value == value ? left.count : 0;
      if (k >= here) {
        k -= here;
        ++node;
      }
    }
    i = (node - leaves_) * kBlock;
  }
  for (; i < end; ++i) {
    if (values_[i] == value && k-- == 0) return i;
  }
  LOG(FATAL) << "no such position";
  return end;
}

}  // namespace hekla::framework

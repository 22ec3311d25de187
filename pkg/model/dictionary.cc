#include "pkg/model/dictionary.h"

#include "absl/strings/match.h"
#include "glog/logging.h"

namespace hekla::model {

SymbolTable::SymbolTable() : blocks_(new std::atomic<Block*>[kMaxBlocks]) {
  for (size_t i = 0; i < kMaxBlocks; ++i) blocks_[i].store(nullptr, std::memory_order_relaxed);
}

SymbolTable::~SymbolTable() {
  for (size_t i = 0; i < kMaxBlocks; ++i) {
    std::unique_ptr<Block> owned(blocks_[i].load(std::memory_order_relaxed));
    if (owned == nullptr) break;
  }
}

Symbol SymbolTable::Intern(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  if (auto it = index_.find(text); it != index_.end()) return it->second;
  const size_t n = size_.load(std::memory_order_relaxed);
  CHECK_LT(n, kBlock * kMaxBlocks);
  Block* block = blocks_[n / kBlock].load(std::memory_order_relaxed);
  if (block == nullptr) {
    block = std::make_unique<Block>().release();  // owned by blocks_ from here
    blocks_[n / kBlock].store(block, std::memory_order_release);
  }
  std::string& slot = (*block)[n % kBlock];
  slot.assign(text.data(), text.size());
  const Symbol symbol(static_cast<uint32_t>(n));
  index_.emplace(slot, symbol);
  size_.store(n + 1, std::memory_order_release);
  return symbol;
}

Symbol SymbolTable::Find(absl::string_view text) const {
  absl::MutexLock lock(&mutex_);
  auto it = index_.find(text);
  return it == index_.end() ? Symbol() : it->second;
}

absl::string_view SymbolTable::Text(Symbol symbol) const {
  if (!symbol.valid()) return "";
  DCHECK_LT(symbol.index(), size());
  const Block* block = blocks_[symbol.index() / kBlock].load(std::memory_order_acquire);
  return (*block)[symbol.index() % kBlock];
}

ResourceLayout::ResourceLayout() {
  for (absl::string_view name : {"cpu", "memory", "pods"}) Intern(name);
}

ResourceDim ResourceLayout::Intern(absl::string_view name) {
  absl::MutexLock lock(&mutex_);
  const std::string key(name);
  if (auto it = index_.find(key); it != index_.end()) return it->second;
  const ResourceDim dim = static_cast<ResourceDim>(names_.size());
  names_.push_back(key);
  index_.emplace(key, dim);
  size_.store(names_.size(), std::memory_order_release);
  return dim;
}

int ResourceLayout::Find(absl::string_view name) const {
  absl::MutexLock lock(&mutex_);
  auto it = index_.find(std::string(name));
  return it == index_.end() ? -1 : it->second;
}

std::string ResourceLayout::Name(ResourceDim dim) const {
  absl::MutexLock lock(&mutex_);
  CHECK_LT(dim, names_.size());
  return names_[dim];
}

ResourceUnit ResourceLayout::unit(ResourceDim dim) const { return UnitOf(Name(dim)); }

ResourceUnit ResourceLayout::UnitOf(absl::string_view name) {
  if (name == "cpu") return ResourceUnit::kMilliCores;
  if (name == "memory" || name == "ephemeral-storage" || absl::StartsWith(name, "hugepages-")) {
    return ResourceUnit::kBytes;
  }
  if (name == "pods" || absl::StartsWith(name, "attachable-volumes-csi-")) {
    return ResourceUnit::kCount;
  }
  return ResourceUnit::kMilli;
}

bool ResourceLayout::IsCountable(absl::string_view name) {
  if (name == "cpu" || name == "memory" || name == "pods" || name == "ephemeral-storage") {
    return true;
  }
  if (absl::StartsWith(name, "count/")) return false;
  if (absl::StartsWith(name, "hugepages-") || absl::StartsWith(name, "attachable-volumes-")) {
    return true;
  }
  // Extended resources have a domain; quota names repeat them behind "requests.".
  if (absl::StartsWith(name, "requests.")) return absl::StrContains(name, "kubernetes.io/");
  return absl::StrContains(name, "/");
}

}  // namespace hekla::model

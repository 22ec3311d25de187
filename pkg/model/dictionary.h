#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "pkg/model/ids.h"

namespace hekla::model {

// Interned strings: label keys and values, names, taints. Grows only; memory is bounded by the
// number of different strings ever seen. Threads: any. Intern takes a lock; Text is free of locks,
// since text never moves.
class SymbolTable {
 public:
  SymbolTable();
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;
  ~SymbolTable();

  Symbol Intern(absl::string_view text);
  // The symbol of a known string, else an invalid one.
  Symbol Find(absl::string_view text) const;
  absl::string_view Text(Symbol symbol) const;
  size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr size_t kBlock = 4096;
  static constexpr size_t kMaxBlocks = 1 << 16;
  using Block = std::array<std::string, kBlock>;

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<absl::string_view, Symbol> index_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<std::atomic<Block*>[]> blocks_;
  std::atomic<size_t> size_{0};
};

// A dimension of resource vectors. The first three are fixed, the others are given out as names
// appear.
using ResourceDim = uint16_t;
inline constexpr ResourceDim kCpu = 0;     // milli-cores
inline constexpr ResourceDim kMemory = 1;  // bytes
inline constexpr ResourceDim kPods = 2;    // count
inline constexpr ResourceDim kFirstScalar = 3;

enum class ResourceUnit : uint8_t {
  kMilliCores,
  kBytes,  // memory, ephemeral-storage, hugepages-*
  kCount,  // pods, attachable-volumes-csi-*
  kMilli,  // every other scalar: thousandths, rounded up
};

// Which resource name has which dimension. One layout per cluster mirror; grows only.
// Threads: any.
class ResourceLayout {
 public:
  ResourceLayout();

  // Gives a new name the next dimension. The name must be a countable one (IsCountable).
  ResourceDim Intern(absl::string_view name);
  // -1 where the name is unknown.
  int Find(absl::string_view name) const;
  std::string Name(ResourceDim dim) const;
  ResourceUnit unit(ResourceDim dim) const;
  size_t size() const { return size_.load(std::memory_order_acquire); }

  static ResourceUnit UnitOf(absl::string_view name);
  // False for names that never take part: `count/*`, `storage` and other unprefixed names.
  // Source: spec scheduler-core 8.2.
  static bool IsCountable(absl::string_view name);

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, ResourceDim> index_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> size_{0};
};

// What ingest threads and the session thread share: the meaning of ids in immutable rows.
struct Dictionary {
  SymbolTable symbols;
  ResourceLayout resources;
};

}  // namespace hekla::model

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pkg/model/task_table.h"

// HOT PATH
namespace hekla::plugins {

// What a plugin has compiled for a task class, in a fixed number of slots: memory stays bounded
// however many classes come and go; a class that lost its slot is compiled again.
template <typename T>
class ClassCache {
 public:
  explicit ClassCache(size_t slots = 1024) : slots_(slots) {}

  // The value of the class as of `epoch`, or nullptr.
  T* Find(model::TaskClassId id, const model::TaskClassTable& classes, uint64_t epoch = 0) {
    Slot& slot = slots_[id.index() % slots_.size()];
    return slot.id == id && slot.generation == classes.generation[id] && slot.epoch == epoch
               ? &slot.value
               : nullptr;
  }
  T& Put(model::TaskClassId id, const model::TaskClassTable& classes, T value, uint64_t epoch = 0) {
    Slot& slot = slots_[id.index() % slots_.size()];
    slot.id = id;
    slot.generation = classes.generation[id];
    slot.epoch = epoch;
    slot.value = std::move(value);
    return slot.value;
  }

 private:
  struct Slot {
    model::TaskClassId id;
    uint32_t generation = 0;
    uint64_t epoch = 0;
    T value{};
  };
  std::vector<Slot> slots_;
};

}  // namespace hekla::plugins

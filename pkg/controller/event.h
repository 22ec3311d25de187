#pragma once

#include <cstdint>
#include <memory>

#include "pkg/apis/json/value.h"

namespace hekla::controller {

// An object as the cache holds it: shared, never changed. Copy the value to change it.
using ObjectPtr = std::shared_ptr<const apis::json::Value>;

// One piece of news about an object.
struct Event {
  enum class Type : uint8_t { kCreate, kUpdate, kDelete, kGeneric };

  Type type = Type::kGeneric;
  ObjectPtr object = nullptr;  // the new state; the last known one of a deletion
  ObjectPtr before = nullptr;  // updates only
  // A creation that only says what was there when the watch began.
  bool initial = false;
  // A deletion that was found out by a relist; the last state may be old.
  bool missed = false;
};

}  // namespace hekla::controller

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "pkg/apiserver/storage/object.h"
#include "pkg/http/server.h"

namespace hekla::apiserver::storage {

// One change of one table.
struct Event {
  int64_t resource_version = 0;
  EventType type = EventType::kAdded;
  ObjectPtr object;    // after the change; for kDeleted the last content with the new version
  ObjectPtr previous;  // before it; null for kAdded
};

// Turns an event into what this watcher wants to see (a table row, another version of the kind).
// `json` is the object. Returns the object's new text.
using Transform = std::function<std::string(absl::string_view json)>;

// A client that watches a table.
// Threads: fields other than `closed` belong to the dispatching thread once the watch is started;
//          `deadline` and `next_bookmark` to Store::Tick, under the store's lock.
struct Watch {
  Filter filter;
  std::shared_ptr<http::StreamWriter> stream;
  Transform transform;  // empty: objects as stored
  // Makes the text of a bookmark object for that resourceVersion; `initial_end` asks for the
  // annotation that ends the initial events.
  std::function<std::string(int64_t resource_version, bool initial_end)> bookmark;
  bool want_bookmarks = false;
  absl::Time deadline = absl::InfiniteFuture();
  absl::Time next_bookmark = absl::InfiniteFuture();
  int64_t start_version = 0;  // events up to this one are not for the watch
  size_t initial_bytes = 0;   // sent at the start; not held against a slow reader
  size_t max_queued_bytes = 0;
  std::atomic<bool> closed{false};
};

// Delivers one event to one watch. `cache` holds the frames already made for this event, by type.
struct FrameCache {
  std::shared_ptr<const std::string> frames[3];
};
void Deliver(const Event& event, FrameCache& cache, Watch& watch);
// Sends a bookmark.
void DeliverBookmark(int64_t resource_version, bool initial_end, Watch& watch);
// Sends the objects that exist at the start as ADDED.
void DeliverInitial(const std::vector<ObjectPtr>& objects, Watch& watch);

}  // namespace hekla::apiserver::storage

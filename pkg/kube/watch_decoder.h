#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::kube {

enum class EventType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  EventType type = EventType::kError;
  apis::json::Value object = {};  // for kError a Status
};

// Cuts the bytes of a watch into events: one JSON value per line, of whatever pieces.
class WatchDecoder {
 public:
  // `unread`: what of an event (its members are `type` and `object`) is passed over.
  explicit WatchDecoder(apis::json::Omission unread = {}) : unread_(std::move(unread)) {}

  // Calls `sink` for each event that is now complete; it returns false to stop.
  // A line that is no event becomes a kError event with reason InternalError and the text
  // `unable to decode an event from the watch stream: ...`.
  void Feed(absl::string_view bytes, const std::function<bool(WatchEvent)>& sink);
  // What is left at the end of the stream is dropped, as a broken connection leaves it.
  size_t pending_bytes() const { return rest_.size(); }

 private:
  apis::json::Omission unread_;
  std::string rest_;
};

// The event of one line.
WatchEvent DecodeWatchLine(absl::string_view line, const apis::json::Omission& unread = {});

}  // namespace hekla::kube

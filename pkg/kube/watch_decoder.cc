#include "pkg/kube/watch_decoder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

WatchEvent DecodeFailure(absl::string_view why) {
  WatchEvent event;
  event.object = Value::MakeObject(
      {{"kind", "Status"},
       {"apiVersion", "v1"},
       {"status", "Failure"},
       {"reason", "InternalError"},
       {"message", absl::StrCat("unable to decode an event from the watch stream: ", why)},
       {"code", 500}});
  return event;
}

}  // namespace

WatchEvent DecodeWatchLine(absl::string_view line, const apis::json::Omission& unread) {
  auto parsed = apis::json::ParseWithout(unread, line);
  if (!parsed.ok()) return DecodeFailure(parsed.status().message());
  const absl::string_view type = parsed->GetString("type");
  WatchEvent event;
  if (type == "ADDED") {
    event.type = EventType::kAdded;
  } else if (type == "MODIFIED") {
    event.type = EventType::kModified;
  } else if (type == "DELETED") {
    event.type = EventType::kDeleted;
  } else if (type == "BOOKMARK") {
    event.type = EventType::kBookmark;
  } else if (type != "ERROR") {
    return DecodeFailure(absl::StrCat("got invalid watch event type: \"", type, "\""));
  }
  Value* object = parsed->Find("object");
  if (object == nullptr || !object->is_object()) return DecodeFailure("event without an object");
  event.object = std::move(*object);
  return event;
}

void WatchDecoder::Feed(absl::string_view bytes, const std::function<bool(WatchEvent)>& sink) {
  size_t line_end;
  while ((line_end = bytes.find('\n')) != bytes.npos) {
    absl::string_view line = bytes.substr(0, line_end);
    bytes.remove_prefix(line_end + 1);
    std::string joined;
    if (!rest_.empty()) {
      joined = std::exchange(rest_, std::string());
      joined.append(line.data(), line.size());
      line = joined;
    }
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    if (!sink(DecodeWatchLine(line, unread_))) return;
  }
  rest_.append(bytes.data(), bytes.size());
}

}  // namespace hekla::kube

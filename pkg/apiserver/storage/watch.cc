#include "pkg/apiserver/storage/watch.h"

#include <utility>
#include <vector>

namespace hekla::apiserver::storage {
namespace {

constexpr size_t kChunkBytes = 256 << 10;

void Send(std::shared_ptr<const std::string> bytes, Watch& watch) {
  if (watch.closed.load()) return;
  if (!watch.stream->Write(std::move(bytes))) {
    watch.closed.store(true);
    return;
  }
  if (watch.max_queued_bytes != 0 &&
      watch.stream->queued_bytes() > watch.max_queued_bytes + watch.initial_bytes) {
    watch.closed.store(true);
    watch.stream->Close();
  }
}

// The stored object's own line, sharing its memory.
std::shared_ptr<const std::string> OwnFrame(const ObjectPtr& object) {
  return std::shared_ptr<const std::string>(object, &object->frame());
}

std::shared_ptr<const std::string> FrameFor(EventType type, const ObjectPtr& object) {
  if (object->frame_type() == type) return OwnFrame(object);
  return std::make_shared<const std::string>(MakeFrame(type, object->json()));
}

}  // namespace

void Deliver(const Event& event, FrameCache& cache, Watch& watch) {
  if (event.resource_version <= watch.start_version || watch.closed.load()) return;
  const bool now = event.type != EventType::kDeleted && watch.filter.Matches(*event.object);
  const bool before = event.previous != nullptr && watch.filter.Matches(*event.previous);
  if (!now && !before) return;
  const EventType type = !now     ? EventType::kDeleted
                         : before ? EventType::kModified
                                  : EventType::kAdded;
  std::shared_ptr<const std::string>& native = cache.frames[static_cast<int>(type)];
  if (native == nullptr && watch.transform == nullptr) {
    if (type == EventType::kDeleted && event.type != EventType::kDeleted) {
      native = OwnFrame(
          std::make_shared<const StoredObject>(*event.previous, event.resource_version, type));
    } else {
      native = FrameFor(type, event.object);
    }
  }
  if (watch.transform == nullptr) {
    Send(native, watch);
    return;
  }
  ObjectPtr shown = event.object;
  if (type == EventType::kDeleted && event.type != EventType::kDeleted) {
    shown = std::make_shared<const StoredObject>(*event.previous, event.resource_version, type);
  }
  Send(std::make_shared<const std::string>(MakeFrame(type, watch.transform(shown->json()))), watch);
}

void DeliverBookmark(int64_t resource_version, bool initial_end, Watch& watch) {
  if (watch.bookmark == nullptr || resource_version < watch.start_version) return;
  Send(std::make_shared<const std::string>(
           MakeFrame("BOOKMARK", watch.bookmark(resource_version, initial_end))),
       watch);
}

void DeliverInitial(const std::vector<ObjectPtr>& objects, Watch& watch) {
  std::string chunk;
  const auto flush = [&] {
    if (chunk.empty()) return;
    watch.initial_bytes += chunk.size();
    Send(std::make_shared<const std::string>(std::move(chunk)), watch);
    chunk.clear();
  };
  for (const ObjectPtr& object : objects) {
    if (!watch.filter.Matches(*object)) continue;
    if (watch.transform != nullptr) {
      chunk += MakeFrame(EventType::kAdded, watch.transform(object->json()));
    } else if (object->frame_type() == EventType::kAdded) {
      chunk += object->frame();
    } else {
      chunk += MakeFrame(EventType::kAdded, object->json());
    }
    if (chunk.size() >= kChunkBytes) flush();
  }
  flush();
}

}  // namespace hekla::apiserver::storage

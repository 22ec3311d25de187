#pragma once

// The bodies of informer.h's templates.

#include "glog/logging.h"
#include "pkg/kube/informer.h"

namespace hekla::kube {

template <typename T>
Handler<T> FilteringHandler(std::function<bool(const T&)> filter, Handler<T> inner) {
  auto shared = std::make_shared<const Handler<T>>(std::move(inner));
  using Object = typename Handler<T>::Object;
  Handler<T> outer;
  outer.resync = shared->resync;
  outer.on_synced = shared->on_synced;
  outer.on_add = [filter, shared](const Object& object, bool initial) {
    if (shared->on_add && filter(*object)) shared->on_add(object, initial);
  };
  outer.on_update = [filter, shared](const Object& before, const Object& now) {
    const bool was = filter(*before);
    const bool is = filter(*now);
    if (was && is) {
      if (shared->on_update) shared->on_update(before, now);
    } else if (is) {
      if (shared->on_add) shared->on_add(now, /*initial=*/false);
    } else if (was) {
      if (shared->on_delete) shared->on_delete(before, /*missed=*/false);
    }
  };
  outer.on_delete = [filter, shared](const Object& object, bool missed) {
    if (shared->on_delete && filter(*object)) shared->on_delete(object, missed);
  };
  return outer;
}

template <typename T>
void Informer<T>::Stop() {
  reflector_.Stop();
  while (!handlers_.empty()) RemoveHandler(handlers_.back()->id);
}

template <typename T>
typename Informer<T>::HandlerId Informer<T>::AddHandler(Handler<T> handler) {
  auto entry = std::make_shared<Entry>();
  entry->id = next_id_++;
  entry->handler = std::move(handler);
  if (entry->handler.resync > absl::ZeroDuration()) {
    entry->handler.resync = std::max(entry->handler.resync, absl::Seconds(1));
    ArmResync(entry);
  }
  handlers_.push_back(entry);
  if (entry->handler.on_add) {
    std::vector<std::string> keys = store_.Keys();
    std::sort(keys.begin(), keys.end());  // the store has no order of its own
    for (const std::string& key : keys) entry->handler.on_add(store_.Get(key), /*initial=*/true);
  }
  if (synced_ && entry->handler.on_synced) entry->handler.on_synced();
  return entry->id;
}

template <typename T>
void Informer<T>::RemoveHandler(HandlerId id) {
  for (auto it = handlers_.begin(); it != handlers_.end(); ++it) {
    if ((*it)->id != id) continue;
    if ((*it)->resync_timer != 0) executor_->Cancel((*it)->resync_timer);
    handlers_.erase(it);
    return;
  }
}

template <typename T>
void Informer<T>::ArmResync(const std::shared_ptr<Entry>& entry) {
  entry->resync_timer =
      executor_->PostAfter(entry->handler.resync, [this, weak = std::weak_ptr<Entry>(entry)] {
        auto entry = weak.lock();  // gone with its handler, and so with the informer
        if (entry == nullptr) return;
        ArmResync(entry);
        if (!entry->handler.on_update) return;
        for (const Object& object : store_.List()) entry->handler.on_update(object, object);
      });
}

template <typename T>
typename Informer<T>::Object Informer<T>::DecodeObject(const std::string& key,
                                                       apis::json::Value value) {
  absl::StatusOr<T> object = decode_(std::move(value));
  if (!object.ok()) {
    ++decode_errors_;
    LOG(WARNING) << "object skipped kind=" << options_.reflector.resource.kind << " key=" << key
                 << " error=" << object.status().message();
    if (options_.on_decode_error) options_.on_decode_error(key, object.status());
    return nullptr;
  }
  if (options_.transform) options_.transform(*object);
  return std::make_shared<const T>(*std::move(object));
}

template <typename T>
void Informer<T>::Put(const std::string& key, Object object) {
  const Object before = store_.Put(key, object);
  const auto handlers = handlers_;  // a handler may add or remove handlers
  if (before == nullptr) {
    const bool initial = !synced_;
    for (const auto& entry : handlers) {
      if (entry->handler.on_add) entry->handler.on_add(object, initial);
    }
    return;
  }
  const bool news = ResourceVersionOf(*before) != ResourceVersionOf(*object);
  for (const auto& entry : handlers) {
    if (!entry->handler.on_update) continue;
    if (news || entry->handler.resync > absl::ZeroDuration()) {
      entry->handler.on_update(before, object);
    }
  }
}

template <typename T>
void Informer<T>::Delete(const std::string& key, const Object& final_state) {
  const Object before = store_.Erase(key);
  if (before == nullptr) return;
  const bool missed = final_state == nullptr;
  const auto handlers = handlers_;
  for (const auto& entry : handlers) {
    if (entry->handler.on_delete) entry->handler.on_delete(missed ? before : final_state, missed);
  }
}

template <typename T>
void Informer<T>::ReplaceItem(apis::json::Value object) {
  std::string key = KeyOf(object);
  Object decoded = DecodeObject(key, std::move(object));
  pending_.emplace_back(std::move(key), std::move(decoded));
}

template <typename T>
void Informer<T>::EndReplace(const std::string&) {
  const auto items = std::exchange(pending_, {});
  absl::flat_hash_set<absl::string_view> listed;
  listed.reserve(items.size());
  for (const auto& [key, object] : items) listed.insert(key);
  std::vector<std::string> gone;
  for (std::string& key : store_.Keys()) {
    if (!listed.contains(key)) gone.push_back(std::move(key));
  }
  std::sort(gone.begin(), gone.end());  // the store has no order of its own
  for (const std::string& key : gone) Delete(key, nullptr);
  for (const auto& [key, object] : items) {
    if (object != nullptr) Put(key, object);
  }
  if (synced_.exchange(true)) return;
  const auto handlers = handlers_;
  for (const auto& entry : handlers) {
    if (entry->handler.on_synced) entry->handler.on_synced();
  }
}

template <typename T>
void Informer<T>::OnEvent(EventType type, apis::json::Value object) {
  const std::string key = KeyOf(object);
  Object decoded = DecodeObject(key, std::move(object));
  if (type == EventType::kDeleted) {
    if (decoded == nullptr) decoded = store_.Get(key);
    Delete(key, decoded);
  } else if (decoded != nullptr) {
    Put(key, std::move(decoded));
  }
}

}  // namespace hekla::kube

#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/kube/executor.h"
#include "pkg/kube/reflector.h"
#include "pkg/kube/store.h"

namespace hekla::kube {

// What informers need to know of an object, whatever its type.
template <typename T>
const std::string& ResourceVersionOf(const T& object) {
  return object.metadata.resource_version;
}
inline std::string ResourceVersionOf(const apis::json::Value& object) {
  return std::string(object.At("metadata").GetString("resourceVersion"));
}
// `namespace/name` or `name`.
std::string KeyOf(const apis::json::Value& object);

// Callbacks of one listener, all optional. Objects are shared and must not be changed.
template <typename T>
struct Handler {
  using Object = std::shared_ptr<const T>;
  // `initial`: part of the state that was there when the handler (or the informer) started.
  std::function<void(const Object& object, bool initial)> on_add = nullptr;
  std::function<void(const Object& before, const Object& now)> on_update = nullptr;
  // The last state that is known; `missed` when the deletion itself was not seen (a relist found
  // the object gone), so that the last state may be old.
  std::function<void(const Object& object, bool missed)> on_delete = nullptr;
  // Once: every object of the initial state has been handed to on_add.
  std::function<void()> on_synced = nullptr;
  // Not zero (at least 1 s): on_update(object, object) for all objects each period, and for
  // updates without a new resource version.
  absl::Duration resync = absl::ZeroDuration();
};

// Passes on what `filter` accepts. An update that changes the filter's mind becomes an add or a
// delete.
template <typename T>
Handler<T> FilteringHandler(std::function<bool(const T&)> filter, Handler<T> inner);

// The local copy of all objects of one kind and the news about it (spec 1.13 to 1.15): a reflector,
// a decoder, a store with indexes, and handlers. Passive, see Reflector.
// Order:   the store is changed first, then handlers are called, one after the other, in the order
//          in which they were added. Every change is delivered; nothing is merged.
// Errors:  an object that cannot be decoded is skipped alone: logged, counted, its former state (if
//          any) kept.
// Threads: the executor's. store() and HasSynced() from any.
template <typename T>
class Informer final : private ReflectorSink {
 public:
  using Object = std::shared_ptr<const T>;
  // May take what it is given: nobody needs it afterwards.
  using Decode = std::function<absl::StatusOr<T>(apis::json::Value&&)>;
  using HandlerId = int;

  struct Options {
    Reflector::Options reflector = {};
    // Applied before storing: drops what nobody needs.
    std::function<void(T&)> transform = nullptr;
    // The reflector's failures; kPermissionDenied means that the kind may not be read.
    std::function<void(const absl::Status&)> on_error = nullptr;
    std::function<void(const std::string& key, const absl::Status&)> on_decode_error = nullptr;
  };

  // `client` and `executor` must outlive the informer.
  Informer(RestClient* client, Executor* executor, Decode decode, Options options)
      : executor_(executor),
        decode_(std::move(decode)),
        options_(std::move(options)),
        reflector_(client, executor, this, options_.reflector) {}
  ~Informer() override { Stop(); }

  void Start() { reflector_.Start(); }
  void Stop();

  // Before Start, or on the executor. A handler that is added later first gets the store's content.
  HandlerId AddHandler(Handler<T> handler);
  void RemoveHandler(HandlerId id);

  // The initial state is in the store and was handed to the handlers.
  bool HasSynced() const { return synced_; }
  const Store<T>& store() const { return store_; }
  Store<T>& store() { return store_; }  // for AddIndex
  const Reflector& reflector() const { return reflector_; }
  int64_t decode_errors() const { return decode_errors_; }

 private:
  struct Entry {
    HandlerId id;
    Handler<T> handler;
    Executor::TimerId resync_timer = 0;
  };

  void BeginReplace() override { pending_.clear(); }
  void AbortReplace() override { pending_.clear(); }
  void ReplaceItem(apis::json::Value object) override;
  void EndReplace(const std::string& resource_version) override;
  void OnEvent(EventType type, apis::json::Value object) override;
  void OnBookmark(const std::string&) override {}
  void OnError(const absl::Status& status) override {
    if (options_.on_error) options_.on_error(status);
  }

  Object DecodeObject(const std::string& key, apis::json::Value value);
  void Put(const std::string& key, Object object);
  void Delete(const std::string& key, const Object& final_state);
  void ArmResync(const std::shared_ptr<Entry>& entry);

  Executor* const executor_;
  const Decode decode_;
  const Options options_;
  Store<T> store_;
  std::vector<std::shared_ptr<Entry>> handlers_;
  HandlerId next_id_ = 1;
  // Of a full state under way; the object is null where it could not be decoded.
  std::vector<std::pair<std::string, Object>> pending_;
  std::atomic<bool> synced_{false};
  std::atomic<int64_t> decode_errors_{0};
  Reflector reflector_;
};

}  // namespace hekla::kube

#include "pkg/kube/informer_impl.h"  // IWYU pragma: keep

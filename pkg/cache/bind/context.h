#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "pkg/apis/core/objects.h"
#include "pkg/cache/bind/write_channel.h"
#include "pkg/cache/delta_queue.h"
#include "pkg/cache/stores/stores.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/resource_client.h"
#include "pkg/kube/rest_client.h"
#include "pkg/util/executor.h"

namespace hekla::cache {

// What every way of writing needs. Lives on the io executor.
struct WriteContext {
  kube::RestClient* client = nullptr;
  util::Executor* io = nullptr;
  kube::EventRecorder* events = nullptr;  // may be null
  DeltaQueue* deltas = nullptr;
  Stores* stores = nullptr;
  WriteChannel* channel = nullptr;
  // Dies with the cache; answers that come later are dropped.
  std::shared_ptr<bool> alive;

  void Event(const apis::core::ObjectReference& object, bool warning, absl::string_view reason,
             absl::string_view message) const {
    if (events != nullptr) events->Record(object, warning ? "Warning" : "Normal", reason, message);
  }

  // `f` as a callback for any thread: it runs on the io executor, if the cache is still there.
  template <typename Argument, typename F>
  std::function<void(Argument)> OnIo(F f) const {
    return [executor = io, guard = std::weak_ptr<bool>(alive),
            f = std::make_shared<F>(std::move(f))](Argument argument) {
      auto boxed = std::make_shared<Argument>(std::move(argument));
      executor->Post([guard, f, boxed] {
        if (!guard.expired()) (*f)(std::move(*boxed));
      });
    };
  }
  // The same later, without an argument.
  template <typename F>
  void After(absl::Duration delay, F f) const {
    io->PostAfter(delay,
                  [guard = std::weak_ptr<bool>(alive), f = std::make_shared<F>(std::move(f))] {
                    if (!guard.expired()) (*f)();
                  });
  }
};

inline const kube::Resource& PodResource() {
  static const auto* const resource = new kube::Resource{"", "v1", "pods", "Pod", true};
  return *resource;
}

inline apis::core::ObjectReference PodReference(absl::string_view ns, absl::string_view name,
                                                absl::string_view uid) {
  apis::core::ObjectReference out;
  out.api_version = "v1";
  out.kind = "Pod";
  out.ns = std::string(ns);
  out.name = std::string(name);
  out.uid = std::string(uid);
  return out;
}

inline apis::core::ObjectReference PodGroupReference(absl::string_view ns, absl::string_view name,
                                                     absl::string_view uid) {
  apis::core::ObjectReference out = PodReference(ns, name, uid);
  out.api_version = "scheduling.volcano.sh/v1beta1";
  out.kind = "PodGroup";
  return out;
}

}  // namespace hekla::cache

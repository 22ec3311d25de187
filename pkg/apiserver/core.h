#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/apiserver/registry/registry.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/storage/store.h"
#include "pkg/util/random.h"

namespace hekla::apiserver {

// What all parts of the server share.
// Threads: any.
class Core {
 public:
  explicit Core(Options server_options);

  const Options options;
  storage::Store store;
  Registry registry;

  absl::Time Now() const { return options.clock->Now(); }
  // A random UUID (version 4).
  std::string NewUid();
  // Five characters for generated names.
  std::string NameSuffix();
  uint64_t RandomBelow(uint64_t n);
  // Watches whose streams are open; outlives this with the last of them.
  const std::shared_ptr<std::atomic<size_t>> open_watches =
      std::make_shared<std::atomic<size_t>>(0);

 private:
  absl::Mutex mutex_;
  util::Random random_ ABSL_GUARDED_BY(mutex_);
};

// "2026-01-02T03:04:05Z".
std::string TimeText(absl::Time time);
// nullopt-like: InfinitePast where the text is no time.
absl::Time ParseTimeText(absl::string_view text);

// The key under which an object is stored.
std::string KeyOf(const Resource& resource, absl::string_view ns, absl::string_view name);

}  // namespace hekla::apiserver

#include "pkg/apiserver/core.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "glog/logging.h"

namespace hekla::apiserver {

Core::Core(Options server_options)
    : options(std::move(server_options)),
      store(options.watch_window, options.journal),
      registry(store),
      // A server that goes on gives out other names than it did before.
      random_(options.seed ^ static_cast<uint64_t>(store.version()) * 0x9e3779b97f4a7c15) {
  CHECK(options.clock != nullptr);
}

std::string Core::NewUid() {
  uint64_t a, b;
  {
    absl::MutexLock lock(&mutex_);
    a = random_.Next();
    b = random_.Next();
  }
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                         0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

std::string Core::NameSuffix() {
  static constexpr absl::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out(5, ' ');
  absl::MutexLock lock(&mutex_);
  for (char& c : out) c = kAlphabet[random_.Below(kAlphabet.size())];
  return out;
}

uint64_t Core::RandomBelow(uint64_t n) {
  absl::MutexLock lock(&mutex_);
  return random_.Below(n);
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

absl::Time ParseTimeText(absl::string_view text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return absl::InfinitePast();
  return time;
}

std::string KeyOf(const Resource& resource, absl::string_view ns, absl::string_view name) {
  return resource.namespaced ? absl::StrCat(ns, "/", name) : std::string(name);
}

}  // namespace hekla::apiserver

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/server.h"

namespace hekla::apiserver::hollow {

// Follows one collection of an embedded server in the same process, without sockets: every object
// that exists and every later change, in order. A watch that the server ends (410, time-out,
// restart) is opened again, and the objects that exist then come once more as ADDED. Threads: Pump
// from one thread at a time; the server may write from any.
class LocalWatch {
 public:
  // type: "ADDED", "MODIFIED", "DELETED". The object is valid during the call.
  using Callback = std::function<void(absl::string_view type, const apis::json::Value& object)>;

  // `path` as in "/api/v1/pods". The server must outlive the watch.
  LocalWatch(ApiServer& server, std::string path, Callback callback);
  ~LocalWatch();
  LocalWatch(const LocalWatch&) = delete;
  LocalWatch& operator=(const LocalWatch&) = delete;

  // Delivers what has arrived; returns the number of events.
  int Pump();
  // True when Pump has something to do.
  bool HasWork() const;
  // Called, from the writing thread, when something has arrived; set before the first Pump.
  void SetWakeUp(std::function<void()> wake_up);

 private:
  class Sink;
  void Open();
  ApiServer* server_;
  std::string path_;
  Callback callback_;
  std::function<void()> wake_up_;
  std::shared_ptr<Sink> sink_;
};

}  // namespace hekla::apiserver::hollow

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/client.h"
#include "pkg/util/executor.h"

namespace hekla::cache::testing {

// Just enough of an API server to try the cache against: any kind, lists and watches, conflicts,
// bindings, deletion, and faults on demand. Answers come as tasks of the executor.
// Threads: the executor's.
class FakeApi final : public http::Transport {
 public:
  // What happens to one request.
  struct Fault {
    int status = 0;        // answered with this status; 0: see below
    bool applied = false;  // it takes effect all the same
    // Without a status: the connection is lost, or (`silent`) nothing ever comes.
    bool silent = false;
  };

  explicit FakeApi(util::Executor* executor) : executor_(executor) {}

  // Creates or replaces an object, as somebody else would; missing uid and the version are filled
  // in. `path` is that of its collection: "/api/v1/namespaces/n/pods".
  void Put(const std::string& collection, apis::json::Value object);
  void Remove(const std::string& path);
  // nullptr where there is none: "/api/v1/namespaces/n/pods/p".
  const apis::json::Value* Find(const std::string& path) const;

  // Asked for each request; nullopt lets it pass.
  std::function<std::optional<Fault>(const http::Request&)> fault;
  // Watches bring nothing while this is set; what happened meanwhile comes later.
  void HoldWatches(bool hold);
  // All requests but watches, "METHOD path", in order.
  const std::vector<std::string>& log() const { return log_; }
  int Count(absl::string_view prefix) const;
  void ClearLog() { log_.clear(); }

  void Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) override;
  std::unique_ptr<http::Stream> OpenStream(http::Request request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer) override;

 private:
  struct Change {
    int64_t version;
    std::string type;
    std::string path;
    apis::json::Value object;
  };
  class Watch;

  http::Response Handle(const http::Request& request);
  http::Response List(const std::string& path, const http::Target& target) const;
  http::Response Update(const std::string& path, bool status_only, const apis::json::Value& body);
  http::Response BindPod(const std::string& path, const apis::json::Value& body);
  http::Response Delete(const std::string& path, const std::string& body);
  void Store(const std::string& path, apis::json::Value object);
  void Pump();

  util::Executor* const executor_;
  std::map<std::string, apis::json::Value> objects_;
  std::vector<Change> history_;
  std::vector<Watch*> watches_;
  std::vector<std::string> log_;
  int64_t version_ = 100;
  bool held_ = false;
};

}  // namespace hekla::cache::testing

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/http/message.h"
#include "pkg/http/server.h"

namespace hekla::kube {

// A small API server for tests of the client: objects by path, resource versions, paged lists,
// watches with a window of events, WatchList, conflicts. Failures are set by the test. It knows no
// kinds, no validation and no time; behaviour in full is the embedded server's.
// Threads: one.
class FakeApi final : public http::Handler {
 public:
  using Value = apis::json::Value;

  // What the server offers.
  bool watch_list = true;
  // Asked before every request; an answer given here is sent in place of the real one.
  std::function<std::optional<http::Response>(const http::Request&)> fail = nullptr;

  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;

  // Creates or replaces. `collection`: "/api/v1/pods"; the object has metadata.namespace and name.
  void Put(const std::string& collection, Value object);
  void Delete(const std::string& collection, const std::string& key);
  // Objects of a collection by namespace/name.
  std::map<std::string, Value> Objects(const std::string& collection) const;

  // Forgets the events so far: watches from before and pages under way are answered 410.
  void Compact() { compacted_ = version_; }
  // Ends all watches, in order.
  void CloseWatches();
  // Ends all watches after an ERROR event with that code and reason.
  void BreakWatches(int code, const std::string& reason);
  // Sends bytes that are no event to all watches.
  void SendGarbage();
  // Tells all watches how far the server is.
  void SendBookmarks();

  int64_t version() const { return version_; }
  size_t watches() const { return watches_.size(); }
  // "METHOD target" of everything that was asked.
  const std::vector<std::string>& log() const { return log_; }

 private:
  struct Event {
    int64_t version;
    std::string collection;
    std::string type;
    Value object;
  };
  struct Watch {
    std::string collection;
    std::string ns;
    std::shared_ptr<http::StreamWriter> writer;
    std::shared_ptr<bool> open;
  };
  // "/api/v1/namespaces/lab/pods/web-1/status" taken apart.
  struct Path {
    std::string collection;
    std::string ns;
    std::string name;
    std::string subresource;
  };

  static Path Parse(const std::string& path);
  void List(const Path& path, const http::Target& target, http::Responder& responder);
  void StartWatch(const Path& path, const http::Target& target, http::Responder& responder);
  http::Response Write(const Path& path, const http::Request& request);
  void Publish(const std::string& collection, const std::string& type, const Value& object);
  void Send(const Watch& watch, const std::string& line);
  void SendToAll(const std::string& line);

  int64_t version_ = 0;
  int64_t compacted_ = 0;
  std::map<std::string, std::map<std::string, Value>> objects_;  // by collection, then by key
  std::vector<Event> events_;
  std::vector<Watch> watches_;
  std::vector<std::string> log_;
};

}  // namespace hekla::kube

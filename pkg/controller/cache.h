#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/selector.h"
#include "pkg/controller/event.h"
#include "pkg/kube/informer.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/rest_client.h"
#include "pkg/util/executor.h"

namespace hekla::controller {

// Which objects List returns: those that satisfy everything that is given.
struct ListFilter {
  std::string ns = {};  // "": all
  // Equal values.
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<apis::meta::Requirement> requirements = {};
  // The uid of the owner that is the controller.
  std::string controller_uid = {};
};

// The local copies of the kinds that a process reads, each kept by an informer per watched
// namespace, with indexes by chosen labels.
// Threads: reads from any. AddKind before Start. AddHandler, WhenSynced, Start and Stop on the io
// executor, or
//          while it stands still.
// Order:   lists come by creation time, then namespace and name.
// Errors:  kNotFound `PLURAL.GROUP "NAME" not found`; kFailedPrecondition for a kind that was not
//          added.
class Cache {
 public:
  struct Kind {
    kube::Resource resource = {};
    std::string label_selector = {};
    // Lists by equality of one of these labels are look-ups.
    std::vector<std::string> index_labels = {};
    // Drops what nobody reads, before storing. Managed fields are always dropped.
    std::function<void(apis::json::Value&)> transform = nullptr;
  };
  struct Options {
    std::vector<std::string> namespaces = {""};  // "": all
    absl::Duration min_watch_time = absl::Minutes(5);
    // See NoteWritten.
    bool read_own_writes = true;
    uint64_t seed = 1;
  };
  struct Deps {
    kube::RestClient* client = nullptr;
    util::Executor* io = nullptr;
  };

  // Deps must outlive the cache.
  Cache(Deps deps, Options options);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // A kind that was added already keeps its first options.
  void AddKind(Kind kind);
  bool Has(const kube::Resource& resource) const;
  // Called for every namespace's informer; on_synced comes once, after the last of them.
  void AddHandler(const kube::Resource& resource, kube::Handler<apis::json::Value> handler);
  // Calls `synced` once all kinds that were added so far have synced: at once, or on the io
  // executor.
  void WhenSynced(std::function<void()> synced);
  void Start();
  void Stop();

  // All initial lists are there and were handed to the handlers.
  bool HasSynced() const;
  // Kinds (qualified names) whose initial list is missing, for logs and readiness, with the last
  // error of their informers.
  std::vector<std::string> Missing() const;

  absl::StatusOr<ObjectPtr> Get(const kube::Resource& resource, absl::string_view ns,
                                absl::string_view name) const;
  absl::StatusOr<std::vector<ObjectPtr>> List(const kube::Resource& resource,
                                              const ListFilter& filter) const;
  // The server answered an update of ours with `object`: until the news about it arrives, Get
  // returns it in place of the older state, so that the next reconcile does not run into a conflict
  // with its own write. Lists are not affected, nor are objects that the cache does not hold.
  // Resource versions are compared as numbers; where they are none, nothing is noted.
  void NoteWritten(const kube::Resource& resource, const apis::json::Value& object);
  // Objects of a kind; 0 for one that was not added.
  size_t Size(const kube::Resource& resource) const;

 private:
  class KindCache;
  KindCache* Find(const kube::Resource& resource) const;

  const Deps deps_;
  const Options options_;
  std::map<std::string, std::unique_ptr<KindCache>> kinds_;  // by qualified name
};

}  // namespace hekla::controller

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/server.h"
#include "pkg/util/clock.h"

namespace hekla::apiserver {
namespace storage {
class Journal;
}

// What `GET /version` says; clients derive features from it.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "36";
  std::string git_version = "v1.36.1";
};

struct Options {
  const util::Clock* clock = nullptr;  // required; outlives the server
  uint64_t seed = 1;                   // drives uids and generated names
  VersionInfo version;
  // Accepted bearer tokens. Empty: nobody is asked. Clients do not send tokens over plain HTTP,
  // so a request without any is then let in as the administrator; a wrong one is refused (401).
  std::vector<std::string> tokens;
  // Further users, with their tokens.
  struct User {
    std::string token;
    std::string name;
    std::vector<std::string> groups;
  };
  std::vector<User> users;
  // Whether what users other than the administrator may do is decided by the roles and bindings
  // that are stored in the server. Tokens of service accounts come from `serviceaccounts/token`.
  bool enforce_rbac = false;
  // Signs the tokens of service accounts: AccountTokens::kKeyBytes that nobody else knows. With
  // the key of the last start its tokens still hold. Empty: a new one.
  std::string token_key;
  // Whether a request without a token is refused, too, when there are tokens or users.
  bool require_token = false;
  // Changes kept per kind for watches that resume and for older list pages; a watch from before
  // them is answered with 410.
  size_t watch_window = 20000;
  // Watches at a time; one more is answered with 429.
  size_t max_watches = 10000;
  absl::Duration bookmark_interval = absl::Minutes(1);
  // A watcher that lets more than this many bytes pile up is cut off; it resumes by itself.
  size_t max_queued_watch_bytes = 64 << 20;
  absl::Duration event_ttl = absl::Hours(1);
  // Pods get the ServiceAccount admission of real servers (named account must exist, token
  // volume); off, accounts are stored and otherwise ignored.
  bool service_account_admission = false;
  // Where writes are kept, so that the next server starts with the objects, custom kinds included,
  // and the resourceVersion of this one; watches from before are answered with 410. Null: nowhere.
  // Outlives the server.
  storage::Journal* journal = nullptr;
  // The controllers that a cluster runs beside its API server: garbage collection by owners, ends
  // and default objects of namespaces, the not-ready taint, claims in use. Off, only what
  // kube-apiserver itself does.
  bool cluster_controllers = true;
  // Who owns which field is recorded for every write, as real servers do. Costs about 1 KiB and 50
  // microseconds per write; off, ownership is recorded only for objects that somebody writes with
  // a `fieldManager` (kubectl always does) or applies, from then on.
  bool track_managed_fields = false;
};

// A Kubernetes API server in memory: storage, discovery, watch, admission, custom resources.
// Passive: no threads, no timers; whoever wires it calls Tick. Strictly independent of the client
// library, so that one bug cannot hide another.
// Threads: all methods from any thread. Watch events leave on the thread whose write caused them.
// Source:  spec kube-machinery part 3.
class ApiServer final : public http::Handler {
 public:
  explicit ApiServer(Options options);
  ~ApiServer() override;
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Serves one HTTP request. All requests but watches and waits for a future resourceVersion are
  // answered before it returns.
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;
  // The answer to a request that is not a watch, at once. Same path as Handle.
  http::Response Call(const http::Request& request);
  // Does what is due: ends watches, sends bookmarks, expires events, answers waiting lists.
  // Returns when it wants to be called next (InfiniteFuture: nothing is waiting).
  absl::Time Tick();
  // Hands the journal to the disk and shortens it where that is due. May take long for many
  // objects, but stops nobody else. One caller at a time; where there is a journal, once in its
  // sync interval.
  void TendJournal();
  // Ends all watches in order and refuses new ones; for shutdown.
  void CloseWatches();
  // Ends all watches and forgets the history, as a restarted server does: watches from older
  // resourceVersions get 410.
  void DropWatchHistory();

  // Registers a CustomResourceDefinition (created through the ordinary path, replaced where one
  // of that name exists); its kinds are served when the call returns.
  absl::Status LoadCrd(const apis::json::Value& crd);

  // In-process access with the semantics of the HTTP requests, as the administrator. Objects name
  // themselves by apiVersion, kind, metadata.namespace ("default" where a namespaced object has
  // none) and metadata.name.
  // Errors: as http status to code in the style guide; message = the Status object's message.
  absl::StatusOr<apis::json::Value> Create(const apis::json::Value& object);
  absl::StatusOr<apis::json::Value> Update(const apis::json::Value& object);
  absl::StatusOr<apis::json::Value> UpdateStatus(const apis::json::Value& object);
  absl::StatusOr<apis::json::Value> Get(absl::string_view api_version, absl::string_view kind,
                                        absl::string_view ns, absl::string_view name);
  // Objects in key order (namespace, name), each with apiVersion and kind; ns "" means all.
  absl::StatusOr<std::vector<apis::json::Value>> List(absl::string_view api_version,
                                                      absl::string_view kind, absl::string_view ns);
  absl::Status Delete(absl::string_view api_version, absl::string_view kind, absl::string_view ns,
                      absl::string_view name);
  // Stores an object as written, status, nodeName, timestamps and uid included (missing uid,
  // creationTimestamp and defaults are filled in), without admission: a recorded or described
  // state of a cluster. The namespace is created where it is missing.
  absl::StatusOr<apis::json::Value> Import(const apis::json::Value& object);

  // The newest resourceVersion.
  int64_t resource_version() const;
  size_t watch_count() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::apiserver

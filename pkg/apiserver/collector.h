#pragma once

#include <deque>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

class Budgets;
class Definitions;
class Deleter;
class Writer;

// The controllers that a real cluster runs beside its API server and without which clients hang:
// garbage collection by owner references, the end of namespaces, taints of nodes that are ready,
// the protection of claims in use, and the registration of custom kinds. Work is noted by the
// writes and done by Run, on the thread of the request, before it is answered. Threads: any; one at
// a time works. Source:  spec kube-machinery 3.9, 3.15, 3.17.
class Collector {
 public:
  explicit Collector(Core& core) : core_(core) {}
  // Must be called once before anything else.
  struct Peers {
    Writer* writer;
    Deleter* deleter;
    Definitions* definitions;
    Budgets* budgets;
  };
  void Connect(const Peers& peers);

  // Notes of the writes. `object` carries its new version.
  void Created(const Resource& resource, const apis::json::Value& object);
  void Changed(const Resource& resource, const apis::json::Value& old,
               const apis::json::Value& object);
  void Removed(const Resource& resource, const apis::json::Value& object);

  // Notes what a server that ended early may have left undone, after the custom kinds are known.
  void Recover();
  // Does all that is noted, and what follows from it.
  void Run();

 private:
  struct Task {
    enum class Kind : uint8_t {
      kDependents,    // the owner `uid` is gone: look at what it owned
      kDependent,     // object `key` of `resource` may have lost its owners
      kOwner,         // object `key` waits for its dependents
      kNamespace,     // namespace `key` is being deleted
      kNode,          // node `key` may be ready
      kDefinition,    // custom kind `key` is new, changed or being deleted
      kUndefine,      // custom kind `key` is gone
      kNewNamespace,  // namespace `key` needs its default objects
      kClaim          // claim `key` is being deleted, or a pod that used it is gone
    };
    Kind kind;
    std::string key;
    std::string uid;
    ResourcePtr resource;
  };

  void Note(Task task);
  // What budgets count.
  void TouchBudgets(const Resource& resource, const apis::json::Value& object);
  void Do(const Task& task);
  void CollectDependents(const std::string& owner_uid);
  void CollectDependent(const Resource& resource, const std::string& key);
  void FinishOwner(const Resource& resource, const std::string& key);
  void NoteWaitingOwners(const Resource& resource, const apis::json::Value& object);
  void FinishNamespace(const std::string& name);
  void ClearNodeTaint(const std::string& name);
  void FillNamespace(const std::string& name);
  // Lets a claim go that no pod uses.
  void ReleaseClaim(const std::string& key);
  bool OwnerExists(const apis::json::Value& owner, absl::string_view ns) const;
  ResourcePtr ByTable(const storage::Table* table) const;

  Core& core_;
  Writer* writer_ = nullptr;
  Deleter* deleter_ = nullptr;
  Definitions* definitions_ = nullptr;
  Budgets* budgets_ = nullptr;
  absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  // Those that wait until their contents are gone.
  absl::flat_hash_set<std::string> ending_namespaces_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> ending_definitions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::apiserver

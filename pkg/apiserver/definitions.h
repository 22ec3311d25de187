#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

class Deleter;
class Writer;

// Serves the kinds that CustomResourceDefinitions define.
// Threads: any; Sync and Remove of one name one at a time (the collector sees to that).
// Source:  spec kube-machinery 3.15.
class Definitions {
 public:
  Definitions(Core& core, Writer& writer, Deleter& deleter)
      : core_(core), writer_(writer), deleter_(deleter) {}

  // Serves what a journal knows, before anything else is done. Kinds that were served keep their
  // names against those that wait for one.
  void Recover();
  // Brings what is served, and the definition's status, in line with the stored definition.
  void Sync(const std::string& name);
  // The definition is gone.
  void Remove(const std::string& name);

 private:
  struct Entry {
    storage::TablePtr table;
    apis::json::Value spec;  // what is being served
    std::string group, plural;
  };

  // "" where the names are free; else the message of the condition.
  std::string NameConflict(const apis::json::Value& crd) const;
  void Serve(const apis::json::Value& crd);
  void Finish(const std::string& name, const apis::json::Value& crd);
  apis::json::Value WithStatus(const apis::json::Value& crd, const std::string& conflict) const;

  Core& core_;
  Writer& writer_;
  Deleter& deleter_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::apiserver

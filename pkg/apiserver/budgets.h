#pragma once

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

class Writer;

// Keeps the status of disruption budgets, without which no ready pod could be evicted. Recounts a
// namespace in which pods or budgets changed, when it is called, not with every change: real
// controllers lag as well.
// Threads: any.
// Source:  spec kube-machinery 3.11.
class Budgets {
 public:
  Budgets(Core& core, Writer& writer)
      : core_(core),
        writer_(writer),
        budgets_(core.registry.Find("policy", "v1", "poddisruptionbudgets")) {}

  // Something changed in that namespace. Cheap where there is no budget at all.
  void Touch(absl::string_view ns);
  void Recount();

 private:
  void RecountOne(const std::string& ns);

  Core& core_;
  Writer& writer_;
  const ResourcePtr budgets_;
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> touched_ ABSL_GUARDED_BY(mutex_);
};

// How many of `expected` pods must stay healthy. Pure.
int64_t DesiredHealthy(const apis::json::Value& budget_spec, int64_t expected);

}  // namespace hekla::apiserver

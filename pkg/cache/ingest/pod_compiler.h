#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apis/core/pod.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/ingest/interner.h"
#include "pkg/cache/ingest/resources.h"
#include "pkg/cache/ingest/selector_compiler.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/specs.h"

namespace hekla::cache {

// Pods to immutable task rows. Source: spec scheduler-core 8.1, 8.4, 9.3.
// Threads: any.
class PodCompiler {
 public:
  struct Options {
    std::vector<std::string> scheduler_names = {"volcano"};
    std::string default_queue = "default";
    RequestFeatures features = {};
  };
  PodCompiler(std::shared_ptr<model::Dictionary> dictionary, Options options);

  // Null for a pod that takes no part: it is not ours and occupies no node.
  // Errors: those of apis::core::DecodePod.
  absl::StatusOr<std::shared_ptr<const model::TaskSpec>> Compile(const apis::json::Value& object);

 private:
  using TemplatePtr = std::shared_ptr<const model::PodTemplate>;
  // What was read of a pod, as far as its template depends on it, and the template.
  struct Known {
    uint64_t hash = 0;
    apis::json::Value demands;
    std::vector<apis::core::ContainerStatus> statuses, init_statuses;
    bool resize_infeasible = false;
    TemplatePtr made;
  };

  bool IsOurs(const apis::core::Pod& pod) const;
  // A pod that asks for the same as one shortly before gets that one's template: its demands are
  // not even decoded. `pod` comes without them.
  absl::StatusOr<TemplatePtr> TemplateOf(const apis::json::Value& object, apis::core::Pod& pod);
  TemplatePtr CompileTemplate(const apis::core::Pod& pod);
  void ReadGroup(const apis::core::Pod& pod, model::TaskSpec& task) const;
  void ReadPriority(const apis::core::Pod& pod, model::TaskSpec& task) const;
  void ReadGates(const apis::core::Pod& pod, model::TaskSpec& task) const;

  const std::shared_ptr<model::Dictionary> dictionary_;
  const Options options_;
  const SelectorCompiler selectors_;
  Interner<model::PodTemplate> templates_;
  Interner<model::Labels> labels_;
  absl::Mutex mutex_;
  std::array<Known, 64> known_ ABSL_GUARDED_BY(mutex_);  // by hash
};

// Source: spec scheduler-core 8.1.
model::TaskStatus StatusOf(const apis::core::Pod& pod);

// `name:latest` for a name without tag behind its last slash.
std::string NormalisedImage(absl::string_view image);

}  // namespace hekla::cache

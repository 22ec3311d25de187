#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "pkg/apis/core/pod.h"
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

  // Whether the pod takes part: it is ours, or it occupies a node.
  bool Accepts(const apis::core::Pod& pod) const;
  std::shared_ptr<const model::TaskSpec> Compile(const apis::core::Pod& pod);

 private:
  bool IsOurs(const apis::core::Pod& pod) const;
  // Pods of a job come one after the other: a pod that asks for the same as the one before it gets
  // that one's template without being compiled.
  std::shared_ptr<const model::PodTemplate> TemplateOf(const apis::core::Pod& pod);
  std::shared_ptr<const model::PodTemplate> CompileTemplate(const apis::core::Pod& pod);
  void ReadGroup(const apis::core::Pod& pod, model::TaskSpec& task) const;
  void ReadPriority(const apis::core::Pod& pod, model::TaskSpec& task) const;
  void ReadGates(const apis::core::Pod& pod, model::TaskSpec& task) const;

  const std::shared_ptr<model::Dictionary> dictionary_;
  const Options options_;
  const SelectorCompiler selectors_;
  Interner<model::PodTemplate> templates_;
  Interner<model::Labels> labels_;
  absl::Mutex mutex_;
  // What CompileTemplate read of the last pod that it compiled and that can be compared.
  std::unique_ptr<const apis::core::Pod> last_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const model::PodTemplate> last_template_ ABSL_GUARDED_BY(mutex_);
};

// Source: spec scheduler-core 8.1.
model::TaskStatus StatusOf(const apis::core::Pod& pod);

// `name:latest` for a name without tag behind its last slash.
std::string NormalisedImage(absl::string_view image);

}  // namespace hekla::cache

#include "pkg/ray/batchscheduler/batch_scheduler.h"

#include "absl/strings/str_cat.h"
#include "pkg/ray/batchscheduler/kai_scheduler/kai_scheduler.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/batchscheduler/none/none.h"
#include "pkg/ray/batchscheduler/scheduler_plugins/scheduler_plugins.h"
#include "pkg/ray/batchscheduler/volcano/volcano.h"
#include "pkg/ray/batchscheduler/yunikorn/yunikorn.h"

namespace hekla::ray::batchscheduler {

absl::StatusOr<std::unique_ptr<BatchScheduler>> MakeBatchScheduler(absl::string_view name) {
  if (name.empty()) return std::make_unique<NoScheduler>();
  if (name == VolcanoScheduler::kName) return std::make_unique<VolcanoScheduler>();
  if (name == YunikornScheduler::kName) return std::make_unique<YunikornScheduler>();
  if (name == KaiScheduler::kName) return std::make_unique<KaiScheduler>();
  if (name == PluginsScheduler::kName) return std::make_unique<PluginsScheduler>();
  if (name == KubernetesWasScheduler::kName) return std::make_unique<KubernetesWasScheduler>();
  return absl::InvalidArgumentError(
      absl::StrCat("batch scheduler \"", name,
                   "\" is none of volcano, yunikorn, kai-scheduler, scheduler-plugins"));
}

}  // namespace hekla::ray::batchscheduler

#include "pkg/controller/worker_pool.h"

#include "absl/strings/str_cat.h"
#include "pkg/util/thread_name.h"

namespace hekla::controller {

WorkerPool::~WorkerPool() { Join(); }

void WorkerPool::Start(Controller* controller) {
  const int workers = controller->options().max_concurrent;
  for (int i = 0; i < workers; ++i) {
    threads_.emplace_back([controller, i] {
      util::SetThreadName(absl::StrCat(controller->options().name, "-", i));
      controller->Work();
    });
  }
}

void WorkerPool::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  threads_.clear();
}

}  // namespace hekla::controller

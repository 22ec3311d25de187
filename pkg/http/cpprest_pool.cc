#include "pkg/http/cpprest_pool.h"

// The library's header needs <utility> and does not say so.
// clang-format off
#include <algorithm>
#include <mutex>
#include <utility>

#include <pplx/threadpool.h>
// clang-format on

#include "glog/logging.h"

namespace hekla::http {

void SetCpprestThreads(int threads) {
  static std::once_flag done;
  std::call_once(done, [threads] {
    try {
      crossplat::threadpool::initialize_with_threads(static_cast<size_t>(std::max(1, threads)));
    } catch (const std::exception& e) {
      LOG(WARNING) << "HTTP thread pool keeps its size error=" << e.what();
    }
  });
}

}  // namespace hekla::http

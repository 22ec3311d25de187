#include "pkg/util/thread_name.h"

#include <pthread.h>

namespace hekla::util {

void SetThreadName(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace hekla::util

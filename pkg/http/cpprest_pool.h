#pragma once

namespace hekla::http {

// Fixes the size of cpprestsdk's process-wide thread pool. The first call counts, later ones and
// those after the library's first use do nothing.
void SetCpprestThreads(int threads);

}  // namespace hekla::http

#pragma once

#include "absl/strings/string_view.h"
#include "pkg/http/message.h"

// A grammar of requests to an API server: paths, queries, headers and bodies that mostly make sense
// and sometimes do not.
namespace hekla::fuzz {

// Decisions read from an input; the first option once it is used up.
class Choices {
 public:
  explicit Choices(absl::string_view data) : data_(data) {}
  bool empty() const { return data_.empty(); }
  unsigned Below(unsigned n) {
    if (data_.empty()) return 0;
    const unsigned char c = static_cast<unsigned char>(data_[0]);
    data_.remove_prefix(1);
    return c % n;
  }
  bool OneIn(unsigned n) { return !data_.empty() && Below(n) == n - 1; }
  template <typename T, size_t N>
  const T& Pick(const T (&options)[N]) {
    return options[Below(N)];
  }

 private:
  absl::string_view data_;
};

http::Request RandomRequest(Choices& in);

}  // namespace hekla::fuzz

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

// Plain HTTP messages, shared by client and server sides.
namespace hekla::http {

// Header fields in order; names compare without case.
class Headers {
 public:
  void Add(absl::string_view name, absl::string_view value);
  // Replaces all fields of that name.
  void Set(absl::string_view name, absl::string_view value);
  // First field of that name, "" where there is none.
  absl::string_view Get(absl::string_view name) const;
  bool Has(absl::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct Request {
  std::string method = {};  // upper case
  std::string target = {};  // path and query as on the wire: "/api/v1/pods?watch=1"
  Headers headers = {};
  std::string body = {};
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

// The parts of a request target. Keys and values are percent-decoded.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;

  // First value of that key, "" where there is none.
  absl::string_view Get(absl::string_view key) const;
  bool Has(absl::string_view key) const;
};

Target ParseTarget(absl::string_view target);
std::string PercentEncode(absl::string_view text);
std::string PercentDecode(absl::string_view text, bool plus_is_blank);

}  // namespace hekla::http

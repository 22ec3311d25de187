#include "pkg/ray/config/operator_environment.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace hekla::ray {

std::string OperatorEnvironment::Get(const std::string& name) const {
  if (lookup_ == nullptr) return "";
  return lookup_(name).value_or("");
}

bool OperatorEnvironment::Is(const std::string& name, const std::string& value) const {
  return absl::AsciiStrToLower(Get(name)) == value;
}

absl::Duration OperatorEnvironment::DefaultRequeue() const {
  const std::string text = Get("RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV");
  int64_t seconds = 0;
  const bool plain = !text.empty() && !absl::ascii_isspace(text.front()) &&
                     !absl::ascii_isspace(text.back()) && absl::SimpleAtoi(text, &seconds);
  return absl::Seconds(plain ? seconds : 300);
}

std::string OperatorEnvironment::ClusterDomain() const {
  std::string domain = Get("CLUSTER_DOMAIN");
  return domain.empty() ? "cluster.local" : domain;
}

}  // namespace hekla::ray

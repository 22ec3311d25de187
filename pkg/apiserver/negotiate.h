#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hekla::apiserver {

inline constexpr absl::string_view kJson = "application/json";
inline constexpr absl::string_view kYaml = "application/yaml";

// A media type without and with its parameters.
struct MediaType {
  std::string type;  // lower case
  std::vector<std::pair<std::string, std::string>> params;

  absl::string_view Param(absl::string_view name) const;
};
MediaType ParseMediaType(absl::string_view text);

// In which form the client wants its answer.
struct Accept {
  enum class As : uint8_t { kObject, kTable, kPartial, kDiscovery };
  bool yaml = false;
  bool pretty = false;
  As as = As::kObject;
  std::string version;  // of the form: "v1", "v1beta1", "v2"
};

// The acceptable form of the Accept header that it gives most weight, the first of equal ones.
// Aggregated discovery is a form of the lists of groups alone. nullopt: there is none.
std::optional<Accept> NegotiateAnswer(absl::string_view accept_header, bool discovery);
// The 406 for a header without an acceptable form. Custom kinds word it otherwise than built-in
// ones, and collections also offer streams.
absl::Status RefuseForms(absl::string_view accept_header, bool custom, bool streams);

}  // namespace hekla::apiserver

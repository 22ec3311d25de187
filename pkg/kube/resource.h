#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hekla::kube {

// How the objects of one kind are addressed.
struct Resource {
  std::string group;    // "" for the core group
  std::string version;  // "v1"
  std::string plural;   // "pods"
  std::string kind;     // "Pod"
  bool namespaced = true;

  // "v1", "batch/v1".
  std::string api_version() const;
  // "pods", "podgroups.scheduling.volcano.sh": as in messages of the API server.
  std::string qualified_name() const;

  // "/api/v1/namespaces/NS/pods"; `ns` empty: all namespaces.
  std::string CollectionPath(absl::string_view ns) const;
  // ".../pods/NAME[/SUB]".
  std::string ObjectPath(absl::string_view ns, absl::string_view name,
                         absl::string_view subresource = "") const;
};

// Source: spec 1.6. Errors: kInvalidArgument for "", ".", ".." and names with '/' or '%'.
absl::Status CheckPathSegment(absl::string_view name);

}  // namespace hekla::kube

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::ray_conformance {

// One step of a recording: what was done and what was there afterwards. References to earlier dumps
// are resolved.
struct Step {
  apis::json::Value action;
  apis::json::Value objects;     // kind -> name -> object
  apis::json::Value created;     // list of "kind/name"
  apis::json::Value deleted;     // list of "kind/name"
  apis::json::Value raycluster;  // null when gone
  apis::json::Value status;      // null when there is none
  apis::json::Value events;
  apis::json::Value response;  // of a refused create or patch; else null
};

// A recording of what upstream's operator did with one RayCluster.
struct Case {
  std::string name;
  std::vector<std::string> flags;                        // of the operator
  std::vector<std::pair<std::string, std::string>> env;  // of the operator
  std::string ns;
  std::vector<apis::json::Value> pre;  // objects created before
  apis::json::Value manifest;
  std::vector<Step> steps;
  // Paths into the file ("/steps[3]/events[0]/message") that differed between two recordings.
  std::vector<std::string> unstable;
  std::string folder;  // of the file, for what the flags name
  std::string text;    // of the whole file
};

// Errors: kNotFound, kInvalidArgument.
absl::StatusOr<Case> LoadCase(const std::string& path);

// Whether `path` lies on or below a path that differed between recordings, or above one.
bool IsUnstable(const Case& recorded, absl::string_view path);

}  // namespace hekla::ray_conformance

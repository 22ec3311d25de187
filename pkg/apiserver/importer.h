#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"
#include "pkg/apiserver/writer.h"

namespace hekla::apiserver {

// Puts objects into the store that no client has sent: those every cluster has from the start, and
// those of a recorded state.
class Importer {
 public:
  Importer(Core& core, Writer& writer) : core_(core), writer_(writer) {}

  // Namespaces, system priority classes, the service of the API itself, where they are missing.
  void CreateDefaults();
  // See ApiServer::Import.
  absl::StatusOr<apis::json::Value> Import(const apis::json::Value& object);

 private:
  absl::Status EnsureNamespace(const std::string& ns);

  Core& core_;
  Writer& writer_;
};

// The namespace of an object, "default" where a namespaced one names none; "" for others.
std::string NamespaceOf(const Resource& resource, const apis::json::Value& object);

}  // namespace hekla::apiserver

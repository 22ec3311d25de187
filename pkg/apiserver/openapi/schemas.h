#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/openapi/openapi.h"
#include "pkg/apiserver/schema/schema.h"

namespace hekla::apiserver::openapi {

enum class Dialect : uint8_t { kV2, kV3 };

// Collects the schemas that resources reach, under the names of the public API definitions
// (`io.k8s.api.core.v1.Pod`, `sh.volcano.scheduling.v1beta1.PodGroup`).
class SchemaSet {
 public:
  explicit SchemaSet(Dialect dialect) : dialect_(dialect) {}

  // Adds the resource's schema and that of its list; returns the former's name.
  std::string Add(const Resource& resource);
  // A reference to a schema that was added.
  apis::json::Value Ref(absl::string_view name) const;
  // By name; the order is that of the names.
  const std::map<std::string, apis::json::Value>& schemas() const { return schemas_; }

 private:
  std::string AddMessage(const schema::Message& message);
  apis::json::Value FieldSchema(const schema::Field& field);
  apis::json::Value OneSchema(const schema::Field& field);
  // What several dialects spell differently, as a named schema.
  apis::json::Value Choice(absl::string_view name, absl::string_view format);
  void AddCustom(const Resource& resource, const std::string& name);
  void AddList(const Resource& resource, const std::string& item);

  const Dialect dialect_;
  std::map<std::string, apis::json::Value> schemas_;
};

}  // namespace hekla::apiserver::openapi

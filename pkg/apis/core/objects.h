#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/meta/selector.h"

// The smaller kinds of the core group.
namespace hekla::apis::core {

struct Namespace {
  static constexpr absl::string_view kKind = "Namespace";
  static constexpr absl::string_view kApiVersion = "v1";
  meta::ObjectMeta metadata;
  std::string phase;
};

struct ConfigMap {
  static constexpr absl::string_view kKind = "ConfigMap";
  static constexpr absl::string_view kApiVersion = "v1";
  meta::ObjectMeta metadata;
  meta::StringMap data;
};

struct Service {
  static constexpr absl::string_view kKind = "Service";
  static constexpr absl::string_view kApiVersion = "v1";
  meta::ObjectMeta metadata;
  meta::StringMap selector;  // empty: selects nothing
};

struct ReplicationController {
  static constexpr absl::string_view kKind = "ReplicationController";
  static constexpr absl::string_view kApiVersion = "v1";
  meta::ObjectMeta metadata;
  meta::StringMap selector;
  int32_t replicas = 1;
};

struct ResourceQuota {
  static constexpr absl::string_view kKind = "ResourceQuota";
  static constexpr absl::string_view kApiVersion = "v1";
  meta::ObjectMeta metadata;
  meta::ResourceList spec_hard;
  meta::ResourceList status_hard;
  meta::ResourceList status_used;
};

struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string field_path;
};

// core/v1 Event, in the form the legacy recorders write.
struct Event {
  static constexpr absl::string_view kKind = "Event";
  static constexpr absl::string_view kApiVersion = "v1";
  meta::ObjectMeta metadata;
  ObjectReference involved_object;
  std::string type;
  std::string reason;
  std::string message;
  std::string source_component;
  std::string source_host;
  absl::Time first_timestamp = meta::NoTime();
  absl::Time last_timestamp = meta::NoTime();
  int32_t count = 0;
  std::string reporting_component;
  std::string reporting_instance;
};

// Errors of all: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<Namespace> DecodeNamespace(const json::Value& value);
absl::StatusOr<ConfigMap> DecodeConfigMap(const json::Value& value);
absl::StatusOr<Service> DecodeService(const json::Value& value);
absl::StatusOr<ReplicationController> DecodeReplicationController(const json::Value& value);
absl::StatusOr<ResourceQuota> DecodeResourceQuota(const json::Value& value);
absl::StatusOr<Event> DecodeEvent(const json::Value& value);

json::Value EncodeObjectReference(const ObjectReference& reference);
// Writes into `base` (null for a new object), keeping members this struct does not know.
json::Value EncodeEvent(const Event& event, json::Value base = json::Value());

}  // namespace hekla::apis::core

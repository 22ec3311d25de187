#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"

// nodeinfo.volcano.sh/v1alpha1 Numatopology.
namespace hekla::apis::nodeinfo {

struct CpuInfo {
  int32_t cpu = 0;  // its number, the key of the map
  int32_t core = 0;
  int32_t socket = 0;
  int32_t numa = 0;
};

struct NumaResource {
  std::string name;
  std::string allocatable;  // a CPU list such as `0-3,8`
  int64_t capacity = 0;
};

struct ContainerAllocation {
  std::string name;
  meta::StringMap allocations;
};

struct PodAllocation {
  std::string ns;
  std::string name;
  std::string uid;
  std::vector<ContainerAllocation> containers;
};

struct Numatopology {
  static constexpr absl::string_view kKind = "Numatopology";
  static constexpr absl::string_view kApiVersion = "nodeinfo.volcano.sh/v1alpha1";
  meta::ObjectMeta metadata;
  std::vector<CpuInfo> cpu_detail;  // sorted by cpu
  std::vector<NumaResource> resources;
  meta::StringMap policies;
  meta::StringMap reserved;
  std::vector<PodAllocation> pod_allocations;
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<Numatopology> DecodeNumatopology(const json::Value& value);

}  // namespace hekla::apis::nodeinfo

#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

// Rules of the parts that containers are made of.
namespace hekla::apiserver::kinds {

// Where a field of the pod is shown to its containers.
enum class FieldUse : uint8_t { kVariable, kVolume };

// Names of the volumes that are in order; containers may mount those.
std::set<std::string> ValidateVolumes(const apis::json::Value& volumes, const std::string& path,
                                      FieldErrors& errors);
// Names of the pod's resource claims.
std::set<std::string> ValidatePodClaims(const apis::json::Value& claims, const std::string& path,
                                        FieldErrors& errors);
void CheckFieldRef(const apis::json::Value& ref, const std::string& path, FieldUse use,
                   FieldErrors& errors);
void CheckResourceFieldRef(const apis::json::Value& ref, const std::string& path, FieldUse use,
                           FieldErrors& errors);
void ValidateEnv(const apis::json::Value& container, const std::string& path, FieldErrors& errors);
// liveness, readiness and startup probes, and what runs at start and end.
void ValidateHooks(const apis::json::Value& container, const std::string& path,
                   int64_t grace_seconds, FieldErrors& errors);
void ValidateContainerSecurity(const apis::json::Value& context, const std::string& path,
                               FieldErrors& errors);
void ValidatePodSecurity(const apis::json::Value& spec, const std::string& path,
                         FieldErrors& errors);
// The spec of a PersistentVolumeClaim, also of one that a pod brings along.
void ValidateClaimSpec(const apis::json::Value& spec, const std::string& path, FieldErrors& errors);
// Requests and limits of a container or of a pod.
void ValidateResources(const apis::json::Value& resources, const std::string& path,
                       FieldErrors& errors);

}  // namespace hekla::apiserver::kinds

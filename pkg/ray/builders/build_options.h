#pragma once

#include <string>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/string_map.h"

namespace hekla::ray::builders {

// What the operator's own configuration says about the objects it builds: environment switches,
// gates and configuration file (spec ray-cluster 1.2, 1.4, 1.5). Plain data, filled at start.
struct BuildOptions {
  std::string operator_version = "nightly";
  std::string cluster_domain = "cluster.local";  // CLUSTER_DOMAIN
  bool inject_init_container = true;             // ENABLE_INIT_CONTAINER_INJECTION
  bool inject_probes = true;                     // ENABLE_PROBES_INJECTION
  bool head_cluster_ip_service = false;          // ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE
  bool deterministic_head_name = false;          // ENABLE_DETERMINISTIC_HEAD_POD_NAME
  bool login_shell = false;                      // ENABLE_LOGIN_SHELL
  bool multi_host_indexing = true;               // gate RayMultiHostIndexing
  bool history_server = false;                   // gate RayClusterHistoryServer
  // Configuration file.
  std::vector<apis::json::Value> head_sidecars;    // Container objects
  std::vector<apis::json::Value> worker_sidecars;  // Container objects
  std::vector<apis::json::Value> default_envs;     // EnvVar objects
  apis::meta::StringMap default_pod_annotations;
  apis::meta::StringMap default_pod_labels;
};

}  // namespace hekla::ray::builders

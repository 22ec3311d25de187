#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/server.h"
#include "test/ray_conformance/case_file.h"
#include "test/ray_conformance/names.h"

namespace hekla::ray_conformance {

// Does what the steps of a recording say, through the API.
class Actions {
 public:
  // `now`: for times that a kubelet would write.
  Actions(apiserver::ApiServer& server, const Case& recorded, const Names& names,
          std::function<std::string()> now);

  // The namespace, and what was there before.
  absl::Status Prepare();
  // The refusal, in the form of the recordings, where the server refused; else null.
  // Errors: kInvalidArgument for an action that recordings do not have; kInternal for a write of a
  //         child that should have gone through.
  absl::StatusOr<apis::json::Value> Do(const apis::json::Value& action);

 private:
  struct Reply {
    int status = 0;
    apis::json::Value body;
  };
  Reply Send(const std::string& method, const std::string& path, const apis::json::Value& body,
             const std::string& content_type = "application/json");
  // Refusals of writes to the cluster are data; of writes to children, an error.
  absl::StatusOr<apis::json::Value> OfCluster(const Reply& reply) const;
  absl::Status OfChild(const Reply& reply, const std::string& what) const;
  std::string ClusterPath() const;

  // Live pods, by placeholder name with its ordinal, that an action names.
  std::vector<apis::json::Value> Select(const apis::json::Value& action) const;
  absl::Status PodsRunning(const apis::json::Value& action);
  absl::Status PodStatus(const apis::json::Value& action);
  absl::Status Bind(const apis::json::Value& action);
  absl::Status DeletePods(const apis::json::Value& action);
  absl::Status PatchObject(const apis::json::Value& action);
  absl::Status CreateObject(apis::json::Value object);
  absl::Status PatchPodStatus(const apis::json::Value& pod, const apis::json::Value& status);
  std::string AddressOf(const std::string& pod);
  apis::json::Value ConditionsOf(bool ready, const apis::json::Value& action) const;
  apis::json::Value ContainersOf(const apis::json::Value& pod, bool ready,
                                 const apis::json::Value& action) const;
  // {{role:group:n}} becomes a name.
  std::string Expand(std::string text) const;

  apiserver::ApiServer& server_;
  const Case& recorded_;
  const Names& names_;
  const std::function<std::string()> now_;
  std::string address_prefix_;                    // "10.200.97."
  std::map<std::string, std::string> addresses_;  // by pod
};

}  // namespace hekla::ray_conformance

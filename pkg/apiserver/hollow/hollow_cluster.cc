#include "pkg/apiserver/hollow/hollow_cluster.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/http/message.h"

namespace hekla::apiserver::hollow {
namespace {

using apis::json::Value;

absl::Status ToStatus(const http::Response& response) {
  if (response.status < 300) return absl::OkStatus();
  auto failure = apis::json::Parse(response.body);
  return failure.ok() ? ApiError(*std::move(failure)) : absl::InternalError(response.body);
}

std::string PodPath(absl::string_view ns, absl::string_view name) {
  return absl::StrCat("/api/v1/namespaces/", ns, "/pods/", name);
}

}  // namespace

// The kubelet's requests, made in process along the ordinary path.
class HollowCluster::EmbeddedApi final : public kubelet::Api {
 public:
  explicit EmbeddedApi(ApiServer& server) : server_(&server) {}

  absl::Status PatchPodStatus(absl::string_view ns, absl::string_view name,
                              const Value& patch) override {
    return Patch(absl::StrCat(PodPath(ns, name), "/status"), patch);
  }
  absl::Status PatchNodeStatus(absl::string_view name, const Value& patch) override {
    return Patch(absl::StrCat("/api/v1/nodes/", name, "/status"), patch);
  }
  absl::Status DeletePodNow(absl::string_view ns, absl::string_view name,
                            absl::string_view uid) override {
    Value options = Value::MakeObject({{"apiVersion", "v1"},
                                       {"kind", "DeleteOptions"},
                                       {"gracePeriodSeconds", 0},
                                       {"preconditions", Value::MakeObject({{"uid", uid}})}});
    return Send("DELETE", PodPath(ns, name), "application/json", options);
  }
  absl::Status PutNodeLease(const Value& lease) override {
    const std::string collection = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    // A patch: a Lease cannot be replaced without its resource version.
    const absl::Status patched =
        Send("PATCH", absl::StrCat(collection, "/", lease.At("metadata").GetString("name")),
             "application/merge-patch+json", lease);
    if (!absl::IsNotFound(patched)) return patched;
    return Send("POST", collection, "application/json", lease);
  }

 private:
  absl::Status Patch(std::string path, const Value& patch) {
    return Send("PATCH", std::move(path), "application/strategic-merge-patch+json", patch);
  }
  absl::Status Send(absl::string_view method, std::string path, absl::string_view type,
                    const Value& body) {
    http::Request request;
    request.method = std::string(method);
    request.target = std::move(path);
    request.headers.Set("Content-Type", type);
    request.headers.Set("User-Agent", "hollow-kubelet");
    request.body = apis::json::Dump(body);
    return ToStatus(server_->Call(request));
  }

  ApiServer* server_;
};

HollowCluster::HollowCluster(ApiServer& server, kubelet::Options options)
    : api_(std::make_unique<EmbeddedApi>(server)),
      kubelet_(*api_, std::move(options)),
      nodes_(server, "/api/v1/nodes",
             [this](absl::string_view type, const Value& node) {
               kubelet_.OnNode(node, type == "DELETED");
             }),
      pods_(server, "/api/v1/pods", [this](absl::string_view type, const Value& pod) {
        kubelet_.OnPod(pod, type == "DELETED");
      }) {}

HollowCluster::~HollowCluster() = default;

void HollowCluster::SetWakeUp(std::function<void()> wake_up) {
  nodes_.SetWakeUp(wake_up);
  pods_.SetWakeUp(std::move(wake_up));
}

int HollowCluster::Pump(absl::Time now) {
  int total = 0;
  for (;;) {
    int did = nodes_.Pump();
    did += pods_.Pump();
    did += kubelet_.Pump(now);
    if (did == 0) return total;
    total += did;
  }
}

absl::Time HollowCluster::NextDue() const { return kubelet_.NextDue(); }

}  // namespace hekla::apiserver::hollow

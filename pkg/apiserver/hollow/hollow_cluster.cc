#include "pkg/apiserver/hollow/hollow_cluster.h"

#include <string>
#include <utility>

#include "pkg/apiserver/kubelet/http_api.h"
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

}  // namespace

// The kubelet's requests, made in process along the ordinary path.
class HollowCluster::EmbeddedApi final : public kubelet::HttpApi {
 public:
  explicit EmbeddedApi(ApiServer& server) : server_(&server) {}

 protected:
  absl::Status Send(absl::string_view method, std::string path, absl::string_view content_type,
                    const Value& body) override {
    http::Request request;
    request.method = std::string(method);
    request.target = std::move(path);
    request.headers.Set("Content-Type", content_type);
    request.headers.Set("User-Agent", "hollow-kubelet");
    request.body = apis::json::Dump(body);
    return ToStatus(server_->Call(request));
  }

 private:
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

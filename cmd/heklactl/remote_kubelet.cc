#include "cmd/heklactl/remote_kubelet.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "pkg/apiserver/kubelet/http_api.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/resource_client.h"
#include "pkg/kube/rest_client.h"
#include "pkg/util/build_info.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

using apis::json::Value;

// Between two looks at the clock and at what has changed meanwhile.
constexpr int kWritesPerPump = 32;
constexpr absl::Duration kPatience = absl::Seconds(10);

kube::Resource CoreResource(const std::string& plural, const std::string& kind, bool namespaced) {
  return {.group = "", .version = "v1", .plural = plural, .kind = kind, .namespaced = namespaced};
}

apiserver::kubelet::Options OwnNodesOnly(apiserver::kubelet::Options options) {
  options.all_nodes = false;
  options.max_writes_per_pump = kWritesPerPump;
  return options;
}

}  // namespace

// Sends from the pump's thread and waits.
class RemoteKubelet::RestApi final : public apiserver::kubelet::HttpApi {
 public:
  RestApi(kube::RestClient& client, const std::atomic<bool>& stopping)
      : client_(client), stopping_(stopping) {}

 protected:
  absl::Status Send(absl::string_view method, std::string path, absl::string_view content_type,
                    const Value& body) override {
    if (stopping_) return absl::CancelledError("stopping");
    kube::RestRequest request;
    request.method = std::string(method);
    request.path = std::move(path);
    request.content_type = std::string(content_type);
    request.body = apis::json::Dump(body);
    return client_.SendAndWait(std::move(request)).status();
  }

 private:
  kube::RestClient& client_;
  const std::atomic<bool>& stopping_;
};

RemoteKubelet::RemoteKubelet(Options options) : options_(std::move(options)) {}

RemoteKubelet::~RemoteKubelet() { Stop(); }

absl::Status RemoteKubelet::Start() {
  kube::Client::Options client;
  client.rest.user_agent = kube::UserAgent("hekla-hollow-nodes", std::string(util::Version()),
                                           std::string(util::GitSha()));
  client.rest.qps = 0;
  client.rest.timeout = kPatience;
  client.thread_name = "hollow-client";
  HEKLA_ASSIGN_OR_RETURN(client_,
                         kube::Client::Create(options_.api, &io_, &background_, std::move(client)));
  api_ = std::make_unique<RestApi>(client_->rest(), stopping_);
  kubelet_ =
      std::make_unique<apiserver::kubelet::HollowKubelet>(*api_, OwnNodesOnly(options_.kubelet));
  using apiserver::kubelet::HollowKubelet;
  nodes_ = Follow("nodes", "Node", false, &HollowKubelet::OnNode);
  pods_ = Follow("pods", "Pod", true, &HollowKubelet::OnPod);
  io_.Post([this] {
    nodes_->Start();
    pods_->Start();
  });
  return absl::OkStatus();
}

void RemoteKubelet::Stop() {
  if (stopping_.exchange(true)) return;
  pump_.Stop();
  io_.Stop();
  nodes_.reset();
  pods_.reset();
  client_.reset();
  background_.Stop();
}

absl::Status RemoteKubelet::AddNodes(apiserver::kubelet::NodeTemplate node,
                                     const std::string& prefix, int count) {
  const kube::ResourceClient nodes(&client_->rest(), CoreResource("nodes", "Node", false));
  for (int i = 0; i < count; ++i) {
    node.name = absl::StrCat(prefix, i);
    const absl::Status made =
        nodes.CreateAndWait("", apiserver::kubelet::MakeNode(node, i, absl::Now())).status();
    if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
  }
  return absl::OkStatus();
}

std::unique_ptr<RemoteKubelet::Watched> RemoteKubelet::Follow(const std::string& plural,
                                                              const std::string& kind,
                                                              bool namespaced, Tell tell) {
  Watched::Options options;
  options.reflector.resource = CoreResource(plural, kind, namespaced);
  options.transform = [](Value& object) {
    if (Value* const metadata = object.Find("metadata")) metadata->Remove("managedFields");
  };
  options.on_error = [plural](const absl::Status& error) {
    LOG(WARNING) << "cannot follow kind=" << plural << " error=" << error.message();
  };
  auto watched = std::make_unique<Watched>(
      &client_->rest(), &io_, [](const Value& object) { return object; }, std::move(options));
  const auto pass_on = [this, tell](const Value& object, bool deleted) {
    (*kubelet_.*tell)(object, deleted);
    WakeUp();
  };
  kube::Handler<Value> handler;
  handler.on_add = [pass_on](const auto& object, bool) { pass_on(*object, false); };
  handler.on_update = [pass_on](const auto&, const auto& now) { pass_on(*now, false); };
  handler.on_delete = [pass_on](const auto& object, bool) { pass_on(*object, true); };
  watched->AddHandler(std::move(handler));
  return watched;
}

void RemoteKubelet::WakeUp() {
  if (!pump_posted_.exchange(true)) pump_.Post([this] { Pump(); });
}

void RemoteKubelet::Pump() {
  pump_posted_ = false;
  if (pump_timer_ != 0) pump_.Cancel(pump_timer_);
  pump_timer_ = 0;
  kubelet_->Pump(pump_.Now());
  const absl::Time due = kubelet_->NextDue();
  if (due == absl::InfiniteFuture() || stopping_) return;
  pump_timer_ = pump_.PostAfter(due - pump_.Now(), [this] {
    pump_timer_ = 0;
    Pump();
  });
}

}  // namespace hekla::cmd::heklactl

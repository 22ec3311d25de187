#include "cmd/heklactl/remote_kubelet.h"

#include <atomic>
#include <functional>
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
// Writes under way at once.
constexpr uint32_t kShards = 8;
constexpr absl::Duration kPatience = absl::Seconds(10);

kube::Resource CoreResource(const std::string& plural, const std::string& kind, bool namespaced) {
  return {.group = "", .version = "v1", .plural = plural, .kind = kind, .namespaced = namespaced};
}

std::string NameOf(const Value& node) { return std::string(node.At("metadata").GetString("name")); }
std::string NodeOf(const Value& pod) { return std::string(pod.At("spec").GetString("nodeName")); }

}  // namespace

// A kubelet of its own for some of the nodes, with a thread that writes and waits for each answer.
class RemoteKubelet::Shard final : private apiserver::kubelet::HttpApi {
 public:
  Shard(kube::RestClient& client, apiserver::kubelet::Options options)
      : client_(client), kubelet_(*this, std::move(options)) {}
  ~Shard() override { Stop(); }

  void OnPod(const Value& pod, bool deleted) {
    kubelet_.OnPod(pod, deleted);
    WakeUp();
  }
  void OnNode(const Value& node, bool deleted) {
    kubelet_.OnNode(node, deleted);
    WakeUp();
  }
  // No further write begins.
  void BeginStop() { stopping_ = true; }
  // Waits for the one under way.
  void Stop() {
    BeginStop();
    pump_.Stop();
  }

 private:
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

  void WakeUp() {
    if (!pump_posted_.exchange(true)) pump_.Post([this] { Pump(); });
  }

  void Pump() {
    pump_posted_ = false;
    if (pump_timer_ != 0) pump_.Cancel(pump_timer_);
    pump_timer_ = 0;
    kubelet_.Pump(pump_.Now());
    const absl::Time due = kubelet_.NextDue();
    if (due == absl::InfiniteFuture() || stopping_) return;
    pump_timer_ = pump_.PostAfter(due - pump_.Now(), [this] {
      pump_timer_ = 0;
      Pump();
    });
  }

  kube::RestClient& client_;
  apiserver::kubelet::HollowKubelet kubelet_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> pump_posted_ = false;
  util::Executor::TimerId pump_timer_ = 0;  // of the pump's thread
  util::ThreadExecutor pump_{"hollow"};
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
  for (uint32_t i = 0; i < kShards; ++i) {
    apiserver::kubelet::Options shard = options_.kubelet;
    shard.all_nodes = false;
    shard.max_writes_per_pump = kWritesPerPump;
    shard.first_address = i;
    shard.address_step = kShards;
    shards_.push_back(std::make_unique<Shard>(client_->rest(), std::move(shard)));
  }
  nodes_ = Follow("nodes", "Node", false, NameOf, &Shard::OnNode);
  pods_ = Follow("pods", "Pod", true, NodeOf, &Shard::OnPod);
  io_.Post([this] {
    nodes_->Start();
    pods_->Start();
  });
  return absl::OkStatus();
}

void RemoteKubelet::Stop() {
  if (std::exchange(stopped_, true)) return;
  for (const auto& shard : shards_) shard->BeginStop();
  for (const auto& shard : shards_) shard->Stop();
  io_.Stop();
  nodes_.reset();
  pods_.reset();
  shards_.clear();
  client_.reset();
  background_.Stop();
}

RemoteKubelet::Shard& RemoteKubelet::ShardOf(const std::string& node) const {
  return *shards_[std::hash<std::string>()(node) % shards_.size()];
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
                                                              bool namespaced,
                                                              std::string (*node_of)(const Value&),
                                                              Tell tell) {
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
  const auto pass_on = [this, node_of, tell](const Value& object, bool deleted) {
    const std::string node = node_of(object);
    if (!node.empty()) (ShardOf(node).*tell)(object, deleted);
  };
  kube::Handler<Value> handler;
  handler.on_add = [pass_on](const auto& object, bool) { pass_on(*object, false); };
  handler.on_update = [pass_on, node_of](const auto& before, const auto& now) {
    // Another pod of the same name, whose predecessor's end was missed.
    if (node_of(*before) != node_of(*now)) pass_on(*before, true);
    pass_on(*now, false);
  };
  handler.on_delete = [pass_on](const auto& object, bool) { pass_on(*object, true); };
  watched->AddHandler(std::move(handler));
  return watched;
}

}  // namespace hekla::cmd::heklactl

#include "bench/ray/clusters.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "cmd/heklactl/kubeconfig.h"
#include "pkg/util/status_macros.h"

namespace hekla::bench {
namespace {

using apis::json::Value;

constexpr int kPodsPerNode = 100;

Value GroupTemplate(const std::string& container, int node) {
  const Value resources = Value::MakeObject({{"cpu", "100m"}, {"memory", "64Mi"}});
  Value ray = Value::MakeObject({{"name", container}, {"image", "rayproject/ray:2.52.0"}});
  ray["resources"].Set("requests", resources);
  ray["resources"].Set("limits", resources);
  Value spec;
  // Already placed: what is measured is the operator, not a scheduler.
  spec.Set("nodeName", absl::StrCat("node-", node));
  spec["containers"].Append(std::move(ray));
  Value out;
  out["template"].Set("spec", std::move(spec));
  out.Set("rayStartParams", Value::MakeObject());
  return out;
}

}  // namespace

Value MakeCluster(int index, int workers) {
  const int node = index * (workers + 1) / kPodsPerNode;
  Value cluster = Value::MakeObject({{"apiVersion", "ray.io/v1"}, {"kind", "RayCluster"}});
  cluster["metadata"].Set("name", absl::StrCat("ray-", index));
  cluster["metadata"].Set("namespace", "default");
  Value& spec = cluster["spec"];
  spec.Set("rayVersion", "2.52.0");
  spec.Set("headGroupSpec", GroupTemplate("ray-head", node));
  Value group = GroupTemplate("ray-worker", node);
  group.Set("groupName", "workers");
  group.Set("replicas", workers);
  group.Set("minReplicas", workers);
  group.Set("maxReplicas", workers);
  spec["workerGroupSpecs"].Append(std::move(group));
  return cluster;
}

void AddLoadFlags(util::FlagSet& flags, Load* load) {
  flags.Int("clusters", &load->clusters, "RayClusters to create at once.");
  flags.Int("workers", &load->workers, "Worker pods of each.");
  flags.Int("concurrency", &load->concurrency, "--reconcile-concurrency of the operator.");
  flags.Duration("timeout", &load->timeout, "Longest wait for all clusters to be ready.");
}

bool ParseLoadFlags(util::FlagSet& flags, absl::string_view program,
                    const std::vector<std::string>& arguments) {
  const absl::StatusOr<std::vector<std::string>> rest = flags.Parse(arguments);
  if (rest.ok() && rest->empty() && !flags.help()) return true;
  std::cerr << program << " [flags]\n" << flags.Usage();
  return false;
}

absl::Status AddNodesFor(cmd::heklactl::HostedCluster& cluster, const Load& load) {
  apiserver::kubelet::NodeTemplate node;
  node.pods = absl::StrCat(kPodsPerNode + 10);
  return cluster.AddNodes(node, "node-", load.clusters * (load.workers + 1) / kPodsPerNode + 1);
}

absl::Status CreateClusters(apiserver::ApiServer& server, const Load& load) {
  for (int i = 0; i < load.clusters; ++i) {
    HEKLA_RETURN_IF_ERROR(server.Create(MakeCluster(i, load.workers)).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<OperatorProcess::Options> OperatorFor(cmd::heklactl::HostedCluster& cluster,
                                                     const Load& load, const std::string& folder) {
  const std::string kubeconfig = folder + "/kubeconfig";
  HEKLA_RETURN_IF_ERROR(cmd::heklactl::WritePrivateFile(
      kubeconfig, cmd::heklactl::KubeconfigText(cluster.url(), "")));
  return OperatorProcess::Options{.kubeconfig = kubeconfig,
                                  .log_file = folder + "/operator.log",
                                  .concurrency = load.concurrency};
}

Progress::Progress(apiserver::ApiServer& server)
    : pods_(server, "/api/v1/pods",
            [this](absl::string_view type, const Value& pod) {
              const std::string name(pod.At("metadata").GetString("name"));
              if (type == "DELETED") {
                pod_names_.erase(name);
              } else {
                pod_names_.insert(name);
              }
            }),
      clusters_(server, "/apis/ray.io/v1/rayclusters",
                [this](absl::string_view, const Value& object) {
                  const std::string name(object.At("metadata").GetString("name"));
                  if (object.At("status").GetString("state") == "ready") {
                    ready_names_.insert(name);
                  } else {
                    ready_names_.erase(name);
                  }
                }) {}

void Progress::Pump() {
  pods_.Pump();
  clusters_.Pump();
}

}  // namespace hekla::bench
